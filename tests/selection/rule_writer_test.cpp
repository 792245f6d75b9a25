// Files of rules as text: what is read from it is what was written.
#include "lib/core/selection/rule_writer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tutti {
namespace {

using testing::HasSubstr;

constexpr const char* all_keys = R"({"tutti_rules": 1, "simulated": true,
  "made": {"by": "a \"b\"", "when": "2026", "hosts": ["n1", "n2"], "cpu": "c", "gpu": "g", "network": "n", "mpi": "m",
           "ranks": 4, "nodes": 2, "ppn": 2, "commit": "abc", "command": "tutti tune", "note": "ünïcode\n"},
  "for": {"cpu": "A*", "gpu": "B?", "mpi": "C", "network": "D", "nodes": [2, null], "ppn": [null, 8]},
  "rules": [
    {"collective": "reduce", "ranks": [2, 4], "nodes": 1, "ppn": [null, 8], "bytes": [1, null],
     "bytes_per_rank": [16, 32], "bytes_per_node": [3, 1125899906842624], "memory": "tutti", "mode": "persistent",
     "commutative": true, "uneven": false, "shares_memory": true, "shares_processors": false, "maps_devices": false,
     "power_of_two": true, "consecutive": true, "use": "chain/64K", "why": "as I say", "note": "told",
     "mpi": {"us": 0.1}, "measured": {"us": 1.5e-3, "spread": 0.3333333333333333, "default_us": 3, "next": "ring",
                                      "next_us": 2.1, "runs": 40}},
    {"collective": "barrier", "ranks": 0, "bytes": [0, 0], "mode": "stream", "memory": "device", "use": "dissemination:16"},
    {"collective": "allreduce", "use": "ring"}],
  "tuning": {"shm.joined_bytes": 5, "shm.copied_bytes": 0}})";

void expect_same(const Rule& a, const Rule& b) {
  EXPECT_EQ(a.collective, b.collective);
  EXPECT_EQ(a.when, b.when);
  EXPECT_EQ(a.choice, b.choice);
  EXPECT_EQ(a.why, b.why);
  EXPECT_EQ(a.note, b.note);
  EXPECT_EQ(a.measured.us, b.measured.us);
  EXPECT_EQ(a.measured.spread, b.measured.spread);
  EXPECT_EQ(a.measured.default_us, b.measured.default_us);
  EXPECT_EQ(a.measured.next_us, b.measured.next_us);
  EXPECT_EQ(a.measured.mpi_us, b.measured.mpi_us);
  EXPECT_EQ(a.measured.runs, b.measured.runs);
  EXPECT_EQ(a.measured.next, b.measured.next);
}

void expect_same(const RuleFile& a, const RuleFile& b) {
  EXPECT_EQ(a.made, b.made);
  EXPECT_EQ(a.machines.cpu, b.machines.cpu);
  EXPECT_EQ(a.machines.gpu, b.machines.gpu);
  EXPECT_EQ(a.machines.mpi, b.machines.mpi);
  EXPECT_EQ(a.machines.network, b.machines.network);
  EXPECT_EQ(a.machines.nodes, b.machines.nodes);
  EXPECT_EQ(a.machines.ppn, b.machines.ppn);
  EXPECT_EQ(a.is_simulated, b.is_simulated);
  EXPECT_EQ(a.tuning.values, b.tuning.values);
  ASSERT_EQ(a.rules.size(), b.rules.size());
  for (std::size_t i = 0; i < a.rules.size(); ++i)
    expect_same(a.rules[i], b.rules[i]);
}

class WrittenRules : public testing::TestWithParam<std::string> {};

TEST_P(WrittenRules, AreReadAsTheyWere) {
  const RuleFile file = read_rule_file(GetParam(), "F");
  const std::string text = write_rule_file(file);
  const RuleFile again = read_rule_file(text, "F");
  expect_same(again, file);
  EXPECT_EQ(write_rule_file(again), text);
}

INSTANTIATE_TEST_SUITE_P(All, WrittenRules,
                         testing::Values(all_keys, std::string{builtin_text()}, R"({"tutti_rules": 1})",
                                         R"({"tutti_rules": 1, "for": {"cpu": ""}, "rules": []})"));

TEST(RuleWriter, WritesARuleALine) {
  const std::string text = write_rule_file(read_rule_file(all_keys, "F"));
  EXPECT_THAT(text, HasSubstr("\n    {\"collective\": \"allreduce\", \"use\": \"ring\"}\n  ],\n"));
  EXPECT_THAT(text, HasSubstr("\"ppn\": [null, 8]"));
  EXPECT_EQ(read_rule_file(text, "F").rules.at(2).line, read_rule_file(text, "F").rules.at(0).line + 2);
}

TEST(RuleWriter, KeepsTextsThatAreNoUtf8Readable) {
  RuleFile file = read_rule_file(R"({"tutti_rules": 1})", "F");
  file.made.emplace_back("note", "\xff");
  EXPECT_EQ(read_rule_file(write_rule_file(file), "F").made.front().second, "\xEF\xBF\xBD");
}

}  // namespace
}  // namespace tutti
