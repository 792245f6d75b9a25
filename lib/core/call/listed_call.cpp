#include "lib/core/call/listed_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "lib/core/call/ready.hpp"
#include "lib/core/communicator/communicator_state.hpp"
#include "lib/device/staging/device_port.hpp"

namespace tutti::detail {
namespace {

/// Whether buffers of one block each lie one after the other, so that they can be moved as one.
bool lie_in_a_row(const ListPart& part) {
  return std::ranges::adjacent_find(part.members, [](const Member& a, const Member& b) {
           const bool ins_follow = a.in == nullptr
                                       ? b.in == nullptr
                                       : b.in == a.in + a.block && a.in_memory.allocation == b.in_memory.allocation;
           const bool outs_follow = b.out == a.out + a.block && a.out_memory.allocation == b.out_memory.allocation;
           return !ins_follow || !outs_follow;
         }) == part.members.end();
}

/// The same total may be made of other buffers. 0: of one.
std::uint32_t form_of(const ListPart& part) {
  if (part.members.size() == 1) return 0;
  std::uint64_t hash = 1;
  for (const Member& member : part.members)
    hash = (hash ^ static_cast<std::uint64_t>(member.block)) * 0x9e3779b97f4a7c15U;
  return static_cast<std::uint32_t>(hash >> 32U) | 1U;
}

}  // namespace

ListedCall::ListedCall(const ListCall& list, const Communicator& comm)
    : JointCall(comm.share()),
      function_(list.function),
      collective_(list.collective),
      rank_(comm.state().rank()),
      root_(list.root),
      rows_(rows_of(list.collective, comm.state().members().size())) {}

void ListedCall::take(const ListCall& list, std::vector<ListPart> parts, const Options& options,
                      records::Manner manner) {
  const Progress::Entry entry{communicator().progress()};
  for (ListPart& part : parts)
    add(ready(call_for(list, std::move(part)), communicator(), options, manner));
}

Call ListedCall::call_for(const ListCall& list, ListPart part) {
  const Count count{part.block / size_of(list.type).value()};
  const Member& first = part.members.front();
  buffers_.push_back(part.members.size());
  packed_.emplace_back();
  Call call = call_of(list, first.in, first.out, count);
  call.form = form_of(part);
  if (part.members.size() == 1 || (rows_ == 1 && lie_in_a_row(part))) return call;
  Packed& packed = packed_.back().emplace();
  packed.members = std::move(part.members);
  packed.block = part.block;
  take_memory(packed);
  const std::int64_t own = collective_ == Collective::allgather ? rank_.value() * packed.block : 0;
  call.in = packed.data + own;
  call.out = packed.data;
  return call;
}

/// On the device of the buffers, if they are on one. Without memory there the host's will do.
void ListedCall::take_memory(Packed& packed) const {
  for (const Member& member : packed.members)
    packed.device = std::max({packed.device, member.in_memory.device, member.out_memory.device});
  const std::int64_t bytes = rows_ * packed.block;
  if (packed.device >= 0) {
    packed.on_device = communicator().staging_memory().take(device::Residence::device, packed.device, bytes);
    packed.data = packed.on_device.data;
  }
  if (packed.data != nullptr) return;
  packed.on_host = communicator().packing_memory().take(static_cast<std::size_t>(bytes));
  packed.data = packed.on_host.memory.data();
}

/// Where the memory cannot be given back, it is freed.
ListedCall::~ListedCall() try {
  const Progress::Entry entry{communicator().progress()};
  for (std::optional<Packed>& packed : packed_) {
    if (!packed) continue;
    communicator().staging_memory().give_back(packed->on_device);
    if (packed->on_host.bytes > 0) communicator().packing_memory().give_back(std::move(packed->on_host));
  }
} catch (const Error&) {
}

template <class Use>
void ListedCall::for_each_piece(const Packed& packed, Way way, const Use& use) const {
  // A reduce_scatter has its result in the first block, an allgather reads this rank's.
  const bool moves_one = collective_ == (way == Way::pack ? Collective::allgather : Collective::reduce_scatter);
  const int rows = moves_one ? 1 : rows_;
  const bool packs_own = way == Way::pack && collective_ == Collective::allgather;
  const bool has_what_it_sent = way == Way::unpack && collective_ == Collective::broadcast && rank_ == root_;
  for (int row = 0; row < rows; ++row) {
    std::byte* place = packed.data + (packs_own ? rank_.value() : row) * packed.block;
    for (const Member& member : packed.members) {
      const std::int64_t offset = row * member.block;
      if (way == Way::pack)
        use(place, member.in + offset, member.block);
      else if (!has_what_it_sent || member.in != member.out)
        use(member.out + offset, place, member.block);
      place += member.block;
    }
  }
}

void ListedCall::copy(const Packed& packed, Way way) const {
  if (collective_ == Collective::broadcast && rank_ != root_ && way == Way::pack) return;
  if (packed.device >= 0) return copy_by_device(packed, way);
  for_each_piece(packed, way, [](std::byte* into, const std::byte* from, std::int64_t bytes) {
    std::memcpy(into, from, static_cast<std::size_t>(bytes));
  });
}

/// Other ranks wait for this one's part, so an error is the communicator's end.
void ListedCall::copy_by_device(const Packed& packed, Way way) const {
  std::vector<device::PieceCopy> pieces;
  for_each_piece(packed, way, [&](std::byte* into, const std::byte* from, std::int64_t bytes) {
    pieces.push_back({into, from, bytes});
  });
  try {
    device::copy_pieces(packed.device, pieces);
  } catch (const DeviceError& error) {
    const std::string why = fmt::format("{} on rank {}: {}", function_, rank_.value(), error.what());
    communicator().fail(records::FailureKind::error, why);
    throw Error("tutti: " + why);
  }
}

void ListedCall::prepare(std::size_t operation) {
  const std::optional<Packed>& packed = packed_[operation];
  if (!packed) return;
  CommunicatorCounters& counters = communicator().counters();
  ++counters.packed_calls;
  counters.packed_buffers += packed->members.size();
  copy(*packed, Way::pack);
}

void ListedCall::finish(std::size_t operation) {
  const std::optional<Packed>& packed = packed_[operation];
  if (!packed) return;
  std::optional<Progress::Entry> entry;
  if (packed->device >= 0) entry.emplace(communicator().progress());
  copy(*packed, Way::unpack);
}

std::string ListedCall::described(std::size_t operation) const {
  const std::size_t buffers = buffers_[operation];
  return fmt::format("{} buffer{}{}", buffers, buffers == 1 ? "" : "s",
                     packed_[operation] ? ", packed"
                     : buffers > 1      ? ", one after the other"
                                        : "");
}

}  // namespace tutti::detail
