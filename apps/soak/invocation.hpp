#pragma once
// A random call as calls of Tutti.

#include <vector>

#include "apps/soak/layout.hpp"
#include "apps/soak/memory.hpp"
#include "tutti/batch.hpp"
#include "tutti/call.hpp"

namespace tutti::soak {

/// One call on this rank, ready to be made in any way. The arguments of its constructor must outlive it.
class Invocation {
 public:
  Invocation(const Call& call, const Layout& layout, const CallMemory& memory, const Communicator& comm);

  /// Blocking.
  void run();
  [[nodiscard]] std::vector<Request> start();
  [[nodiscard]] std::vector<Plan> prepare();

 private:
  void list_blocks();
  [[nodiscard]] detail::Call collective_call() const;
  void place(detail::Call& call) const;
  void list_messages();

  const Call& call_;
  const Layout& layout_;
  const CallMemory& memory_;
  const Communicator& comm_;
  std::vector<Count> in_counts_, in_offsets_, out_counts_, out_offsets_;
  /// A message of this rank, received or sent.
  struct Transfer {
    bool is_sent;
    std::byte* data;
    Count count;
    Rank peer;
  };
  std::vector<Transfer> transfers_;
  std::vector<Batch> batches_;  ///< None or one.
};

}  // namespace tutti::soak
