// Topologies: known routes, and properties of all routes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "lib/proof/simulator/machine.hpp"
#include "lib/proof/simulator/topology.hpp"
#include "tutti/error.hpp"

namespace tutti::simulator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> route(const Topology& topology, int from, int to) {
  std::vector<int> links;
  topology.route(from, to, links);
  std::vector<std::string> names;
  names.reserve(links.size());
  for (const int link : links)
    names.push_back(topology.name_of(topology.links()[static_cast<std::size_t>(link)]));
  return names;
}

std::string complaint(std::string_view text) {
  try {
    static_cast<void>(topology_of(text, 4, {}));
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "none";
}

TEST(NetworkRoutes, OfACrossbar) {
  const auto topology = topology_of("crossbar", 4, {});
  EXPECT_EQ(topology->hosts(), 4);
  EXPECT_THAT(route(*topology, 1, 3), ElementsAre("host 1 > switch", "switch > host 3"));
}

TEST(NetworkRoutes, OfAFatTreeGoUpByTheDestination) {
  const auto topology = topology_of("fat-tree:2;4,4;1,2;1,1", 16, {});
  EXPECT_EQ(topology->hosts(), 16);
  EXPECT_THAT(route(*topology, 0, 1), ElementsAre("host 0 > switch 1.0", "switch 1.0 > host 1"));
  EXPECT_THAT(route(*topology, 0, 5), ElementsAre("host 0 > switch 1.0", "switch 1.0 > switch 2.1",
                                                  "switch 2.1 > switch 1.1", "switch 1.1 > host 5"));
  EXPECT_THAT(route(*topology, 15, 4), ElementsAre("host 15 > switch 1.3", "switch 1.3 > switch 2.0",
                                                   "switch 2.0 > switch 1.1", "switch 1.1 > host 4"));
}

TEST(NetworkRoutes, OfATorusTakeTheShorterWayInTheFirstDimensionFirst) {
  const auto topology = topology_of("torus:4,3", 12, {});
  EXPECT_THAT(route(*topology, 0, 3), ElementsAre("host 0 (0,0) > host 3 (3,0)"));
  EXPECT_THAT(route(*topology, 0, 6),
              ElementsAre("host 0 (0,0) > host 1 (1,0)", "host 1 (1,0) > host 2 (2,0)", "host 2 (2,0) > host 6 (2,1)"));
  EXPECT_THAT(route(*topology, 1, 9), ElementsAre("host 1 (1,0) > host 9 (1,2)"));
}

TEST(NetworkRoutes, OfADragonflyAreMinimal) {
  const auto topology = topology_of("dragonfly:4,1;2,1;4,1;2", 64, {});
  EXPECT_EQ(topology->hosts(), 64);
  EXPECT_THAT(route(*topology, 0, 1), ElementsAre("host 0 > router 0.0.0", "router 0.0.0 > host 1"));
  EXPECT_THAT(route(*topology, 0, 63),
              ElementsAre("host 0 > router 0.0.0", "router 0.0.0 > router 0.0.3", "router 0.0.3 > router 3.0.0",
                          "router 3.0.0 > router 3.0.3", "router 3.0.3 > router 3.1.3", "router 3.1.3 > host 63"));
  EXPECT_THAT(route(*topology, 8, 17),
              ElementsAre("host 8 > router 0.1.0", "router 0.1.0 > router 0.1.1", "router 0.1.1 > router 0.0.1",
                          "router 0.0.1 > router 1.0.0", "router 1.0.0 > host 17"));
}

TEST(NetworkRoutes, OfCablesSideBySideHaveTheirBandwidth) {
  const auto topology = topology_of("dragonfly:2,3;1,1;2,1;1", 4, {0.5, 10});
  EXPECT_THAT(route(*topology, 1, 2),
              ElementsAre("host 1 > router 0.0.1", "router 0.0.1 > router 1.0.0", "router 1.0.0 > host 2"));
  std::vector<int> links;
  topology->route(1, 2, links);
  EXPECT_DOUBLE_EQ(topology->links()[static_cast<std::size_t>(links[1])].rate,
                   3 * topology->links()[static_cast<std::size_t>(links[0])].rate);
}

/// All routes begin and end at their hosts, hang together, pass nothing twice, and cross borders of partitions.
void expect_routes_hang_together(const Topology& topology) {
  for (int from = 0; from < topology.hosts(); ++from) {
    for (int to = 0; to < topology.hosts(); ++to) {
      if (from == to) continue;
      std::vector<int> links;
      topology.route(from, to, links);
      std::set<int> passed{from};
      int at = from;
      for (const int link : links) {
        const Link& its = topology.links()[static_cast<std::size_t>(link)];
        ASSERT_EQ(its.from, at);
        at = its.to;
        ASSERT_TRUE(passed.insert(at).second) << from << " to " << to;
      }
      ASSERT_EQ(at, to);
    }
  }
}

TEST(NetworkRoutes, HangTogether) {
  for (const std::string_view text :
       {"crossbar:5", "fat-tree:2;4,4;1,2;1,1", "fat-tree:3;2,3,4;1,2,3;1,1,1", "fat-tree:2;4,4;2,3;1,1", "torus:7",
        "torus:4,3,2", "torus:5,5", "dragonfly:4,1;2,1;4,1;2", "dragonfly:7,1;2,1;3,1;1", "dragonfly:1,1;1,1;1,1;4"}) {
    SCOPED_TRACE(text);
    expect_routes_hang_together(*topology_of(text, 5, {}));
  }
}

TEST(NetworkRoutes, OfParallelCablesOfAFatTreeDependOnBothEnds) {
  const auto topology = topology_of("fat-tree:2;4,2;1,2;1,2", 8, {});
  std::set<int> used;
  for (int from = 0; from < 4; ++from)
    for (int to = 4; to < 8; ++to) {
      std::vector<int> links;
      topology->route(from, to, links);
      ASSERT_EQ(links.size(), 4U);
      used.insert(links[1]);
    }
  EXPECT_EQ(used.size(), 4U);  // two cables to each of two switches
}

TEST(NetworkRoutes, WrongTextsAreRefusedWithTheForm) {
  EXPECT_THAT(complaint("crosbar"), HasSubstr("allowed: crossbar, fat-tree, torus, dragonfly, each with its numbers, "
                                              "or the path of a file (did you mean crossbar?)"));
  EXPECT_THAT(
      complaint("torus:4,x"),
      HasSubstr(
          "topology 'torus:4,x': 'x' is no number from 1 to 4194304; the form is torus:SIZE,.., as in torus:4,4,4"));
  EXPECT_THAT(complaint("fat-tree:2;8,8;1,4"),
              HasSubstr("3 fields between semicolons, not 4; the form is fat-tree:LEVELS;"));
  EXPECT_THAT(complaint("fat-tree:2;8,8,8;1,4;1,1"), HasSubstr("'8,8,8' has 3 numbers, not 2"));
  EXPECT_THAT(complaint("dragonfly:4;2,1;4,1;2"), HasSubstr("'4' has 1 numbers, not 2"));
  EXPECT_THAT(complaint("torus:4096,4096"), HasSubstr("16777216 hosts; allowed: up to 4194304"));
}

constexpr std::string_view two_switches = R"({"tutti_topology": 1, "hosts": ["a", "b", "c"], "switches": ["s", "t"],
  "links": [{"from": "a", "to": "s"}, {"from": "b", "to": "s"}, {"from": "c", "to": "t", "latency": 2},
            {"from": "s", "to": "t", "kind": "trunk", "bandwidth": 5}, {"from": "a", "to": "t", "latency": 9}]})";

