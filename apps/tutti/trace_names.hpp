#pragma once
// The words for what a trace records.

#include <array>
#include <cstddef>
#include <string_view>

#include "lib/watch/trace/format.hpp"

namespace tutti::tool {

[[nodiscard]] inline std::string_view name_of(trace::Start start) {
  constexpr std::array<std::string_view, 5> names{"blocking", "nonblocking", "persistent", "in a stream, by the host",
                                                  "in a stream"};
  return names.at(static_cast<std::size_t>(start));
}
[[nodiscard]] inline std::string_view name_of(trace::Action action) {
  constexpr std::array<std::string_view, 8> names{"send",  "receive", "receive and reduce", "reduce", "copy", "fetch",
                                                  "store", "finish"};
  return names.at(static_cast<std::size_t>(action));
}
[[nodiscard]] inline std::string_view name_of(trace::Way way) {
  constexpr std::array<std::string_view, 6> names{"-", "shared memory", "CUDA IPC", "MPI", "network", "device"};
  return names.at(static_cast<std::size_t>(way));
}
[[nodiscard]] inline bool is_receive(trace::Action action) {
  return action == trace::Action::recv || action == trace::Action::recv_reduce;
}

}  // namespace tutti::tool
