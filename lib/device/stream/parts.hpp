#pragma once
// Calls in parts: the same collective on some elements of each block at a time, so that messages and scratch fit into
// memory that was made ahead.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lib/device/stream/program.hpp"

namespace tutti::stream {

/// A call, for any of its ranks: as shm::compile() takes it.
struct Source {
  Choice choice{};
  Problem problem{};  ///< The problem of this rank.
  Type type = Type::int8;
  Op op = Op::sum;
  Routing routing{};
  shm::SharedMemory memory{};
};

/// Memory for a call on every rank.
struct Room {
  std::int64_t part_bytes = 0;  ///< The share of the landing area for the messages of one peer.
  std::int64_t scratch_bytes = 0;
};

/// One plan, without its steps, and its program; several pieces of a call may have the same.
struct PlannedProgram {
  shm::SharedPlan plan;
  Program program;
};
/// A program on buffers that begin so many bytes further on.
struct Piece {
  std::size_t program = 0;
  std::int64_t input_at = 0, output_at = 0;
};
struct Pieces {
  std::vector<PlannedProgram> programs{};
  std::vector<Piece> pieces{};
};

/// The pieces of a call on this rank, which run one after the other. They depend on facts alone that the ranks know
/// alike, but for blocks whose sizes only their two ranks know: there a rank has no more pieces than its own blocks ask
/// for. Nothing: the host has to move the call, as the algorithm exchanges sizes first, not even one element fits, or a
/// reduce-scatter has a block that is larger than all before it, so that parts of it cannot be in place.
[[nodiscard]] std::optional<Pieces> pieces_of(Source call, const Room& room);

/// The call as one piece, however long, whose program reaches the buffers of peers. `aliasings`: of all ranks. Nothing,
/// alike on all ranks: blocks are listed; messages that land, scratch or steps are too many; or no fewer bytes are
/// moved.
[[nodiscard]] std::optional<Pieces> direct_pieces_of(Source call, std::span<const Aliasing> aliasings,
                                                     const Room& room);

}  // namespace tutti::stream
