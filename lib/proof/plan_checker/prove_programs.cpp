#include "lib/proof/plan_checker/prove_programs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "lib/proof/checker/fault.hpp"
#include "lib/proof/checker/graph.hpp"
#include "lib/proof/checker/memory.hpp"

namespace tutti::checker {
namespace {

using stream::Command;
using stream::Does;
using stream::Program;
using stream::Spot;

/// Per rank: the time of its last command that is known to be over.
using Clock = std::vector<std::int64_t>;

void join(Clock& into, const Clock& other) {
  for (std::size_t i = 0; i < into.size(); ++i)
    into[i] = std::max(into[i], other[i]);
}

/// The time of what a rank did in an earlier program, and of its user's work before this one.
constexpr std::int64_t earlier = 1, begun = 2;

/// The flag of an ordered pair, with the writes since it was 0 and the one that made it so.
struct Flag {
  struct Write {
    std::uint32_t value = 0;
    Clock clock{};
  };
  std::vector<Write> writes{};  ///< The first is of 0, by the receiver.
};

/// Accesses to an element of memory: its owner, its last write, and the reads since, each the time of a rank.
struct Accesses {
  int owner = -1;
  int writer = -1;
  std::int64_t written = 0;
  std::vector<std::pair<int, std::int64_t>> reads{};
};
struct Landed {
  Value value = Value::garbage;
  Accesses accesses{};
};
struct Element {
  Value* value;
  Accesses* accesses;
};
using Elements = std::vector<Element>;

class ProgramRun {
 public:
  ProgramRun(const Plans& plans, const std::vector<Program>& programs)
      : plans_(plans),
        programs_(programs),
        schedules_(schedules_of(plans)),
        values_(schedules_),
        graph_(schedules_),
        memory_(schedules_, values_),
        next_(programs.size(), 0) {
    const std::size_t ranks = programs.size();
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      clocks_.emplace_back(ranks, 0);
      clocks_.back()[rank] = earlier;
    }
    for (std::size_t from = 0; from < ranks; ++from)
      for (std::size_t to = 0; to < ranks; ++to)
        flags_.push_back({{{0, clocks_[to]}}});
    for (std::size_t rank = 0; rank < ranks; ++rank)
      clocks_[rank][rank] = begun;
  }

  void run() {
    for (bool moves = true; moves;) {
      moves = false;
      for (int rank = 0; rank < plans_.size(); ++rank)
        while (step(rank))
          moves = true;
    }
    for (int rank = 0; rank < plans_.size(); ++rank)
      if (next_[index(rank)] < programs_[index(rank)].commands.size())
        throw Fault{fmt::format("{} waits for ever", described(rank))};
    for (const Flag& flag : flags_)
      if (flag.writes.back().value != 0) throw Fault{"a flag is not 0 at the end"};
    require_left_alone();
    require_results();
  }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] std::string described(int rank) const {
    return fmt::format("command {} of rank {}", next_[index(rank)], rank);
  }
  [[nodiscard]] Flag& flag(int from, int to) { return flags_[index(from * plans_.size() + to)]; }
  /// The time of the command that a rank makes now.
  [[nodiscard]] std::int64_t time(int rank) const { return begun + 1 + static_cast<std::int64_t>(next_[index(rank)]); }
  [[nodiscard]] bool knows(int rank, int other, std::int64_t time) const {
    return other == rank || clocks_[index(rank)][index(other)] >= time;
  }

  /// False: it is over, or waits.
  bool step(int rank) {
    if (next_[index(rank)] == programs_[index(rank)].commands.size()) return false;
    const Command& command = programs_[index(rank)].commands[next_[index(rank)]];
    if (command.is_of_flag()) {
      if (!pass(rank, command)) return false;
    } else {
      work(rank, command);
    }
    clocks_[index(rank)][index(rank)] = time(rank);
    ++next_[index(rank)];
    return true;
  }

  bool pass(int rank, const Command& command) {
    const bool is_mine = command.does == Does::wait_until_free || command.does == Does::tell;
    std::vector<Flag::Write>& writes = (is_mine ? flag(rank, command.peer) : flag(command.peer, rank)).writes;
    Clock& clock = clocks_[index(rank)];
    switch (command.does) {
      case Does::wait_until_free:
        if (writes.back().value != 0) return false;
        join(clock, writes.front().clock);
        return true;
      case Does::wait_for_message: {
        const auto found =
            std::ranges::find_if(writes, [&](const Flag::Write& write) { return write.value >= command.number; });
        if (found == writes.end()) return false;
        join(clock, found->clock);
        return true;
      }
      case Does::tell:
        if (writes.size() == 1 && !knows(rank, command.peer, writes[0].clock[index(command.peer)]))
          throw Fault{fmt::format("{} writes a flag that its receiver may still set to 0", described(rank))};
        writes.push_back({command.number, clock});  // the commands before it are over
        return true;
      default:
        writes.assign(1, {0, clock});
        return true;
    }
  }

  void work(int rank, const Command& command) {
    std::vector<Elements> inputs, outputs;
    for (const Spot& input : command.inputs)
      inputs.push_back(elements(rank, input, command.bytes));
    for (const Spot& output : command.outputs)
      outputs.push_back(elements(rank, output, command.bytes));
    for (const Elements& input : inputs)
      for (const Elements& output : outputs)
        if (overlap_in_part(input, output)) throw Fault{fmt::format("{} writes over what it reads", described(rank))};
    std::vector<Value> result = read(rank, inputs.at(0));
    for (std::size_t k = 1; k < inputs.size(); ++k) {
      const std::vector<Value> next = read(rank, inputs[k]);
      for (std::size_t i = 0; i < result.size(); ++i)
        result[i] = values_.reduced(result[i], next[i]);
    }
    if (std::ranges::find(result, Value::garbage) != result.end())
      throw Fault{fmt::format("{} reads garbage", described(rank))};
    for (const Elements& output : outputs)
      write(rank, output, result);
  }

