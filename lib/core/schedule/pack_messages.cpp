#include "lib/core/schedule/pack_messages.hpp"

#include <algorithm>
#include <utility>

namespace tutti {
namespace {

class Packer {
 public:
  explicit Packer(const Schedule& from) : from_(from) { to_.scratch = from.scratch; }

  Schedule packed() {
    for (const Step& step : from_.steps) {
      std::vector<int> after = renumbered(step.after);
      if (const auto* send = std::get_if<Send>(&step.action); send != nullptr && send->from.size() > 1)
        gather(*send, after);
      else if (const auto* recv = std::get_if<Recv>(&step.action); recv != nullptr && recv->into.size() > 1)
        spread(*recv, std::move(after));
      else
        last_of_.push_back({append(step.action, std::move(after))});
    }
    return std::move(to_);
  }

 private:
  void gather(const Send& send, const std::vector<int>& after) {
    const Region staged = stage(send.from);
    std::vector<int> copies;
    Count at = staged.offset;
    for (const Region& region : send.from) {
      copies.push_back(append(Copy{region, {Buffer::scratch, at, region.count}}, after));
      at += region.count;
    }
    last_of_.push_back({append(Send{send.to, {staged}, send.message}, std::move(copies))});
  }

  /// Steps that waited for the receive now wait for the copies, which write its regions.
  void spread(const Recv& recv, std::vector<int> after) {
    const Region staged = stage(recv.into);
    const int arrived = append(Recv{recv.from, {staged}, recv.message}, after);
    after.push_back(arrived);
    std::vector<int> copies;
    Count at = staged.offset;
    for (const Region& region : recv.into) {
      copies.push_back(append(Copy{{Buffer::scratch, at, region.count}, region}, after));
      at += region.count;
    }
    last_of_.push_back(std::move(copies));
  }

  Region stage(const Regions& regions) {
    Region staged{Buffer::scratch, to_.scratch, Count{0}};
    for (const Region& region : regions)
      staged.count += region.count;
    to_.scratch += staged.count;
    return staged;
  }

  int append(Action action, std::vector<int> after) {
    to_.steps.push_back({std::move(action), std::move(after)});
    return static_cast<int>(to_.steps.size()) - 1;
  }

  std::vector<int> renumbered(const std::vector<int>& after) const {
    std::vector<int> now;
    for (const int before : after) {
      const std::vector<int>& last = last_of_[static_cast<std::size_t>(before)];
      now.insert(now.end(), last.begin(), last.end());
    }
    std::ranges::sort(now);
    return now;
  }

  const Schedule& from_;
  Schedule to_;
  std::vector<std::vector<int>> last_of_;  ///< By old step: the new steps that complete it.
};

}  // namespace

Schedule pack_messages(const Schedule& schedule) { return Packer{schedule}.packed(); }

}  // namespace tutti
