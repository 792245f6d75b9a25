#include "lib/core/transport/shm/port_context.hpp"

namespace tutti::shm {

static_assert(Geometry::message_classes == CompiledPlan::class_count);

PortContext::PortContext(const Route& where, const SharedPlan& what) : route(where), plan(&what) {
  if (route.links == nullptr) return;
  const Geometry& geometry = route.links->geometry();
  cell_bytes = geometry.cell_bytes;
  piece_bytes = what.piece_of(geometry.buffer_bytes);
  heap = route.links->heap();
  if (!what.takes_turns) {
    lane = geometry.message_lane(what.message_class);
    sequence = what.fingerprint;
  }
  if (what.forwards && !what.uses(Transport::ipc)) {
    forwarded.resize(what.steps.size());
    delivered.resize(what.steps.size());
  }
  channels.resize(route.locals.size());
  for (const CompiledStep& step : what.steps) {
    if (!step.is_message() || !step.is_local()) continue;
    Channel*& channel = channels[static_cast<std::size_t>(step.peer)];
    if (channel == nullptr) channel = &route.links->open(local_of(step));
    route.links->reserve_class(local_of(step), what.message_class);
    if (!fits_cell(step)) route.links->reserve_buffers(local_of(step));
  }
}

const std::byte* PortContext::mapped_piece(const CompiledStep& step, const Envelope& came, std::int64_t bytes) const {
  const Channel& channel = channel_of(step);
  switch (came.where) {
    case Where::lent: {
      const std::int64_t source = ring_of(step).incoming().loan().source;
      return is_in_heap(step, source, bytes) ? heap->at(source, bytes) : nullptr;
    }
    case Where::bounce:
    case Where::shared:
    case Where::returned:
      return channel.has(came) ? channel.piece(came) : nullptr;
    case Where::cell:
    case Where::delivered:
    case Where::on_device:
    case Where::failed:
      break;
  }
  return nullptr;
}

}  // namespace tutti::shm
