#include "lib/core/transport/shm/segment/available_memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace tutti::shm {
namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

std::int64_t of_machine() {
  std::ifstream meminfo{"/proc/meminfo"};
  std::string name;
  for (std::int64_t kibibytes = 0; meminfo >> name >> kibibytes;) {
    if (name == "MemAvailable:") return kibibytes * 1024;
    meminfo.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return unlimited;
}

/// Nothing if the file is not there or says "max".
std::optional<std::int64_t> number_in(const std::string& file) {
  std::ifstream in{file};
  std::int64_t number = 0;
  return in >> number ? std::optional{number} : std::nullopt;
}

/// The bytes that a group uses but could let go of: pages of files.
std::int64_t reclaimable(const std::string& folder) {
  std::ifstream statistics{folder + "/memory.stat"};
  std::string name;
  std::int64_t bytes = 0, sum = 0;
  while (statistics >> name >> bytes)
    if (name == "active_file" || name == "inactive_file") sum += bytes;
  return sum;
}

/// The least that is available in the control groups (version 2) of this process, up to the root of the hierarchy that
/// it sees.
std::int64_t of_groups() {
  std::ifstream groups{"/proc/self/cgroup"};
  std::string path;
  for (std::string line; std::getline(groups, line);)
    if (line.starts_with("0::")) path = line.substr(3);
  std::int64_t least = unlimited;
  while (true) {
    const std::string folder = "/sys/fs/cgroup" + path;
    const auto limit = number_in(folder + "/memory.max"), used = number_in(folder + "/memory.current");
    if (limit && used) least = std::min(least, std::max<std::int64_t>(0, *limit - *used + reclaimable(folder)));
    if (path.empty()) return least;
    path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
  }
}

}  // namespace

std::int64_t available_memory() { return std::min(of_machine(), of_groups()); }

}  // namespace tutti::shm
