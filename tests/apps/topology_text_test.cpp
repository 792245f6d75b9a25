// The output of tutti info for jobs that no machine at hand has.
#include <gmock/gmock.h>

#include <sstream>

#include "apps/tutti/info_report.hpp"

namespace tutti::tool {
namespace {

using namespace topology;
using testing::HasSubstr;
using testing::Not;

/// Ranks on nodes of two sockets with eight cores each, one bound to each core.
Report bound_to(int core, int node) {
  Report report{.node = node};
  Machine& machine = report.survey.machine;
  machine.host = "node" + std::to_string(node);
  machine.parts = {.cores = 16, .l3s = 4, .numas = 2, .sockets = 2};
  machine.processors = 16;
  machine.gpus = {{"Fake", "GPU-1", "0000:3b:00.0", 80, 0, {"pci0000:3a", "0000:3b:00.0"}}};
  machine.nics = {{"eth0", "Ethernet", 25, true, 0, {"pci0000:3a", "0000:3c:00.0"}}};
  machine.links = {{{LinkKind::self, 0}, {LinkKind::host_bridge, 0}},
                   {{LinkKind::host_bridge, 0}, {LinkKind::self, 0}}};
  report.survey.binding = {.processors = {core},
                           .parts = {{core}, {core / 4}, {core / 8}, {core / 8}},
                           .gpus = {"0000:3b:00.0"},
                           .nics = {"eth0"}};
  return report;
}

/// `ranks` on each of `nodes`.
Job job_of_size(int nodes, int ranks) {
  std::vector<Report> reports;
  for (int rank = 0; rank < nodes * ranks; ++rank)
    reports.push_back(bound_to(rank % ranks, rank / ranks * ranks));
  return job_of(reports);
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(InfoText, ShowsRanksAndDistances) {
  const std::string text = to_text(job_of_size(2, 3), Pairs::of_small_nodes);
  EXPECT_THAT(text, HasSubstr("6 ranks on 2 nodes, 3 on each\n"));
  EXPECT_THAT(text, HasSubstr("nodes 0-1 (node0, node3): 2 sockets, 2 NUMA nodes, 4 L3 caches, 16 cores"));
  EXPECT_THAT(text, HasSubstr("\n4     1     node3  0       0     0   1      1           0    eth0\n"));
  EXPECT_THAT(text, HasSubstr("node 1, ranks 3-5: all pairs L3; share memory\n"));
  EXPECT_THAT(text, HasSubstr("  eth0  PHB   X\n"));
}

TEST(InfoText, ShowsPairsWhereTheyDiffer) {
  const std::string text = to_text(job_of_size(1, 10), Pairs::of_small_nodes);
  EXPECT_THAT(text, HasSubstr("pairs: 13 L3, 16 NUMA, 16 node; share memory\n"));
  EXPECT_THAT(text, HasSubstr("\n  9  node  node  node  node  node  node  node  node  L3    X\n"));
}

TEST(InfoText, SaysWhyMemoryIsNotShared) {
  Report report = bound_to(1, 0);
  report.why_not = "no memfd";
  EXPECT_THAT(to_text(job_of({bound_to(0, 0), report}), Pairs::of_small_nodes),
              HasSubstr("do not all share memory: no memfd\n"));
}

TEST(InfoText, StaysReadableWith128Ranks) {
  Job job = job_of_size(2, 64);
  const std::string text = to_text(job, Pairs::of_small_nodes), all = to_text(job, Pairs::of_all_nodes);
  EXPECT_LT(lines_of(text), 150U);
  EXPECT_EQ(lines_of(all), lines_of(text) + 2 * 65);
  std::istringstream stream{text};
  for (std::string line; std::getline(stream, line);)
    EXPECT_LE(line.size(), 140U) << line;
  EXPECT_LT(lines_of(to_text(job_of_size(64, 2), Pairs::of_small_nodes)), 220U);
}

TEST(InfoJson, ReportsArriveAsTheyWereSent) {
  Report sent = bound_to(3, 0);
  sent.why_not = "a \"reason\" of \xff bytes";
  const Report got = report_from_json(to_json(sent));
  EXPECT_EQ(got.survey.machine, sent.survey.machine);
  EXPECT_EQ(got.survey.binding.parts, sent.survey.binding.parts);
  EXPECT_EQ(got.survey.binding.gpus, sent.survey.binding.gpus);
  EXPECT_THAT(got.why_not, HasSubstr("a \"reason\" of "));
}

}  // namespace
}  // namespace tutti::tool
