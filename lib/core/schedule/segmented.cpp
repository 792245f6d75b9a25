#include <algorithm>
#include <map>
#include <utility>

#include "lib/core/schedule/passes.hpp"
#include "lib/core/schedule/regions.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

/// Elements [begin, end) of the data that the regions hold, in order.
Regions cut(const Regions& regions, Count begin, Count end) {
  Regions piece;
  Count at;
  for (const Region& region : regions) {
    const Count from = std::max(begin, at) - at, to = std::min(end, at + region.count) - at;
    if (from < to) piece.push_back({region.buffer, region.offset + from, to - from});
    at += region.count;
  }
  return piece;
}

Region cut(const Region& region, Count begin, Count end) { return {region.buffer, region.offset + begin, end - begin}; }

struct Touched {
  Regions reads, writes;
};

struct Touches {
  Touched operator()(const Send& send) const { return {send.from, {}}; }
  Touched operator()(const Recv& recv) const { return {{}, recv.into}; }
  Touched operator()(const Reduce& reduce) const { return {{reduce.lhs, reduce.rhs}, {reduce.into}}; }
  Touched operator()(const Copy& copy) const { return {{copy.from}, {copy.into}}; }
};

Count size_of(const Action& action) {
  const auto [reads, writes] = std::visit(Touches{}, action);
  return std::max(total(writes), std::holds_alternative<Send>(action) ? total(reads) : Count{0});
}

class Segmenter {
 public:
  Segmenter(const Schedule& from, const Aliasing& aliasing, Count segment, std::int64_t most_pieces)
      : from_(from), aliasing_(aliasing), segment_(segment), most_pieces_(most_pieces), accesses_(aliasing) {
    to_.scratch = from.scratch;
  }

  Schedule segmented() {
    for (const Step& step : from_.steps) {
      const Count size = size_of(step.action), segment = segment_of(size);
      std::vector<int> always = ordering_only(step);
      if (always.size() > 1 && size > segment) always = {joint_end(std::move(always))};
      pieces_.push_back({static_cast<int>(to_.steps.size()), 0});
      for (Count begin; begin < size || begin == Count{0}; begin += segment)
        append(piece(step.action, begin, std::min(begin + segment, size)), always);
      pieces_.back().second = static_cast<int>(to_.steps.size());
    }
    return std::move(to_);
  }

 private:
  /// The segment size for a step of that size.
  [[nodiscard]] Count segment_of(Count size) const {
    const std::int64_t least = size.value() / most_pieces_ + (size.value() % most_pieces_ == 0 ? 0 : 1);
    return std::max(segment_, Count{least});
  }

  Action piece(const Action& action, Count begin, Count end) {
    if (const auto* send = std::get_if<Send>(&action))
      return Send{send->to, cut(send->from, begin, end), sent_[send->to]++};
    if (const auto* recv = std::get_if<Recv>(&action))
      return Recv{recv->from, cut(recv->into, begin, end), received_[recv->from]++};
    if (const auto* reduce = std::get_if<Reduce>(&action))
      return Reduce{cut(reduce->lhs, begin, end), cut(reduce->rhs, begin, end), cut(reduce->into, begin, end)};
    const Copy& copy = std::get<Copy>(action);
    return Copy{cut(copy.from, begin, end), cut(copy.into, begin, end)};
  }

  /// All pieces of those steps that `step` waits for though they touch nothing in common, as with signals.
  std::vector<int> ordering_only(const Step& step) const {
    std::vector<int> pieces;
    for (const int before : step.after) {
      const auto place = static_cast<std::size_t>(before);
      if (conflict(from_.steps[place].action, step.action)) continue;
      for (int piece = pieces_[place].first; piece < pieces_[place].second; ++piece)
        pieces.push_back(piece);
    }
    return pieces;
  }

  /// A copy of nothing that is over when all of these steps are. The pieces of a step wait for it and not for each of
  /// them: dependencies then grow with the number of pieces, not with its square.
  int joint_end(std::vector<int> steps) {
    if (steps == joined_) return joint_end_;
    constexpr Region nothing{Buffer::output, Count{0}, Count{0}};
    joint_end_ = static_cast<int>(to_.steps.size());
    append(Copy{nothing, nothing}, steps);
    joined_ = std::move(steps);
    return joint_end_;
  }

  [[nodiscard]] bool conflict(const Action& earlier, const Action& later) const {
    const Touched a = std::visit(Touches{}, earlier), b = std::visit(Touches{}, later);
    return touch(a.writes, b.reads) || touch(a.writes, b.writes) || touch(a.reads, b.writes);
  }

  [[nodiscard]] bool touch(const Regions& some, const Regions& others) const {
    return std::ranges::any_of(some, [&](const Region& region) {
      const Region a = aliasing_.located(region);
      return std::ranges::any_of(others, [&](const Region& other) { return overlap(a, aliasing_.located(other)); });
    });
  }

  void append(Action action, std::vector<int> after) {
    const int step = static_cast<int>(to_.steps.size());
    const auto [reads, writes] = std::visit(Touches{}, action);
    accesses_.note(step, reads, writes, after);
    std::erase(after, step);
    std::ranges::sort(after);
    after.erase(std::unique(after.begin(), after.end()), after.end());
    to_.steps.push_back({std::move(action), std::move(after)});
  }

  const Schedule& from_;
  const Aliasing& aliasing_;
  Count segment_;
  std::int64_t most_pieces_;
  Accesses accesses_;
  std::vector<std::pair<int, int>> pieces_;  ///< By old step: the first new one and the one after the last.
  std::vector<int> joined_;                  ///< The steps that the last copy of nothing waits for,
  int joint_end_ = -1;                       ///< and that copy.
  std::map<Rank, int> sent_, received_;
  Schedule to_;
};

}  // namespace

Schedule segmented(const Schedule& schedule, const Aliasing& aliasing, Count segment, std::int64_t most_pieces) {
  return Segmenter{schedule, aliasing, segment, most_pieces}.segmented();
}

}  // namespace tutti
