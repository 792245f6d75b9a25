#pragma once
// Every threshold of messages between devices inside a node. None is measured yet.

#include <chrono>

namespace tutti::ipc {

struct Tuning {
  /// So long a message waits for those that are reduced with it: its sender may need it to be over.
  std::chrono::milliseconds joint_patience{1000};
  /// Memory that is to be freed waits so long for peers to close their mappings where nothing else helps.
  std::chrono::milliseconds wait_for_peers{2000};
};
inline constexpr Tuning tuning{};

}  // namespace tutti::ipc
