#pragma once
// Streams: a thread each, which runs its operations in order, as late as random delays make it.

#include <cuda.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "tests/fake_cuda/driver/hardware_queue.hpp"
#include "tests/fake_cuda/driver/operation.hpp"

namespace fake_cuda {

struct Stream {
  Context* context = nullptr;
  unsigned flags = 0;
  int priority = 0;
  int queue_number = 0;  ///< HardwareQueues::assign().
  bool is_closing = false;
  std::deque<Operation> queue{};
  std::uint64_t queued = 0, done = 0;
  int waiting = 0;  ///< Operations queued, or under way, that wait.
  std::atomic<bool> is_in_host_function{false};
  std::uint64_t key = 0;  ///< Unique over all processes.
  Clock clock{};
  std::deque<Clock> completed{};  ///< The clock when each operation was over, where races are looked for.
};

/// A node of a graph in one launch.
struct Step {
  StreamPointer stream;  ///< The stream of the branch.
  Operation operation;
  std::set<std::size_t> after;  ///< Earlier steps, by their numbers.
};

inline bool is_legacy(CUstream handle) { return handle == nullptr || handle == CU_STREAM_LEGACY; }

class Streams {
 public:
  static Streams& get();

  CUstream create(Context* context, unsigned flags, int priority);
  /// False: there is no such. Its queued operations still run.
  bool destroy(CUstream handle);
  /// nullptr and CU_STREAM_LEGACY: the legacy stream of the context; CU_STREAM_PER_THREAD: that of this thread. Other
  /// handles: of any context. nullptr: no such.
  StreamPointer find(Context* context, CUstream handle);
  /// A stream without a handle, for a branch of a graph: one that was given back, and is known to be idle, if any is.
  StreamPointer borrow(Context* context);
  void give_back(const StreamPointer& stream);

  /// Queues an operation; it has a number in the stream.
  Point push(const StreamPointer& stream, Operation operation);
  /// Queues the steps of a graph, after the earlier work of the stream and `last`, the end of the graph's launch
  /// before; what is queued in the stream later comes after all of them.
  void push(const StreamPointer& stream, std::vector<Step> steps, std::function<void()> end, Point& last);
  void wait(const Point& point);
  /// Whether it is over. The program may spin on this: where it is not, another thread gets the processor.
  [[nodiscard]] bool is_over(const Point& point);
  [[nodiscard]] Point last(const StreamPointer& stream);
  /// Waits for all operations of the context.
  void drain(Context* context);
  /// Whether an operation of the context waits for a value in memory, for another process, or in a function of the
  /// program that does not end soon.
  [[nodiscard]] bool has_waits(Context* context);
  /// Whether one stream has waits, but for functions of the program.
  [[nodiscard]] bool has_waits(const StreamPointer& stream) {
    const std::lock_guard lock{mutex_};
    return stream->waiting > 0;
  }
  [[nodiscard]] std::size_t count();

  // Clocks, where races are looked for.
  /// The host may tell other processes, in ways that nobody sees here.
  void host_learns(const Clock& clock);
  [[nodiscard]] Clock host_clock();

 private:
  void run(const StreamPointer& stream);
  Running begin(Stream& stream, const Operation& operation);
  static void end(Stream& stream, const Operation& operation, const Running& now);
  StreamPointer start(Context* context, unsigned flags, int priority = 0);
  Point push_locked(const StreamPointer& stream, Operation operation);
  void order_with_legacy(const StreamPointer& stream, std::vector<Point>& after);
  [[nodiscard]] Clock clock_of(const Point& point);

  std::mutex mutex_;
  std::condition_variable changed_;   ///< Any stream made progress.
  std::vector<StreamPointer> all_;    ///< Destroyed streams that still have work, too.
  std::vector<StreamPointer> spare_;  ///< For branches of graphs.
  std::map<CUstream, StreamPointer> streams_;
  std::map<std::pair<Context*, int>, StreamPointer> defaults_;  ///< By thread; 0: the legacy stream.
  HardwareQueues queues_;
  std::uint64_t next_ = 1;
  Clock host_;
};

}  // namespace fake_cuda
