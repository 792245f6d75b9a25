// Distances, jobs, and readings of the system: from a tree of files like /sys, and from a stand-in for NVML.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "lib/topology/distance.hpp"
#include "lib/topology/gpus.hpp"
#include "lib/topology/job.hpp"
#include "lib/topology/nics.hpp"
#include "lib/topology/survey.hpp"
#include "lib/topology/sysfs.hpp"

namespace tutti::topology {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

Binding at(Numbers cores, Numbers l3s, Numbers numas, Numbers sockets) {
  return {.processors = {},
          .parts = {std::move(cores), std::move(l3s), std::move(numas), std::move(sockets)},
          .gpus = {},
          .nics = {}};
}

TEST(Distance, IsTheSmallestPartThatHoldsBoth) {
  const Binding binding = at({0}, {0}, {0}, {0});
  EXPECT_EQ(distance(binding, at({0}, {0}, {0}, {0})), Distance::core);
  EXPECT_EQ(distance(binding, at({1}, {0}, {0}, {0})), Distance::l3);
  EXPECT_EQ(distance(binding, at({4}, {1}, {0}, {0})), Distance::numa);
  EXPECT_EQ(distance(binding, at({8}, {2}, {1}, {0})), Distance::socket);
  EXPECT_EQ(distance(binding, at({16}, {4}, {2}, {1})), Distance::node);
}

TEST(Distance, OfProcessesThatAreNotBoundIsTheWholeNode) {
  const Binding everywhere = at({0, 1}, {0, 1}, {0, 1}, {0, 1});
  EXPECT_EQ(distance(everywhere, everywhere), Distance::node);
  EXPECT_EQ(distance(at({0}, {0}, {0}, {0}), everywhere), Distance::node);
  EXPECT_EQ(distance(at({0, 1}, {0}, {0}, {0}), at({0, 1}, {0}, {0}, {0})), Distance::l3);
}

TEST(Distance, IsTheNodeWhereNothingIsKnown) {
  EXPECT_EQ(distance(Binding{}, Binding{}), Distance::node);
  EXPECT_EQ(distance(at({}, {}, {}, {0}), at({}, {}, {}, {0})), Distance::socket);
}

TEST(Links, FollowsTheBridges) {
  using Path = std::vector<std::string>;
  const Path port{"pci0000:00", "0000:00:01.0", "0000:01:00.0", "0000:02:00.0", "0000:03:00.0"};
  const Path same_switch{"pci0000:00", "0000:00:01.0", "0000:01:00.0", "0000:02:01.0", "0000:04:00.0"};
  const Path farther{"pci0000:00", "0000:00:01.0", "0000:05:00.0", "0000:06:00.0", "0000:07:00.0"};
  const Path same_bridge{"pci0000:00", "0000:00:02.0", "0000:08:00.0"};
  const Path other{"pci0000:80", "0000:80:02.0", "0000:81:00.0"};
  const auto kind = [&](const Path& a, const Path& b, int numa) { return kind_between({a, 0}, {b, numa}); };
  EXPECT_EQ(kind(port, port, 0), LinkKind::self);
  EXPECT_EQ(kind(port, same_switch, 0), LinkKind::one_switch);
  EXPECT_EQ(kind(port, farther, 0), LinkKind::switches);
  EXPECT_EQ(kind(port, same_bridge, 0), LinkKind::host_bridge);
  EXPECT_EQ(kind(port, other, 0), LinkKind::numa);
  EXPECT_EQ(kind(port, other, 1), LinkKind::system);
  EXPECT_EQ(kind_between({port, unknown_numa}, {other, unknown_numa}), LinkKind::system);
  EXPECT_EQ(kind(port, {}, 0), LinkKind::unknown);
}

TEST(Link, IsReadAsItIsWritten) {
  for (const Link link : {Link{LinkKind::nvlink, 18}, Link{LinkKind::self, 0}, Link{LinkKind::system, 0}, Link{}})
    EXPECT_EQ(link_of(to_string(link)), link) << to_string(link);
  EXPECT_EQ(to_string(Link{LinkKind::nvlink, 18}), "NV18");
}

TEST(Nearest, PrefersTheProcessNuma) {
  const Binding binding = at({0}, {0}, {1}, {0});
  EXPECT_THAT(nearest({0, 1, 2}, {0, 1, 1}, binding), ElementsAre(1, 2));
  EXPECT_THAT(nearest({0}, {0, 1, 1}, binding), ElementsAre(0));
  EXPECT_THAT(nearest({0, 1}, {unknown_numa, unknown_numa}, Binding{}), ElementsAre(0, 1));
}

Report report(int node, const std::string& host, const std::string& why_not = {}) {
  Report report{.node = node, .why_not = why_not};
  report.survey.machine.host = host;
  return report;
}

TEST(Job, HasNodesInTheOrderOfTheirLowestRanks) {
  const Job job = job_of({report(0, "b"), report(1, "a"), report(0, "b"), report(3, "c", "no memfd"), report(1, "a"),
                          report(3, "c"), report(3, "c")});
  EXPECT_THAT(job.node_of, ElementsAre(0, 1, 0, 2, 1, 2, 2));
  ASSERT_EQ(job.nodes.size(), 3U);
  EXPECT_THAT(job.nodes[0].ranks, ElementsAre(0, 2));
  EXPECT_THAT(job.nodes[1].ranks, ElementsAre(1, 4));
  EXPECT_THAT(job.nodes[2].ranks, ElementsAre(3, 5, 6));
  EXPECT_EQ(job.nodes[1].machine.host, "a");
  EXPECT_EQ(job.nodes[1].why_not, "");
  EXPECT_EQ(job.nodes[2].why_not, "no memfd");
  EXPECT_EQ(distance(job, 0, 1), Distance::other_node);
  EXPECT_EQ(distance(job, 0, 2), Distance::node);
  EXPECT_EQ(distance(job, 2, 2), Distance::self);
}

TEST(Job, GroupsNodesOfTheSameMake) {
  Job job = job_of({report(0, "a"), report(1, "b"), report(2, "c")});
  EXPECT_THAT(alike(job), ElementsAre(ElementsAre(0, 1, 2)));
  job.nodes[1].machine.processors = 4;
  EXPECT_THAT(alike(job), ElementsAre(ElementsAre(0, 2), ElementsAre(1)));
}

/// A tree like /sys, gone at the end of the test.
class SysTest : public testing::Test {
 protected:
  SysTest() : root_(fs::temp_directory_path() / ("tutti_topology." + std::to_string(getpid()))) {
    fs::create_directories(root_);
  }
  ~SysTest() override { fs::remove_all(root_); }
  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream{root_ / file} << text << '\n';
  }
  void interface(const std::string& name, const std::string& type, const std::string& state,
                 const std::string& speed) const {
    write("class/net/" + name + "/type", type);
    write("class/net/" + name + "/operstate", state);
    write("class/net/" + name + "/speed", speed);
  }
  void device(const std::string& link, const std::string& folder, const std::string& numa) const {
    write("devices/" + folder + "/numa_node", numa);
    fs::create_directories((root_ / link).parent_path());
    fs::create_directory_symlink(root_ / "devices" / folder, root_ / link);
  }
  fs::path root_;
};

