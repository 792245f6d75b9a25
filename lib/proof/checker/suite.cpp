#include "suite.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>

#include "lib/core/schedule/numbering.hpp"

namespace tutti::checker {
namespace {

constexpr int most_crossed = 6;            // up to this size everything is combined with everything
constexpr int most_with_many_counts = 24;  // larger sizes get fewer counts of blocks
constexpr int most_in_all = 64;

std::vector<int> sizes_of(Extent extent) {
  std::vector<int> sizes(static_cast<std::size_t>(extent == Extent::all ? most_in_all : 17));
  std::iota(sizes.begin(), sizes.end(), 1);
  const std::vector<int> larger =
      extent == Extent::all ? std::vector{100, 127, 128, 129, 255, 256, 257} : std::vector{31, 32, 33, 64, 100};
  sizes.insert(sizes.end(), larger.begin(), larger.end());
  return sizes;
}

bool has_blocks(Collective collective) {
  using enum Collective;
  return collective == reduce_scatter || collective == allgather || collective == gather || collective == scatter ||
         collective == alltoall;
}

/// How much is proved at one size that is not proved in full.
struct Budget {
  std::size_t cases;
  std::int64_t work;  ///< Steps and elements that the proofs walk over.
};
Budget budget_of(Extent extent, int size) {
  if (extent == Extent::subset) return size <= 17 ? Budget{64, 400'000} : Budget{24, 600'000};
  return size <= most_in_all ? Budget{96, 1'000'000} : Budget{32, 2'000'000};
}

std::vector<int> numbered(std::vector<int> groups) {
  number_in_order(groups);
  return groups;
}

/// Ways to spread ranks over nodes: on one; in blocks of one size and of sizes from 1 to 8; round robin over few nodes;
/// by chance, also very unevenly; each on a node of its own.
std::vector<std::vector<int>> spreads_of(int size) {
  constexpr int kinds = 7, most_nodes = 6, most_on_a_node = 8;
  std::vector<std::vector<int>> spreads(kinds, std::vector<int>(static_cast<std::size_t>(size)));
  spreads[0].clear();
  std::mt19937 random{static_cast<unsigned>(size)};
  int block = 0, left = 1;
  for (int rank = 0; rank < size; ++rank, --left) {
    const auto at = static_cast<std::size_t>(rank);
    if (left == 0) ++block, left = 1 + static_cast<int>(random() % most_on_a_node);
    spreads[1][at] = rank / std::max(2, (size + most_nodes - 1) / most_nodes);
    spreads[2][at] = block;
    spreads[3][at] = rank % 2;
    spreads[4][at] = static_cast<int>(random() % most_nodes);
    spreads[5][at] = static_cast<int>(std::min(random() % most_nodes, random() % most_nodes));
    spreads[6][at] = rank;
  }
  std::ranges::transform(spreads, spreads.begin(), numbered);
  std::ranges::sort(spreads);
  spreads.erase(std::unique(spreads.begin(), spreads.end()), spreads.end());
  return spreads;
}

/// Ways to part nodes into sockets: not known; pairs; two that take turns; by chance up to three.
constexpr int ways_to_part = 4;
std::vector<int> parted(std::vector<int> nodes, int size, int way) {
  if (way == 0) return {};
  nodes.resize(static_cast<std::size_t>(size));  // one node, if empty
  std::vector<int> places(nodes.size());         // ranks of each node so far
  std::mt19937 random{static_cast<unsigned>(size)};
  for (int& node : nodes) {
    const int place = places[static_cast<std::size_t>(node)]++;
    const int part = way == 1 ? place / 2 : way == 2 ? place % 2 : static_cast<int>(random() % 3);
    node += part * size;
  }
  return numbered(std::move(nodes));
}

/// The properties of a case that may vary at one size.
class Choices {
 public:
  Choices(const Algorithm& algorithm, int size) : algorithm_(algorithm), size_(size) {
    if (has_root(algorithm.collective)) roots_ = distinct({0, size / 2, size - 1, std::min(1, size - 1)});
    const Parameter& has = algorithm.parameter;
    if (!has.name.empty())
      parameters_ = distinct({has.fallback, has.least, has.least + 1, 5, std::max(has.least, size)});
    if (algorithm.levels != Levels::ranks) spreads_ = spreads_of(size);
    if (algorithm.levels == Levels::sockets)
      for (int way = 1; way < ways_to_part; ++way)
        partings_.push_back(way);
    for (const int parameter : parameters_)
      steps_.push_back(steps_with(parameter));
    if (algorithm.collective == Collective::barrier) return;
    counts_ = distinct({0, 1, size - 1, size, size + 1, 37, 2 * size + 3});
    if (has_blocks(algorithm.collective) && size > most_with_many_counts) counts_ = {0, 1, 2, 5};
    counts_.push_back(exact);
    if (has_blocks(algorithm.collective)) lists_ = {List::any, List::few, List::giant, List::none};
    placements_ = {Placement::separate, Placement::in_place, Placement::in_place_on_even_ranks};
  }
  [[nodiscard]] std::size_t cases() const {
    return roots_.size() * parameters_.size() * placements_.size() * spreads_.size() * partings_.size() * kinds();
  }
  [[nodiscard]] Case operator[](std::size_t number) const {
    const auto pick = [&](const auto& values) { return values[take(number, values.size())]; };
    Case what{.size = size_};
    what.parameter = pick(parameters_);
    what.placement = pick(placements_);
    what.root = Rank{pick(roots_)};
    what.nodes = pick(spreads_);
    what.sockets = parted(what.nodes, size_, pick(partings_));
    if (number < counts_.size())
      what.count = Count{counts_[number] == exact ? exact_count(what.parameter) : counts_[number]};
    else
      list(what, lists_[(number - counts_.size()) / 2], (number - counts_.size()) % 2 == 0 ? 0 : 3);
    return what;
  }
  /// About how many steps and elements the proof of this case has to walk over.
  [[nodiscard]] std::int64_t work(std::size_t number) const {
    const std::size_t chosen = take(number, parameters_.size());
    take(number, placements_.size()), take(number, roots_.size()), take(number, spreads_.size());
    take(number, partings_.size());
    constexpr int listed = 4;  // about the mean of a list
    Problem problem{Rank{0}, size_, Count{listed}};
    problem.collective = algorithm_.collective;
    if (number < counts_.size())
      problem.count = Count{counts_[number] == exact ? exact_count(parameters_[chosen]) : counts_[number]};
    const auto [input, output] = shape_of(problem);
    const bool scans = algorithm_.collective == Collective::scan || algorithm_.collective == Collective::exscan;
    const int expression = scans ? 1 + size_ / 16 : 1;  // every rank's results are looked through operand by operand
    return size_ * (steps_[chosen] + expression * (input + output).value());
  }

