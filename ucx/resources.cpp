#include "ucx/resources.hpp"

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string_view>

namespace tutti::ucx {
namespace {

void add(std::string_view item, std::vector<std::string>& list) {
  if (std::ranges::find(list, item) == list.end()) list.emplace_back(item);
}

}  // namespace

/// Every kind of it has a device of this name.
bool Resources::share_memory() const { return std::ranges::find(devices, "memory") != devices.end(); }

/// RDMA is what the transports of InfiniBand and RoCE do: "rc_verbs", "dc_mlx5", "ud_mlx5".
bool Resources::have_rdma() const {
  return std::ranges::any_of(transports, [](std::string_view name) {
    return name.starts_with("rc") || name.starts_with("dc") || name.starts_with("ud");
  });
}

Resources resources_in(const std::string& text) {
  Resources found;
  // Lines as "#  resource 1  :  md 1  dev 1  flags -- tcp/lo".
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    if (line.find("resource ") == std::string::npos) continue;
    const std::size_t slash = line.rfind('/'), start = line.find_last_of(' ', slash) + 1;
    if (slash == std::string::npos) continue;
    add(line.substr(start, slash - start), found.transports);
    add(line.substr(slash + 1, line.find_last_not_of(" \r") - slash), found.devices);
  }
  return found;
}

}  // namespace tutti::ucx
