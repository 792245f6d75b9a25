#pragma once
// One copy for several readers: sends of the same data to several ranks share the bounce buffers that they are read
// from.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/core/plan/shared_plan.hpp"
#include "lib/core/transport/shm/route.hpp"

namespace tutti::shm {

/// Shares pieces among the sends of one execution. Never makes a send wait for the reader of another: where no buffer
/// is free, a send goes its own way.
class PieceSharing {
 public:
  PieceSharing(const Route& route, const SharedPlan& plan);

  /// A run starts.
  void begin();
  /// The bounce buffer that holds the piece of `bytes` bytes at `offset` of a group's data, for one more reader;
  /// copied there if no send of the group did so before. -1: none is free.
  [[nodiscard]] int publish(int group, std::int64_t offset, const std::byte* data, std::size_t bytes);
  /// A send of the group is complete.
  void completed(int group);
  /// Nothing more will be sent.
  void abandon() noexcept;

 private:
  /// A buffer that this execution keeps, as later sends of the group may want it.
  struct Kept {
    std::int64_t offset;
    int buffer;
  };
  struct Sharers {
    int sends = 0, left = 0;
    std::vector<Kept> kept{};
  };
  [[nodiscard]] int free_buffer(Sharers& sharers);
  void release(Sharers& sharers) noexcept;

  const Route* route_;
  std::vector<Sharers> groups_;
};

}  // namespace tutti::shm
