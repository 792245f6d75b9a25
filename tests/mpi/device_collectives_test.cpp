// Every collective with every algorithm on memory of GPUs, alone and mixed with other kinds: the bits of the host.
#include "tests/mpi/device_cases.hpp"

namespace tutti::test {
namespace {

using Kind = TestDevices::Kind;

class DeviceCollectives : public OnDevices, public testing::WithParamInterface<Collective> {
 protected:
  Communicator comm_{MPI_COMM_WORLD};
};

/// Kinds that differ from call to call, and from rank to rank, too.
class DeviceRotation : public Rotation {
 public:
  [[nodiscard]] Kinds kinds() const {
    const Kinds all[] = {{},
                         {Kind::device, std::nullopt},
                         {},
                         {std::nullopt, Kind::device},
                         {Kind::pool, Kind::pool},
                         {Kind::managed, Kind::device},
                         {Kind::device, Kind::pinned},
                         {std::nullopt, std::nullopt}};
    const int rank = taken() % 3 == 0 ? world_rank() : 0;  // else all ranks have the same
    return all[static_cast<std::size_t>(taken() + rank) % std::size(all)];
  }
};

TEST_P(DeviceCollectives, GiveTheBitsOfTheHost) {
  DeviceRotation rotation;
  for (const std::string& choice : choices_of(GetParam()))
    for (const int root : roots_of(GetParam()))
      for (const std::int64_t count : {0, 1, 37}) {
        const Trial trial =
            rotation.next({.collective = GetParam(), .algorithm = choice, .count = count, .root = root});
        expect_bits_of_host<float>(trial, Op::sum, comm_, rotation.kinds());
      }
}

TEST_P(DeviceCollectives, OfEveryTypeAndOperation) {
  const bool is_prefix = GetParam() == Collective::scan || GetParam() == Collective::exscan;
  DeviceRotation rotation;
  const std::vector<std::string> choices = whole_choices_of(GetParam());
  for (const std::string& choice : {choices.front(), choices.back()})
    for_each_type(AllTypes{}, [&]<class T>() {
      for (const Op& op : all_operations()) {
        if (!supports(op.kind(), type_of<T>) || (is_prefix && op == Op::avg)) continue;
        if (!reduces(GetParam()) && op != Op::sum) continue;
        const Trial trial{.collective = GetParam(), .algorithm = choice, .count = 19, .root = world_size() - 1};
        expect_bits_of_host<T>(rotation.next(trial), op, comm_, rotation.kinds());
      }
    });
}

TEST_P(DeviceCollectives, OfUnevenBlocks) {
  if (GetParam() < Collective::reduce_scatter || GetParam() > Collective::alltoall)
    GTEST_SKIP() << "has no such blocks";
  DeviceRotation rotation;
  for (const std::string& choice : choices_of(GetParam()))
    for (const int gap : {0, 2})
      for (int again = 0; again < 3; ++again) {
        Trial trial{.collective = GetParam(), .algorithm = choice, .root = world_size() / 2};
        trial.counts = uneven_counts(GetParam());
        trial.gap = Count{gap};
        expect_bits_of_host<double>(rotation.next(trial), Op::sum, comm_, rotation.kinds());
      }
}

TEST_P(DeviceCollectives, OfLongData) {
  const bool has_blocks = GetParam() >= Collective::reduce_scatter && GetParam() <= Collective::alltoall;
  const std::int64_t count = (std::int64_t{1} << 18) / 4 / (has_blocks ? world_size() : 1) + 1;
  DeviceRotation rotation;
  for (const std::string& choice : whole_choices_of(GetParam())) {
    const Trial trial{.collective = GetParam(), .algorithm = choice, .count = count, .root = world_size() / 2};
    expect_bits_of_host<float>(rotation.next(trial), Op::max, comm_, rotation.kinds());
  }
}

TEST_P(DeviceCollectives, SeveralInFlight) {
  constexpr int calls = 4;
  const Communicator second{MPI_COMM_WORLD};
  for (const std::string& choice : whole_choices_of(GetParam())) {
    struct Flight {
      checker::Problems problems;
      CallMemory<std::int32_t> host;
      DeviceCallMemory<std::int32_t> device;
      Request request{};
    };
    std::vector<Flight> flights;
    for (int number = 0; number < calls; ++number) {
      const Trial trial{.collective = GetParam(),
                        .algorithm = choice,
                        .buffers = number % 2 == 0 ? BufferUse::separate : BufferUse::in_place,
                        .count = 20 + number,
                        .root = number % world_size()};
      checker::Problems problems = problems_of(trial, world_size());
      const Problem& problem = problems.of(Rank{world_rank()});
      const auto input = inputs<std::int32_t>(Op::sum, world_rank(), shape_of(problem).input.value());
      CallMemory<std::int32_t> host{problem, input, 85};
      DeviceCallMemory<std::int32_t> device{host, {}};
      flights.push_back({std::move(problems), std::move(host), std::move(device)});
    }
    const auto start = [&](Flight& flight, auto& memory, const Communicator& comm) {
      detail::Call call =
          call_of({.collective = GetParam()}, flight.problems.of(Rank{world_rank()}), Type::int32, Op::sum);
      call.in = memory.in();
      call.out = memory.out();
      return detail::start(call, comm, {.algorithm = choice});
    };
    for (std::size_t i = 0; i < flights.size(); ++i)
      flights[i].request = start(flights[i], flights[i].device, i < calls / 2 ? comm_ : second);
    for (std::size_t i = flights.size(); i-- > 0;)
      flights[i].request.wait();
    for (Flight& flight : flights) {
      start(flight, flight.host, comm_).wait();
      EXPECT_TRUE(flight.device.same_as(flight.host)) << to_string(GetParam()) << " '" << choice << "'";
    }
  }
}

const auto name_of = [](const auto& info) { return std::string{to_string(info.param)}; };
INSTANTIATE_TEST_SUITE_P(All, DeviceCollectives, testing::ValuesIn(all_collectives()), name_of);

}  // namespace
}  // namespace tutti::test
