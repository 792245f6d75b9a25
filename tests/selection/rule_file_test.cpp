// Files of rules: what is read, and how faults are told.
#include "lib/core/selection/site_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tutti/error.hpp"

namespace tutti {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string with_rule(const std::string& rule) { return "{\"tutti_rules\": 1,\n \"rules\": [\n  " + rule + "]}"; }

std::string fault_of(const std::string& text) {
  try {
    static_cast<void>(read_rule_file(text, "F"));
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "";
}

TEST(RuleFile, HasAllThatARuleSays) {
  const RuleFile file = read_rule_file(
      with_rule(R"({"collective": "reduce", "ranks": [2, 4], "nodes": 1, "ppn": [null, 8], "bytes": [1, null],
                    "bytes_per_rank": [16, 32], "bytes_per_node": [3, 4], "memory": "tutti", "mode": "persistent",
                    "commutative": true, "uneven": false, "shares_memory": true, "shares_processors": false,
                    "maps_devices": false, "power_of_two": true, "consecutive": true, "use": "chain/64K",
                    "why": "as I say", "note": "nothing", "mpi": {"us": 4},
                    "measured": {"us": 1.5, "spread": 0.1, "default_us": 3, "next": "ring", "next_us": 2, "runs": 40}})"),
      "F");
  ASSERT_EQ(file.rules.size(), 1U);
  const Rule& rule = file.rules.front();
  EXPECT_EQ(rule.collective, Collective::reduce);
  EXPECT_EQ(rule.when.ranks, (Range{2, 4}));
  EXPECT_EQ(rule.when.nodes, (Range{1, 1}));
  EXPECT_EQ(rule.when.ppn, (Range{0, 8}));
  EXPECT_EQ(rule.when.bytes, (Range{1, Range::no_end}));
  EXPECT_EQ(rule.when.bytes_per_rank, (Range{16, 32}));
  EXPECT_EQ(rule.when.bytes_per_node, (Range{3, 4}));
  EXPECT_EQ(rule.when.memory, AssumedMemory::tutti);
  EXPECT_EQ(rule.when.mode, records::Manner::persistent);
  EXPECT_EQ(rule.when.commutative, true);
  EXPECT_EQ(rule.when.uneven, false);
  EXPECT_EQ(rule.when.shares_memory, true);
  EXPECT_EQ(rule.when.shares_processors, false);
  EXPECT_EQ(rule.when.maps_devices, false);
  EXPECT_EQ(rule.when.power_of_two, true);
  EXPECT_EQ(rule.when.consecutive, true);
  EXPECT_EQ(to_text(rule.choice), "chain/65536");
  EXPECT_EQ(rule.why, "as I say");
  EXPECT_EQ(rule.line, 3);
  EXPECT_EQ(rule.measured.mpi_us, 4);
  EXPECT_EQ(rule.measured.us, 1.5);
  EXPECT_EQ(rule.measured.next, "ring");
  EXPECT_EQ(rule.measured.runs, 40);
}

TEST(RuleFile, HasWhereItWasMadeAndWhatFor) {
  const RuleFile file = read_rule_file(R"({"tutti_rules": 1, "simulated": true,
    "made": {"by": "tutti tune", "hosts": ["a", "b"], "ranks": 8, "gpu": null},
    "for": {"cpu": "AMD*", "nodes": [2, 4]}, "tuning": {"shm.joined_bytes": 5}, "rules": []})",
                                       "F");
  EXPECT_TRUE(file.is_simulated);
  const std::vector<std::pair<std::string, std::string>> made{{"by", "tutti tune"}, {"hosts", "a, b"}, {"ranks", "8"}};
  EXPECT_EQ(file.made, made);
  EXPECT_EQ(file.tuning.find("shm.joined_bytes"), 5);
  EXPECT_EQ(file.tuning.find("shm.copied_bytes"), std::nullopt);
  EXPECT_EQ(file.machines.cpu, "AMD*");
  EXPECT_EQ(file.machines.nodes, (Range{2, 4}));
}

struct Fault {
  const char *text, *told;
};
class RuleFileFaults : public testing::TestWithParam<Fault> {};

