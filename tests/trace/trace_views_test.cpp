// What is made of a traced job: the summary as text and JSON, the timeline, the picture of one operation.
#include "apps/tutti/trace_views.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "apps/options.hpp"
#include "apps/tutti/trace_summary.hpp"
#include "tests/trace/traced_jobs.hpp"

namespace tutti::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using trace::Action;

json timeline_of(const tool::TracedJob& job) {
  std::string text;
  tool::write_timeline(job, [&](std::string_view piece) { text += piece; });
  return json::parse(text).at("traceEvents");
}

/// The slices of a timeline by process and track.
std::map<std::pair<int, int>, std::vector<json>> tracks_of(const json& events) {
  std::map<std::pair<int, int>, std::vector<json>> tracks;
  for (const json& event : events)
    if (event.at("ph") == "X") tracks[{event.at("pid"), event.at("tid")}].push_back(event);
  return tracks;
}

TEST(Timeline, HasASliceForAllThatWasRecorded) {
  const json events = timeline_of(two_ranks());
  std::map<std::string, int> slices;
  for (const json& event : events)
    if (event.at("ph") == "X") ++slices[event.at("name")];
  EXPECT_EQ(slices, (std::map<std::string, int>{{"allreduce", 2},
                                                {"send to 0", 1},
                                                {"send to 1", 1},
                                                {"receive from 0", 1},
                                                {"receive and reduce from 1", 1},
                                                {"reduce", 1},
                                                {"wait for rank 0", 1},
                                                {"wait for rank 1", 1}}));
}

TEST(Timeline, NamesProcessesAndTracks) {
  std::map<std::string, int> processes;
  std::multiset<std::string> threads;
  for (const json& event : timeline_of(two_ranks())) {
    if (event.at("name") == "process_name") processes[event.at("args").at("name")] = event.at("pid");
    if (event.at("name") == "thread_name") threads.insert(event.at("args").at("name"));
  }
  EXPECT_EQ(processes, (std::map<std::string, int>{{"rank 0 (node1)", 0}, {"rank 1 (node1)", 1}}));
  EXPECT_EQ(threads.count("calls"), 2);
  EXPECT_EQ(threads.count("reductions and copies"), 1);
}

TEST(Timeline, HasTimesInMicroseconds) {
  for (const json& event : timeline_of(two_ranks())) {
    if (event.at("ph") != "X" || event.at("name") != "allreduce") continue;
    const bool is_first = event.at("pid") == 0;
    EXPECT_DOUBLE_EQ(event.at("ts"), is_first ? 0 : 0.5);
    EXPECT_DOUBLE_EQ(event.at("dur"), is_first ? 2 : 1.45);
    EXPECT_EQ(event.at("args").at("communicator"), "0/2");
    EXPECT_EQ(event.at("args").at("operation"), 7);
    EXPECT_EQ(event.at("args").at("bytes"), 400);
    EXPECT_EQ(event.at("args").at("called"), "blocking");
  }
}

/// An arrow begins inside the slice of its send, and ends inside that of its receive.
TEST(Timeline, HasAnArrowForEachMessage) {
  const json events = timeline_of(two_ranks());
  const auto tracks = tracks_of(events);
  std::map<int, std::vector<json>> arrows;
  for (const json& event : events)
    if (event.at("ph") == "s" || event.at("ph") == "f") arrows[event.at("id")].push_back(event);
  EXPECT_EQ(arrows.size(), 2);
  for (const auto& [id, ends] : arrows) {
    ASSERT_EQ(ends.size(), 2);
    for (const json& end : ends) {
      int around = 0;
      for (const json& slice : tracks.at({end.at("pid"), end.at("tid")})) {
        const double begin = slice.at("ts"), until = begin + slice.at("dur").get<double>(), time = end.at("ts");
        const std::string wanted = end.at("ph") == "s" ? "send" : "receive";
        if (begin <= time && time < until && slice.at("name").get<std::string>().starts_with(wanted)) ++around;
      }
      EXPECT_EQ(around, 1);
    }
    EXPECT_NE(ends[0].at("pid"), ends[1].at("pid"));
  }
}

TEST(Timeline, NothingOverlapsOnATrack) {
  RankTrace a{0, 2};
  a.allreduce(0, 0, 1000).allreduce(1, 100, 900).allreduce(2, 950, 1200);
  for (std::int64_t i = 0; i < 10; ++i)
    a.step(Action::send, 1, 10 * i, 10 * i + 35, static_cast<int>(i));
  const auto tracks = tracks_of(timeline_of(job_of(a, RankTrace{1, 2})));
  EXPECT_EQ(tracks.size(), 2 + 4) << "calls that overlap, and up to four sends at a time";
  for (const auto& [track, slices] : tracks) {
    double until = 0;
    for (const json& slice : slices) {
      EXPECT_GE(slice.at("ts").get<double>(), until);
      until = slice.at("ts").get<double>() + slice.at("dur").get<double>();
    }
  }
}

