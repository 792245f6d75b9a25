// Support for the inline functions of include/tutti/ besides detail::run: lengths of buffers, lists of blocks.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "lib/core/call/arguments.hpp"
#include "lib/core/memory/memory_kind.hpp"
#include "lib/core/transport/mpi/api.hpp"
#include "tutti/alltoall.hpp"

namespace tutti::detail {

void require_device_span(const void* data, std::size_t size) {
  if (size == 0) return;
  int is_initialized = 0, is_finalized = 0, rank = 0;
  mpi::api.Initialized(&is_initialized);
  mpi::api.Finalized(&is_finalized);
  if (is_initialized != 0 && is_finalized == 0) mpi::api.Comm_rank(MPI_COMM_WORLD, &rank);
  const CallSite site{"DeviceSpan", Rank{rank}};
  const Memory memory = allocation_at(site, "data", data).memory;
  if (memory.kind == MemoryKind::device || memory.kind == MemoryKind::managed) return;
  const std::string_view why = why_no_device_buffers();
  const char* const unknown =
      is_readable(data) ? "memory that CUDA does not know" : "memory that CUDA does not know: was it freed?";
  refuse(site, "data", memory.kind == MemoryKind::host ? unknown : to_string(memory),
         fmt::format("memory of a CUDA device; for memory of the host give a std::span{}{}", why.empty() ? "" : "; ",
                     why));
}

namespace {

void require_length(const CallSite& site, std::string_view argument, std::size_t given, std::int64_t wanted) {
  if (static_cast<std::int64_t>(given) != wanted)
    refuse(site, argument, fmt::format("a buffer of {} elements", given), fmt::format("{} elements", wanted));
}

/// The sum, at most the largest number there is: the numbers come from users.
Count sum(Count a, Count b) {
  std::int64_t sum = 0;
  return Count{__builtin_add_overflow(a.value(), b.value(), &sum) ? std::numeric_limits<std::int64_t>::max() : sum};
}

/// The end of the last block.
Count end_of(const BlockList& list) {
  Count end, total;
  for (std::size_t i = 0; i < list.counts.size(); ++i) {
    total = sum(total, list.counts[i]);
    if (i < list.offsets.size() && list.counts[i] > Count{0}) end = std::max(end, sum(list.offsets[i], list.counts[i]));
  }
  return list.offsets.empty() ? total : end;
}

}  // namespace

Count same_length(std::string_view function, std::size_t in, std::size_t out, const Communicator& comm) {
  if (in != out)
    refuse({function, comm.rank()}, "out", fmt::format("a buffer of {} elements", out),
           fmt::format("as many as 'in', {}", in));
  return Count{in};
}

Count root_length(std::string_view function, std::string_view argument, std::size_t given, std::size_t count, Rank root,
                  const Communicator& comm) {
  if (comm.rank() == root) require_length({function, comm.rank()}, argument, given, static_cast<std::int64_t>(count));
  return Count{count};
}

Count block_length(std::string_view function, std::string_view argument, std::size_t given, std::size_t count,
                   const Communicator& comm) {
  require_length({function, comm.rank()}, argument, given, comm.size() * static_cast<std::int64_t>(count));
  return Count{count};
}

Count root_block_length(std::string_view function, std::string_view argument, std::size_t given, std::size_t count,
                        Rank root, const Communicator& comm) {
  if (comm.rank() == root) return block_length(function, argument, given, count, comm);
  return Count{count};
}

Count divided(std::string_view function, std::string_view argument, Count length, const Communicator& comm) {
  if (length % comm.size() != Count{0})
    refuse({function, comm.rank()}, argument, fmt::format("a buffer of {} elements", length.value()),
           fmt::format("a multiple of the {} ranks", comm.size()));
  return length / comm.size();
}

Call fitting(const Call& call, std::size_t in, std::size_t out, const Communicator& comm) {
  const CallSite site{call.function, comm.rank()};
  const auto own = static_cast<std::size_t>(comm.rank().value());
  const auto require = [&](std::string_view argument, std::size_t given, Count end) {
    if (end > Count{given})
      refuse(site, argument, fmt::format("a buffer of {} elements", given),
             fmt::format("at least {}, where the last block ends", end.value()));
  };
  const bool at_root = comm.rank() == call.root;
  if (call.collective == Collective::allgather && own < call.out_blocks.counts.size() &&
      call.out_blocks.counts[own] >= Count{0})
    require_length(site, "in", in, call.out_blocks.counts[own].value());
  if (call.collective == Collective::reduce_scatter && own < call.in_blocks.counts.size() &&
      call.in_blocks.counts[own] >= Count{0})
    require_length(site, "out", out, call.in_blocks.counts[own].value());
  if (call.collective == Collective::alltoall || call.collective == Collective::reduce_scatter ||
      (call.collective == Collective::scatter && at_root))
    require("in", in, end_of(call.in_blocks));
  if (call.collective == Collective::alltoall || call.collective == Collective::allgather ||
      (call.collective == Collective::gather && at_root))
    require("out", out, end_of(call.out_blocks));
  return call;
}

ByteBlocks::ByteBlocks(std::string_view argument, const TypedBlocks& blocks, const Communicator& comm) {
  const auto size = static_cast<std::size_t>(comm.size());
  const CallSite site{"alltoallw", comm.rank()};
  if (blocks.counts.size() != size || blocks.types.size() != size ||
      (!blocks.offsets.empty() && blocks.offsets.size() != size))
    refuse(site, argument,
           fmt::format("lists of {} counts, {} offsets and {} types", blocks.counts.size(), blocks.offsets.size(),
                       blocks.types.size()),
           fmt::format("one of each for each of {} ranks, or no offsets", size));
  for (std::size_t i = 0; i < size; ++i) {
    require_type(site, fmt::format("{}.types[{}]", argument, i), blocks.types[i]);
    require_count(site, blocks.counts[i], blocks.types[i]);
    counts_.emplace_back(blocks.counts[i].value() * size_of(blocks.types[i]).value());
    if (!blocks.offsets.empty()) offsets_.emplace_back(blocks.offsets[i].value());
  }
}

}  // namespace tutti::detail

namespace tutti {

void CountList::refuse(std::string_view function, std::string_view argument, const Communicator& comm) const {
  tutti::refuse({function, comm.rank()}, argument,
                fmt::format("a list with {} at position {}", too_large_->value, too_large_->position),
                fmt::format("0 to {}", std::numeric_limits<std::int64_t>::max()));
}

}  // namespace tutti
