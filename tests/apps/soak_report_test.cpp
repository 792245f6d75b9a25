// What tutti-soak watches and tells: resources and their growth, tables, the command that repeats a call.
#include <gmock/gmock.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "apps/soak/report.hpp"
#include "apps/soak/settings.hpp"

namespace tutti::soak {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

std::int64_t of(const Resources& resources, Resource resource) { return resources[static_cast<std::size_t>(resource)]; }

TEST(Resources, OfThisProcessRiseWithWhatItTakes) {
  const Resources before = read_resources(true);
  std::vector<char> memory(32 * mebibyte, 'x');
  const int descriptor = ::dup(0);
  std::atomic<bool> ends = false;
  std::thread thread{[&] {
    while (!ends)
      std::this_thread::yield();
  }};
  const Resources now = read_resources(true);
  ends = true;
  thread.join();
  ::close(descriptor);
  const auto rise = [&](Resource resource) { return of(now, resource) - of(before, resource); };
  if (of(before, Resource::heap) > 0) {  // else the C library does not tell
    EXPECT_NEAR(static_cast<double>(rise(Resource::heap)), 32.0 * mebibyte, mebibyte);
  }
  EXPECT_GE(rise(Resource::private_memory), 31 * mebibyte);
  EXPECT_GE(rise(Resource::mapped), 32 * mebibyte);
  EXPECT_EQ(rise(Resource::descriptors), 1);
  EXPECT_EQ(rise(Resource::threads), 1);
  EXPECT_EQ(of(read_resources(false), Resource::node_shm), 0);
  EXPECT_GE(memory[0], 'x');
}

/// A history of so many samples, each of value(i), of one resource.
template <class Value>
History history(Resource resource, int samples, Value value) {
  History history{1};
  for (int i = 0; i < samples; ++i) {
    Resources sample{};
    sample[static_cast<std::size_t>(resource)] = value(i);
    if (history.is_due(i)) history.add(i, sample);
  }
  return history;
}

TEST(History, ComparesTheSecondQuarterWithTheLast) {
  const History all = history(Resource::descriptors, 16, [](std::int64_t i) { return i * i; });
  const auto quarters = all.quarters(Resource::descriptors);
  ASSERT_TRUE(quarters);
  EXPECT_EQ(quarters->second, 36);  // of 4, 5, 6, 7
  EXPECT_EQ(quarters->last, 196);   // of 12, 13, 14, 15
  EXPECT_EQ(of(all.first(), Resource::descriptors), 0);
  EXPECT_EQ(of(all.last(), Resource::descriptors), 225);
  EXPECT_FALSE(history(Resource::descriptors, 15, [](int i) { return i; }).quarters(Resource::descriptors));
}

TEST(History, KeepsABoundedNumberOfSamplesOfAnyTime) {
  const History all = history(Resource::heap, 100'000, [](int i) { return i == 70'001 ? 1'000'000 : i; });
  EXPECT_LE(all.size(), History::most_samples);
  EXPECT_GE(all.size(), History::most_samples / 2);
  EXPECT_NEAR(static_cast<double>(all.quarters(Resource::heap)->second), 37'500, 1'000);
  EXPECT_NEAR(static_cast<double>(all.quarters(Resource::heap)->last), 87'500, 1'000);
}

bool is_growth(Resource resource, std::int64_t second, std::int64_t last) { return grows(resource, {second, last}); }

TEST(Growth, NeedsMoreThanTheSlack) {
  EXPECT_FALSE(is_growth(Resource::heap, 100 * mebibyte, 102 * mebibyte));
  EXPECT_TRUE(is_growth(Resource::heap, 100 * mebibyte, 103 * mebibyte));
  EXPECT_FALSE(is_growth(Resource::heap, 0, mebibyte / 2));
  EXPECT_TRUE(is_growth(Resource::heap, 0, mebibyte));
  EXPECT_FALSE(is_growth(Resource::descriptors, 36, 40));
  EXPECT_TRUE(is_growth(Resource::descriptors, 36, 41));
  EXPECT_FALSE(is_growth(Resource::descriptors, 41, 3));
  EXPECT_TRUE(is_growth(Resource::threads, 4, 9));
  EXPECT_FALSE(is_growth(Resource::mapped, 1 << 20, (1 << 20) + 96 * mebibyte));
  EXPECT_FALSE(is_growth(Resource::node_shm, 0, 1'000'000 * mebibyte));
}

TEST(Growth, OfALeakIsSeenAndThatOfAFirstTouchIsNot) {
  const auto leak = history(Resource::shared_memory, 3600, [](int i) { return 100 * mebibyte + i * mebibyte / 20; });
  const auto touch = history(Resource::shared_memory, 3600, [](int i) {
    return static_cast<std::int64_t>(100.0 * static_cast<double>(mebibyte) * (1 - 1 / (1 + i / 10.0)));
  });
  EXPECT_TRUE(grows(Resource::shared_memory, *leak.quarters(Resource::shared_memory)));
  EXPECT_FALSE(grows(Resource::shared_memory, *touch.quarters(Resource::shared_memory)));
}

