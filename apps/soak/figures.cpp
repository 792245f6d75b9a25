#include "apps/soak/figures.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <malloc.h>
#include <mpi.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <type_traits>

#include "lib/core/transport/mpi/check.hpp"

namespace tutti::soak {
namespace {

constexpr std::int64_t kibibyte = 1024, mebibyte = 1024 * kibibyte;

std::int64_t& at(Resources& resources, Resource resource) { return resources[static_cast<std::size_t>(resource)]; }
std::int64_t at(const Resources& resources, Resource resource) { return resources[static_cast<std::size_t>(resource)]; }

/// Gives free memory back to the system, and returns the bytes that malloc has handed out and not got back: only glibc
/// 2.33 or later tells.
std::int64_t trimmed_heap() {
#if defined(__GLIBC__) && __GLIBC__ * 1000 + __GLIBC_MINOR__ >= 2033
  ::malloc_trim(0);
  const struct mallinfo2 all = ::mallinfo2();
  return static_cast<std::int64_t>(all.uordblks + all.hblkhd);
#else
  return 0;
#endif
}

void read_status(Resources& into) {
  std::ifstream status{"/proc/self/status"};
  std::int64_t value = 0;
  for (std::string name; status >> name;) {
    const bool has_value = name.ends_with(':') && status >> value;
    if (!has_value) status.clear();
    if (name == "RssAnon:" || name == "RssFile:") at(into, Resource::private_memory) += value * kibibyte;
    if (name == "RssShmem:") at(into, Resource::shared_memory) = value * kibibyte;
    if (name == "VmSize:") at(into, Resource::mapped) = value * kibibyte;
    if (name == "Threads:") at(into, Resource::threads) = value;
    status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
}

std::int64_t count_descriptors() {
  DIR* const folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return 0;
  std::int64_t entries = 0;
  while (::readdir(folder) != nullptr)
    ++entries;
  ::closedir(folder);
  constexpr std::int64_t not_ours = 3;  // "." and "..", and the folder's own.
  return entries - not_ours;
}

std::int64_t used_shm() {
  struct statvfs file_system {};
  if (::statvfs("/dev/shm", &file_system) != 0) return 0;
  return static_cast<std::int64_t>((file_system.f_blocks - file_system.f_bfree) * file_system.f_frsize);
}

/// What may come and go: a fixed part, and a part of what there was. The C library keeps what its arenas have held at
/// most, and maps 64 MiB for a new one. Shared memory is touched for the first time during the whole of a run.
struct Slack {
  std::int64_t fixed;
  double part;
  std::string_view text;
};
constexpr double without_end = std::numeric_limits<double>::infinity();
constexpr std::array<Slack, resource_count> slacks = {{{mebibyte / 2, 0.02, "512 KiB and 2 %"},
                                                       {16 * mebibyte, 0.25, "16 MiB and 25 %"},
                                                       {32 * mebibyte, 0.25, "32 MiB and 25 %"},
                                                       {96 * mebibyte, 0, "96 MiB"},
                                                       {4, 0, "4"},
                                                       {4, 0, "4"},
                                                       {0, without_end, "without end"}}};

}  // namespace

Resources read_resources(bool reads_node) {
  Resources resources{};
  at(resources, Resource::heap) = trimmed_heap();
  read_status(resources);
  at(resources, Resource::descriptors) = count_descriptors();
  if (reads_node) at(resources, Resource::node_shm) = used_shm();
  return resources;
}

History::History(double interval) : interval_(interval) { samples_.reserve(most_samples); }

void History::add(double seconds, const Resources& sample) {
  if (samples_.size() == most_samples) {
    for (std::size_t i = 0; 2 * i < most_samples; ++i)
      samples_[i] = samples_[2 * i];
    samples_.resize(most_samples / 2);
    interval_ *= 2;
  }
  due_ = seconds + interval_;
  samples_.push_back(sample);
  last_ = sample;
  for (std::size_t i = 0; i < resource_count; ++i)
    largest_[i] = std::max(largest_[i], sample[i]);
}

std::optional<History::Quarters> History::quarters(Resource resource) const {
  if (samples_.size() < least_samples) return std::nullopt;
  const auto median = [&](std::size_t begin, std::size_t end) {
    std::vector<std::int64_t> values;
    for (std::size_t i = begin; i < end; ++i)
      values.push_back(at(samples_[i], resource));
    std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
    return values[values.size() / 2];
  };
  const std::size_t size = samples_.size();
  return Quarters{median(size / 4, size / 2), median(size - size / 4, size)};
}

bool grows(Resource resource, const History::Quarters& quarters) {
  const Slack& slack = slacks[static_cast<std::size_t>(resource)];
  if (slack.part == without_end) return false;
  return quarters.growth() > slack.fixed + std::llround(slack.part * static_cast<double>(quarters.second));
}

std::string_view slack_text(Resource resource) { return slacks[static_cast<std::size_t>(resource)].text; }

std::string amount_text(Resource resource, std::int64_t amount, Sign sign) {
  const std::string_view plus = sign == Sign::always && amount >= 0 ? "+" : "";
  if (!is_bytes(resource)) return fmt::format("{}{}", plus, amount);
  const auto bytes = static_cast<double>(amount);
  if (std::abs(amount) < mebibyte) return fmt::format("{}{:.0f} KiB", plus, bytes / kibibyte);
  if (std::abs(amount) < 1024 * mebibyte) return fmt::format("{}{:.1f} MiB", plus, bytes / mebibyte);
  return fmt::format("{}{:.2f} GiB", plus, bytes / mebibyte / 1024);
}

Tally& Tally::operator+=(const Tally& other) {
  for (std::size_t i = 0; i < of_names.size(); ++i) {
    of_names[i].calls += other.of_names[i].calls;
    of_names[i].bytes += other.of_names[i].bytes;
  }
  wrong += other.wrong;
  return *this;
}

void RankFigures::add(const MessageCounters& counters) {
  const std::array transports = {counters.shm, counters.mpi, counters.network};
  for (std::size_t i = 0; i < sent.size(); ++i) {
    sent[i].messages += static_cast<std::int64_t>(transports[i].sent);
    sent[i].bytes += static_cast<std::int64_t>(transports[i].sent_bytes);
  }
}

void RankFigures::add(const History& history) {
  first = history.first();
  last = history.last();
  largest = history.largest();
  samples = static_cast<std::int64_t>(history.size());
  for (std::size_t i = 0; i < resource_count; ++i)
    quarters[i] = history.quarters(static_cast<Resource>(i)).value_or(History::Quarters{});
}

RankFigures sum_of(const std::vector<RankFigures>& ranks) {
  RankFigures sum;
  sum.samples = ranks.empty() ? 0 : ranks.front().samples;
  for (const RankFigures& rank : ranks) {
    sum.tally += rank.tally;
    sum.samples = std::min(sum.samples, rank.samples);
    for (std::size_t i = 0; i < sum.sent.size(); ++i) {
      sum.sent[i].messages += rank.sent[i].messages;
      sum.sent[i].bytes += rank.sent[i].bytes;
    }
    for (std::size_t i = 0; i < resource_count; ++i) {
      sum.first[i] += rank.first[i];
      sum.last[i] += rank.last[i];
      sum.largest[i] += rank.largest[i];
      sum.quarters[i].second += rank.quarters[i].second;
      sum.quarters[i].last += rank.quarters[i].last;
    }
  }
  return sum;
}

std::vector<RankFigures> gathered(const RankFigures& mine) {
  static_assert(std::is_trivially_copyable_v<RankFigures>);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<RankFigures> all(rank == 0 ? static_cast<std::size_t>(ranks) : 0);
  constexpr int bytes = sizeof(RankFigures);
  mpi::check(MPI_Gather(&mine, bytes, MPI_BYTE, all.data(), bytes, MPI_BYTE, 0, MPI_COMM_WORLD), "MPI_Gather");
  return all;
}

}  // namespace tutti::soak