TEST(NetworkRoutes, LinksOfAFileTakeRatesThatItDoesNotGive) {
  const auto topology = topology_of_file(two_switches, "net.json", {0.25, 20});
  const std::vector<Link>& links = topology->links();
  EXPECT_EQ(links[0].latency, latency_of({0.25, 0}));
  EXPECT_EQ(links[0].rate, rate_of({0, 20}));
  EXPECT_EQ(links[4].latency, latency_of({2, 0}));  // c to s has its own latency,
  EXPECT_EQ(links[4].rate, rate_of({0, 20}));
  EXPECT_EQ(links[6].rate, rate_of({0, 5}));  // and the trunk its own bandwidth
  EXPECT_EQ(topology_of_file(two_switches, "net.json")->links()[0].latency, latency_of({0.5, 0}));
}

TEST(NetworkRoutes, OfAFileAreShortest) {
  const auto topology = topology_of_file(two_switches, "net.json");
  EXPECT_EQ(topology->hosts(), 3);
  EXPECT_THAT(topology->kinds(), ElementsAre("link", "trunk"));
  EXPECT_THAT(route(*topology, 1, 2), ElementsAre("b > s", "s > t", "t > c"));
  EXPECT_THAT(route(*topology, 0, 2), ElementsAre("a > t", "t > c"));
  EXPECT_THAT(route(*topology, 2, 1), ElementsAre("c > t", "t > s", "s > b"));
}

