#pragma once
// The shared-memory transport's view of the communicator whose messages it carries.

#include <span>

#include "lib/core/transport/shm/counters.hpp"
#include "lib/core/transport/shm/links.hpp"
#include "lib/core/transport/shm/segment/processors.hpp"

namespace tutti::shm {

/// Where an execution's messages go: the same for all executions of a communicator.
struct Route {
  Links* links = nullptr;       ///< nullptr: none goes here.
  std::span<const int> locals;  ///< The number in `links` of each rank of the communicator.
  Counters* counters = nullptr;
  Processors* processors = nullptr;  ///< If ranks share them; nullptr: each has its own, or nobody knows.
  int patience = 0;                  ///< Looks after which a send that shares goes its own way.
  int looks_elsewhere = 0;           ///< Looks for a message from another processor, before a rank gives its own away.

  /// Copies a piece to a bounce buffer of this rank that others have read.
  void write_cold(std::byte* into, const std::byte* data, std::size_t bytes) const {
    if (links->cold_buffers().write(into, data, bytes)) ++counters->streamed;
  }
};

}  // namespace tutti::shm
