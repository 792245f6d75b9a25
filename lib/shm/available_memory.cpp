#include "lib/shm/available_memory.hpp"

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

/// Of the group at the root of what the process sees, as in a container.
std::int64_t of_group() {
  const std::string folder = "/sys/fs/cgroup/";
  const auto limit = number_in(folder + "memory.max"), used = number_in(folder + "memory.current");
  return limit && used ? std::max<std::int64_t>(0, *limit - *used) : unlimited;
}

}  // namespace

std::int64_t available_memory() { return std::min(of_machine(), of_group()); }

}  // namespace tutti::shm
