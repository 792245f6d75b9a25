#pragma once
// Why a proof fails. Thrown inside the checker only: `prove` turns it into a verdict.

#include <string>
#include <string_view>
#include <vector>

#include "tutti/schedule.hpp"

namespace tutti::checker {

struct Fault {
  /// What the text names: a step of a rank, or the rank.
  struct Position {
    Rank rank;
    int step = whole_rank;
    static constexpr int whole_rank = -1;
    bool operator==(const Position&) const = default;
  };
  std::string text;
  std::vector<Position> positions{};
};

/// "rank 3, step 7 (recv scratch[0..4) from 2)"
[[nodiscard]] std::string where(Rank rank, int step, const Action& action);

/// Throws the fault of a step: "rank 3, step 7 (recv scratch[0..4) from 2): WHY".
[[noreturn]] void refute(Rank rank, int step, const Action& action, std::string_view why);

}  // namespace tutti::checker
