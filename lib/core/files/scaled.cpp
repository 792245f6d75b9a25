// Schedules of files, from chunks to elements.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "lib/core/files/schedule_file.hpp"
#include "tutti/error.hpp"

namespace tutti {
namespace {

/// Where the chunks of a buffer lie, if chunk i of a block has the elements of block i of `chunks` ones.
class Chunking {
 public:
  Chunking(const ScheduleFile& file, Count count)
      : chunks_(file.chunks), count_(file.collective == Collective::barrier ? 0 : count.value()) {}
  [[nodiscard]] bool is_even() const { return count_ % chunks_ == 0; }
  [[nodiscard]] std::int64_t longest() const { return (count_ + chunks_ - 1) / chunks_; }
  /// The length of chunk i of a block.
  [[nodiscard]] std::int64_t length(std::int64_t chunk) const {
    return count_ / chunks_ + (chunk < count_ % chunks_ ? 1 : 0);
  }
  /// The first element of chunk `place` of a buffer of several blocks.
  [[nodiscard]] std::int64_t begin(std::int64_t place) const {
    const std::int64_t block = place / chunks_, chunk = place % chunks_;
    return block * count_ + chunk * (count_ / chunks_) + std::min(chunk, count_ % chunks_);
  }

 private:
  std::int64_t chunks_, count_;
};

/// Calls `visit` with each region of the action, by reference.
template <class Visit>
void for_each_region(Action& action, const Visit& visit) {
  if (auto* send = std::get_if<Send>(&action)) std::for_each(send->from.begin(), send->from.end(), visit);
  if (auto* recv = std::get_if<Recv>(&action)) {
    std::for_each(recv->into.begin(), recv->into.end(), visit);
    if (recv->then) visit(recv->then->lhs), visit(recv->then->rhs), visit(recv->then->into);
  }
  if (auto* reduce = std::get_if<Reduce>(&action)) visit(reduce->lhs), visit(reduce->rhs), visit(reduce->into);
  if (auto* copy = std::get_if<Copy>(&action)) visit(copy->from), visit(copy->into);
}

std::vector<Schedule> scaled_evenly(const ScheduleFile& file, std::int64_t length) {
  std::vector<Schedule> schedules = file.schedules;
  for (Schedule& schedule : schedules) {
    schedule.scratch = length * schedule.scratch;
    for (Step& step : schedule.steps)
      for_each_region(step.action, [&](Region& region) {
        region.offset = length * region.offset;
        region.count = length * region.count;
      });
  }
  return schedules;
}

/// A region as chunks: for each its place in the buffer, and which chunk of a block it is, or holds the values of.
struct Piece {
  Buffer buffer = Buffer::input;
  std::int64_t place = 0, chunk = 0;
};
using Pieces = std::vector<Piece>;

/// Plays the schedules, chunk by chunk, to learn what is in scratch when, and writes them anew, in elements.
class Stretched {
 public:
  Stretched(const ScheduleFile& file, Count count) : file_(file), chunking_(file, count) {
    for (int rank = 0; const Schedule& schedule : file.schedules) {
      held_.emplace_back(static_cast<std::size_t>(schedule.scratch.value()), 0);
      first_.push_back(steps_.size());
      for (const Step& step : schedule.steps)
        steps_.push_back({rank, &step});
      ++rank;
    }
    link();
  }

  std::vector<Schedule> schedules() && {
    play_all();
    std::vector<Schedule> made;
    for (std::size_t rank = 0; rank < file_.schedules.size(); ++rank)
      made.push_back(written(rank));
    return made;
  }

 private:
  using Pair = std::tuple<int, int, int>;  ///< Sender, receiver, number of the message.
  struct Played {
    int rank;
    const Step* step;
    int waits_for = 0;                  ///< Steps and messages.
    std::vector<std::size_t> before{};  ///< Steps that wait for this one.
    std::vector<Pieces> regions{};      ///< By for_each_region.
  };

