#include "apps/bench/buffers.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <cstdint>
#include <limits>

#include "lib/mpi/check.hpp"

namespace tutti::bench {

namespace {

std::int64_t least_of_all_ranks(std::int64_t value) {
  mpi::check(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD), "MPI_Allreduce");
  return value;
}

/// Saturating, as sizes come from the command line.
std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max() : product;
}

[[noreturn]] void too_large(const BenchMemory& memory, Bytes wanted) {
  throw apps::InputError(fmt::format("buffers of {} bytes for each rank do not fit into the {} memory of the node",
                                     wanted.value(), memory.name));
}

}  // namespace

Buffers::Buffers(const Experiment& what, const Communicator& comm) : what_(what), comm_(comm) {
  const Count largest = what.counts.back();
  const std::int64_t element = size_of(what.type).value();
  const bool is_input_apart = what.placements.front() == Placement::out_of_place;
  const std::int64_t inputs = is_input_apart ? what.collective->input_count(largest, comm.size()).value() : 0;
  const Bytes in{times(inputs, element)};
  const Bytes out{times(what.collective->output_count(largest, comm.size()).value(), element)};
  const Bytes wanted{in > Bytes{std::numeric_limits<std::int64_t>::max() - out.value()} ? out : in + out};
  // Allocating may succeed and the first access then kill the process: look at what is there before.
  const Bytes available = what.memory->available();
  const bool is_enough = available == Bytes{0} || times(wanted.value(), comm.node().size()) <= available.value();
  if (least_of_all_ranks(is_enough ? 1 : 0) == 0) too_large(*what.memory, wanted);
  in_ = allocate(*what.memory, in);
  out_ = allocate(*what.memory, out);
  if (least_of_all_ranks(in_ && out_ ? 1 : 0) == 0) too_large(*what.memory, wanted);
}

Call Buffers::call(Count count, Placement placement) const {
  const bool is_in_place = placement == Placement::in_place;
  const Call call{.comm = &comm_,
                  .memory = what_.memory,
                  .in = is_in_place ? out_.get() : in_.get(),
                  .out = out_.get(),
                  .count = count,
                  .type = what_.type,
                  .op = what_.op,
                  .root = what_.root,
                  .algorithm = what_.algorithm};
  const Bytes out = what_.collective->output_count(count, comm_.size()).value() * size_of(what_.type);
  what_.memory->rewrite({call.out, static_cast<std::size_t>(out.value())});
  what_.memory->rewrite(input_of(call));
  return call;
}

std::span<std::byte> Buffers::input_of(const Call& call) const {
  const Bytes size = what_.collective->input_count(call.count, comm_.size()).value() * size_of(call.type);
  return {call.in, static_cast<std::size_t>(size.value())};
}

}  // namespace tutti::bench