 private:
  enum class List : std::uint8_t { any, few, giant, none };
  static constexpr int exact = -1;  ///< A count for which the stated cost is exact.
  static std::vector<int> distinct(std::vector<int> values) {
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
  }
  /// The lowest digit of a number, to that base.
  static std::size_t take(std::size_t& number, std::size_t base) {
    const std::size_t digit = number % base;
    number /= base;
    return digit;
  }
  [[nodiscard]] std::size_t kinds() const { return counts_.size() + 2 * lists_.size(); }
  [[nodiscard]] std::int64_t exact_count(int parameter) const {
    const int core = static_cast<int>(std::bit_floor(static_cast<unsigned>(size_)));
    return std::lcm(std::lcm<std::int64_t>(size_, core), std::max(1, parameter));
  }
  [[nodiscard]] std::int64_t steps_with(int parameter) const {
    Problem problem{Rank{0}, size_, Count{size_}};
    problem.collective = algorithm_.collective;
    problem.parameter = parameter;
    problem.nodes = spreads_.back();
    const std::vector<int> sockets = parted(spreads_.back(), size_, partings_.back());
    problem.sockets = sockets;
    return static_cast<std::int64_t>(schedule_of(algorithm_, problem).steps.size());
  }
  void list(Case& what, List kind, int gap) const {
    const auto size = static_cast<std::size_t>(size_);
    const bool pairs = algorithm_.collective == Collective::alltoall;
    std::mt19937 random{static_cast<unsigned>(size_)};
    what.counts.resize(pairs ? size * size : size);
    what.gap = Count{gap};
    for (Count& count : what.counts) {
      if (kind == List::any) count = Count{random() % 6};
      if (kind == List::few && random() % 4 == 0) count = Count{1 + random() % 9};
      if (kind == List::giant) count = Count{1};
    }
    if (kind == List::giant) what.counts[random() % what.counts.size()] = Count{61};
    if (!pairs || what.placement == Placement::separate) return;
    for (std::size_t row = 0; row < size; ++row)  // in place, two ranks have blocks of one size for each other
      for (std::size_t column = 0; column < row; ++column)
        what.counts[row * size + column] = what.counts[column * size + row];
  }

  const Algorithm& algorithm_;
  int size_;
  std::vector<int> counts_{0}, roots_{0}, parameters_{0};
  std::vector<std::int64_t> steps_;  ///< The most steps of a rank, by parameter.
  std::vector<List> lists_;
  std::vector<Placement> placements_{Placement::separate};
  std::vector<std::vector<int>> spreads_{{}};
  std::vector<int> partings_{0};
};

/// Numbers 0..count-1 in an order drawn once and for all: as std::shuffle, which differs between libraries.
std::vector<std::size_t> shuffled(std::size_t count, unsigned seed) {
  std::mt19937 random{seed};
  std::vector<std::size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  for (std::size_t left = count; left > 1; --left)
    std::swap(numbers[left - 1], numbers[random() % left]);
  return numbers;
}

}  // namespace

void mix_levels(Case& what, const Algorithm& algorithm) {
  if (algorithm.levels == Levels::ranks) return;
  what.nodes.clear();
  for (int rank = 0; rank < what.size; ++rank)
    what.nodes.push_back(rank % 3 == 2 ? 1 : 2 * (rank / 4));
  what.nodes = numbered(std::move(what.nodes));
  if (algorithm.levels == Levels::sockets) what.sockets = parted(what.nodes, what.size, 2);
}

std::vector<Case> cases_of(const Algorithm& algorithm, Extent extent) {
  std::vector<Case> cases;
  for (const int size : sizes_of(extent)) {
    const Choices choices{algorithm, size};
    Budget left = budget_of(extent, size);
    const bool in_full = size <= most_crossed && extent == Extent::all;
    for (const std::size_t number : shuffled(choices.cases(), static_cast<unsigned>(size))) {
      const std::int64_t work = choices.work(number);
      if (!in_full && (left.cases == 0 || work > left.work)) continue;
      if (!in_full) --left.cases, left.work -= work;
      cases.push_back(choices[number]);
    }
  }
  return cases;
}

}  // namespace tutti::checker
