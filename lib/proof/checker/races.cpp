#include "races.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fault.hpp"
#include "lib/core/schedule/text.hpp"

namespace tutti::checker {
namespace {

/// The accesses of a rank, stretch by stretch: between two neighbouring bounds of regions all elements fare alike.
/// Steps are taken in their order, which keeps every edge. It is then enough to compare each access with the last write
/// of the stretch, and a write also with the reads since: all other pairs follow, and none of these can be left out.
class Races {
 public:
  Races(Rank rank, const RankSchedule& own) : rank_(rank), own_(own), order_(own.schedule) {
    const auto note = [&](const Region& region) {
      const Region at = located(own_, region);
      if (at.count > Count{0}) bounds(at.buffer).insert(bounds(at.buffer).end(), {at.offset, at.offset + at.count});
    };
    for (const Step& step : own.schedule.steps) {
      for_each_read(step.action, note);
      for_each_write(step.action, note);
    }
    for (std::size_t buffer = 0; buffer < bounds_.size(); ++buffer) {
      std::vector<Count>& bounds = bounds_[buffer];
      std::ranges::sort(bounds);
      bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
      stretches_[buffer].resize(bounds.size());
    }
  }

  void require_none() {
    const int steps = static_cast<int>(own_.schedule.steps.size());
    for (int step = 0; step < steps; ++step) {
      for_each_read(action(step), [&](const Region& region) { read(step, region); });
      for_each_write(action(step), [&](const Region& region) { write(step, region); });
    }
  }

 private:
  static constexpr int nobody = -1;
  struct Stretch {
    int writer = nobody;
    std::vector<int> readers;  ///< Since the writer.
  };

  std::vector<Count>& bounds(Buffer buffer) { return bounds_[static_cast<std::size_t>(buffer)]; }

  template <class Visit>
  void for_each_stretch(const Region& region, const Visit& visit) {
    const Region at = located(own_, region);
    if (at.count == Count{0}) return;
    const std::vector<Count>& bounds = this->bounds(at.buffer);
    auto bound = std::ranges::lower_bound(bounds, at.offset);
    for (; *bound < at.offset + at.count; ++bound)
      visit(stretches_[static_cast<std::size_t>(at.buffer)][static_cast<std::size_t>(bound - bounds.begin())]);
  }

  void read(int step, const Region& region) {
    for_each_stretch(region, [&](Stretch& stretch) {
      require_ordered(stretch.writer, step, "reads what the other writes");
      stretch.readers.push_back(step);
    });
  }

  void write(int step, const Region& region) {
    for_each_stretch(region, [&](Stretch& stretch) {
      if (stretch.writer == step) refute(rank_, step, action(step), fmt::format("writes {} twice", to_text(region)));
      require_ordered(stretch.writer, step, "writes what the other writes");
      for (const int reader : stretch.readers)
        require_ordered(reader, step, "writes what the other reads");
      stretch.writer = step;
      stretch.readers.clear();
    });
  }

  void require_ordered(int earlier, int later, std::string_view conflict) {
    if (earlier == nobody || earlier == later || order_.ordered(earlier, later)) return;
    throw Fault{fmt::format("{}: race with {}: {}, and nothing orders them", where(rank_, later, action(later)),
                            where(rank_, earlier, action(earlier)), conflict),
                {{rank_, later}, {rank_, earlier}}};
  }

  [[nodiscard]] const Action& action(int step) const {
    return own_.schedule.steps[static_cast<std::size_t>(step)].action;
  }

  Rank rank_;
  const RankSchedule& own_;
  LocalOrder order_;
  std::array<std::vector<Count>, 3> bounds_;
  std::array<std::vector<Stretch>, 3> stretches_;
};

}  // namespace

bool LocalOrder::ordered(int earlier, int later) {
  const std::vector<int>& after = schedule_.steps[static_cast<std::size_t>(later)].after;
  if (std::ranges::binary_search(after, earlier)) return true;
  if (schedule_.steps.size() > most_closed) return leads_back(later, earlier);
  if (preceding_.empty()) close();
  const auto word = static_cast<std::size_t>(later) * words_ + static_cast<std::size_t>(earlier) / 64;
  return (preceding_[word] >> (earlier % 64) & 1) != 0;
}

bool LocalOrder::leads_back(int later, int earlier) {
  seen_.resize(schedule_.steps.size());
  ++walks_;
  rest_.assign(1, later);
  while (!rest_.empty()) {
    const std::vector<int>& after = schedule_.steps[static_cast<std::size_t>(rest_.back())].after;
    rest_.pop_back();
    if (std::ranges::binary_search(after, earlier)) return true;
    for (const int before : after) {
      int& seen = seen_[static_cast<std::size_t>(before)];
      if (before < earlier || seen == walks_) continue;
      seen = walks_;
      rest_.push_back(before);
    }
  }
  return false;
}

void LocalOrder::close() {
  words_ = schedule_.steps.size() / 64 + 1;
  preceding_.assign(schedule_.steps.size() * words_, 0);
  for (std::size_t step = 0; step < schedule_.steps.size(); ++step) {
    std::uint64_t* row = &preceding_[step * words_];
    for (const int before : schedule_.steps[step].after) {
      const std::uint64_t* earlier = &preceding_[static_cast<std::size_t>(before) * words_];
      std::transform(row, row + words_, earlier, row, std::bit_or<>{});
      row[before / 64] |= std::uint64_t{1} << (before % 64);
    }
  }
}

void require_no_races(Rank rank, const RankSchedule& own) { Races{rank, own}.require_none(); }

}  // namespace tutti::checker
