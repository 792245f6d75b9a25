#include "lib/core/call/array_blocks.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <string>

#include "lib/core/communicator/runtime.hpp"
#include "lib/device/staging/device_port.hpp"
#include "tutti/allgather.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

/// A number for what all ranks have to call alike.
std::int64_t number_of(std::string_view function, Type type, const Op& op) {
  constexpr std::array<std::string_view, 4> functions{"sum", "dot", "norm2", "reduce_array"};
  return (std::ranges::find(functions, function) - functions.begin()) * 65536 + static_cast<std::int64_t>(type) * 256 +
         static_cast<std::int64_t>(op.kind());
}

}  // namespace

const void* fetched(std::vector<std::byte>& room, int device, const void* data, std::int64_t bytes) {
  if (device < 0) return data;
  room.resize(static_cast<std::size_t>(bytes));
  const Progress::Entry entry{Runtime::get().progress()};
  device::copy_to_host(device, static_cast<const std::byte*>(data), room.data(), bytes);
  return room.data();
}

std::vector<Cut> cuts_of(const CallSite& site, const ArrayBlock& block, Type type, const Op& op,
                         const Communicator& comm) {
  const std::array<std::int64_t, 4> own{block.count.value(), block.offset ? 1 : 0,
                                        block.offset ? block.offset->value() : 0, number_of(site.function, type, op)};
  std::vector<std::int64_t> all(own.size() * static_cast<std::size_t>(comm.size()));
  allgather(std::span{own}, std::span{all}, comm);
  std::vector<Cut> cuts;
  std::int64_t next = 0;
  for (std::size_t rank = 0; rank < all.size() / own.size(); ++rank) {
    const std::span its = std::span{all}.subspan(rank * own.size(), own.size());
    const std::int64_t count = its[0], has_offset = its[1], offset = its[2];
    if (its[3] != all[3])
      throw MismatchError(
          fmt::format("tutti::{} on rank {}: ranks 0 and {} call with other types or operations, or other functions; "
                      "this rank's are {} and {}",
                      site.function, site.rank.value(), rank, to_string(type), to_string(op.kind())));
    if (has_offset != all[1])
      refuse(site, "offset", fmt::format("{} on rank {}", has_offset != 0 ? std::to_string(offset) : "nothing", rank),
             "an offset on every rank, or on none");
    const std::int64_t begin = has_offset != 0 ? offset : next;
    if (begin < 0 || count > std::numeric_limits<std::int64_t>::max() - begin)
      refuse(site, "offset", fmt::format("{} on rank {}", begin, rank), "0 or more, so that the end can be counted");
    cuts.push_back({begin, begin + count});
    next = cuts.back().end;
  }
  return cuts;
}

std::vector<std::size_t> in_order(const CallSite& site, const std::vector<Cut>& cuts) {
  std::vector<std::size_t> order;
  for (std::size_t rank = 0; rank < cuts.size(); ++rank)
    if (cuts[rank].begin < cuts[rank].end) order.push_back(rank);
  std::ranges::sort(order, {}, [&](std::size_t rank) { return cuts[rank].begin; });
  std::int64_t next = 0;
  for (const std::size_t rank : order) {
    if (cuts[rank].begin != next)
      refuse(site, "offset",
             fmt::format("{} on rank {}, where the elements before end at {}", cuts[rank].begin, rank, next),
             "blocks without gaps that do not overlap, from element 0 on");
    next = cuts[rank].end;
  }
  return order;
}

}  // namespace tutti::detail
