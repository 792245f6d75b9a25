#include "lib/core/files/chunks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "lib/core/schedule/regions.hpp"

namespace tutti {
namespace {

/// Plays all schedules, chunk by chunk, to learn what is in scratch when.
class Play {
 public:
  explicit Play(const ScheduleFile& file) : file_(file), found_{std::vector<HeldChunks>(file.schedules.size()), {}} {
    for (int rank = 0; const Schedule& schedule : file.schedules) {
      scratch_.emplace_back(static_cast<std::size_t>(schedule.scratch.value()), 0);
      first_.push_back(steps_.size());
      for (const Step& step : schedule.steps)
        steps_.push_back({rank, &step});
      ++rank;
    }
    link();
  }

  ChunksOfFile found() && {
    play_all();
    for (const Played& own : steps_)
      std::ranges::copy(own.held, std::back_inserter(found_.held[static_cast<std::size_t>(own.rank)]));
    return std::move(found_);
  }

 private:
  using Pair = std::tuple<int, int, int>;  ///< Sender, receiver, number of the message.
  using Chunks = std::vector<std::int64_t>;
  struct Played {
    int rank;
    const Step* step;
    int waits_for = 0;                  ///< Steps and messages.
    std::vector<std::size_t> before{};  ///< Steps that wait for this one.
    HeldChunks held{};
  };

  /// Notes which steps wait for each step.
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
      Chunks& message = under_way_[{own.rank, send->to.value(), send->message}];
      for (const Region& region : send->from)
        std::ranges::copy(read(own, region), std::back_inserter(message));
    } else if (const auto* recv = std::get_if<Recv>(&own.step->action)) {
      const auto arrived = under_way_.extract({recv->from.value(), own.rank, recv->message});
      auto from = arrived.mapped().cbegin();
      for (const Region& region : recv->into) {
        const auto end = from + region.count.value();
        write(own, region, {from, end});
        from = end;
      }
      if (recv->then) reduce(own, *recv->then);
    } else if (const auto* combined = std::get_if<Reduce>(&own.step->action)) {
      reduce(own, *combined);
    } else {
      const Copy& copy = std::get<Copy>(own.step->action);
      write(own, copy.into, read(own, copy.from));
    }
  }
  void reduce(Played& own, const Reduce& reduce) {
    const Chunks lhs = read(own, reduce.lhs);
    note_unlike(own, lhs, read(own, reduce.rhs));
    write(own, reduce.into, lhs);
  }

  Chunks read(Played& own, const Region& region) {
    Chunks chunks;
    for (std::int64_t i = 0; i < region.count.value(); ++i) {
      const std::int64_t place = region.offset.value() + i;
      chunks.push_back(region.buffer == Buffer::scratch ? in_scratch(own, place) : place % file_.chunks);
    }
    if (region.buffer == Buffer::scratch) std::ranges::copy(chunks, std::back_inserter(own.held));
    return chunks;
  }
  void write(Played& own, const Region& region, const Chunks& values) {
    for (std::size_t i = 0; region.buffer == Buffer::scratch && i < values.size(); ++i)
      in_scratch(own, region.offset.value() + static_cast<std::int64_t>(i)) = values[i];
    note_unlike(own, read(own, region), values);
  }
  [[nodiscard]] std::int64_t& in_scratch(const Played& own, std::int64_t place) {
    return scratch_[static_cast<std::size_t>(own.rank)][static_cast<std::size_t>(place)];
  }
  void note_unlike(const Played& own, const Chunks& some, const Chunks& others) {
    const auto [one, other] = std::ranges::mismatch(some, others);
    if (one == some.end() || !found_.unlike.empty()) return;
    const std::size_t step =
        static_cast<std::size_t>(&own - steps_.data()) - first_[static_cast<std::size_t>(own.rank)];
    found_.unlike = fmt::format("rank {}, step {}: chunk {} meets chunk {}", own.rank, step, *one, *other);
  }

  const ScheduleFile& file_;
  ChunksOfFile found_;
  std::vector<std::size_t> first_{};   ///< Of each rank, in `steps_`.
  std::vector<Played> steps_{};        ///< Of all ranks.
  std::vector<HeldChunks> scratch_{};  ///< By rank and place: a chunk of a block.
  std::map<Pair, Chunks> under_way_{};
};

/// Where the chunks of a buffer lie, if chunk i of a block has the elements of block i of `chunks` ones.
class Chunking {
 public:
  Chunking(std::int64_t chunks, std::int64_t count) : chunks_(chunks), count_(count) {}
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
  [[nodiscard]] std::int64_t chunk_at(std::int64_t place) const { return place % chunks_; }

 private:
  std::int64_t chunks_, count_;
};

Schedule scaled_evenly(Schedule schedule, std::int64_t length) {
  schedule.scratch = length * schedule.scratch;
  for (Step& step : schedule.steps)
    for_each_region(step.action, [&](Region& region) {
      region.offset = length * region.offset;
      region.count = length * region.count;
    });
  return schedule;
}

