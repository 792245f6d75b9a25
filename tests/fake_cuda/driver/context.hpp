#pragma once
// Contexts, and the stack of them that each thread has.

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <set>
#include <vector>

namespace fake_cuda {

struct Context {
  int device = 0;
  std::uint64_t id = 0;  ///< Another one after it was reset.
  bool is_primary = false;
  int retained = 0;
  unsigned flags = 0;
  std::mutex peers_mutex{};
  std::set<const Context*> peers{};          ///< The contexts whose memory its kernels may access.
  std::atomic<CUresult> lost{CUDA_SUCCESS};  ///< The first error of an operation: a context never recovers.
};

/// The error that every call on the context gives; CUDA_SUCCESS: none.
CUresult state_of(const Context& context);

/// Trivially destructible: libraries call the driver from their own destructors, after the thread's objects are gone.
struct ContextStack {
  static constexpr int most = 64;
  Context* entries[most];
  int depth;

  [[nodiscard]] Context* top() const { return depth == 0 ? nullptr : entries[depth - 1]; }
  void push(Context* context) {
    if (depth < most) entries[depth++] = context;
  }
  void pop() { --depth; }
};
extern thread_local ContextStack current_contexts;

/// The contexts of the process, by device and made.
class Contexts {
 public:
  static Contexts& get();

  /// Once. False: there is no device.
  bool initialise();
  [[nodiscard]] bool is_initialised() const { return is_initialised_; }
  [[nodiscard]] int devices() const { return static_cast<int>(primary_.size()); }
  [[nodiscard]] bool has(int device) const { return device >= 0 && device < devices(); }
  [[nodiscard]] Context& primary(int device) { return primary_[static_cast<std::size_t>(device)]; }
  Context* create(int device, unsigned flags);
  void retain(int device);
  /// Whether that was the last reference.
  bool release(int device);
  /// Made, ever.
  [[nodiscard]] std::uint64_t made() const { return made_; }
  /// A number for a context that begins, or begins again.
  [[nodiscard]] std::uint64_t new_id() { return 1000 + ++made_; }

 private:
  std::mutex mutex_;
  bool is_initialised_ = false;
  std::deque<Context> primary_;
  std::vector<Context*> created_;  // never freed: the program may still hold them
  std::atomic<std::uint64_t> made_{0};
};

inline CUcontext handle_of(Context* context) { return reinterpret_cast<CUcontext>(context); }
inline Context* context_of(CUcontext handle) { return reinterpret_cast<Context*>(handle); }

}  // namespace fake_cuda
