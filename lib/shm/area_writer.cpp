#include "lib/shm/area_writer.hpp"

#include <algorithm>
#include <cstring>

#include "lib/reduce/copy.hpp"

namespace tutti::shm {
namespace {

/// Looking at the clock for less would cost more than it brings.
constexpr std::size_t least_bytes = 4096;
/// So many pieces are written in turns before it is decided; later the other way is tried for one in so many.
constexpr unsigned first_pieces = 16, tried_once_in = 256;
/// What a piece counts in the mean; how many times the mean at most, as ranks may lose their processor meanwhile.
constexpr double weight = 1.0 / 4, outlier = 4;

std::size_t index(AreaWriter::Way way) { return static_cast<std::size_t>(way); }

}  // namespace

AreaWriter::Way AreaWriter::write(std::byte* into, const std::byte* data, std::size_t bytes) {
  if (bytes < least_bytes) {
    std::memcpy(into, data, bytes);
    return Way::cached;
  }
  const Way way = choose();
  const auto begin = std::chrono::steady_clock::now();
  if (way == Way::past_caches)
    copy_bytes_streaming(into, data, bytes);
  else
    std::memcpy(into, data, bytes);
  add(way, bytes, std::chrono::steady_clock::now() - begin);
  return way;
}

AreaWriter::Way AreaWriter::choose() {
  const unsigned period = pieces_ < first_pieces ? 2 : tried_once_in;
  const bool tries_other = ++pieces_ % period == 0;
  const bool is_cheaper = costs_[index(Way::past_caches)] < costs_[index(Way::cached)];
  return is_cheaper != tries_other ? Way::past_caches : Way::cached;
}

void AreaWriter::add(Way way, std::size_t bytes, Seconds took) {
  const double now = took.count() / static_cast<double>(bytes);
  double& mean = costs_[index(way)];
  mean = mean == 0 ? now : mean + weight * (std::min(now, outlier * mean) - mean);
}

}  // namespace tutti::shm