TEST(Timeline, ShowsOperationsThatAreNotOver) {
  RankTrace a{0, 1, "a \"host\" \xff"};
  a.allreduce(0, 100, 0).step(Action::copy, -1, 100, 500);
  const json events = timeline_of(job_of(a));
  const auto found =
      std::ranges::find_if(events, [](const json& event) { return event.at("name") == "allreduce (not over)"; });
  ASSERT_NE(found, events.end());
  EXPECT_DOUBLE_EQ(found->at("dur"), 0.4);
}

TEST(Summary, IsATextOfTables) {
  const std::string text = tool::summary_text(two_ranks(), 5);
  EXPECT_THAT(text, HasSubstr("2 ranks on 1 host, 2 us in all"));
  EXPECT_THAT(text, HasSubstr("0/2           2      1      1\n"));
  EXPECT_THAT(text, HasSubstr("allreduce   ring       1      400    1.73 us  2 us    2 us  61%      rank 1 (81%)\n"));
  EXPECT_THAT(text, HasSubstr("\n1     node1  1        1 (100%)  500 ns      500 ns  1.0       400 ns  1.7 us\n"));
}

TEST(Summary, IsJsonForPrograms) {
  const json summary = json::parse(tool::summary_json(two_ranks(), 5));
  EXPECT_EQ(summary.at("messages"), 2);
  EXPECT_EQ(summary.at("unmatched_ends"), 0);
  EXPECT_EQ(summary.at("calls").at(0).at("total_ns"), 3450);
  EXPECT_EQ(summary.at("calls").at(0).at("waited_for").at(1).at("rank"), 1);
  EXPECT_EQ(summary.at("ranks").at(1).at("last"), 1);
  EXPECT_EQ(summary.at("slowest").at(0).at("operation"), 7);
  EXPECT_EQ(summary.at("slowest").at(0).at("ns"), 2000);
  EXPECT_EQ(summary.at("slowest").at(0).at("last_rank"), 1);
  EXPECT_EQ(summary.at("slowest").at(0).at("last_behind_ns"), 500);
  EXPECT_EQ(summary.at("communicators").at(0).at("name"), "0/2");
}

TEST(Summary, ListsTheSlowestCalls) {
  RankTrace a{0, 1};
  a.allreduce(0, 0, 1000).allreduce(1, 2000, 5000).allreduce(2, 6000, 8000).allreduce(3, 9000, 0);
  const auto calls = tool::slowest_calls(job_of(a), 2);
  ASSERT_EQ(calls.size(), 2);
  EXPECT_EQ(calls[0].operation, 1);
  EXPECT_EQ(calls[0].time, 3000);
  EXPECT_EQ(calls[1].operation, 2);
  EXPECT_THAT(tool::summary_text(job_of(a), 1),
              HasSubstr("allreduce  0/1           1          ring       400    3 us"));
  EXPECT_EQ(tool::summary_text(job_of(a), 0).find("slowest"), std::string::npos);
}

std::string refusal_of(const tool::TracedJob& job, std::uint64_t operation, std::string_view communicator) {
  try {
    static_cast<void>(tool::operation_svg(job, operation, communicator));
    return "none";
  } catch (const apps::InputError& error) {
    return error.what();
  }
}

int count(std::string_view text, std::string_view part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST(Picture, ShowsRanksMessagesAndWaits) {
  const std::string svg = tool::operation_svg(two_ranks(), 7, "");
  EXPECT_THAT(svg, testing::StartsWith("<svg xmlns="));
  EXPECT_THAT(svg,
              HasSubstr("operation 7 of communicator 0/2: 2 ranks on 1 node, 400 bytes (100 elements of fp32), sum"));
  EXPECT_THAT(svg,
              HasSubstr("2.0 us from the first entry to the last end; the last rank entered 0.5 us after the first"));
  EXPECT_EQ(count(svg, " sends 100 bytes to rank "), 2);
  EXPECT_EQ(count(svg, "<title>waits for rank "), 2);
  EXPECT_EQ(count(svg, "<title>reduce, 100 bytes"), 1);
}

TEST(Picture, IsOfOneOperation) {
  RankTrace a{0, 1};
  a.communicator(1, 0, 1, 5).communicator(1, 0, 1, 5, 1);
  a.allreduce(3, 10, 20, 1).allreduce(3, 30, 40, 2).allreduce(4, 50, 60, 2);
  const tool::TracedJob job = job_of(a);
  EXPECT_THAT(refusal_of(job, 9, ""),
              HasSubstr("--operation 9: no collective has that number; the communicators are 0/1, 1/1, 1/1#2"));
  EXPECT_THAT(refusal_of(job, 3, ""), HasSubstr("several communicators have it; --communicator allowed: 1/1, 1/1#2"));
  EXPECT_THAT(refusal_of(job, 3, "1"), HasSubstr("several"));
  EXPECT_THAT(refusal_of(job, 3, "0"), HasSubstr("no collective has that number in '0'"));
  EXPECT_EQ(refusal_of(job, 3, "1/1#2"), "none");
  EXPECT_EQ(refusal_of(job, 4, "1"), "none");
  EXPECT_EQ(refusal_of(job, 4, ""), "none");
}

}  // namespace
}  // namespace tutti::test
