#include "apps/bench/buffers.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "apps/bench/lists.hpp"
#include "apps/root.hpp"

namespace tutti::bench {

namespace {

/// Saturating, as sizes come from the command line.
std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::int64_t>::max() : product;
}

/// Collective.
void require_enough(MPI_Comm comm, bool is_enough, const BenchMemory& memory, Bytes wanted) {
  apps::refuse_if_any(comm, is_enough ? ""
                                      : fmt::format("buffers of {} bytes for each rank do not fit into the {} "
                                                    "memory of the node",
                                                    wanted.value(), memory.name));
}

/// Bytes behind each buffer: they show writes past its end.
constexpr Bytes guard{4096};

std::span<std::byte> bytes_of(std::byte* data, Bytes size) { return {data, static_cast<std::size_t>(size.value())}; }

}  // namespace

Buffers::Buffers(const Experiment& what, const Communicator& comm, MPI_Comm mpi) : what_(what), comm_(comm), mpi_(mpi) {
  Sizes most{};
  for (const Placement placement : what.placements) {
    const Sizes sizes = all_sizes_of(described(what.counts.back(), placement));
    most = {std::max(most.in, sizes.in), std::max(most.out, sizes.out)};
  }
  constexpr Bytes limit{std::numeric_limits<std::int64_t>::max() / 4};  // so that sums do not overflow
  most = {std::min(most.in, limit) + guard, std::min(most.out, limit) + guard};
  // Allocating may succeed and the first access then kill the process: look at the available memory before.
  const Bytes wanted = most.in + most.out, available = what.memory->available();
  const bool is_enough = available == Bytes{0} || times(wanted.value(), comm.node().size()) <= available.value();
  require_enough(mpi, is_enough, *what.memory, wanted);
  in_ = allocate(*what.memory, most.in);
  out_ = allocate(*what.memory, most.out);
  require_enough(mpi, in_ && out_, *what.memory, wanted);
}

Call Buffers::described(Count count, Placement placement) const {
  Call call{.comm = &comm_,
            .in = in_.get(),
            .out = out_.get(),
            .is_in_place = false,
            .count = count,
            .blocks = std::make_shared<Division>(what_.collective->divided, count, comm_.size(), comm_.rank().value()),
            .type = what_.type,
            .op = what_.op,
            .root = what_.root,
            .algorithm = {},
            .mpi = mpi_,
            .list = what_.list,
            .accumulate = what_.accumulate};
  call.is_in_place = placement == Placement::in_place && what_.collective->layout(call).place.has_value();
  if (what_.list == 0) return call;
  const Sizes sizes = sizes_of(call);
  call.in_step = step_in_list(sizes.in);
  call.out_step = step_in_list(sizes.out);
  if (call.is_in_place)
    (sizes.in > sizes.out ? call.out_step : call.in_step) = step_in_list(std::max(sizes.in, sizes.out));
  if (in_ && out_) place(call);  // else inputs of a list, for which there is no memory, would lie in its outputs
  return call;
}

Buffers::Sizes Buffers::sizes_of(const Call& call) const {
  const std::int64_t element = size_of(call.type).value();
  const Layout layout = what_.collective->layout(call);
  const Bytes input{times(layout.input.value(), element)}, output{times(layout.output.value(), element)};
  if (!call.is_in_place) return {input, output};
  return input > output ? Sizes{input, Bytes{0}} : Sizes{Bytes{0}, output};
}

/// Of all buffers of a list.
Buffers::Sizes Buffers::all_sizes_of(const Call& call) const {
  const Sizes one = sizes_of(call);
  if (what_.list == 0) return one;
  return {Bytes{times(what_.list, step_in_list(one.in).value())},
          Bytes{times(what_.list, step_in_list(one.out).value())}};
}

void Buffers::place(Call& call) const {
  if (!call.is_in_place) return;
  const Sizes sizes = sizes_of(call);
  const Count place = *what_.collective->layout(call).place;
  const std::int64_t bytes = place.value() * size_of(call.type).value();
  if (sizes.in > sizes.out)
    call.out = in_.get() - bytes;
  else
    call.in = out_.get() + bytes;
}

Call Buffers::call(Count count, Placement placement) const {
  Call call = described(count, placement);
  place(call);
  const Sizes all = all_sizes_of(call);
  what_.memory->rewrite(bytes_of(in_.get(), all.in));
  what_.memory->rewrite(bytes_of(out_.get(), all.out));
  return call;
}

std::span<std::byte> Buffers::input_of(const Call& call) const {
  const Bytes input = what_.collective->layout(call).input.value() * size_of(call.type);
  return bytes_of(call.in, std::max(0, call.list - 1) * call.in_step + input);
}

std::array<std::span<std::byte>, 2> Buffers::used_by(const Call& call) const {
  const Sizes sizes = all_sizes_of(call);
  return {bytes_of(in_.get(), sizes.in + guard), bytes_of(out_.get(), sizes.out + guard)};
}

}  // namespace tutti::bench
