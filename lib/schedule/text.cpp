#include "text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace tutti {
namespace {

std::string_view name(Buffer buffer) {
  switch (buffer) {
    case Buffer::input:
      return "input";
    case Buffer::output:
      return "output";
    case Buffer::scratch:
      return "scratch";
  }
  return "?";
}

std::string list(const Regions& regions) {
  if (regions.empty()) return "signal";
  std::vector<std::string> texts;
  for (const Region& region : regions)
    texts.push_back(to_text(region));
  return fmt::format("{}", fmt::join(texts, " + "));
}

std::string numbered(int message) { return message == 0 ? "" : fmt::format(" (message {})", message); }

struct Describe {
  std::string operator()(const Send& s) const {
    return fmt::format("send {} to {}{}", list(s.from), s.to.value(), numbered(s.message));
  }
  std::string operator()(const Recv& r) const {
    const std::string received = fmt::format("recv {} from {}{}", list(r.into), r.from.value(), numbered(r.message));
    return r.then ? received + ", " + (*this)(*r.then) : received;
  }
  std::string operator()(const Reduce& r) const {
    return fmt::format("reduce {} = {} (+) {}", to_text(r.into), to_text(r.lhs), to_text(r.rhs));
  }
  std::string operator()(const Copy& c) const { return fmt::format("copy {} = {}", to_text(c.into), to_text(c.from)); }
};

bool is_message(const Action& action) {
  return std::holds_alternative<Send>(action) || std::holds_alternative<Recv>(action);
}

/// The round of each step, from 1: a message that needs what the current round received opens the next one.
std::vector<int> rounds_of(const Schedule& schedule) {
  std::vector<int> rounds;
  std::vector<bool> needs_received;  // in its own round
  int current = 1;
  for (const auto& [action, after] : schedule.steps) {
    const auto waits = [&](int before) {
      return rounds[static_cast<std::size_t>(before)] == current && needs_received[static_cast<std::size_t>(before)];
    };
    bool needs = std::ranges::any_of(after, waits);
    if (needs && is_message(action)) {
      ++current;
      needs = false;
    }
    rounds.push_back(current);
    needs_received.push_back(needs || std::holds_alternative<Recv>(action));
  }
  return rounds;
}

}  // namespace

std::string to_text(const Region& region) {
  return fmt::format("{}[{}..{})", name(region.buffer), region.offset.value(), (region.offset + region.count).value());
}

std::string to_text(const Action& action) { return std::visit(Describe{}, action); }

std::string to_text(const Schedule& schedule) {
  std::string text;
  int shown = 0;
  const std::vector<int> rounds = rounds_of(schedule);
  for (std::size_t step = 0; step < schedule.steps.size(); ++step) {
    if (rounds[step] != shown) text += fmt::format("round {}\n", shown = rounds[step]);
    text += fmt::format("  {}\n", to_text(schedule.steps[step].action));
  }
  if (schedule.scratch > Count{0}) text += fmt::format("scratch {} elements\n", schedule.scratch.value());
  return text;
}

}  // namespace tutti
