// Every registered algorithm is proved: for a subset of problems here, for all of them in proof_full_test.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <random>

#include "lib/core/schedule/text.hpp"
#include "lib/proof/checker/random_run.hpp"
#include "tests/checker/proof_support.hpp"

namespace tutti::checker {
namespace {

class Proof : public testing::TestWithParam<const Algorithm*> {};

TEST_P(Proof, OfTheSubset) {
  for (const Case& what : cases_of(*GetParam(), Extent::subset))
    expect_proved(*GetParam(), what);
}

TEST_P(Proof, HoldsInRandomOrders) {
  constexpr int most_ranks = 12;
  const Algorithm& algorithm = *GetParam();
  std::size_t number = 0;
  for (const Case& what : cases_of(algorithm, Extent::subset)) {
    if (what.size > most_ranks || ++number % 3 != 0) continue;
    const Problems problems{algorithm, what};
    const RankSchedules schedules = schedules_of(algorithm, problems);
    const Expectation expectation = expectation_of(algorithm, problems);
    for (const std::uint64_t seed : {1, 2, 3})
      ASSERT_EQ(fault_at_random(seed, schedules, expectation), "") << to_text(what) << ", seed " << seed;
  }
}

constexpr int most_ranks_of_large_groups = 65536;

/// The problem of one rank in a large group, of which not all ranks' schedules are made. Algorithms of several levels
/// see nodes of 8 ranks, on two sockets.
Problem large_problem(const Algorithm& algorithm, int size, Rank rank, Count count) {
  const auto groups_of = [](int ranks) {
    std::vector<int> groups;
    for (int rank = 0; rank < most_ranks_of_large_groups; ++rank)
      groups.push_back(rank / ranks);
    return groups;
  };
  static const std::vector<int> nodes = groups_of(8), sockets = groups_of(4);
  Problem problem{rank, size, count};
  if (algorithm.levels != Levels::ranks) problem.nodes = std::span{nodes}.first(static_cast<std::size_t>(size));
  if (algorithm.levels == Levels::sockets) problem.sockets = std::span{sockets}.first(static_cast<std::size_t>(size));
  problem.collective = algorithm.collective;
  problem.parameter = algorithm.parameter.fallback;
  return problem;
}

TEST_P(Proof, NoRankOfLargeGroupsCostsMoreThanStated) {
  constexpr int sizes = 40, ranks = 8;
  constexpr double largest = 4096;
  const Algorithm& algorithm = *GetParam();
  if (algorithm.cost == nullptr) return;  // it states none
  std::mt19937 random{1};
  for (int sample = 1; sample <= sizes; ++sample) {
    const int about = static_cast<int>(std::pow(largest, static_cast<double>(sample) / sizes));
    const int size = sample == sizes ? about : about + static_cast<int>(random() % 5);
    const bool empty = algorithm.collective == Collective::barrier;
    const Count count{empty ? 0 : static_cast<int>(random() % 3 == 0 ? 1 : random() % 5000)};
    const Cost stated = algorithm.cost(large_problem(algorithm, size, Rank{0}, count));
    for (int i = 0; i < ranks; ++i) {
      const Rank rank{i == 0 ? 0 : i == 1 ? size - 1 : static_cast<int>(random() % static_cast<unsigned>(size))};
      const Cost cost = counted(algorithm.build(large_problem(algorithm, size, rank, count)));
      const std::string where = fmt::format("rank {} of {}, {} elements", rank.value(), size, count.value());
      EXPECT_LE(cost.messages, stated.messages) << where;
      EXPECT_LE(cost.sent, stated.sent) << where;
      EXPECT_LE(cost.reduced, stated.reduced) << where;
      EXPECT_LE(cost.copied, stated.copied) << where;
      EXPECT_LE(cost.scratch, stated.scratch) << where;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, Proof, testing::ValuesIn(algorithms().begin(), algorithms().end()),
                         [](const auto& algorithm) { return name_of(*algorithm.param); });

/// The steps of all ranks as text, with the steps that each waits for.
std::string whole_text(const Algorithm& algorithm, int size) {
  const bool empty = algorithm.collective == Collective::barrier;
  std::string text;
  Case what{.size = size, .count = Count{empty ? 0 : 3 * size}};
  mix_levels(what, algorithm);
  for (const RankSchedule& own : schedules_of(algorithm, what))
    for (const auto& [action, after] : own.schedule.steps)
      text += fmt::format("{} after {}\n", to_text(action), fmt::join(after, ","));
  return text;
}

/// Two that halve the ranks differ only where there is no half: for powers of two they are one algorithm.
bool is_same_for_powers_of_two(const Algorithm& algorithm) {
  return (algorithm.collective == Collective::reduce_scatter && algorithm.name == "halving_distance") ||
         (algorithm.collective == Collective::reduce && algorithm.name == "binomial");
}

TEST(Registry, DifferentNamesAreDifferentSchedules) {
  for (const int size : {7, 8}) {
    std::map<std::pair<Collective, std::string>, std::string_view> known;
    for (const Algorithm* algorithm : algorithms()) {
      if (size == 8 && is_same_for_powers_of_two(*algorithm)) continue;
      const auto [other, fresh] =
          known.try_emplace({algorithm->collective, whole_text(*algorithm, size)}, algorithm->name);
      EXPECT_TRUE(fresh) << fmt::format("{} {} is {} at p = {}", to_string(algorithm->collective), algorithm->name,
                                        other->second, size);
    }
  }
}

/// Claims of optimality: with the parameter at its fallback and root 0, as counted by the proof.
struct Bound {
  enum class Sizes : std::uint8_t { any, powers_of_two };
  enum class Figure : std::uint8_t { rounds, messages, sent, reduced };
  Collective collective;
  Sizes sizes;
  Figure figure;
  std::string_view name;
  std::int64_t (*least)(std::int64_t p, std::int64_t n);
};
std::int64_t log2_of(std::int64_t p, std::int64_t) {
  return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(p - 1)));
}
std::int64_t twice_log2_of(std::int64_t p, std::int64_t n) { return 2 * log2_of(p, n); }
std::int64_t one(std::int64_t, std::int64_t) { return 1; }
std::int64_t whole(std::int64_t, std::int64_t n) { return n; }
std::int64_t others(std::int64_t p, std::int64_t n) { return (p - 1) * n; }
std::int64_t share(std::int64_t p, std::int64_t n) { return (p - 1) * n / p; }
std::int64_t two_shares(std::int64_t p, std::int64_t n) { return 2 * (p - 1) * n / p; }

constexpr auto any = Bound::Sizes::any, powers_of_two = Bound::Sizes::powers_of_two;
constexpr auto rounds = Bound::Figure::rounds, messages = Bound::Figure::messages, sent = Bound::Figure::sent,
               reduced = Bound::Figure::reduced;
using enum Collective;
constexpr Bound bounds[] = {
    {barrier, any, rounds, "dissemination", log2_of},
    {barrier, any, messages, "dissemination", log2_of},
    {barrier, powers_of_two, rounds, "recursive_doubling", log2_of},
    {broadcast, any, rounds, "knomial", log2_of},
    {reduce, any, rounds, "knomial", log2_of},
    {allreduce, powers_of_two, rounds, "recursive_doubling", log2_of},
    {allreduce, powers_of_two, messages, "recursive_doubling", log2_of},
    {allreduce, any, sent, "ring", two_shares},
    {allreduce, any, reduced, "ring", share},
    {allreduce, powers_of_two, sent, "rabenseifner", two_shares},
    {allreduce, powers_of_two, rounds, "rabenseifner", twice_log2_of},
    {allreduce, any, messages, "circulant", twice_log2_of},
    {allreduce, any, sent, "circulant", two_shares},
    {allreduce, any, reduced, "circulant", share},
    {reduce_scatter, any, sent, "ring", others},
    {reduce_scatter, any, messages, "circulant", log2_of},
    {reduce_scatter, any, sent, "circulant", others},
    {reduce_scatter, any, reduced, "circulant", others},
    {reduce_scatter, any, messages, "bruck", log2_of},
    {reduce_scatter, any, sent, "bruck", others},
    {allgather, any, sent, "ring", others},
    {allgather, any, messages, "circulant", log2_of},
    {allgather, any, sent, "circulant", others},
    {allgather, any, messages, "bruck", log2_of},
    {allgather, any, sent, "bruck", others},
    {gather, any, sent, "linear", whole},
    {gather, any, rounds, "linear", one},
    {gather, any, rounds, "binomial", log2_of},
    {scatter, any, sent, "linear", others},
    {scatter, any, sent, "binomial", others},
    {scatter, any, rounds, "binomial", log2_of},
    {alltoall, any, sent, "linear", others},
    {alltoall, any, sent, "pairwise", others},
    {alltoall, any, messages, "bruck", log2_of},
    {scan, any, messages, "recursive_doubling", log2_of},
    {scan, any, sent, "linear", whole},
    {exscan, any, messages, "recursive_doubling", log2_of},
    {exscan, any, sent, "linear", whole},
};

std::int64_t figure(const Cost& cost, Bound::Figure which) {
  return which == rounds     ? cost.rounds
         : which == messages ? cost.messages
         : which == sent     ? cost.sent.value()
                             : cost.reduced.value();
}

TEST(LowerBounds, AreMet) {
  constexpr int most_ranks = 33;
  for (const auto& [collective, sizes, which, name, least] : bounds) {
    const Algorithm* algorithm = find_algorithm(collective, name);
    ASSERT_NE(algorithm, nullptr) << to_string(collective) << " " << name;
    for (int size = 2; size <= most_ranks; ++size) {
      if (sizes == powers_of_two && !std::has_single_bit(static_cast<unsigned>(size))) continue;
      const Count count{collective == barrier ? 0 : size};
      const Verdict verdict = prove(*algorithm, {.size = size, .count = count});
      ASSERT_TRUE(verdict.proved()) << verdict.fault;
      std::int64_t most = 0;
      for (const Cost& cost : verdict.costs)
        most = std::max(most, figure(cost, which));
      EXPECT_EQ(most, least(size, count.value())) << fmt::format("{} {}, p = {}", to_string(collective), name, size);
    }
  }
}

TEST(Scale, OneRankOf65536) {
  constexpr int size = 65536, log2_size = 16, most_per_round = 4;
  const std::pair<Collective, std::string_view> names[] = {{allreduce, "recursive_doubling"},
                                                           {allreduce, "circulant"},
                                                           {reduce_scatter, "circulant"},
                                                           {allgather, "circulant"}};
  for (const auto& [collective, name] : names) {
    const Algorithm* algorithm = find_algorithm(collective, name);
    ASSERT_NE(algorithm, nullptr) << to_string(collective) << " " << name;
    const auto begin = std::chrono::steady_clock::now();
    const Schedule schedule = algorithm->build(large_problem(*algorithm, size, Rank{size / 3}, Count{size}));
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
    fmt::print("{} {}: p = {}: {} steps in {:.0f} us\n", to_string(collective), name, size, schedule.steps.size(),
               time.count());
    EXPECT_LE(schedule.steps.size(), std::size_t{2} * most_per_round * log2_size);
  }
}

}  // namespace
}  // namespace tutti::checker
