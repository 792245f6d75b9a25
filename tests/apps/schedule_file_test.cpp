// Files of schedules: written, read, scaled and proved again; and files with a fault.
#include "lib/core/files/schedule_file.hpp"

#include <gmock/gmock.h>

#include <array>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "apps/options.hpp"
#include "apps/tutti/scene.hpp"
#include "lib/core/files/words.hpp"
#include "tutti/error.hpp"

namespace tutti::tool {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

checker::Case case_of(const Algorithm& algorithm, int ranks, bool is_in_place) {
  checker::Case what{.size = ranks, .count = Count{algorithm.collective == Collective::barrier ? 0 : 12}};
  what.parameter = algorithm.parameter.fallback;
  if (has_root(algorithm.collective)) what.root = Rank{ranks / 2};
  if (is_in_place) what.placement = checker::Placement::in_place;
  if (algorithm.levels != Levels::ranks)
    for (int rank = 0; rank < ranks; ++rank)
      what.nodes.push_back(rank < (ranks + 1) / 2 ? 0 : 1);
  return what;
}

std::string fault_of(const ScheduleFile& file, Count count) {
  return FiledScene{file, count, false, Unproved::shown}.scene().verdict.fault;
}

nlohmann::json ranks_in(const std::string& text) { return nlohmann::json::parse(text)["ranks"]; }

class EveryAlgorithm : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(All, EveryAlgorithm, testing::Range(2, 10));

/// The file has the schedules as they are, and they are proved for every count.
TEST_P(EveryAlgorithm, ComesBackFromItsFile) {
  int files = 0, refused = 0;
  for (const Algorithm* algorithm : algorithms()) {
    for (const bool is_in_place : {false, true}) {
      if (algorithm->collective == Collective::barrier && is_in_place) continue;
      const Scene scene{{algorithm, algorithm->parameter.fallback}, case_of(*algorithm, GetParam(), is_in_place)};
      const std::string text = to_json(scene, -1);
      const ScheduleFile file = read_schedule_file(text, "FILE");
      const FiledScene filed{file, scene.what.count, false, Unproved::shown};
      EXPECT_EQ(filed.scene().verdict.fault, "") << scene.title();
      EXPECT_EQ(ranks_in(to_json(filed.scene(), -1)), ranks_in(text)) << scene.title();
      EXPECT_EQ(filed.scene().cost, scene.cost) << scene.title();
      ++files;
      for (const int count : {24, 13, 23, 1, 0}) {
        try {
          EXPECT_EQ(fault_of(file, Count{count}), "") << scene.title() << ", " << count << " elements";
        } catch (const apps::InputError& error) {
          ++refused;  // chunks of several lengths meet, as blocks of different parts do
          EXPECT_THAT(error.what(), HasSubstr("chunks of different lengths would meet")) << scene.title();
        }
      }
    }
  }
  EXPECT_GT(files, 100);
  EXPECT_EQ(refused, 0);
}

constexpr std::string_view exchange = R"({
  "tutti_schedule": 1, "collective": "allreduce", "size": 2, "chunks": 1, "requires": {"commutative": true},
  "ranks": [
    {"rank": 0, "scratch": 1, "steps": [
      {"action": "send", "to": 1, "from": [{"buffer": "input", "offset": 0, "count": 1}]},
      {"action": "recv", "from": 1, "into": [{"buffer": "scratch", "offset": 0, "count": 1}]},
      {"action": "reduce", "lhs": {"buffer": "input", "offset": 0, "count": 1}, "rhs": {"buffer": "scratch", "offset": 0, "count": 1},
       "into": {"buffer": "output", "offset": 0, "count": 1}, "after": [1]}]},
    {"rank": 1, "scratch": 1, "steps": [
      {"action": "send", "to": 0, "from": [{"buffer": "input", "offset": 0, "count": 1}]},
      {"action": "recv", "from": 0, "into": [{"buffer": "scratch", "offset": 0, "count": 1}]},
      {"action": "reduce", "lhs": {"buffer": "scratch", "offset": 0, "count": 1}, "rhs": {"buffer": "input", "offset": 0, "count": 1},
       "into": {"buffer": "output", "offset": 0, "count": 1}, "after": [1]}]}]})";

