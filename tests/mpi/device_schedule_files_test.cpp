// Schedules of files on memory of GPUs: the bits of the host, in calls and in streams.
#include "tests/mpi/device_cases.hpp"
#include "tests/mpi/device_stream_cases.hpp"
#include "tests/mpi/schedule_file_cases.hpp"

namespace tutti::test {
namespace {

using Kind = TestDevices::Kind;

class DeviceScheduleFiles : public OnDevices, public testing::WithParamInterface<Collective> {
 protected:
  Communicator comm_{MPI_COMM_WORLD};
};
INSTANTIATE_TEST_SUITE_P(Every, DeviceScheduleFiles, testing::ValuesIn(all_collectives()),
                         [](const auto& info) { return std::string{to_string(info.param)}; });

TEST_P(DeviceScheduleFiles, GiveTheBitsOfTheHost) {
  Rotation rotation;
  const int root = has_root(GetParam()) ? world_size() - 1 : 0;
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->collective != GetParam()) continue;
    const FileOfRank0 file{schedules_of(*algorithm, Count{12}, root, nodes_of(comm_))};
    for (const std::int64_t count : {36, 13, 0})
      for (const Kinds& kinds : {Kinds{}, Kinds{Kind::managed, Kind::device}, Kinds{Kind::device, std::nullopt}}) {
        const Trial trial{.collective = GetParam(), .algorithm = file.name(), .count = count, .root = root};
        expect_bits_of_host<float>(rotation.next(trial), Op::sum, comm_, kinds);
      }
  }
}

/// Inside a node all ranks' schedules become programs of one stream.
using StreamedScheduleFiles = OnStream;
TEST_F(StreamedScheduleFiles, GiveTheBitsOfTheHost) {
  std::vector<Streamed> streamed{Streamed::call, Streamed::plan};
  if (comm_->node_count() == 1 && std::getenv("TUTTI_DEVICE_PATH") == nullptr) streamed.push_back(Streamed::graph);
  for (const Collective collective : {Collective::allreduce, Collective::allgather, Collective::alltoall})
    for (const Algorithm* algorithm : algorithms()) {
      if (algorithm->collective != collective) continue;
      const FileOfRank0 file{schedules_of(*algorithm, Count{12}, 0, nodes_of(*comm_))};
      for (const std::int64_t count : {12, 37})
        for (const Streamed way : streamed)
          StreamedTrial<float>{{.collective = collective, .algorithm = file.name(), .count = count}, Op::sum, *comm_}
              .run(*stream_, way, 2);
    }
}

}  // namespace
}  // namespace tutti::test
