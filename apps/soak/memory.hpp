#pragma once
// The buffers of a call on one rank, with bytes around them that must stay as they are.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/bench/memory.hpp"
#include "apps/soak/layout.hpp"

namespace tutti::soak {

/// Memory from which pieces are cut, one after the other, until all are given back at once.
class Arena {
 public:
  /// Throws Error if there is not enough of it.
  Arena(const bench::BenchMemory& memory, std::size_t bytes);
  /// At an address that is a multiple of 64; nothing if there is not as much left.
  [[nodiscard]] std::optional<std::span<std::byte>> take(std::size_t bytes);
  void reset() { used_ = 0; }

 private:
  bench::Buffer data_;
  std::size_t bytes_, used_ = 0;
};

/// Memory for one step at a time. It belongs to one thread.
class MemoryPool {
 public:
  /// `bytes`: of each arena. Errors: not enough memory.
  MemoryPool(std::vector<const bench::BenchMemory*> memories, std::size_t bytes);

  [[nodiscard]] const std::vector<const bench::BenchMemory*>& memories() const { return memories_; }
  /// Memory lasts, so that addresses recur; or is allocated for the step and no byte longer than needed, so that
  /// AddressSanitizer sees reads beyond it.
  enum class Lifetime : std::uint8_t { lasting, of_step };
  /// Takes memory at an address that is a multiple of 64; allocated for the step, too, if there is not as much left.
  [[nodiscard]] std::span<std::byte> take(const bench::BenchMemory& memory, Lifetime lifetime, std::size_t bytes);
  /// Takes memory of the host, for the pool's user alone.
  [[nodiscard]] std::span<std::byte> scratch(std::size_t bytes);
  /// The step is over.
  void reset();

 private:
  std::vector<const bench::BenchMemory*> memories_;
  std::vector<Arena> arenas_;  ///< One for each memory, then that of scratch.
  std::vector<bench::Buffer> pieces_;
};

/// A buffer within memory that has free bytes before and after.
class GuardedBuffer {
 public:
  /// `bytes` from anywhere in the memory, `misaligned` bytes after an address that is a multiple of 64.
  GuardedBuffer(MemoryPool& pool, const bench::BenchMemory& memory, MemoryPool::Lifetime lifetime, std::size_t bytes,
                std::size_t misaligned);
  [[nodiscard]] std::byte* data() const { return memory_.data() + start_; }
  /// The host's view: the buffer itself where the host can reach it, else a copy of it.
  [[nodiscard]] std::span<std::byte> at(std::size_t offset, std::size_t bytes) const;
  [[nodiscard]] std::span<std::byte> expected_at(std::size_t offset, std::size_t bytes) const;
  /// Copies what was written to the host's view, and copies back the results of a call.
  void to_memory() const;
  void from_memory() const;
  /// Fills all of it and the expected contents with a pattern.
  void clear(std::uint64_t key) const;
  /// The first byte that is not as expected, from the start of the buffer; negative before it.
  [[nodiscard]] std::optional<std::int64_t> first_wrong() const;
  [[nodiscard]] std::int64_t count_wrong() const;

 private:
  const bench::BenchMemory* kind_;
  std::span<std::byte> memory_;
  std::size_t start_;
  std::span<std::byte> view_, expected_;
};

/// Input and output of a call on one rank: apart, or the one inside the other.
class CallMemory {
 public:
  /// The arguments must outlive it.
  CallMemory(const Call& call, int rank, const Layout& layout, MemoryPool& pool);
  /// New input, and a pattern everywhere else.
  void prepare(int repetition);
  /// The calls are over: results may be looked at. The expected ones are those computed here, or of `by_mpi`, block
  /// after block, unless that is nullptr.
  void collect(int repetition, const std::vector<std::byte>* by_mpi);
  /// Changes the last byte of the output, if there is one. Returns whether there is.
  bool spoil();
  /// The difference from the expected contents: "output: element 3 of block 0 is 7, expected 8; 12 bytes differ".
  [[nodiscard]] std::optional<std::string> difference() const;

  /// nullptr, at times, where the call uses none.
  [[nodiscard]] std::byte* in() const;
  [[nodiscard]] std::byte* out() const;

 private:
  [[nodiscard]] std::string difference_at(std::size_t buffer, std::int64_t byte) const;
  const Call& call_;
  int rank_;
  const Layout& layout_;
  std::int64_t element_;
  std::int64_t in_at_ = 0, out_at_ = 0;  ///< Where input and output start in their buffers, in elements.
  bool null_where_empty_;
  std::vector<GuardedBuffer> buffers_;  ///< Output and input, or both in one.
};

}  // namespace tutti::soak
