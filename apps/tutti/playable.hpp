#pragma once
// How far schedules get that need not be proved.

#include <vector>

#include "apps/tutti/scene.hpp"

namespace tutti::tool {

/// The steps that complete under rendezvous flow control, if ranks wait for ever for messages that do not match.
struct Playable {
  checker::Parts parts;
  std::vector<std::vector<int>> steps;  ///< The number that each step of each rank has in the scene.
};
/// All steps, if the scene is proved. Throws InputError if steps have not the form that they need to be played.
[[nodiscard]] Playable playable_of(const Scene& scene);

}  // namespace tutti::tool