/// The elements of a region, chunk by chunk.
using Pieces = Regions;

/// Several lists of pieces, cut alike into regions: as few as have all lists go on where the region before ended.
std::vector<Regions> cut(std::span<const Pieces> lists) {
  std::vector<Regions> regions(lists.size());
  for (std::size_t i = 0; i < lists[0].size(); ++i) {
    if (lists[0][i].count == Count{0}) continue;
    const bool goes_on = std::ranges::all_of(lists, [&](const Pieces& list) {
      const Regions& own = regions[static_cast<std::size_t>(&list - lists.data())];
      return !own.empty() && own.back().buffer == list[i].buffer &&
             own.back().offset + own.back().count == list[i].offset;
    });
    for (std::size_t list = 0; list < lists.size(); ++list) {
      if (goes_on)
        regions[list].back().count += lists[list][i].count;
      else
        regions[list].push_back(lists[list][i]);
    }
  }
  return regions;
}

/// Writes a schedule anew, in elements that the chunks do not divide. A reduction or copy whose regions are in pieces
/// becomes several steps.
class Stretched {
 public:
  Stretched(const Schedule& given, const HeldChunks& held, Chunking chunking)
      : given_(given), next_held_(held.begin()), chunking_(chunking), became_(given.steps.size()) {}

  Schedule schedule() && {
    made_.scratch = Count{chunking_.longest() * given_.scratch.value()};
    for (std::size_t i = 0; i < given_.steps.size(); ++i)
      write(i);
    return std::move(made_);
  }

 private:
  void write(std::size_t i) {
    const auto& [action, waits] = given_.steps[i];
    std::vector<int> after;
    for (const int before : waits)
      std::ranges::copy(became_[static_cast<std::size_t>(before)], std::back_inserter(after));
    std::ranges::sort(after);
    std::vector<Pieces> regions;
    for_each_region(action, [&](const Region& region) { regions.push_back(pieces(region)); });
    const auto add = [&](Action made, const std::vector<int>& its) {
      became_[i].push_back(static_cast<int>(made_.steps.size()));
      made_.steps.push_back({std::move(made), its});
    };
    const auto reduce = [&](std::span<const Pieces> three, const std::vector<int>& its) {
      const std::vector<Regions> parts = cut(three);
      for (std::size_t part = 0; part < parts[0].size(); ++part)
        add(Reduce{parts[0][part], parts[1][part], parts[2][part]}, its);
    };
    if (const auto* send = std::get_if<Send>(&action)) {
      add(Send{send->to, joined(regions), send->message}, after);
    } else if (const auto* recv = std::get_if<Recv>(&action)) {
      const std::size_t received = recv->into.size();
      add(Recv{recv->from, joined(std::span{regions}.first(received)), recv->message, {}}, after);
      const std::vector<int> own = became_[i];
      if (recv->then) reduce(std::span{regions}.subspan(received), own);
    } else if (std::holds_alternative<Reduce>(action)) {
      reduce(regions, after);
    } else {
      const std::vector<Regions> parts = cut(regions);
      for (std::size_t part = 0; part < parts[0].size(); ++part)
        add(Copy{parts[0][part], parts[1][part]}, after);
    }
    constexpr Region nothing{Buffer::scratch, Count{0}, Count{0}};
    if (became_[i].empty()) add(Copy{nothing, nothing}, after);  // it only orders
  }

  [[nodiscard]] static Regions joined(std::span<const Pieces> lists) {
    Pieces all;
    for (const Pieces& list : lists)
      std::ranges::copy(list, std::back_inserter(all));
    return all.empty() ? Regions{} : cut(std::array{all})[0];
  }
  [[nodiscard]] Pieces pieces(const Region& region) {
    Pieces pieces;
    for (std::int64_t i = 0; i < region.count.value(); ++i) {
      const std::int64_t place = region.offset.value() + i;
      const bool is_scratch = region.buffer == Buffer::scratch;
      const std::int64_t chunk = is_scratch ? *next_held_++ : chunking_.chunk_at(place);
      const std::int64_t begin = is_scratch ? place * chunking_.longest() : chunking_.begin(place);
      pieces.push_back({region.buffer, Count{begin}, Count{chunking_.length(chunk)}});
    }
    return pieces;
  }

  const Schedule& given_;
  HeldChunks::const_iterator next_held_;
  Chunking chunking_;
  Schedule made_{};
  std::vector<std::vector<int>> became_;  ///< The steps that stand for each.
};

}  // namespace

ChunksOfFile find_chunks(const ScheduleFile& file) { return Play{file}.found(); }

Schedule scaled(const Schedule& schedule, const HeldChunks& held, std::int64_t chunks, Count count) {
  const Chunking chunking{chunks, count.value()};
  const bool is_even = count.value() % chunks == 0 && count > Count{0};
  return is_even ? scaled_evenly(schedule, chunking.longest()) : Stretched{schedule, held, chunking}.schedule();
}

}  // namespace tutti