/// The text with the first `before` replaced.
std::string changed(std::string_view before, std::string_view after) {
  std::string text{exchange};
  const std::size_t at = text.find(before);
  EXPECT_NE(at, std::string::npos) << before;
  return at == std::string::npos ? text : text.replace(at, before.size(), after);
}

std::string refusal_of(std::string_view text) {
  try {
    (void)read_schedule_file(text, "F");
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "";
}

TEST(ScheduleFile, IsReadAsItIsWritten) {
  const ScheduleFile file = read_schedule_file(exchange, "F");
  EXPECT_EQ(file.ranks, 2);
  EXPECT_TRUE(file.is_commutative);
  EXPECT_EQ(fault_of(file, Count{1}), "");
  EXPECT_EQ(fault_of(file, Count{1000}), "");
}

TEST(ScheduleFile, IsRefusedWithPlaceAndReason) {
  EXPECT_THAT(refusal_of("{"), StartsWith("F:1:"));
  EXPECT_THAT(refusal_of(changed("\"tutti_schedule\": 1", "\"tutti_schedule\": 2")),
              StartsWith("F:2:21: 'tutti_schedule' is 2; allowed: 1, the version of the form"));
  EXPECT_THAT(refusal_of(changed("\"collective\": \"allreduce\", ", "")), HasSubstr("no key 'collective'"));
  EXPECT_THAT(refusal_of(changed("allreduce", "allreduse")), HasSubstr("did you mean allreduce"));
  EXPECT_THAT(refusal_of(changed("\"size\": 2", "\"size\": 3")), HasSubstr("'ranks' has 2 schedules; needed: 3"));
  EXPECT_THAT(refusal_of(changed("\"rank\": 1", "\"rank\": 0")), HasSubstr("'rank' is 0; allowed: 1"));
  EXPECT_THAT(refusal_of(changed("\"chunks\": 1", "\"chunks\": 0")),
              HasSubstr("'chunks' is 0; allowed: a whole number"));
  EXPECT_THAT(refusal_of(changed("\"action\": \"send\"", "\"action\": \"sent\"")), HasSubstr("did you mean send"));
  EXPECT_THAT(refusal_of(changed("\"to\": 1, ", "")), HasSubstr("a step 'send' without the key 'to'"));
  EXPECT_THAT(refusal_of(changed("\"to\": 1", "\"to\": 1, \"into\": []")),
              HasSubstr("'into' is no key of a step 'send'"));
  EXPECT_THAT(refusal_of(changed("\"offset\": 0", "\"offset\": -1")), HasSubstr("'offset' is -1; allowed"));
  EXPECT_THAT(refusal_of(changed("\"scratch\": 1", "\"scratch\": 99999999999")), HasSubstr("'scratch' is"));
  EXPECT_THAT(refusal_of(changed("\"commutative\": true", "\"uneven\": true")), HasSubstr("'uneven' is true"));
  EXPECT_THAT(refusal_of(changed("\"commutative\": true", "\"nodes\": [1, 2]")),
              HasSubstr("'nodes' has 3 ranks in all"));
  EXPECT_THAT(refusal_of(changed("\"chunks\": 1", "\"chunks\": 1, \"bytes\": [9, 8]")),
              HasSubstr("the smaller number first"));
}

TEST(ScheduleFile, ReceivesOneRegionToReduceIt) {
  const std::string text = changed(R"("into": [{"buffer": "scratch", "offset": 0, "count": 1}]})",
                                   R"("into": [], "then": {"action": "reduce", "lhs": {"buffer": "input"},
      "rhs": {"buffer": "output"}, "into": {"buffer": "output"}}})");
  EXPECT_THAT(refusal_of(text), HasSubstr("'then' in a step 'recv' whose 'into' has not one region"));
}

TEST(ScheduleFile, IsNotProvedWithAFault) {
  const auto fault = [](std::string_view before, std::string_view after) {
    return fault_of(read_schedule_file(changed(before, after), "F"), Count{4});
  };
  EXPECT_THAT(fault(", \"after\": [1]", ""), HasSubstr("rank 0, step 2 (reduce"));
  EXPECT_THAT(fault("\"to\": 1", "\"to\": 0"), StartsWith("rank 0, step 0 (send"));
  EXPECT_THAT(fault("\"to\": 1", "\"to\": 1, \"message\": 7"), HasSubstr("rank 0, step 0"));
  EXPECT_THAT(fault("\"after\": [1]", "\"after\": [9]"), HasSubstr("waits for step 9, which does not come before it"));
  EXPECT_THAT(fault("\"buffer\": \"scratch\", \"offset\": 0", "\"buffer\": \"scratch\", \"offset\": 3"),
              HasSubstr("leaves its buffer of 1 elements"));
}

