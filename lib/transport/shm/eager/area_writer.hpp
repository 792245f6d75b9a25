#pragma once
// Puts pieces into areas that other ranks have read, the way that costs this rank least.

#include <cstddef>
#include <cstdint>

#include "lib/transport/shm/eager/two_ways.hpp"

namespace tutti::shm {

/// Writes areas that their readers, one or several, gave back: their lines are in the readers' caches. Between cores
/// that share a cache it is cheapest to write them there. Between others each line has to be fetched back first, at
/// several times the cost of writing to memory past all caches, from which the reader then reads at no loss. Who shares
/// a cache with whom depends on the machine and on where ranks run, which may change: so it is measured, piece by
/// piece.
class AreaWriter {
 public:
  enum class Way : std::uint8_t { cached, past_caches };

  /// Copies a piece; says how.
  Way write(std::byte* into, const std::byte* data, std::size_t bytes);

 private:
  TwoWays ways_{771};  // of pieces
};

}  // namespace tutti::shm
