#pragma once
// Calls that do not match: one rank deviates from the others.

#include <functional>
#include <string_view>
#include <vector>

#include "tutti/tutti.hpp"

namespace tutti::test {

/// The buffers and communicators of one attempt. `other` has the same ranks.
struct Scene {
  const Communicator& comm;
  const Communicator& other;
  std::size_t count;
  std::vector<float> in, out;
  Scene(const Communicator& comm_in, const Communicator& other_in, std::size_t count_in);
  [[nodiscard]] Count n() const { return Count{count}; }
  [[nodiscard]] int ranks() const { return comm.size(); }
};

struct MismatchCase {
  std::string_view name;
  std::function<void(Scene&)> right;  ///< The calls of all ranks but one.
  std::function<void(Scene&)> wrong;  ///< The calls of that one.
  /// A part of the text by which ranks are told; empty: nothing is wrong, and the results are right.
  std::string_view told;
};

[[nodiscard]] const std::vector<MismatchCase>& mismatch_cases();

}  // namespace tutti::test