TEST(NetworkRoutes, OfAFileMayBeGiven) {
  std::string text{two_switches};
  text.insert(text.size() - 1, R"(, "routes": [["a", "s", "t", "c"]])");
  const auto topology = topology_of_file(text, "net.json");
  EXPECT_THAT(route(*topology, 0, 2), ElementsAre("a > s", "s > t", "t > c"));
  EXPECT_THAT(route(*topology, 2, 0), ElementsAre("c > t", "t > a"));
}

TEST(NetworkRoutes, WrongFilesAreRefusedWithThePlace) {
  const auto complaint_of = [](std::string_view text) {
    try {
      std::vector<int> links;
      topology_of_file(text, "net.json")->route(0, 1, links);
    } catch (const ArgumentError& error) {
      return std::string{error.what()};
    }
    return std::string{"none"};
  };
  EXPECT_THAT(complaint_of(R"({"hosts": 2, "links": []})"), HasSubstr("net.json:1:1: no key 'tutti_topology'"));
  EXPECT_THAT(complaint_of(R"({"tutti_topology": 1, "hosts": 2})"), HasSubstr("no key 'links'"));
  EXPECT_THAT(complaint_of(R"({"tutti_topology": 1, "hosts": 2, "links": [{"from": "host 0", "to": "host 7"}]})"),
              HasSubstr("net.json:1:70: 'to' is 'host 7'; allowed: the name of a host or a switch"));
  EXPECT_THAT(
      complaint_of(R"({"tutti_topology": 1, "hosts": 2, "links": [{"from": "host 0", "too": "host 1"}]})"),
      HasSubstr("'too' is no key of a link; allowed: from, to, kind, latency, bandwidth, one_way (did you mean to?)"));
  EXPECT_THAT(complaint_of(R"({"tutti_topology": 1, "hosts": 2, "links": []})"),
              HasSubstr("no links lead from host 0 to host 1"));
  EXPECT_THAT(complaint_of(R"({"tutti_topology": 1, "hosts": ["a", "a"], "links": []})"),
              HasSubstr("'a' is there twice"));
}

TEST(NetworkRoutes, RatesOfAFile) {
  const Rates rates = read_rates(R"({"tutti_rates": 1, "made": {"by": "me"}, "overhead": 0.5, "eager": 100,
    "link": {"bandwidth": 25}, "socket": {"latency": 0.1, "bandwidth": 30}})",
                                 "rates.json");
  EXPECT_EQ(rates.overhead, 0.5);
  EXPECT_EQ(rates.eager, 100);
  EXPECT_EQ(rates.link.bandwidth, 25);
  EXPECT_EQ(rates.link.latency, Rates{}.link.latency);
  EXPECT_EQ(rates.socket.latency, 0.1);
  EXPECT_EQ(rates.source, "rates.json");
  EXPECT_THROW(static_cast<void>(read_rates(R"({"tutti_rates": 1, "link": {"bandwith": 25}})", "rates.json")),
               ArgumentError);
  EXPECT_THROW(static_cast<void>(read_rates("{}", "rates.json")), ArgumentError);
}

}  // namespace
}  // namespace tutti::simulator
