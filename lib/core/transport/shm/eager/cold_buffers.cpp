#include "lib/core/transport/shm/eager/cold_buffers.hpp"

#include <chrono>
#include <cstring>

#include "lib/core/transport/shm/eager/streaming_copy.hpp"
#include "lib/core/transport/shm/tuning.hpp"

namespace tutti::shm {

bool ColdBuffers::write(std::byte* into, const std::byte* data, std::size_t bytes) {
  if (!has_streaming_stores || bytes < tuning.least_streamed) {
    std::memcpy(into, data, bytes);
    return false;
  }
  TwoWays& ways = bytes <= tuning.short_piece ? short_ : long_;
  const TwoWays::Way way = ways.choose();
  const bool streams = way == TwoWays::Way::other;
  const auto begin = std::chrono::steady_clock::now();
  if (streams)
    copy_streaming(into, data, bytes);
  else
    std::memcpy(into, data, bytes);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  ways.add(way, took.count() / static_cast<double>(bytes));
  return streams;
}

}  // namespace tutti::shm
