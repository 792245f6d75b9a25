#include "apps/tutti/playback.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "lib/core/schedule/text.hpp"
#include "lib/proof/checker/graph.hpp"
#include "lib/proof/checker/memory.hpp"
#include "lib/proof/cost/simulate.hpp"

namespace tutti::tool {
namespace {

using checker::Graph;
using checker::Value;

constexpr std::size_t most_cells = 24;

/// An element as the collective's definition numbers it, and how many ranks are combined in it.
struct Element {
  Count number;
  int ranks = 0;
  auto operator<=>(const Element&) const = default;
};
using Elements = std::vector<Element>;

/// The meaning of the cells of the collective's elements.
struct Numbering {
  bool by_origin = false;  ///< The elements of one rank come after those of another.
  bool has_blocks = false;
  std::string_view meaning = "parts of the vector";
};
Numbering numbering_of(Collective collective) {
  switch (collective) {
    case Collective::allgather:
    case Collective::gather:
      return {true, true, "by the rank that they come from"};
    case Collective::reduce_scatter:
    case Collective::scatter:
    case Collective::alltoall:
      return {false, true, "by the rank that they go to"};
    default:
      return {};
  }
}

/// Plays a scene on symbolic values.
class Player {
 public:
  explicit Player(const Scene& scene) : scene_(scene) {}
  Playback play();

 private:
  [[nodiscard]] Elements elements_of(std::span<const Value> payload) const;
  [[nodiscard]] bool is_faulty(int step) const;
  [[nodiscard]] std::vector<Value> payload_of(int send);
  void compute(int step);
  void run();
  void cut();
  [[nodiscard]] Load load_of(const Elements& elements) const;
  [[nodiscard]] std::vector<Load> results();
  [[nodiscard]] Message message_of(int recv) const;

