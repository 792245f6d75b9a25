#pragma once
// The mechanisms of shared memory that messages took. lib/core/communicator/counters.cpp gives the counters their
// public names.

#include <cstdint>

namespace tutti::shm {

/// The counts of one communicator on one rank, since it was made.
struct Counters {
  // Pieces of messages:
  std::uint64_t streamed = 0;   ///< Written to a bounce buffer by streaming stores.
  std::uint64_t lent = 0;       ///< Read in Tutti memory of a peer.
  std::uint64_t delivered = 0;  ///< Written by a peer to their destination in Tutti memory of this rank.
  std::uint64_t forwarded = 0;  ///< Reduced and sent on in one pass.
  std::uint64_t joint = 0;      ///< Reduced from the messages of several ranks in one pass.
};

}  // namespace tutti::shm
