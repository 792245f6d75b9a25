#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "lib/core/plan/shm_compile.hpp"

namespace tutti::shm {
namespace {

class SendGroups {
 public:
  SendGroups(SharedPlan& plan, const SharedMemory& memory) : plan_(plan), memory_(memory) {}

  void find() {
    for (CompiledStep& step : plan_.steps) {
      if (step.verb != Verb::send)
        close(span(step.into, step.into_at, step.bytes));
      else if (step.transport == Transport::shm && step.bytes > memory_.cell_bytes)
        join(step);
    }
    keep_those_worth_it();
  }

 private:
  struct Span {
    Buffer buffer;
    std::int64_t begin, end;
    auto operator<=>(const Span&) const = default;
  };
  struct Open {
    CompiledStep* first;
    std::vector<int> peers;
  };

  [[nodiscard]] Span span(Buffer buffer, std::int64_t at, std::int64_t bytes) const {
    const auto [where, begin] = place_of(plan_, buffer, at);
    return {where, begin, begin + bytes};
  }
  /// Closes the groups whose data are overwritten: these are other data from then on.
  void close(const Span& written) {
    auto each = open_.lower_bound({written.buffer, written.begin - longest_, 0});
    while (each != open_.end() && each->first.buffer == written.buffer && each->first.begin < written.end)
      each = each->first.end > written.begin ? open_.erase(each) : std::next(each);
  }
  void join(CompiledStep& send) {
    const Span data = span(send.lhs, send.lhs_at, send.bytes);
    longest_ = std::max(longest_, send.bytes);
    const auto [same, is_new] = open_.try_emplace(data, Open{&send, {}});
    Open& open = same->second;
    // Once for each reader: the number of buffers that a reader has to give back is bounded.
    if (std::ranges::find(open.peers, send.peer) != open.peers.end()) return;
    open.peers.push_back(send.peer);
    if (is_new) return;
    if (plan_.side(*open.first).group < 0) plan_.side(*open.first).group = plan_.groups++;
    plan_.side(send).group = plan_.side(*open.first).group;
  }
  void keep_those_worth_it() {
    std::vector<std::int64_t> bytes(static_cast<std::size_t>(plan_.groups));
    for (const CompiledStep& step : plan_.steps)
      if (const int group = std::as_const(plan_).side(step).group; group >= 0)
        bytes[static_cast<std::size_t>(group)] += step.bytes;
    std::vector<int> renumbered;
    renumbered.reserve(bytes.size());
    plan_.groups = 0;
    for (const std::int64_t each : bytes)
      renumbered.push_back(each > memory_.copied_bytes ? plan_.groups++ : -1);
    for (SideStep& side : plan_.sides)
      if (side.group >= 0) side.group = renumbered[static_cast<std::size_t>(side.group)];
  }

  SharedPlan& plan_;
  const SharedMemory& memory_;
  std::map<Span, Open> open_;  ///< Data that were sent and not written since.
  std::int64_t longest_ = 0;   ///< Of them.
};

}  // namespace

void find_send_groups(SharedPlan& plan, const SharedMemory& memory) { SendGroups{plan, memory}.find(); }

}  // namespace tutti::shm