TEST_P(RuleFileFaults, AreToldWithTheirPlace) { EXPECT_THAT(fault_of(GetParam().text), StartsWith(GetParam().told)); }

INSTANTIATE_TEST_SUITE_P(
    All, RuleFileFaults,
    testing::Values(
        Fault{"", "F:1:1: no JSON: the text ends too early"}, Fault{"[]", "F:1:1: 'a file of rules' is an array"},
        Fault{"{}", "F:1:1: no key 'tutti_rules'"},
        Fault{"{\"tutti_rules\": 2}", "F:1:17: 'tutti_rules' is 2; allowed: 1"},
        Fault{"{\"tutti_rules\": 1,\n \"ruls\": []}",
              "F:2:2: 'ruls' is no key of a file of rules; allowed: tutti_rules, made, for, simulated, rules, tuning "
              "(did "
              "you mean rules?)"},
        Fault{"{\"tutti_rules\": 1,\n\n  \"rules\": [nan]}", "F:3:14: no JSON"},
        Fault{"{\"tutti_rules\": 1, \"tutti_rules\": 1}", "F:1:20: the key 'tutti_rules' comes twice"},
        Fault{"{\"tutti_rules\": 1, \"rules\": [{\"use\": \"ring\"}]}", "F:1:30: a rule without the key 'collective'"},
        Fault{"{\"tutti_rules\": 1, \"rules\": [{\"collective\": \"scan\"}]}", "F:1:30: a rule without the key 'use'"},
        Fault{"{\"tutti_rules\": 1, \"rules\": [{\"collective\": \"allreduc\"}]}",
              "F:1:30: a rule without the key 'use'"},
        Fault{"{\"tutti_rules\": 1, \"rules\": [{\"collective\": \"allreduc\", \"use\": \"ring\"}]}",
              "F:1:45: 'collective' is 'allreduc'; allowed: barrier, broadcast"},
        Fault{"{\"tutti_rules\": 1, \"rules\": [{\"collective\": \"scan\", \"use\": \"rong\"}]}",
              "F:1:60: 'use' is 'rong': "},
        Fault{"{\"tutti_rules\": 1, \"rules\": [{\"bytes\": [4, 2]}]}",
              "F:1:40: 'bytes' is [4, 2], which holds for nothing"},
        Fault{"{\"tutti_rules\": 1, \"rules\": [{\"bytes\": 1e3}]}",
              "F:1:40: 'bytes' is 1000; allowed: a whole number"},
        Fault{"{\"tutti_rules\": 1, \"rules\": [{\"bytes\": 99999999999999999999}]}",
              "F:1:40: an integer of more than 63 bits"},
        Fault{"{\"tutti_rules\": 1, \"rules\": [{\"bytes\": -1}]}", "F:1:40: 'bytes' is -1; allowed"},
        Fault{"{\"tutti_rules\": 1, \"rules\": [{\"bytes\": [1, 1125899906842625]}]}", "F:1:44: 'bytes' is"},
        Fault{"{\"tutti_rules\": 1, \"rules\": [{\"bytes\": [1]}]}", "F:1:40: 'bytes' is an array; allowed"},
        Fault{"{\"tutti_rules\": 1, \"rules\": [{\"memory\": \"gpu\"}]}", "F:1:41: 'memory' is 'gpu'; allowed: host, "},
        Fault{"{\"tutti_rules\": 1, \"rules\": [{\"mode\": 1}]}", "F:1:39: 'mode' is 1; allowed: a text"},
        Fault{"{\"tutti_rules\": 1, \"rules\": [{\"uneven\": 1}]}", "F:1:41: 'uneven' is 1; allowed: true, false"},
        Fault{"{\"tutti_rules\": 1, \"rules\": [{\"measured\": {\"us\": -1}}]}",
              "F:1:50: 'us' is -1; allowed: a number"},
        Fault{"{\"tutti_rules\": 1, \"rules\": [{\"measured\": {\"us\": 1e999}}]}", "F:1:"},
        Fault{"{\"tutti_rules\": 1, \"tuning\": {\"cell\": 1}}",
              "F:1:31: 'cell' is no constant; allowed: shm.fast_path_bytes"},
        Fault{"{\"tutti_rules\": 1, \"tuning\": {\"shm.joined_bytes\": -1}}",
              "F:1:51: 'shm.joined_bytes' is -1; allowed: a whole number from 0 to 1048576"}));

