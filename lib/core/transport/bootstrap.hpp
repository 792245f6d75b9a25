#pragma once
// How the ranks of a group agree on something before a transport of their own connects them.

#include <cstddef>
#include <span>

namespace tutti {

/// Collective functions of a group of ranks, over a connection that they already have: an MPI, or for tests the memory
/// of a process. All ranks call the same ones in the same order.
class Bootstrap {
 public:
  Bootstrap(int rank, int size) : rank_(rank), size_(size) {}
  Bootstrap(const Bootstrap&) = delete;
  Bootstrap& operator=(const Bootstrap&) = delete;
  virtual ~Bootstrap() = default;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }

  /// `bytes` bytes at `data` of rank `root`, to all.
  virtual void broadcast(void* data, std::size_t bytes, int root) const = 0;
  /// `bytes` bytes at `mine` of each rank, in order of ranks, to all.
  virtual void gather_to_all(const void* mine, std::size_t bytes, void* all) const = 0;
  /// The sum over all ranks, on rank 0; 0 elsewhere.
  [[nodiscard]] virtual int sum_on_first(int number) const = 0;
  /// Each of `flags` becomes 1 if it was on all ranks, else 0.
  virtual void and_of_all(std::span<int> flags) const = 0;
  /// No rank returns before all have called.
  virtual void barrier() const = 0;

 private:
  int rank_, size_;
};

}  // namespace tutti