  const Scene& scene_;
  Numbering numbering_ = numbering_of(scene_.choice.algorithm->collective);
  Playable playable_ = playable_of(scene_);
  Graph graph_{playable_.schedules};
  checker::Values values_{playable_.schedules};
  checker::Memory memory_{playable_.schedules, values_};
  Simulation simulation_;
  std::vector<Elements> carried_;
  Playback result_;
};

Elements Player::elements_of(std::span<const Value> payload) const {
  Elements elements;
  for (const Value value : payload) {
    if (value == Value::garbage) continue;
    const auto leaves = values_.leaves(value, static_cast<std::size_t>(scene_.what.size) + 1);
    const Count before = numbering_.by_origin ? leaves[0].rank.value() * scene_.what.count : Count{0};
    elements.push_back({before + leaves[0].element, static_cast<int>(leaves.size())});
  }
  std::ranges::sort(elements);
  return elements;
}

/// Whether a reduction on the rank of `recv` uses the elements that it receives.
bool is_reduced(const Graph& graph, int recv) {
  const auto& into = std::get<Recv>(graph.step(recv).action);
  if (into.then) return true;
  for (int step = recv + 1; step < graph.steps() && graph.rank(step) == graph.rank(recv); ++step) {
    const auto* reduce = std::get_if<Reduce>(&graph.step(step).action);
    if (reduce == nullptr || !std::ranges::count(graph.step(step).after, graph.local(recv))) continue;
    for (const Region& region : into.into)
      if (checker::overlap(region, reduce->lhs) || checker::overlap(region, reduce->rhs)) return true;
  }
  return false;
}

bool Player::is_faulty(int step) const {
  const auto [rank, number] = graph_.position(step);
  const std::vector<int>& numbers = playable_.steps[static_cast<std::size_t>(rank.value())];
  return scene_.is_faulty(rank.value(), numbers[static_cast<std::size_t>(number)]);
}

Message Player::message_of(int recv) const {
  const int send = graph_.partner(recv);
  const auto& from = std::get<Send>(graph_.step(send).action).from;
  std::vector<std::string> regions;
  for (const Region& region : from)
    regions.push_back(to_text(region));
  const auto rank = static_cast<std::size_t>(graph_.rank(send).value());
  const double begin = simulation_.steps[rank][static_cast<std::size_t>(graph_.local(send))].begin;
  return {.from = graph_.rank(send),
          .to = graph_.rank(recv),
          .time_step = static_cast<int>(begin),
          .count = checker::total(from),
          .is_reduced = is_reduced(graph_, recv),
          .is_faulty = is_faulty(send) || is_faulty(recv),
          .load = {},
          .text = from.empty() ? "signal" : fmt::format("{}", fmt::join(regions, " + "))};
}

/// What the send reads now, garbage included.
std::vector<Value> Player::payload_of(int send) {
  std::vector<Value> payload;
  for (const Region& region : std::get<Send>(graph_.step(send).action).from) {
    const std::span<const Value> values = memory_.at(graph_.rank(send), region);
    payload.insert(payload.end(), values.begin(), values.end());
  }
  return payload;
}

/// A value that is made of garbage is garbage.
void Player::compute(int step) {
  try {
    checker::compute(step, graph_, memory_, values_);
  } catch (const checker::Fault&) {
    const Action& action = graph_.step(step).action;
    checker::for_each_write(action, [&](const Region& region) {
      std::ranges::fill(memory_.at(graph_.rank(step), region), Value::garbage);
    });
  }
}

void Player::run() {
  for (const int event : graph_.order(checker::Flow::rendezvous).events) {
    if (Graph::is_start(event)) continue;
    const int step = Graph::step_of(event);
    if (std::holds_alternative<Recv>(graph_.step(step).action)) {
      const std::vector<Value> payload = payload_of(graph_.partner(step));
      carried_.push_back(elements_of(payload));
      result_.messages.push_back(message_of(step));
      deliver(payload, step, graph_, memory_);
    }
    compute(step);
  }
  for (std::size_t rank = 0; rank < scene_.schedules.size(); ++rank)
    result_.stuck.push_back(
        static_cast<int>(scene_.schedules[rank].schedule.steps.size() - playable_.steps[rank].size()));
}

/// Between elements that do not always travel together, with equally many ranks combined.
void Player::cut() {
  const bool blocks = numbering_.has_blocks;
  const Count count = scene_.what.count, end = blocks ? scene_.what.size * count : count;
  std::set<Count> cuts{Count{0}, end};
  for (int block = 1; blocks && block < scene_.what.size; ++block)
    cuts.insert(block * count);
  for (const Elements& elements : carried_) {
    const Element* last = nullptr;
    for (const Element& element : elements) {
      const bool goes_on = last != nullptr && element.number <= last->number + Count{1} && element.ranks == last->ranks;
      if (!goes_on) cuts.insert(element.number);
      if (!goes_on && last != nullptr) cuts.insert(last->number + Count{1});
      last = &element;
    }
    if (last != nullptr) cuts.insert(last->number + Count{1});
  }
  result_.cells.assign(cuts.begin(), cuts.end());
  if (cuts.size() <= most_cells + 1) return;
  result_.cells.clear();
  const auto parts = std::min<std::int64_t>(scene_.what.size, most_cells);
  for (std::int64_t part = 0; part <= parts; ++part)
    result_.cells.push_back(part * end / parts);
}

Load Player::load_of(const Elements& elements) const {
  Load load;
  load.cells.resize(result_.cells.size() - 1);
  for (const Element& element : elements) {
    const auto after = std::ranges::upper_bound(result_.cells, element.number);
    Load::Cell& cell = load.cells[static_cast<std::size_t>(after - result_.cells.begin() - 1)];
    cell = {true, std::max(cell.ranks, element.ranks)};
  }
  return load;
}

std::vector<Load> Player::results() {
  std::vector<Load> loads;
  loads.reserve(scene_.schedules.size());
  for (int rank = 0; rank < scene_.what.size; ++rank)
    loads.push_back(load_of(elements_of(memory_.output(Rank{rank}))));
  return loads;
}

Playback Player::play() {
  Simulator simulator;
  for (const checker::RankSchedule& own : playable_.schedules)
    simulator.add(own.schedule);
  simulation_ = simulator.run({.message = 1}, true);
  result_.time_steps = static_cast<int>(simulation_.time);
  run();
  cut();
  result_.after = results();
  for (std::size_t i = 0; i < carried_.size(); ++i)
    result_.messages[i].load = load_of(carried_[i]);
  std::ranges::stable_sort(result_.messages, {}, [](const Message& m) { return std::pair{m.time_step, m.from}; });
  result_.meaning = numbering_.meaning;
  if (reduces(scene_.choice.algorithm->collective)) result_.combined = scene_.what.size;
  return std::move(result_);
}

}  // namespace

std::size_t Load::filled() const {
  return static_cast<std::size_t>(std::ranges::count_if(cells, [](const Cell& cell) { return cell.is_there; }));
}

Playback playback_of(const Scene& scene) { return Player{scene}.play(); }

}  // namespace tutti::tool