TEST_F(SysTest, ListsInterfacesThatCanCarryMessages) {
  interface("lo", "772", "unknown", "");
  interface("eth0", "1", "up", "10000");
  device("class/net/eth0/device", "pci0000:00/0000:00:03.0", "1");
  interface("eth1", "1", "down", "-1");
  device("class/net/eth1/device", "pci0000:00/0000:00:04.0", "-1");
  interface("veth0", "1", "up", "10000");
  interface("dummy0", "1", "down", "");
  interface("docker0", "1", "up", "");
  fs::create_directories(root_ / "class/net/docker0/bridge");
  const std::vector<Nic> nics = find_nics(root_);
  ASSERT_EQ(nics.size(), 3U);
  EXPECT_EQ(nics[0], (Nic{"eth0", "Ethernet", 10, true, 1, {"pci0000:00", "0000:00:03.0"}}));
  EXPECT_EQ(nics[1], (Nic{"eth1", "Ethernet", 0, false, unknown_numa, {"pci0000:00", "0000:00:04.0"}}));
  EXPECT_EQ(nics[2], (Nic{"veth0", "virtual", 10, true, unknown_numa, {}}));
  EXPECT_THAT(usable_nics(nics), ElementsAre(0));
  EXPECT_THAT(usable_nics({nics[1], nics[2]}), ElementsAre(1)) << "a virtual one, where no other is up";
}

