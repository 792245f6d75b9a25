#include "fault.hpp"

#include <fmt/format.h>

#include "lib/core/schedule/text.hpp"

namespace tutti::checker {

std::string where(Rank rank, int step, const Action& action) {
  return fmt::format("rank {}, step {} ({})", rank.value(), step, to_text(action));
}

void refute(Rank rank, int step, const Action& action, std::string_view why) {
  throw Fault{fmt::format("{}: {}", where(rank, step, action), why), {{rank, step}}};
}

}  // namespace tutti::checker
