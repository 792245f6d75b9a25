#pragma once
// Writes to bounce buffers that their readers gave back.

#include <cstddef>
#include <cstdint>

#include "lib/core/transport/shm/eager/two_ways.hpp"

namespace tutti::shm {

/// The lines of such a buffer are in the caches of its readers. Between cores that share a cache it is cheapest to
/// write them as they are. Between other cores each line has to be fetched back first; a streaming store, past all
/// caches, costs a third of that, and the reader then reads from memory at no loss. The writer therefore times its
/// copies.
class ColdBuffers {
 public:
  /// Copies a piece to such a buffer. Returns whether by streaming stores.
  bool write(std::byte* into, const std::byte* data, std::size_t bytes);

 private:
  static constexpr unsigned tried_once_in = 771;        // pieces
  TwoWays short_{tried_once_in}, long_{tried_once_in};  ///< Pieces of up to tuning.short_piece, and longer ones.
};

}  // namespace tutti::shm