  /// Both lie in a buffer, one a little behind the other: a kernel may write an element before it is read.
  static bool overlap_in_part(const Elements& a, const Elements& b) {
    if (a.empty() || b.empty() || a[0].value == b[0].value) return false;
    const auto holds = [](const Elements& all, const Value* first) {
      return std::ranges::find(all, first, &Element::value) != all.end();
    };
    return holds(a, b[0].value) || holds(b, a[0].value);
  }

  [[nodiscard]] Elements elements(int rank, const Spot& spot, std::int64_t bytes) {
    Elements all;
    if (spot.of == Spot::Of::buffer || spot.of == Spot::Of::lent) {
      const int owner = spot.of == Spot::Of::lent ? spot.peer : rank;
      const Region region = region_of(plans_.of(Rank{owner}), spot.buffer, spot.at, bytes);
      require_inside(rank, owner, region);
      for (Value& value : memory_.at(Rank{owner}, region))
        all.push_back({&value, &accesses_.try_emplace(&value, Accesses{owner, owner, begun, {}}).first->second});
      return all;
    }
    const bool is_mine = spot.of == Spot::Of::landing;
    const int to = is_mine ? rank : spot.peer, from = is_mine ? spot.peer : rank;
    const std::int64_t size = plans_.of(Rank{rank}).element;
    for (std::int64_t i = 0; i < bytes / size; ++i) {
      const Landed before{.accesses = {.owner = to, .reads = {{to, earlier}}}};
      Landed& landed = landed_.try_emplace(std::tuple{from, to, spot.at / size + i}, before).first->second;
      all.push_back({&landed.value, &landed.accesses});
    }
    return all;
  }

  void require_inside(int rank, int owner, const Region& region) const {
    const auto& own = schedules_[index(owner)];
    const Count size = region.buffer == Buffer::input    ? own.input
                       : region.buffer == Buffer::output ? own.output
                                                         : own.schedule.scratch;
    if (region.offset < Count{0} || region.offset + region.count > size)
      throw Fault{fmt::format("{} reaches beyond a buffer of rank {}", described(rank), owner)};
  }

  std::vector<Value> read(int rank, const Elements& elements) {
    std::vector<Value> found;
    for (const auto& [value, accesses] : elements) {
      if (accesses->writer >= 0 && !knows(rank, accesses->writer, accesses->written))
        throw Fault{
            fmt::format("race: {} reads data of rank {} that may not be there", described(rank), accesses->writer)};
      accesses->reads.emplace_back(rank, time(rank));
      found.push_back(*value);
    }
    return found;
  }

  void write(int rank, const Elements& elements, const std::vector<Value>& result) {
    for (std::size_t i = 0; i < result.size(); ++i) {
      const auto& [value, accesses] = elements[i];
      if (!knows_all(rank, *accesses))
        throw Fault{fmt::format("race: {} writes over data that may still be read or written", described(rank))};
      *value = result[i];
      accesses->writer = rank;
      accesses->written = time(rank);
      accesses->reads.clear();
    }
  }
  [[nodiscard]] bool knows_all(int rank, const Accesses& accesses) const {
    return std::ranges::all_of(accesses.reads, [&](const auto& its) { return knows(rank, its.first, its.second); }) &&
           (accesses.writer < 0 || knows(rank, accesses.writer, accesses.written));
  }

  /// What comes after a rank's program in its stream, uses its buffers.
  void require_left_alone() const {
    for (const auto& [value, accesses] : accesses_)
      if (!knows_all(accesses.owner, accesses))
        throw Fault{
            fmt::format("rank {} leaves its program while others may read or write its buffers", accesses.owner)};
  }

  void require_results() {
    Memory plain{schedules_, values_};
    run_in_order(graph_.order(Flow::one_credit).events, graph_, plain, values_);
    for (int rank = 0; rank < plans_.size(); ++rank)
      if (!std::ranges::equal(plain.output(Rank{rank}), memory_.output(Rank{rank})))
        throw Fault{fmt::format("rank {}: the output differs from that of the plan", rank)};
  }

  const Plans& plans_;
  const std::vector<Program>& programs_;
  RankSchedules schedules_;
  Values values_;
  Graph graph_;
  Memory memory_;
  std::vector<std::size_t> next_;                                ///< By rank: commands that are over.
  std::vector<Clock> clocks_;                                    ///< By rank.
  std::vector<Flag> flags_;                                      ///< By sender and receiver.
  std::unordered_map<const Value*, Accesses> accesses_;          ///< Accesses to elements of buffers.
  std::map<std::tuple<int, int, std::int64_t>, Landed> landed_;  ///< By sender, receiver, element.
};

}  // namespace

std::vector<Program> programs_of(const Plans& plans) {
  std::vector<Program> programs;
  programs.reserve(static_cast<std::size_t>(plans.size()));
  for (int rank = 0; rank < plans.size(); ++rank)
    programs.push_back(stream::program_of(plans.of(Rank{rank})));
  return programs;
}

std::vector<Program> direct_programs_of(const Plans& plans) { return stream::direct_programs(plans.all()); }

std::string fault_of(const Plans& plans, const std::vector<Program>& programs) try {
  ProgramRun{plans, programs}.run();
  return {};
} catch (const Fault& fault) {
  return fault.text;
}

}  // namespace tutti::checker