/// Each rank puts its own operand first: different bits, which a file has to admit.
TEST(ScheduleFile, MayGiveRanksDifferentBitsIfItSaysSo) {
  std::string text = changed(R"("lhs": {"buffer": "scratch")", R"("lhs": {"buffer": "input")");
  const std::size_t at = text.rfind(R"("rhs": {"buffer": "input")");
  text.replace(at, 25, R"("rhs": {"buffer": "scratch")");
  EXPECT_THAT(fault_of(read_schedule_file(text, "F"), Count{1}), HasSubstr("but (r0[0] (+) r1[0]) on rank 0"));
  text.insert(text.find("\"size\""), "\"bits\": \"differ\", ");
  EXPECT_EQ(fault_of(read_schedule_file(text, "F"), Count{1}), "");
}

/// A rank puts chunk 1 where chunk 0 belongs before it puts chunk 0 there: right for as many elements as chunks, but
/// the chunks may have two lengths.
TEST(ScheduleFile, HasChunksOfOneLengthInOneStep) {
  constexpr std::string_view unlike = R"({"tutti_schedule": 1, "collective": "alltoall", "size": 1, "chunks": 2,
    "ranks": [{"rank": 0, "scratch": 0, "steps": [
      {"action": "copy", "from": {"buffer": "input", "offset": 1, "count": 1}, "into": {"buffer": "output", "offset": 0, "count": 1}},
      {"action": "copy", "from": {"buffer": "input", "offset": 0, "count": 2}, "into": {"buffer": "output", "offset": 0, "count": 2},
       "after": [0]}]}]})";
  const ScheduleFile file = read_schedule_file(unlike, "F");
  EXPECT_EQ(fault_of(file, Count{2}), "");
  EXPECT_EQ(fault_of(file, Count{4}), "");
  try {
    (void)fault_of(file, Count{3});
    ADD_FAILURE() << "is not refused";
  } catch (const apps::InputError& error) {
    EXPECT_STREQ(
        error.what(),
        "F: its 2 chunks do not divide 3 elements, and chunks of different lengths would meet: rank 0, step 0: "
        "chunk 0 meets chunk 1");
  }
}

/// What a file requires does not bind its calls: it is proved for all placements, some as they are, others by copies;
/// and what other processes get of it is the same.
TEST_P(EveryAlgorithm, ServesAllPlacementsAndCounts) {
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->collective == Collective::barrier) continue;
    for (const bool is_in_place : {false, true}) {
      checker::Case what = case_of(*algorithm, GetParam(), is_in_place);
      const Scene scene{{algorithm, algorithm->parameter.fallback}, what};
      FiledAlgorithm made{read_schedule_file(to_json(scene, -1), "F"), "file:F"};
      made.find_chunks();
      const auto sent = FiledAlgorithm::of_words(made.words(std::nullopt));
      for (const checker::Placement placement :
           {checker::Placement::separate, checker::Placement::in_place, checker::Placement::in_place_on_even_ranks})
        for (const int count : {12, 29}) {
          what.placement = placement;
          what.count = Count{count};
          what.is_fused = true;
          EXPECT_EQ(checker::prove(sent->algorithm(), what).fault, "")
              << scene.title() << to_string(placement) << count;
        }
      const Rank last{GetParam() - 1};
      const auto part = FiledAlgorithm::of_words(made.words(last));
      Problem problem = problem_of(made.file(), last, Count{29});
      const auto words_of = [](const Schedule& schedule) {
        WordWriter writer;
        writer.put(schedule);
        return std::move(writer).words();
      };
      EXPECT_EQ(words_of(part->build(problem)), words_of(made.build(problem))) << scene.title();
      problem.rank = Rank{0};
      EXPECT_THROW((void)part->build(problem), ArgumentError);
    }
  }
}