TEST(RuleFile, IsNoLongerThanRulesAre) {
  EXPECT_THAT(fault_of(std::string(longest_rule_file + 1, ' ')), HasSubstr("the file has 4194305 bytes"));
  EXPECT_THAT(fault_of(std::string(100'000, '[')), HasSubstr("deeper than 32 levels"));
}

TEST(RuleFile, HasNoMoreRulesThanCallsCanLookThrough) {
  std::string rules = R"({"collective": "scan", "use": "linear"})";
  for (std::size_t i = 0; i < most_rules; ++i)
    rules += R"(,{"collective": "scan", "use": "linear"})";
  EXPECT_THAT(fault_of(with_rule(rules)), HasSubstr("4097 rules; allowed: up to 4096"));
}

TEST(RuleFile, WarnsOfARuleThatAnEarlierOneHides) {
  const RuleFile file = read_rule_file(with_rule(R"({"collective": "allgather", "bytes": [0, 100], "use": "ring"},
  {"collective": "allgather", "ranks": 4, "bytes": [10, 50], "use": "bruck"},
  {"collective": "allgather", "bytes": [10, 101], "use": "bruck"})"),
                                       "F");
  ASSERT_EQ(file.warnings.size(), 1U);
  EXPECT_EQ(file.warnings.front().line, 4);
  EXPECT_THAT(file.warnings.front().text, HasSubstr("the one in line 3 comes first"));
}

TEST(RuleFile, DoesNotWarnWhereTheEarlierOneDoesNotServe) {
  const std::string later = R"({"collective": "reduce", "use": "knomial"})";
  EXPECT_TRUE(read_rule_file(with_rule(R"({"collective": "reduce", "use": "chain"}, )" + later), "F").warnings.empty());
  EXPECT_EQ(read_rule_file(with_rule(later + ", " + later), "F").warnings.size(), 1U);
  // Both serve operations that commute, and no others.
  EXPECT_EQ(read_rule_file(with_rule(R"({"collective": "allreduce", "use": "ring"},
    {"collective": "allreduce", "use": "ring", "bytes": 8})"),
                           "F")
                .warnings.size(),
            1U);
}

TEST(RuleFile, FitsTheMachinesThatItNames) {
  RuleFile file;
  const SiteFacts here{.cpu = "AMD EPYC 9654", .gpu = "", .mpi = "Open MPI 5.0.10", .nodes = 4, .ppn = 8};
  EXPECT_EQ(why_unfit(file, here), "");
  file.machines.cpu = "amd epyc 9*";
  file.machines.mpi = "Open MPI 5.*";
  file.machines.nodes = {2, 4};
  EXPECT_EQ(why_unfit(file, here), "");
  file.machines.ppn = {1, 4};
  EXPECT_EQ(why_unfit(file, here), "it is for ranks per node (ppn) 1 to 4, and here are 8");
  file.machines.gpu = "NVIDIA*";
  EXPECT_EQ(why_unfit(file, here), "it is for gpu 'NVIDIA*', and here is none");
  file.machines.cpu = "Intel*";
  EXPECT_EQ(why_unfit(file, here), "it is for cpu 'Intel*', and here is 'AMD EPYC 9654'");
  file.is_simulated = true;
  EXPECT_THAT(why_unfit(file, here), HasSubstr("simulated"));
}

TEST(RuleFile, IsTheCloserTheMoreItSays) {
  FittingMachines any, cpu, nodes, few_nodes;
  cpu.cpu = "*";
  nodes.nodes = {1, 64};
  few_nodes.nodes = {4, 8};
  EXPECT_TRUE(closeness_of(cpu).is_closer_than(closeness_of(any)));
  EXPECT_TRUE(closeness_of(few_nodes).is_closer_than(closeness_of(nodes)));
  EXPECT_FALSE(closeness_of(nodes).is_closer_than(closeness_of(few_nodes)));
  EXPECT_FALSE(closeness_of(any).is_closer_than(closeness_of(any)));
}

}  // namespace
}  // namespace tutti
