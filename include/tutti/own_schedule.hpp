#pragma once
// Schedules that a program builds itself, step by step (tutti/schedule_builder.hpp), and runs when they are proved.

#include <cstdint>
#include <string>

#include "tutti/call.hpp"
#include "tutti/communicator.hpp"
#include "tutti/schedule.hpp"

namespace tutti {

/// The schedule of this rank, with what all ranks say alike of theirs. Its elements are chunks: one schedule serves
/// every number of elements, as files do (docs/schedule-files.md).
struct OwnSchedule {
  Collective collective = Collective::allreduce;
  Schedule schedule{};
  std::int64_t chunks = 1;      ///< Of the vector, or of each block where each rank has one.
  Rank root{};                  ///< Of broadcast, reduce, gather and scatter.
  bool is_commutative = false;  ///< Operands change places: the operation must be commutative.
  bool is_in_place = false;     ///< It was built for an input that shares memory with the output.
  Bits bits = Bits::same;       ///< Which is proved, too.
};

/// Proves the schedules of all ranks together, and gives them a name for Options::algorithm: then calls of all kinds on
/// this communicator, of this collective, run them. The same schedules have the same name, and are proved once.
///
/// Collective. Errors: ArgumentError, on all ranks, with the fault, if the schedules are wrong, or ranks say different
/// things of them; Error if libtutti_proof cannot be loaded. Cost: an allreduce of 8 bytes; at first also a gather of
/// all steps to rank 0, their proof, and their way back.
[[nodiscard]] TUTTI_API std::string prove_schedule(const OwnSchedule& own, const Communicator& comm);

/// Proves the schedules, at first, and runs them. `count`: as in Problem, elements of the vector or of each block.
/// Errors: as above, and those of the collective.
TUTTI_API void run(const OwnSchedule& own, const void* in, void* out, Count count, Type type, const Op& op,
                   const Communicator& comm);

namespace detail {
/// The count of such a call on buffers of so many elements. ArgumentError unless they have the sizes that this rank
/// needs.
[[nodiscard]] TUTTI_API Count count_of(const OwnSchedule& own, std::size_t in, std::size_t out,
                                       const Communicator& comm);
}  // namespace detail

/// Takes buffers: scalars or contiguous ranges (tutti/ranges.hpp).
template <InputBuffer In, OutputBuffer Out>
requires detail::SameElement<In, Out>
void run(const OwnSchedule& own, In&& in, Out&& out, const Op& op, const Communicator& comm) {
  const auto from = detail::input_of(in);
  const auto into = detail::elements_of(out);
  run(own, from.data(), into.data(), detail::count_of(own, from.size(), into.size(), comm),
      type_of<typename decltype(into)::element_type>, op, comm);
}

}  // namespace tutti
