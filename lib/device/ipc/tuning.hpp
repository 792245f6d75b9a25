#pragma once
// Every threshold of messages between devices inside a node. None is measured yet.

#include <chrono>

namespace tutti::ipc {

struct Tuning {
  /// So long a message waits for those that are reduced with it. Then its sender may need it to be over: a schedule
  /// could be made so, but none that the tests run is.
  std::chrono::milliseconds joint_patience{10'000};
  /// So long a message waits for the descriptor of its memory before its data are staged.
  std::chrono::milliseconds descriptor_patience{5000};
  /// So long a message waits for another mapping to be closed that is in its way.
  std::chrono::milliseconds closing_patience{1000};
  /// Memory that is to be freed waits so long for peers to close their mappings where nothing else helps.
  std::chrono::milliseconds wait_for_peers{2000};
};
inline constexpr Tuning tuning{};

}  // namespace tutti::ipc
