#pragma once
// On which processor each rank of a node runs. Only how a rank waits depends on it: it may be out of date.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tutti::shm {

class Processors {
 public:
  [[nodiscard]] static constexpr std::int64_t shared_bytes(int ranks) {
    return ranks * static_cast<std::int64_t>(sizeof(std::atomic<std::int32_t>));
  }
  /// Rank `me`. `shared`: shared_bytes() that all ranks see, all zero before the first.
  Processors(std::byte* shared, int me) : shared_(reinterpret_cast<std::atomic<std::int32_t>*>(shared)), me_(me) {
    update();
  }

  /// Tells the others where this rank runs now. No system call where the C library can do without.
  void update();
  void runs_on(int processor) {
    const std::int32_t now = processor + 1;                                  // 0: nobody knows
    if (of(me_) != now) shared_[me_].store(now, std::memory_order_relaxed);  // else the line stays with its readers
  }
  /// Whether `rank` may run on this rank's processor.
  [[nodiscard]] bool is_here(int rank) const { return of(rank) == of(me_) || of(rank) == 0 || of(me_) == 0; }

 private:
  [[nodiscard]] std::int32_t of(int rank) const { return shared_[rank].load(std::memory_order_relaxed); }

  std::atomic<std::int32_t>* shared_;
  int me_;
};

}  // namespace tutti::shm
