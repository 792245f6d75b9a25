#include "apps/sgd/data_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/crc.hpp>
#include <cmath>
#include <numeric>

#include "apps/options.hpp"
#include "apps/sgd/random.hpp"

namespace tutti::sgd {

namespace {

DataSet subset(const DataSet& all, std::span<const int> images) {
  DataSet part{all.name, all.features, all.classes, all.white, {}, {}};
  for (const int image : images) {
    const auto first = all.pixels.begin() + static_cast<std::ptrdiff_t>(image) * all.features;
    part.pixels.insert(part.pixels.end(), first, first + all.features);
    part.labels.push_back(all.labels[static_cast<std::size_t>(image)]);
  }
  return part;
}

}  // namespace

Split split(const DataSet& all, double test_fraction, std::uint64_t seed) {
  const int test = std::max(1, static_cast<int>(std::lround(test_fraction * all.size())));
  if (test >= all.size()) {
    throw apps::InputError(fmt::format("{}: none of {} images is left to train with when {} are set aside for testing",
                                       all.name, all.size(), test));
  }
  std::vector<int> images(static_cast<std::size_t>(all.size()));
  std::iota(images.begin(), images.end(), 0);
  Random{seed, Random::Purpose::split}.shuffle(std::span{images});
  const std::span<const int> shuffled{images};
  const auto held_out = static_cast<std::size_t>(test);
  return {subset(all, shuffled.subspan(held_out)), subset(all, shuffled.first(held_out))};
}

std::uint32_t fingerprint(const Split& data) {
  boost::crc_32_type crc;
  for (const DataSet* part : {&data.train, &data.test}) {
    crc.process_bytes(part->pixels.data(), part->pixels.size());
    crc.process_bytes(part->labels.data(), part->labels.size());
  }
  return crc.checksum();
}

}  // namespace tutti::sgd
