// Which calls the preloaded library serves: by the table, and by the rules of a site.
#include "bindings/preload/policy.hpp"

#include <gtest/gtest.h>

#include <string>

#include "lib/core/selection/rule_file.hpp"
#include "lib/core/selection/site_rules.hpp"

namespace tutti::interpose {
namespace {

SiteRules site_of(const std::string& rules) {
  return SiteRules{read_rule_file("{\"tutti_rules\": 1, \"rules\": [" + rules + "]}", "F")};
}

bool serves(Function function, std::int64_t bytes, const RuleTable* site) {
  const Placement placement{.question = {.ranks = 2, .shares_memory = true}, .site = site};
  return served_at({}, placement)[index_of(function)].contain(bytes);
}

constexpr std::int64_t mib = 1024 * 1024L;

/// Allgather of 2 ranks is slower from 8 MiB on; at 512 KiB it was measured to be faster.
TEST(ServedCalls, AreThoseOfMeasuredSizes) {
  EXPECT_TRUE(serves(Function::allgather, 0, nullptr));
  EXPECT_TRUE(serves(Function::allgather, mib / 2, nullptr));
  EXPECT_FALSE(serves(Function::allgather, mib / 2 + 1, nullptr));
  EXPECT_TRUE(serves(Function::allreduce, 8 * mib, nullptr));
  EXPECT_FALSE(serves(Function::allreduce, 8 * mib + 1, nullptr));
}

TEST(ServedCalls, FollowTheTimesOfRules) {
  const SiteRules site = site_of(R"(
    {"collective": "allreduce", "bytes": [null, 64], "use": "ring", "mpi": {"us": 1}, "measured": {"us": 2}},
    {"collective": "allreduce", "bytes": [65, 128], "use": "ring"},
    {"collective": "allreduce", "bytes": [16777216, 33554432], "use": "ring", "mpi": {"us": 9}, "measured": {"us": 8}},
    {"collective": "reduce", "ranks": 3, "use": "knomial", "mpi": {"us": 1}, "measured": {"us": 2}})");
  EXPECT_FALSE(serves(Function::allreduce, 0, &site.table));
  EXPECT_FALSE(serves(Function::allreduce, 64, &site.table));
  EXPECT_TRUE(serves(Function::allreduce, 65, &site.table));  // no times: the table says it
  EXPECT_TRUE(serves(Function::allreduce, 8 * mib, &site.table));
  EXPECT_FALSE(serves(Function::allreduce, 16 * mib - 1, &site.table));
  EXPECT_TRUE(serves(Function::allreduce, 16 * mib, &site.table));
  EXPECT_FALSE(serves(Function::allreduce, 32 * mib + 1, &site.table));
  EXPECT_EQ(serves(Function::reduce, 8, &site.table), serves(Function::reduce, 8, nullptr));  // of other ranks
}

TEST(ServedCalls, WithListsAreServedAtAllSizesOrNone) {
  const SiteRules slow = site_of(R"(
    {"collective": "gather", "uneven": true, "use": "linear", "mpi": {"us": 1}, "measured": {"us": 2}},
    {"collective": "allgather", "uneven": true, "bytes": [0, 1024], "use": "ring", "mpi": {"us": 1}, "measured": {"us": 9}},
    {"collective": "allgather", "uneven": true, "bytes": [1025, null], "use": "ring", "mpi": {"us": 1}, "measured": {"us": 2}})");
  for (const std::int64_t bytes : {std::int64_t{8}, mib, 1024 * mib}) {
    EXPECT_FALSE(serves(Function::gatherv, bytes, &slow.table));
    EXPECT_FALSE(serves(Function::allgatherv, bytes, &slow.table));
    EXPECT_EQ(serves(Function::gather, bytes, &slow.table), serves(Function::gather, bytes, nullptr));
  }
}

TEST(ServedCalls, FollowTheWishesBeforeTheRules) {
  const SiteRules site = site_of(R"({"collective": "scan", "use": "linear", "mpi": {"us": 1}, "measured": {"us": 2}})");
  const Placement placement{.question = {.ranks = 2, .shares_memory = true}, .site = &site.table};
  const auto scan_is_served = [&](const char* wishes) {
    return served_at(read_wishes(wishes), placement)[index_of(Function::scan)].contain(8);
  };
  EXPECT_FALSE(scan_is_served("auto"));
  EXPECT_TRUE(scan_is_served("all"));
  EXPECT_TRUE(scan_is_served("scan"));
  EXPECT_FALSE(scan_is_served("none"));
  EXPECT_TRUE(wants(read_wishes("scan"), Function::scan));
  EXPECT_FALSE(wants(read_wishes("scan"), Function::reduce));
  EXPECT_TRUE(wants(read_wishes("auto"), Function::scan));
}

}  // namespace
}  // namespace tutti::interpose
