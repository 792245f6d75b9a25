#include "lib/shm/area_writer.hpp"

#include <algorithm>
#include <cstring>

#include "lib/reduce/copy.hpp"
#include "lib/reduce/kernels.hpp"

namespace tutti::shm {
namespace {

/// Looking at the clock for less would cost more than it brings.
constexpr std::size_t least_bytes = 4096;
/// How often the way is tried that seems dearer: one of so many pieces, first and later. Odd numbers, as messages may
/// consist of few pieces of different sizes.
constexpr unsigned first_pieces = 16, tried_first_once_in = 3, tried_once_in = 257;
/// What a piece counts in the mean. Ranks may lose their processor meanwhile: a time is taken for so many times the
/// mean at most, and the mean for so many times any time.
constexpr double weight = 1.0 / 4, outlier = 4;

std::size_t index(AreaWriter::Way way) { return static_cast<std::size_t>(way); }

}  // namespace

AreaWriter::Way AreaWriter::write(std::byte* into, const std::byte* data, std::size_t bytes) {
  if (bytes < least_bytes || !has_streaming_kernels()) {
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
  const unsigned period = pieces_ < first_pieces ? tried_first_once_in : tried_once_in;
  const bool tries_other = ++pieces_ % period == 0;
  const bool is_cheaper = costs_[index(Way::past_caches)] < costs_[index(Way::cached)];
  return is_cheaper != tries_other ? Way::past_caches : Way::cached;
}

void AreaWriter::add(Way way, std::size_t bytes, Seconds took) {
  const double now = took.count() / static_cast<double>(bytes);
  double& mean = costs_[index(way)];
  mean = mean == 0 ? now : std::min(mean, outlier * now);
  mean += weight * (std::min(now, outlier * mean) - mean);
}

}  // namespace tutti::shm
