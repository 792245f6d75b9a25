#include <algorithm>

#include "lib/engine/message_paths.hpp"

namespace tutti {
namespace {

class SendGroups {
 public:
  explicit SendGroups(CompiledPlan& plan) : plan_(plan) {}

  void find() {
    for (CompiledStep& step : plan_.steps) {
      if (step.verb == Verb::send) {
        if (is_shared_memory(step.path) && step.bytes > 0) join(step);
        continue;
      }
      const Span written = span(step.into, step.into_at, step.bytes);
      std::erase_if(open_, [&](const Open& open) { return overlap(open.data, written); });
    }
  }

 private:
  struct Span {
    Buffer buffer;
    std::int64_t begin, end;
    bool operator==(const Span&) const = default;
  };
  struct Open {
    Span data;
    CompiledStep* first;
    std::vector<int> peers;
  };

  static bool overlap(const Span& a, const Span& b) {
    return a.buffer == b.buffer && a.begin < b.end && b.begin < a.end;
  }
  [[nodiscard]] Span span(Buffer buffer, std::int64_t at, std::int64_t bytes) const {
    const auto [where, begin] = place_of(plan_, buffer, at);
    return {where, begin, begin + bytes};
  }
  void join(CompiledStep& send) {
    const Span data = span(send.lhs, send.lhs_at, send.bytes);
    const auto same = std::ranges::find(open_, data, &Open::data);
    if (same == open_.end()) {
      if (open_.size() == most_open) open_.erase(open_.begin());
      open_.push_back({data, &send, {send.peer}});
      return;
    }
    // Once for each reader: what a reader has to give back is bounded.
    if (std::ranges::find(same->peers, send.peer) != same->peers.end()) return;
    same->peers.push_back(send.peer);
    if (same->first->group < 0) same->first->group = plan_.groups++;
    send.group = same->first->group;
  }

  /// Sends of the same data stand near each other; plans of many segments would be looked through again and again.
  static constexpr std::size_t most_open = 64;

  CompiledPlan& plan_;
  std::vector<Open> open_;
};

}  // namespace

void find_send_groups(CompiledPlan& plan) { SendGroups{plan}.find(); }

}  // namespace tutti
