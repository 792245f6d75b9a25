#pragma once
// The transports and devices that UCX found on this machine. Needs no UCX.

#include <string>
#include <vector>

namespace tutti::ucx {

struct Resources {
  std::vector<std::string> transports, devices;  ///< As UCX calls them: "tcp", "posix"; "eth0", "memory".
  [[nodiscard]] bool share_memory() const;
  /// Whether there is a transport that reads and writes the memory of other nodes.
  [[nodiscard]] bool have_rdma() const;
};

/// The resources in the text that UCX prints of a context.
[[nodiscard]] Resources resources_in(const std::string& text);

}  // namespace tutti::ucx
