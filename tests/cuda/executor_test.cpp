// Plans run on device buffers, with messages moved by a fake network: the bits of the host's executor, and no wait of
// the host.
#include "lib/device/driver/executor.hpp"
#include "lib/core/plan/compile.hpp"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <random>

#include "lib/core/exec/execution.hpp"
#include "lib/core/schedule/choice.hpp"
#include "tests/cuda/cuda_support.hpp"
#include "tests/engine/fake_network.hpp"
#include "tutti/algorithm.hpp"

namespace tutti::cuda {
namespace {

using test::FakeNetwork;
using test::FakePort;
using Data = std::vector<std::byte>;

struct Call {
  const Algorithm* algorithm;
  int ranks;
  std::int64_t count;
  Type type;
  Op op;
};

std::vector<CompiledPlan> plans_of(const Call& call) {
  std::vector<CompiledPlan> plans;
  for (int rank = 0; rank < call.ranks; ++rank) {
    Problem problem{Rank{rank}, call.ranks, Count{call.count}};
    const Choice choice = read_choice(call.algorithm->collective, call.algorithm->name);
    problem.collective = call.algorithm->collective;
    problem.parameter = choice.parameter;
    plans.push_back(compile(choice, problem, call.type, call.op, Routing{}));
  }
  return plans;
}

std::vector<Data> inputs_of(const Call& call) {
  std::mt19937 random{3};
  std::vector<Data> inputs(static_cast<std::size_t>(call.ranks),
                           Data(static_cast<std::size_t>(call.count * size_of(call.type).value())));
  for (Data& input : inputs)
    for (std::byte& each : input)
      each = static_cast<std::byte>(random() % 64);  // no NaN: only which one a NaN is may differ
  return inputs;
}

/// Runs all ranks to their ends, messages in random order.
template <class Run>
void run_all(std::vector<std::unique_ptr<Run>>& ranks, FakeNetwork& network) {
  std::vector<bool> is_over(ranks.size());
  for (auto& rank : ranks)
    rank->begin();
  for (std::size_t left = ranks.size(), turn = 0; left > 0; ++turn) {
    ASSERT_LT(turn, 10'000'000U) << "stuck";
    const std::size_t rank = turn % ranks.size();
    if (!is_over[rank] && ranks[rank]->advance()) {
      is_over[rank] = true;
      --left;
    }
    network.move_one();
  }
}

std::vector<Data> on_host(const Call& call) {
  const std::vector<CompiledPlan> plans = plans_of(call);
  std::vector<Data> inputs = inputs_of(call), outputs(inputs.size(), Data(inputs[0].size()));
  FakeNetwork network{7};
  std::vector<std::unique_ptr<Execution<FakePort>>> ranks;
  for (std::size_t rank = 0; rank < plans.size(); ++rank) {
    ranks.push_back(std::make_unique<Execution<FakePort>>(plans[rank], FakePort{network, static_cast<int>(rank)}));
    ranks[rank]->bind(inputs[rank].data(), outputs[rank].data());
  }
  run_all(ranks, network);
  return outputs;
}

class DeviceExecutors : public CudaDevice {
 protected:
  std::vector<Data> on_device(const Call& call, unsigned seed) {
    const std::vector<CompiledPlan> plans = plans_of(call);
    const std::vector<Data> inputs = inputs_of(call);
    std::vector<Data> outputs(inputs.size(), Data(inputs[0].size()));
    const auto bytes = static_cast<std::int64_t>(inputs[0].size());
    FakeNetwork network{seed, copy_now};
    std::vector<DeviceBuffer> in, out, scratch;
    using Run = Execution<FakePort, DeviceExecutor>;
    std::vector<std::unique_ptr<Run>> ranks;
    for (std::size_t rank = 0; rank < plans.size(); ++rank) {
      in.emplace_back(*device_, bytes);
      out.emplace_back(*device_, bytes);
      scratch.emplace_back(*device_, plans[rank].scratch_bytes);
      copy_now(at(in[rank]), inputs[rank].data(), inputs[rank].size());
      ranks.push_back(std::make_unique<Run>(plans[rank], FakePort{network, static_cast<int>(rank)},
                                            DeviceExecutor{plans[rank], *device_}));
      ranks[rank]->bind(at(in[rank]), at(out[rank]));
      ranks[rank]->lend(Buffer::scratch, at(scratch[rank]));
    }
    run_all(ranks, network);
    for (std::size_t rank = 0; rank < plans.size(); ++rank)
      copy_now(outputs[rank].data(), at(out[rank]), outputs[rank].size());
    return outputs;
  }
  static std::byte* at(const DeviceBuffer& buffer) { return std::bit_cast<std::byte*>(buffer.address()); }

