#pragma once
// The buffers of a run, made once for its largest size, and checks of what calls leave in them.

#include <array>

#include "apps/bench/collective.hpp"
#include "apps/bench/records.hpp"
#include "apps/bench/settings.hpp"

namespace tutti::bench {

class Buffers {
 public:
  /// Collective over `comm`, whose ranks `mpi` has. Throws apps::InputError, on all ranks alike, if the memory does not
  /// suffice.
  Buffers(const Experiment& what, const Communicator& comm, MPI_Comm mpi = MPI_COMM_WORLD);

  /// The call on `count` elements. Its buffers then hold zeros, which no operation turns into numbers that grow from
  /// call to call.
  [[nodiscard]] Call call(Count count, Placement placement) const;
  /// The same for questions about it: touches no buffer, and an input in place is not placed yet.
  [[nodiscard]] Call described(Count count, Placement placement) const;
  /// The bytes that a program would write on this rank before this call.
  [[nodiscard]] std::span<std::byte> input_of(const Call& call) const;
  /// Both buffers as far as the call reaches, and some bytes more, which it must leave alone.
  [[nodiscard]] std::array<std::span<std::byte>, 2> used_by(const Call& call) const;
  [[nodiscard]] const BenchMemory& memory() const { return *what_.memory; }

 private:
  struct Sizes {
    Bytes in, out;
  };
  [[nodiscard]] Sizes sizes_of(const Call& call) const;
  [[nodiscard]] Sizes all_sizes_of(const Call& call) const;
  /// Puts an input in place where it belongs.
  void place(Call& call) const;

  const Experiment& what_;
  const Communicator& comm_;
  MPI_Comm mpi_;
  Buffer in_, out_;
};

/// Makes `repeater` do one call on values that depend on rank and position. Returns the number of elements in this
/// rank's buffers, and behind them, that are wrong afterwards: results, and elements that must not have been written.
[[nodiscard]] std::int64_t wrong_elements(const BenchCollective& collective, const Buffers& buffers, const Call& call,
                                          Repeater& repeater);

}  // namespace tutti::bench