TEST(ScheduleFile, SaysWhichCallsItIsNotFor) {
  ScheduleFile file = read_schedule_file(changed(R"("size": 2)", R"("bytes": [8, 64], "size": 2)"), "F");
  file.nodes = {1, 1};
  const FiledAlgorithm made{std::move(file), "file:F"};
  const std::vector<int> nodes{0, 1}, one{0, 0};
  const FiledCall good{.ranks = 2, .bytes = Bytes{8}, .count = Count{1}, .nodes = nodes};
  EXPECT_EQ(made.why_unfit(good), "");
  const auto why = [&](const auto& change) {
    FiledCall call = good;
    change(call);
    return made.why_unfit(call);
  };
  EXPECT_EQ(why([](FiledCall& call) { call.ranks = 3; }), "it is for 2 ranks, not 3");
  EXPECT_EQ(why([](FiledCall& call) { call.is_uneven = true; }), "it is for blocks of one size");
  EXPECT_THAT(why([](FiledCall& call) { call.is_commutative = false; }), HasSubstr("do not commute"));
  EXPECT_EQ(why([&](FiledCall& call) { call.nodes = one; }), "it is for nodes of 1, 1 ranks, one after the other");
  EXPECT_EQ(why([](FiledCall& call) { call.bytes = Bytes{4}; }), "it is for 8 bytes or more, not 4");
  EXPECT_EQ(why([](FiledCall& call) { call.bytes = Bytes{65}; }), "it is for up to 64 bytes, not 65");
}

/// The places of a text, behind the head of a file.
std::vector<std::size_t> places_of(const std::string& text, std::string_view part) {
  std::vector<std::size_t> places;
  for (std::size_t at = text.find("\"steps\": ["); (at = text.find(part, at)) != std::string::npos; at += part.size())
    places.push_back(at);
  return places;
}

/// A file with a fault: a number, a buffer, a kind of step, or an edge is another one.
std::string mutated(std::string text, std::mt19937& random) {
  const auto change = [&](std::string_view before, std::string_view after) {
    const std::vector<std::size_t> places = places_of(text, before);
    if (!places.empty()) text.replace(places[random() % places.size()], before.size(), after);
  };
  constexpr std::array<std::string_view, 3> buffers{R"("input")", R"("output")", R"("scratch")"};
  switch (random() % 6) {
    case 0:
      change(buffers[random() % 3], buffers[random() % 3]);
      break;
    case 1:
      change(R"("after": [)", random() % 2 == 0 ? R"("note": [)" : R"("after": [0, )");
      break;
    case 2:
      change(R"("action": "send")", R"("action": "copy")");
      break;
    default: {
      std::vector<std::size_t> digits;
      for (std::size_t at = text.find("\"steps\": ["); at < text.size(); ++at) {
        if (text.compare(at, 7, "\"rank\":") == 0) at = text.find("\"steps\": [", at);  // behind the shape of buffers
        if (std::isdigit(static_cast<unsigned char>(text[at])) != 0) digits.push_back(at);
      }
      text[digits[random() % digits.size()]] = static_cast<char>('0' + random() % 10);
    }
  }
  return text;
}

/// Any change is caught by the reader or by the proof, or changes nothing that matters: then the schedules are proved
/// for several counts.
TEST(ScheduleFile, WithAChangeIsNeverUsedWrongly) {
  std::mt19937 random{7};
  int refused = 0, refuted = 0, harmless = 0;
  for (const Algorithm* algorithm : algorithms()) {
    const Scene scene{{algorithm, algorithm->parameter.fallback}, case_of(*algorithm, 4, false)};
    const std::string text = to_json(scene, -1);
    for (int change = 0; change < 20; ++change) {
      const std::string mutant = mutated(text, random);
      if (mutant == text) continue;
      try {
        const ScheduleFile file = read_schedule_file(mutant, "F");
        bool is_proved = true;
        for (const int count : {12, 25})
          is_proved = is_proved && fault_of(file, Count{count}).empty();
        ++(is_proved ? harmless : refuted);
      } catch (const std::exception&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refuted, 500) << refused << " refused, " << harmless << " harmless";
  EXPECT_GT(refused, 100);
  EXPECT_GT(refused + refuted, 3 * harmless);
}

}  // namespace
}  // namespace tutti::tool
