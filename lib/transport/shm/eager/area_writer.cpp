#include "lib/transport/shm/eager/area_writer.hpp"

#include <chrono>
#include <cstring>

#include "lib/reduce/copy.hpp"
#include "lib/reduce/kernels.hpp"

namespace tutti::shm {
namespace {

/// Looking at the clock for less would cost more than it brings.
constexpr std::size_t least_bytes = 4096;

}  // namespace

AreaWriter::Way AreaWriter::write(std::byte* into, const std::byte* data, std::size_t bytes) {
  if (bytes < least_bytes || !has_streaming_kernels()) {
    std::memcpy(into, data, bytes);
    return Way::cached;
  }
  const TwoWays::Way way = ways_.choose();
  const auto begin = std::chrono::steady_clock::now();
  if (way == TwoWays::Way::other)
    copy_bytes_streaming(into, data, bytes);
  else
    std::memcpy(into, data, bytes);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  ways_.add(way, took.count() / static_cast<double>(bytes));
  return way == TwoWays::Way::other ? Way::past_caches : Way::cached;
}

}  // namespace tutti::shm
