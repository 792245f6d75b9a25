// The protocol of shared memory: all states of two ends with the least memory that it can live with, for messages of
// all kinds in all orders that collectives use; and that each rule of the protocol is needed.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/shm/shm_model.hpp"

namespace tutti::shm::test {

std::ostream& operator<<(std::ostream& out, const Pattern& pattern) { return out << pattern.name; }

namespace {

Geometry small(int kept, int buffers = 1) {
  Geometry geometry;
  geometry.lanes = 1;
  geometry.cells = 2;
  geometry.buffers = buffers;
  geometry.kept = kept;
  geometry.cell_bytes = 40;
  geometry.buffer_bytes = 64;
  return geometry;
}

std::vector<MessageKind> some(std::size_t count, MessageKind kind) { return std::vector<MessageKind>(count, kind); }

constexpr MessageKind in_cell = MessageKind::in_cell, in_buffer = MessageKind::in_buffer, shared = MessageKind::shared;

/// Operations of `each` messages each way, one after the other.
template <int each>
bool by_operation(const Counts& done, int /*side*/, std::size_t stream, bool to_send) {
  const int next = to_send ? done.sent[stream] : done.received[stream];
  const int before = next / each * each;
  return done.sent[stream] >= before && done.received[stream] >= before;
}
/// The rule where both ends send all of an operation before they receive.
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

Pattern one_sided(const char* name, const Geometry& geometry, std::vector<MessageKind> kinds) {
  return {name, geometry, {0}, {std::move(kinds)}, {{}}};
}
Pattern both_ways(const char* name, const Geometry& geometry, const std::vector<MessageKind>& kinds,
                  decltype(Pattern::may_begin) may_begin = nullptr) {
  return {name, geometry, {0}, {kinds}, {kinds}, may_begin};
}
Pattern lanes_in_other_order() {
  const auto kinds = some(3, in_buffer);
  return {"lanes_in_other_order", small(0), {0, 1}, {kinds, kinds}, {{}, {}}, second_stream_first};
}

std::vector<Pattern> patterns() {
  const std::vector<MessageKind> mixed{in_cell, in_buffer, in_buffer, in_cell};
  const std::vector<MessageKind> all{in_buffer, shared, in_cell, shared, in_buffer};
  const auto cells = some(5, in_cell), buffers = some(3, in_buffer), two = some(2, in_buffer);
  return {
      one_sided("one_sided", small(0), some(7, in_cell)),
      one_sided("one_sided_buffers", small(0), some(6, in_buffer)),
      one_sided("one_sided_two_buffers", small(0, 2), some(6, in_buffer)),
      one_sided("one_sided_kept", small(1, 2), some(6, in_buffer)),
      one_sided("one_sided_all_kept", small(1), some(5, in_buffer)),
      one_sided("one_sided_mixed", small(0), {in_buffer, in_cell, in_buffer, in_buffer, in_cell, in_buffer}),
      one_sided("shared", small(0), some(4, shared)),
      one_sided("shared_among_others", small(1, 2), all),
      both_ways("ring", small(0), cells),
      both_ways("ring_buffers", small(0), buffers),
      both_ways("ring_buffers_kept", small(1), buffers),
      both_ways("ring_two_buffers_kept", small(1, 2), buffers),
      both_ways("ring_by_operation", small(1), some(4, in_buffer), by_operation<1>),
      both_ways("ring_sends_first", small(0), some(4, in_buffer), sends_first<2>),
      both_ways("ring_sends_first_kept", small(1, 2), some(4, in_buffer), sends_first<2>),
      both_ways("ring_answers", small(0), mixed, answers),
      both_ways("ring_answers_kept", small(1), mixed, answers),
      both_ways("ring_shared", small(0), some(2, shared)),
      lanes_in_other_order(),
      {"two_lanes", small(1), {0, 1}, {two, {in_cell, in_buffer}}, {{}, {in_cell, in_buffer}}},
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
  expect_found(one_sided("one_sided", small(0), some(3, in_cell)), Mutant::never_credits, "deadlock");
}
TEST(BrokenProtocol, OverwritesWithoutCredits) {
  expect_found(one_sided("one_sided", small(0), some(3, in_cell)), Mutant::ignores_credits, "overwritten");
}
TEST(BrokenProtocol, OverwritesWhatWasReleasedTooEarly) {
  expect_found(one_sided("one_sided", small(0), some(4, in_buffer)), Mutant::releases_before_reading, "overwritten");
}
TEST(BrokenProtocol, LosesBuffersThatAreNotGivenBack) {
  expect_found(one_sided("one_sided", small(0), some(4, in_buffer)), Mutant::never_gives_back, "owners");
}
TEST(BrokenProtocol, SendsABufferTwice) {
  expect_found(one_sided("one_sided", small(0), some(2, in_buffer)), Mutant::sends_buffer_again, "owners");
}
TEST(BrokenProtocol, DeadlocksIfItWaitsForBuffers) {
  expect_found(lanes_in_other_order(), Mutant::waits_for_buffers, "deadlock");
}
TEST(BrokenProtocol, OverwritesWhatOthersStillRead) {
  expect_found(one_sided("shared", small(0), some(2, shared)), Mutant::shares_over, "owners");
}
TEST(BrokenProtocol, SendsAFlagBeforeItsData) {
  expect_found(one_sided("one_sided", small(0), some(1, in_buffer)), Mutant::writes_after_sending, "overwritten");
}

}  // namespace
}  // namespace tutti::shm::test