  void expect_same_bits(const Call& call, unsigned seed = 5) {
    const std::vector<Data> wanted = on_host(call), found = on_device(call, seed);
    for (std::size_t rank = 0; rank < wanted.size(); ++rank)
      EXPECT_EQ(found[rank], wanted[rank])
          << fmt::format("{} of {} {} on {} ranks, {}: rank {}", to_string(call.op.kind()), call.count,
                         to_string(call.type), call.ranks, call.algorithm->name, rank);
  }
};

std::vector<const Algorithm*> allreduces() {
  std::vector<const Algorithm*> found;
  for (const Algorithm* algorithm : algorithms())
    if (algorithm->collective == Collective::allreduce && algorithm->levels == Levels::ranks)
      found.push_back(algorithm);
  return found;
}

TEST_F(DeviceExecutors, GiveTheBitsOfTheHostWithEveryAllreduce) {
  for (const Algorithm* const algorithm : allreduces())
    for (const int ranks : {1, 2, 3, 5})
      for (const std::int64_t count : {1, 37})
        expect_same_bits({algorithm, ranks, count, Type::fp32, Op::sum});
}

TEST_F(DeviceExecutors, FinishAveragesAndScaledSums) {
  const Algorithm* const ring = find_algorithm(Collective::allreduce, "ring");
  for (const Type type : {Type::fp8_e4m3, Type::fp8_e5m2, Type::fp16, Type::bf16, Type::fp64, Type::complex_fp32})
    for (const Op& op : {Op::avg, Op::scaled_sum(0.3), Op::prod})
      expect_same_bits({ring, 3, 50, type, op});
}

TEST_F(DeviceExecutors, RunLate) {
  const Algorithm* const rabenseifner = find_algorithm(Collective::allreduce, "rabenseifner");
  for (unsigned seed = 1; seed < 4; ++seed)
    expect_same_bits({rabenseifner, 4, 40, Type::int32, Op::sum}, seed);
  EXPECT_EQ(fake_counters().faults, 0U);
}

TEST_F(DeviceExecutors, WaitForPostedWorkWhenTheyAreAbandoned) {
  const Call call{find_algorithm(Collective::allreduce, "ring"), 1, 50, Type::int32, Op::sum};
  const std::vector<CompiledPlan> plans = plans_of(call);
  const DeviceBuffer from{*device_, 200}, to{*device_, 200};
  const Data data = inputs_of(call)[0];
  copy_now(at(from), data.data(), data.size());
  {
    DeviceExecutor executor{plans[0], *device_};
    EXPECT_EQ(executor.post_copy(0, at(from), at(to), 200), Posted::pending);
  }
  Data found(data.size());
  copy_now(found.data(), at(to), found.size());
  EXPECT_EQ(found, data);
}

TEST_F(DeviceExecutors, LeaveNothingBehind) {
  const Algorithm* const ring = find_algorithm(Collective::allreduce, "ring");
  const FakeCudaCounters before = fake_counters();
  expect_same_bits({ring, 3, 50, Type::fp32, Op::sum});
  const FakeCudaCounters after = fake_counters();
  EXPECT_EQ(after.live_device, before.live_device);
  EXPECT_EQ(after.live_streams, before.live_streams);
  device_.reset();
  EXPECT_EQ(fake_counters().live_events, 0U);
  EXPECT_EQ(fake_counters().live_modules, 0U);
}

}  // namespace
}  // namespace tutti::cuda
