// How ShmPort sends a piece through an area.
#include <cstring>

#include "lib/transport/shm/shm_port.hpp"

namespace tutti::shm {
namespace {

/// Shorter pieces are demoted once they are in an area: with longer ones that costs more than it brings.
constexpr std::size_t demoted_bytes = 1024;

/// Longer pieces are not asked for before they are written: what is asked for by then would have to wait as well.
constexpr std::size_t owned_bytes = 8192;

}  // namespace

bool ShmPort::send_area(Transfer& transfer, const std::byte* data, std::size_t bytes) {
  const CompiledStep& step = *transfer.step;
  Channel& channel = *transfer.channel;
  const Stream stream = stream_of(step, transfer.done);
  const std::size_t phase = phase_of(data);
  if (const int group = side_of(step).group; group >= 0) {
    const int published = sharing_->publish(group, transfer.done, data, bytes);
    if (published >= 0) {
      channel.send_area(stream, envelope_of(step), channel.published_code(published), phase);
      return true;
    }
    // A copy of its own costs more than a short wait, but the other readers must not keep it for long.
    if (transfer.looks++ < route_.patience) return false;
  }
  const int area = channel.take_area(stream.lane, bytes);
  if (area < 0) return false;
  write_area(step, area, phase, data, bytes);
  channel.send_area(stream, envelope_of(step), area, phase);
  if (sends_once_ && bytes <= owned_bytes) channel.own_for_next(lane_, phase, bytes);
  return true;
}

void ShmPort::write_area(const CompiledStep& step, int area, std::size_t phase, const std::byte* data,
                         std::size_t bytes) const {
  const Channel& channel = *channel_of(step);
  std::byte* const into = channel.area(area) + phase;
  if (side_of(step).way == Way::ring && bytes <= owned_bytes && channel.is_cold(area))
    channel.own_for_piece(lane_, area, phase, bytes);
  std::memcpy(into, data, bytes);
  if (bytes <= demoted_bytes) demote(into, bytes);
}

}  // namespace tutti::shm
