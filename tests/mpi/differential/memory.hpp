#pragma once
// The buffers of a call on one rank, with bytes around them that must stay as they are.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "layout.hpp"
#include "tests/support/device_memory.hpp"
#include "tutti/memory.hpp"
#include "values.hpp"

namespace tutti::differential {

/// Where the memory of a buffer comes from.
enum class Origin : std::uint8_t {
  heap,          ///< Allocated for the step, no byte longer than needed: AddressSanitizer sees reads beyond it.
  arena,         ///< The same memory for every step, so that addresses recur.
  tutti,         ///< Tutti memory, the same for every step.
  device,        ///< Of a GPU, allocated for the step.
  device_arena,  ///< The same of a GPU for every step.
};

/// Memory for one step at a time. It belongs to one thread.
class MemoryPool {
 public:
  /// Local. Errors: those of tutti::allocate(). `on_devices`: whether buffers may be on GPUs, of which there must be
  /// one.
  MemoryPool(std::size_t bytes, bool on_devices);
  [[nodiscard]] bool is_on_devices() const { return device_arena_.has_value(); }
  /// At an address that is a multiple of 64. From the heap if there is not as much left.
  [[nodiscard]] std::span<std::byte> take(Origin origin, std::size_t bytes);
  /// The step is over.
  void reset();

 private:
  ByteVector arena_;
  SharedBuffer<std::byte> shared_;
  struct Free {
    void operator()(std::byte* data) const;
  };
  [[nodiscard]] std::span<std::byte> take_on_device(Origin origin, std::size_t bytes);
  std::vector<std::unique_ptr<std::byte[], Free>> pieces_;
  std::size_t arena_used_ = 0, shared_used_ = 0, device_used_ = 0;
  std::optional<test::DeviceArray> device_arena_;
  std::vector<test::DeviceArray> device_pieces_;
};

/// A buffer within memory that has free bytes before and after.
class GuardedBuffer {
 public:
  /// `bytes` from anywhere in memory of `origin`, `misaligned` bytes after an address that is a multiple of 64.
  GuardedBuffer(MemoryPool& pool, Origin origin, std::size_t bytes, std::size_t misaligned);
  [[nodiscard]] std::byte* data() const { return (on_device_.empty() ? memory_ : on_device_).data() + start_; }
  /// Of a buffer on a device: copies what was written to it, and copies back what a call made of it.
  void to_device();
  void from_device();
  /// Fills the buffer and the expected contents with a pattern.
  void clear(std::uint64_t key);
  /// Writes to the buffer, and to the expected contents.
  void write(std::size_t offset, std::span<const std::byte> bytes);
  /// Writes to the expected contents alone.
  void expect(std::size_t offset, std::span<const std::byte> bytes);
  /// The first byte that is not as expected, from the start of the buffer; negative before it.
  [[nodiscard]] std::optional<std::int64_t> first_wrong() const;
  /// Changes the last byte, if there is one.
  void spoil() const {
    if (!memory_.empty()) memory_.back() ^= std::byte{1};
  }
  /// "0x2a, expected 0x2b; 1 bytes differ".
  [[nodiscard]] std::string comparison(std::int64_t offset) const;

 private:
  std::span<std::byte> memory_, on_device_;  ///< The second is empty for the host's memory; else the first mirrors it.
  std::size_t start_;
  ByteVector expected_, mirror_;
};

/// Input and output of a call on one rank: apart, or the one inside the other.
class CallMemory {
 public:
  CallMemory(const Call& call, int rank, const Layout& layout, MemoryPool& pool);
  /// New input, and a pattern everywhere else. Elements are block after block, as input_of() gives them.
  void prepare(std::uint64_t key, const ByteVector& input);
  void expect_output(const ByteVector& output);
  /// The calls are over: the results may be looked at.
  void collect();
  /// Makes it wrong.
  void spoil() { buffers_.front().spoil(); }
  /// The difference from the expected contents, as text: "output: element 3 of block 0 ...".
  [[nodiscard]] std::optional<std::string> difference() const;

  /// nullptr, at times, where the call uses none.
  [[nodiscard]] std::byte* in() const;
  [[nodiscard]] std::byte* out() const;

 private:
  [[nodiscard]] std::string place(bool is_output_buffer, std::int64_t byte) const;
  const Layout& layout_;
  std::int64_t element_;
  std::int64_t in_at_ = 0, out_at_ = 0;  ///< Where input and output start in their buffers, in elements.
  bool null_where_empty_;
  std::vector<GuardedBuffer> buffers_;  ///< Output and input, or both in one.
};

}  // namespace tutti::differential