TEST_F(SysTest, ListsPortsOfRdmaDevices) {
  const std::string one = "class/infiniband/mlx5_0/ports/1/", two = "class/infiniband/mlx5_1/ports/";
  write(one + "state", "4: ACTIVE");
  write(one + "rate", "400 Gb/sec (4X NDR)");
  write(one + "link_layer", "InfiniBand");
  device("class/infiniband/mlx5_0/device", "pci0000:3a/0000:3a:01.0/0000:3b:00.0", "0");
  write(two + "1/link_layer", "Ethernet");
  write(two + "2/state", "1: DOWN");
  const std::vector<Nic> nics = find_nics(root_);
  ASSERT_EQ(nics.size(), 3U);
  EXPECT_EQ(nics[0], (Nic{"mlx5_0", "InfiniBand", 400, true, 0, {"pci0000:3a", "0000:3a:01.0", "0000:3b:00.0"}}));
  EXPECT_EQ(nics[1].name, "mlx5_1:1");
  EXPECT_EQ(nics[1].kind, "RoCE");
  EXPECT_EQ(nics[2].name, "mlx5_1:2");
  EXPECT_FALSE(nics[2].is_up);
}

TEST_F(SysTest, NamesWhatIsMissing) {
  const Survey found = survey(root_);
  EXPECT_THAT(found.machine.nics, IsEmpty());
  EXPECT_THAT(found.machine.missing, testing::Contains(testing::HasSubstr("NICs: ")));
  EXPECT_THAT(found.binding.nics, IsEmpty());
}

TEST_F(SysTest, FindsGpusAndTheirLinks) {
  // By its name, as if the loader had found it.
  ASSERT_NE(dlopen(TUTTI_FAKE_NVML, RTLD_NOW | RTLD_LOCAL), nullptr) << dlerror();
  for (const std::string gpu : {"0", "1", "2"})
    device("bus/pci/devices/0000:a" + gpu + ":00.0", "pci0000:a" + gpu + "/0000:a" + gpu + ":00.0", gpu);
  const GpuSurvey found = find_gpus(root_);
  ASSERT_EQ(found.gpus.size(), 3U) << found.why_not;
  EXPECT_EQ(found.driver, "580.1");
  EXPECT_EQ(found.gpus[1], (Gpu{"Fake 1", "GPU-1", "0000:a1:00.0", 80, 1, {"pci0000:a1", "0000:a1:00.0"}}));
  EXPECT_THAT(found.nvlinks, ElementsAre(ElementsAre(0, 5, 3), ElementsAre(5, 0, 3), ElementsAre(3, 3, 0)));
  EXPECT_EQ(to_string(survey(root_).machine.links[0][1]), "NV5");
}

TEST(VisibleGpus, AreThoseOfTheVariableUpToTheFirstThatDoesNotExist) {
  std::vector<Gpu> gpus(4);
  gpus[2].uuid = "GPU-cafe";
  EXPECT_THAT(visible_gpus(gpus, nullptr), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(visible_gpus(gpus, ""), IsEmpty());
  EXPECT_THAT(visible_gpus(gpus, "3,1"), ElementsAre(1, 3));
  EXPECT_THAT(visible_gpus(gpus, "GPU-ca"), ElementsAre(2));
  EXPECT_THAT(visible_gpus(gpus, "0,9,1"), ElementsAre(0));
  EXPECT_THAT(visible_gpus(gpus, "MIG-1"), IsEmpty());
}

TEST(Survey, KnowsThisProcess) {
  const Survey found = survey();
  EXPECT_FALSE(found.machine.host.empty());
  EXPECT_GE(found.machine.processors, 1);
  EXPECT_THAT(found.binding.processors, testing::Not(IsEmpty()));
}

}  // namespace
}  // namespace tutti::topology