  /// Who waits for whom.
  void link() {
    std::map<Pair, std::size_t> receives;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      Played& own = steps_[i];
      for (const int after : own.step->after)
        steps_[first_[static_cast<std::size_t>(own.rank)] + static_cast<std::size_t>(after)].before.push_back(i);
      own.waits_for = static_cast<int>(own.step->after.size());
      if (const auto* recv = std::get_if<Recv>(&own.step->action)) {
        receives[{recv->from.value(), own.rank, recv->message}] = i;
        ++own.waits_for;
      }
    }
    for (Played& own : steps_)
      if (const auto* send = std::get_if<Send>(&own.step->action))
        own.before.push_back(receives.at({own.rank, send->to.value(), send->message}));
  }

  void play_all() {
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < steps_.size(); ++i)
      if (steps_[i].waits_for == 0) ready.push_back(i);
    while (!ready.empty()) {
      Played& own = steps_[ready.back()];
      ready.pop_back();
      play(own);
      for (const std::size_t next : own.before)
        if (--steps_[next].waits_for == 0) ready.push_back(next);
    }
  }

  void play(Played& own) {
    if (const auto* send = std::get_if<Send>(&own.step->action)) {
      Pieces& message = under_way_[{own.rank, send->to.value(), send->message}];
      for (const Region& region : send->from) {
        own.regions.push_back(read(own, region));
        message.insert(message.end(), own.regions.back().begin(), own.regions.back().end());
      }
    } else if (const auto* recv = std::get_if<Recv>(&own.step->action)) {
      const auto arrived = under_way_.extract({recv->from.value(), own.rank, recv->message});
      const Pieces& message = arrived.mapped();
      auto from = message.begin();
      for (const Region& region : recv->into) {
        const auto end = from + region.count.value();
        own.regions.push_back(write(own, region, {from, end}));
        from = end;
      }
      if (recv->then) reduce(own, *recv->then);
    } else if (const auto* combined = std::get_if<Reduce>(&own.step->action)) {
      reduce(own, *combined);
    } else {
      const Copy& copy = std::get<Copy>(own.step->action);
      own.regions.push_back(read(own, copy.from));
      own.regions.push_back(write(own, copy.into, own.regions.back()));
    }
  }
  void reduce(Played& own, const Reduce& reduce) {
    own.regions.push_back(read(own, reduce.lhs));
    const Pieces lhs = own.regions.back();
    own.regions.push_back(read(own, reduce.rhs));
    for (std::size_t i = 0; i < lhs.size(); ++i)
      require_alike(own, lhs[i], own.regions.back()[i]);
    own.regions.push_back(write(own, reduce.into, lhs));
  }

  [[nodiscard]] Pieces read(const Played& own, const Region& region) {
    Pieces pieces;
    for (std::int64_t i = 0; i < region.count.value(); ++i) {
      const std::int64_t place = region.offset.value() + i;
      const bool is_scratch = region.buffer == Buffer::scratch;
      pieces.push_back({region.buffer, place, is_scratch ? held(own, place) : place % file_.chunks});
    }
    return pieces;
  }
  Pieces write(const Played& own, const Region& region, const Pieces& values) {
    for (std::size_t i = 0; region.buffer == Buffer::scratch && i < values.size(); ++i)
      held(own, region.offset.value() + static_cast<std::int64_t>(i)) = values[i].chunk;
    Pieces pieces = read(own, region);
    for (std::size_t i = 0; i < pieces.size(); ++i)
      require_alike(own, pieces[i], values[i]);
    return pieces;
  }
  [[nodiscard]] std::int64_t& held(const Played& own, std::int64_t place) {
    return held_[static_cast<std::size_t>(own.rank)][static_cast<std::size_t>(place)];
  }
  void require_alike(const Played& own, const Piece& a, const Piece& b) const {
    if (chunking_.length(a.chunk) == chunking_.length(b.chunk)) return;
    const std::size_t step =
        static_cast<std::size_t>(&own - steps_.data()) - first_[static_cast<std::size_t>(own.rank)];
    throw ArgumentError(fmt::format(
        "{}: rank {}, step {}: chunk {} meets chunk {}, and these have different lengths where {} chunks do not divide "
        "the elements",
        file_.path, own.rank, step, a.chunk, b.chunk, file_.chunks));
  }

