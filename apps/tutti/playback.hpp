#pragma once
// A scene played: when each message is sent and which elements it carries, and how far schedules get that need not be
// proved.

#include <string>
#include <vector>

#include "apps/tutti/scene.hpp"

namespace tutti::tool {

/// The amount of some elements as pictures draw it: how much of each cell is there, 0 to 1, and from how many ranks.
struct Load {
  struct Cell {
    bool is_there = false;
    int ranks = 0;  ///< The most that any element combines.
  };
  std::vector<Cell> cells;
  [[nodiscard]] std::size_t filled() const;
};

struct Message {
  Rank from, to;
  int time_step = 0;  ///< From 0; each rank sends at most one and receives at most one in each.
  Count count;
  bool is_reduced = false;  ///< By the receiver.
  bool is_faulty = false;   ///< The fault names its send or its receive.
  Load load;
  std::string text;  ///< "output[3..6)"
};

/// The elements of all ranks' data, as the collective's definition numbers them, are cut into cells, so that each
/// message carries whole ones; see docs/tool.md. Where that gives too many, cells are of equal size.
struct Playback {
  std::vector<Message> messages;  ///< By time step.
  int time_steps = 0;             ///< At least as many as rounds, the longest chain of messages.
  std::vector<Count> cells;       ///< Where they begin; last: where the last one ends.
  std::vector<Load> after;        ///< What each rank's output holds in the end.
  std::string_view meaning;       ///< "parts of the vector"
  int combined = 1;               ///< How many ranks a finished element combines.
  std::vector<int> stuck;         ///< Steps of each rank that never complete: none, if the scene is proved.
};
[[nodiscard]] Playback playback_of(const Scene& scene);

/// The steps that complete under rendezvous flow control, if ranks wait for ever for messages that do not match.
struct Playable {
  checker::RankSchedules schedules;
  std::vector<std::vector<int>> steps;  ///< The number that each step of each rank has in the scene.
};
/// All steps, if the scene is proved. Throws InputError if steps have not the form that they need to be played.
[[nodiscard]] Playable playable_of(const Scene& scene);

}  // namespace tutti::tool
