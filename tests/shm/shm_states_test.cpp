// The protocol of shared memory: all states of two ends with the least memory that it can live with, for messages of
// all kinds in all orders that collectives use; and that each rule of the protocol is needed.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/shm/shm_model.hpp"

namespace tutti::shm::test {

std::ostream& operator<<(std::ostream& out, const Pattern& pattern) { return out << pattern.name; }

namespace {

Geometry small(int swap_slots, int slack) {
  Geometry geometry;
  geometry.lanes = 1;
  geometry.swap_slots = swap_slots;
  geometry.ring_slots = 2;
  geometry.pool = 1;
  geometry.slack = slack;
  geometry.published = 1;
  geometry.inline_bytes = 40;
  geometry.area_bytes = 64;
  return geometry;
}

std::vector<Kind> some(std::size_t count, Kind kind) { return std::vector<Kind>(count, kind); }

constexpr Kind in_slot = Kind::in_slot, in_area = Kind::in_area, published = Kind::published;
constexpr Stream swap0{0, Way::swap}, swap0_slot1{0, Way::swap, 1}, swap1{1, Way::swap}, ring0{0}, ring1{1};

/// Operations of `each` messages each way, one after the other: what swapped slots are for.
template <int each>
bool by_operation(const Counts& done, int /*side*/, std::size_t stream, bool to_send) {
  const int next = to_send ? done.sent[stream] : done.received[stream];
  const int before = next / each * each;
  return done.sent[stream] >= before && done.received[stream] >= before;
}
/// The same, where both ends send all of an operation before they receive.
template <int each>
bool sends_first(const Counts& done, int side, std::size_t stream, bool to_send) {
  const bool may_receive = done.sent[stream] >= done.received[stream] / each * each + each;
  return by_operation<each>(done, side, stream, to_send) && (to_send || may_receive);
}
/// Side 1 answers.
bool answers(const Counts& done, int side, std::size_t stream, bool to_send) {
  return side == 0 || !to_send || done.received[stream] > done.sent[stream];
}
/// Side 1 takes nothing of stream 0 before it has all three messages of stream 1.
bool second_stream_first(const Counts& done, int side, std::size_t stream, bool to_send) {
  return side == 0 || to_send || stream == 1 || done.received[1] == 3;
}

Pattern one_sided(const char* name, int slack, std::vector<Kind> kinds) {
  return {name, small(1, slack), {ring0}, {std::move(kinds)}, {{}}};
}
Pattern both_ways(const char* name, const Geometry& geometry, Stream stream, const std::vector<Kind>& kinds,
                  decltype(Pattern::may_begin) may_begin = nullptr) {
  const int per_operation = may_begin == by_operation<1> ? 1 : geometry.swap_slots;
  return {name, geometry, {stream}, {kinds}, {kinds}, may_begin, per_operation};
}
Pattern lanes_in_other_order() {
  const auto kinds = some(3, in_area);
  return {"lanes_in_other_order", small(1, 0), {ring0, ring1}, {kinds, kinds}, {{}, {}}, second_stream_first};
}

std::vector<Pattern> patterns() {
  const std::vector<Kind> mixed{in_slot, in_area, in_area, in_slot}, areas = some(4, in_area), two = some(2, in_area),
                                                                     one = some(1, in_area);
  return {
      one_sided("one_sided", 0, some(7, in_slot)),
      one_sided("one_sided_areas", 0, some(6, in_area)),
      one_sided("one_sided_areas_kept", 1, some(6, in_area)),
      one_sided("one_sided_mixed", 0, {in_area, in_slot, in_area, in_area, in_slot, in_area}),
      one_sided("published", 0, some(4, published)),
      one_sided("published_among_others", 1, {in_area, published, in_slot, published, in_area}),
      both_ways("swap_1", small(1, 0), swap0, some(5, in_slot), by_operation<1>),
      both_ways("swap_2", small(2, 0), swap0, some(6, in_slot), by_operation<2>),
      both_ways("swap_2_half_used", small(2, 0), swap0, some(5, in_slot), by_operation<1>),
      both_ways("swap_2_unordered", small(2, 0), swap0, some(5, in_slot)),
      both_ways("swap_1_areas", small(1, 0), swap0, areas, by_operation<1>),
      both_ways("swap_2_areas", small(2, 1), swap0, areas, by_operation<2>),
      both_ways("swap_2_mixed", small(2, 0), swap0, mixed, sends_first<2>),
      both_ways("swap_2_sends_first", small(2, 0), swap0, some(6, in_slot), sends_first<2>),
      both_ways("ring", small(1, 0), ring0, some(5, in_slot)),
      both_ways("ring_areas", small(1, 0), ring0, some(3, in_area)),
      both_ways("ring_areas_kept", small(1, 1), ring0, some(3, in_area)),
      both_ways("ring_sends_first", small(1, 0), ring0, areas, sends_first<2>),
      both_ways("ring_answers", small(1, 0), ring0, mixed, answers),
      both_ways("ring_published", small(1, 0), ring0, some(2, published)),
      lanes_in_other_order(),
      {"operations_of_1_and_2", small(2, 0), {swap0, swap0_slot1}, {two, one}, {two, one}, by_operation<1>},
      {"two_ways_in_a_lane", small(1, 0), {ring0, swap0}, {two, one}, {two, one}, by_operation<1>},
      {"two_lanes", small(1, 0), {ring0, swap1}, {two, {in_slot, in_area}}, {{}, {in_slot, in_area}}},
  };
}

class States : public testing::TestWithParam<Pattern> {};

TEST_P(States, AreAllRight) {
  const Verdict verdict = explore(GetParam());
  std::printf("%s: %zu states, %zu ends\n", GetParam().name, verdict.states, verdict.finals);
  EXPECT_EQ(verdict.problem, "");
  EXPECT_GT(verdict.finals, 0);
}

INSTANTIATE_TEST_SUITE_P(Patterns, States, testing::ValuesIn(patterns()),
                         [](const auto& pattern) { return std::string{pattern.param.name}; });

void expect_found(const Pattern& pattern, Mutant mutant, const std::string& problem) {
  ASSERT_EQ(explore(pattern).problem, "") << pattern.name;
  const Verdict verdict = explore(pattern, mutant);
  EXPECT_EQ(verdict.problem.substr(0, problem.size()), problem)
      << pattern.name << ": '" << verdict.problem << "' after " << verdict.states << " states";
}

TEST(BrokenProtocol, DeadlocksWithoutCredits) {
  expect_found(one_sided("one_sided", 0, some(3, in_slot)), Mutant::never_credits, "deadlock");
}
TEST(BrokenProtocol, OverwritesWithoutCredits) {
  expect_found(one_sided("one_sided", 0, some(3, in_slot)), Mutant::ignores_credits, "overwritten");
}
TEST(BrokenProtocol, LosesWhatIsSentInSlotsOfOthers) {
  expect_found(both_ways("swap", small(1, 0), swap0, some(3, in_slot), answers), Mutant::ignores_turns, "deadlock");
}
TEST(BrokenProtocol, OverwritesWhatWasReleasedTooEarly) {
  expect_found(one_sided("one_sided", 0, some(4, in_area)), Mutant::releases_before_reading, "overwritten");
}
TEST(BrokenProtocol, LosesAreasThatAreNotGivenBack) {
  expect_found(one_sided("one_sided", 0, some(4, in_area)), Mutant::keeps_areas, "owners");
}
TEST(BrokenProtocol, GivesAnAreaTwoOwners) {
  expect_found(one_sided("one_sided", 0, some(2, in_area)), Mutant::sends_area_again, "owners");
}
TEST(BrokenProtocol, DeadlocksWithoutReserves) {
  expect_found(lanes_in_other_order(), Mutant::has_no_reserves, "deadlock");
}
TEST(BrokenProtocol, OverwritesWhatOthersStillRead) {
  expect_found(one_sided("published", 0, some(2, published)), Mutant::publishes_over, "overwritten");
}
TEST(BrokenProtocol, SendsAFlagBeforeItsData) {
  expect_found(one_sided("one_sided", 0, some(1, in_area)), Mutant::writes_after_sending, "overwritten");
}

}  // namespace
}  // namespace tutti::shm::test