  [[nodiscard]] Region elements_of(const Piece& piece) const {
    const std::int64_t begin =
        piece.buffer == Buffer::scratch ? piece.place * chunking_.longest() : chunking_.begin(piece.place);
    return {piece.buffer, Count{begin}, Count{chunking_.length(piece.chunk)}};
  }
  /// Several lists of pieces, cut alike into regions: as few as have all lists go on where the region before ended.
  [[nodiscard]] std::vector<Regions> cut(std::span<const Pieces> lists) const {
    std::vector<Regions> regions(lists.size());
    for (std::size_t i = 0; i < lists[0].size(); ++i) {
      if (elements_of(lists[0][i]).count == Count{0}) continue;
      const bool goes_on = std::ranges::all_of(lists, [&](const Pieces& list) {
        const Regions& own = regions[static_cast<std::size_t>(&list - lists.data())];
        const Region next = elements_of(list[i]);
        return !own.empty() && own.back().buffer == next.buffer && own.back().offset + own.back().count == next.offset;
      });
      for (std::size_t list = 0; list < lists.size(); ++list) {
        const Region next = elements_of(lists[list][i]);
        if (goes_on)
          regions[list].back().count += next.count;
        else
          regions[list].push_back(next);
      }
    }
    return regions;
  }
  /// The schedule of a rank. A reduction or copy whose regions are in pieces becomes several steps.
  [[nodiscard]] Schedule written(std::size_t rank) const;

  const ScheduleFile& file_;
  Chunking chunking_;
  std::vector<std::size_t> first_{};               ///< Of each rank, in `steps_`.
  std::vector<Played> steps_{};                    ///< Of all ranks.
  std::vector<std::vector<std::int64_t>> held_{};  ///< By rank and place in scratch: a chunk of a block.
  std::map<Pair, Pieces> under_way_{};
};

Schedule Stretched::written(std::size_t rank) const {
  const Schedule& given = file_.schedules[rank];
  constexpr Region nothing{Buffer::scratch, Count{0}, Count{0}};
  Schedule made{{}, Count{chunking_.longest() * given.scratch.value()}};
  std::vector<std::vector<int>> became(given.steps.size());  // the steps that stand for each
  for (std::size_t i = 0; i < given.steps.size(); ++i) {
    std::vector<int> after;
    for (const int before : given.steps[i].after)
      after.insert(after.end(), became[static_cast<std::size_t>(before)].begin(),
                   became[static_cast<std::size_t>(before)].end());
    std::ranges::sort(after);
    const auto add = [&](Action action, std::vector<int> waits) {
      became[i].push_back(static_cast<int>(made.steps.size()));
      made.steps.push_back({std::move(action), std::move(waits)});
    };
    const std::vector<Pieces>& regions = steps_[first_[rank] + i].regions;
    const auto reduce = [&](std::span<const Pieces> three, const std::vector<int>& waits) {
      const std::vector<Regions> parts = cut(three);
      for (std::size_t part = 0; part < parts[0].size(); ++part)
        add(Reduce{parts[0][part], parts[1][part], parts[2][part]}, waits);
    };
    const auto list = [&](std::size_t first, std::size_t last) {
      Pieces all;
      for (std::size_t region = first; region < last; ++region)
        all.insert(all.end(), regions[region].begin(), regions[region].end());
      return all.empty() ? Regions{} : cut(std::array{all})[0];
    };
    const Action& action = given.steps[i].action;
    if (const auto* send = std::get_if<Send>(&action)) {
      add(Send{send->to, list(0, regions.size()), send->message}, after);
    } else if (const auto* recv = std::get_if<Recv>(&action)) {
      add(Recv{recv->from, list(0, recv->into.size()), recv->message, {}}, after);
      if (recv->then) reduce(std::span{regions}.subspan(recv->into.size()), became[i]);
    } else if (std::holds_alternative<Reduce>(action)) {
      reduce(regions, after);
    } else {
      const std::vector<Regions> parts = cut(regions);
      for (std::size_t part = 0; part < parts[0].size(); ++part)
        add(Copy{parts[0][part], parts[1][part]}, after);
    }
    if (became[i].empty()) add(Copy{nothing, nothing}, after);  // of no elements: it only orders
  }
  return made;
}

}  // namespace

std::vector<Schedule> scaled(const ScheduleFile& file, Count count) {
  const Chunking chunking{file, count};
  const bool is_even = chunking.is_even() && chunking.longest() > 0;
  return is_even ? scaled_evenly(file, chunking.longest()) : Stretched{file, count}.schedules();
}

}  // namespace tutti