TEST(Amounts, AreReadable) {
  EXPECT_EQ(amount_text(Resource::heap, 12288), "12 KiB");
  EXPECT_EQ(amount_text(Resource::heap, 3 * mebibyte / 2, Sign::always), "+1.5 MiB");
  EXPECT_EQ(amount_text(Resource::mapped, (256 << 10) * mebibyte), "256.00 GiB");
  EXPECT_EQ(amount_text(Resource::heap, -12288, Sign::always), "-12 KiB");
  EXPECT_EQ(amount_text(Resource::descriptors, 0, Sign::always), "+0");
}

RankFigures figures(std::int64_t node, std::int64_t wrong = 0) {
  RankFigures of_rank;
  of_rank.node = node;
  of_rank.tally.of_names[static_cast<std::size_t>(Collective::scan)] = {10, 4096};
  of_rank.tally.wrong = wrong;
  of_rank.sent[1] = {7, 70};
  of_rank.samples = 20;
  of_rank.last[static_cast<std::size_t>(Resource::descriptors)] = 30;
  of_rank.quarters[static_cast<std::size_t>(Resource::descriptors)] = {30, 30};
  of_rank.quarters[static_cast<std::size_t>(Resource::private_memory)] = {50 * mebibyte, 50 * mebibyte + 12288};
  return of_rank;
}

TEST(Report, SaysPlainlyThatAllIsWell) {
  const Moment end{.seconds = 60, .of_interval = 10, .calls_before = 0, .ranks = {figures(0), figures(0)}};
  EXPECT_TRUE(is_well(end.ranks));
  EXPECT_THAT(conclusion(end), AllOf(HasSubstr("\n20 calls, 0 wrong, memory +24 KiB, descriptors +0\n"),
                                     HasSubstr("scan "), Not(HasSubstr("allreduce ")), Not(HasSubstr("GROWS"))));
}

TEST(Report, NamesTheRankThatGrows) {
  Moment end{.seconds = 60, .of_interval = 10, .calls_before = 0, .ranks = {figures(0), figures(0), figures(0)}};
  end.ranks[1].quarters[static_cast<std::size_t>(Resource::descriptors)] = {30, 90};
  EXPECT_FALSE(is_well(end.ranks));
  EXPECT_THAT(conclusion(end), AllOf(HasSubstr("\nGROWS on rank 1: open descriptors, from 30 in the second quarter of "
                                               "the samples to 90 in the last; 4 more would be allowed\n"),
                                     Not(HasSubstr("rank 2")), HasSubstr("descriptors +60\n")));
  end.ranks[1].samples = 15;
  EXPECT_TRUE(is_well(end.ranks));
  EXPECT_THAT(conclusion(end), HasSubstr("growth is not judged"));
}

TEST(Report, AWrongResultIsNotWell) {
  EXPECT_FALSE(is_well({figures(0), figures(0, 1)}));
  EXPECT_TRUE(is_well({figures(0), figures(0)}));
}

TEST(Report, LinesAreInTotalAndOfNodes) {
  const Moment at{.seconds = 20, .of_interval = 10, .calls_before = 10, .ranks = {figures(0), figures(0), figures(1)}};
  EXPECT_THAT(line_of(at, false),
              AllOf(HasSubstr(" 30 "), HasSubstr(" 2 "), HasSubstr(" 90 "), Not(HasSubstr("node"))));
  EXPECT_THAT(line_of(at, true), AllOf(HasSubstr("node 0 "), HasSubstr(" 60 "), HasSubstr("node 1 ")));
}

Settings parsed(const std::vector<std::string>& arguments) {
  Settings settings;
  apps::Options options = options_for(settings);
  EXPECT_EQ(options.parse(arguments), std::nullopt);
  return settings;
}

TEST(Settings, MakeTheRepertoire) {
  const Repertoire all = repertoire_of(parsed({}));
  EXPECT_EQ(all.names.size(), static_cast<std::size_t>(name_count));
  EXPECT_THAT(all.ways, ElementsAre(Way::blocking, Way::nonblocking, Way::persistent));
  EXPECT_EQ(all.most_bytes, 4 * mebibyte);
  const Repertoire some = repertoire_of(
      parsed({"--collectives", "scan,send", "--modes", "persistent", "--most-bytes", "64K", "--compare", "mpi"}));
  EXPECT_THAT(some.names, ElementsAre(static_cast<int>(Collective::scan), name_count - 1));
  EXPECT_THAT(some.ways, ElementsAre(Way::persistent));
  EXPECT_EQ(some.most_bytes, 65536);
  EXPECT_TRUE(some.asks_mpi);
}

TEST(Settings, ACallIsRepeatedByTheSameCommand) {
  ::setenv("TUTTI_NODES", "0,0,1", 1);
  const std::string command = repeat_command({"/opt/tutti-soak", "--seconds", "60", "--threads", "2", "--seed=4",
                                              "--by-node", "--json", "file", "--transport", "random"},
                                             99, 1234, 1235, 3);
  ::unsetenv("TUTTI_NODES");
  EXPECT_THAT(command, HasSubstr("TUTTI_NODES=0,0,1 "));
  EXPECT_THAT(command, HasSubstr("mpirun -n 3 tutti-soak --threads 2 --by-node --transport random --seed 99 "
                                 "--from-call 1234 --calls 1"));
}

}  // namespace
}  // namespace tutti::soak
