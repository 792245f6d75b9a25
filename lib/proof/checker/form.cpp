#include "form.hpp"

#include <fmt/format.h>

#include "fault.hpp"
#include "lib/core/schedule/text.hpp"

namespace tutti::checker {
namespace {

/// Checks the steps of one rank, one after another.
class Form {
 public:
  Form(const RankSchedules& schedules, Rank rank)
      : own_(schedules[static_cast<std::size_t>(rank.value())]),
        rank_(rank),
        size_(static_cast<int>(schedules.size())) {}

  void require() {
    if (const auto offset = own_.aliasing.offset(); offset &&
                                                    (*offset < Count{0} || *offset + own_.input > own_.output) &&
                                                    (*offset > Count{0} || *offset + own_.input < own_.output))
      throw Fault{fmt::format("rank {}: neither of input and output lies inside the other", rank_.value()), {{rank_}}};
    for (const Step& step : own_.schedule.steps) {
      action_ = &step.action;
      require_earlier(step.after);
      if (const auto* recv = std::get_if<Recv>(&step.action); recv != nullptr && recv->then && recv->into.size() != 1)
        refute("does not reduce what it receives with something else");
      for_each_read(step.action, [&](const Region& region) { require_inside(region); });
      for_each_write(step.action, [&](const Region& region) { require_writable(region); });
      std::visit([&](const auto& action) { require_action(action); }, step.action);
      ++step_;
    }
  }

 private:
  [[noreturn]] void refute(std::string_view why) const { checker::refute(rank_, step_, *action_, why); }

  void require_earlier(const std::vector<int>& after) const {
    int last = -1;
    for (const int before : after) {
      if (before <= last) refute("the steps it waits for are not in ascending order");
      if (before >= step_) refute(fmt::format("waits for step {}, which does not come before it", before));
      last = before;
    }
  }

  void require_inside(const Region& region) const {
    const Count size = size_of(own_, region.buffer);
    if (region.count < Count{0} || region.offset < Count{0} || region.count > size ||
        region.offset > size - region.count)
      refute(fmt::format("{} leaves its buffer of {} elements", to_text(region), size.value()));
  }

  void require_writable(const Region& region) const {
    require_inside(region);
    if (region.buffer == Buffer::input) refute("writes the input");
  }

  void require_peer(Rank peer) const {
    if (peer == rank_) refute("exchanges a message with itself");
    if (peer.value() < 0 || peer.value() >= size_)
      refute(fmt::format("exchanges a message with rank {} of {}", peer.value(), size_));
  }

  void require_action(const Send& send) const { require_peer(send.to); }

  void require_action(const Recv& recv) const {
    require_peer(recv.from);
    if (!recv.then) return;
    const auto& [lhs, rhs, into] = *recv.then;
    if ((lhs == recv.into[0]) == (rhs == recv.into[0])) refute("does not reduce what it receives with something else");
    require_action(*recv.then);
  }

  void require_action(const Reduce& reduce) const {
    const Region into = located(own_, reduce.into);
    for (const Region& operand : {reduce.lhs, reduce.rhs}) {
      if (operand.count != into.count) refute("reduces regions of different counts");
      if (located(own_, operand) != into && overlap(located(own_, operand), into))
        refute("reduces onto a part of its operand");
    }
  }

  void require_action(const Copy& copy) const {
    if (copy.from.count != copy.into.count) refute("copies between regions of different counts");
    if (overlap(located(own_, copy.from), located(own_, copy.into))) refute("copies onto its source");
  }

  const RankSchedule& own_;
  Rank rank_;
  int size_;
  int step_ = 0;
  const Action* action_ = nullptr;
};

}  // namespace

void require_form(const RankSchedules& schedules) {
  for (int rank = 0; rank < static_cast<int>(schedules.size()); ++rank)
    Form{schedules, Rank{rank}}.require();
}

}  // namespace tutti::checker
