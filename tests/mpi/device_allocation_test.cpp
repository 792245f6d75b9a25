// Calls on device buffers that recur allocate nothing on the heap. What the driver allocates is its own affair.
#include <dlfcn.h>

#include <optional>
#include <string>

#include "tests/mpi/device_cases.hpp"
#include "tests/support/counted_allocations.hpp"
#include "tests/support/device_streams.hpp"

namespace tutti::test {
namespace {

/// A question to the fake driver. Others are written in C, or have an operator new of their own.
int (*driver_is_inside())() {
  static void* const library = ::dlopen("libcuda.so.1", RTLD_NOW);
  return library == nullptr ? nullptr : reinterpret_cast<int (*)()>(::dlsym(library, "fake_cuda_is_inside"));
}

class DeviceAllocation : public OnDevices, public testing::WithParamInterface<Collective> {
 protected:
  void SetUp() override {
    OnDevices::SetUp();
    if (IsSkipped()) return;
    AllocationCount::is_foreign = driver_is_inside();
    comm_.emplace(MPI_COMM_WORLD, CommunicatorOptions{.buffers = "device"});
    stream_.emplace();
  }
  void TearDown() override {
    AllocationCount::is_foreign = nullptr;
    comm_.reset();
    stream_.reset();
    OnDevices::TearDown();
  }

  struct Buffers {
    explicit Buffers(std::int64_t count)
        : in(static_cast<std::size_t>(count * world_size())), out(static_cast<std::size_t>(count * world_size())) {}
    Ones in, out;
  };
  detail::Call call_of(const Buffers& buffers, std::int64_t count) const {
    return {.function = to_string(GetParam()),
            .collective = GetParam(),
            .in = GetParam() == Collective::broadcast ? buffers.out.data() : buffers.in.data(),
            .out = buffers.out.data(),
            .count = Count{count},
            .type = Type::fp32,
            .op = Op::max};
  }
  /// Few elements, and some more.
  static constexpr std::int64_t counts[] = {2, 3000};

  /// Allocations of calls that are like those before. A call that waits long looks for the reason, which takes memory:
  /// some of a few rounds has no such call.
  template <class Repeat>
  void expect_none(const Repeat& repeat, const std::string& what) {
    constexpr int warm_up = 20, calls = 20, rounds = 5;
    for (int i = 0; i < warm_up; ++i)
      repeat();
    long most = 1;
    for (int round = 0; round < rounds && most > 0; ++round) {
      MPI_Barrier(MPI_COMM_WORLD);
      most = allocations_of([&] {
        for (int i = 0; i < calls; ++i)
          repeat();
      });
      MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    }
    EXPECT_EQ(most, 0) << to_string(GetParam()) << ", " << what;
  }

  std::optional<Communicator> comm_;
  std::optional<TestStream> stream_;
};

TEST_P(DeviceAllocation, IsCountedOutsideTheDriver) {
  const Buffers buffers(3);
  EXPECT_GT(allocations_of([&] { detail::run(call_of(buffers, 3), *comm_, {}); }), 0);  // the first makes a plan
  EXPECT_EQ(allocations_of([&] { const DeviceArray array(1); }) > 0, driver_is_inside() == nullptr);
}

TEST_P(DeviceAllocation, NoneInBlockingCalls) {
  for (const std::int64_t count : counts) {
    const Buffers buffers(count);
    expect_none([&] { detail::run(call_of(buffers, count), *comm_, {}); }, "blocking, " + std::to_string(count));
    EXPECT_EQ(buffers.out.value(), 1);
  }
}

TEST_P(DeviceAllocation, NoneInAsyncAndWait) {
  for (const std::int64_t count : counts) {
    const Buffers buffers(count);
    expect_none([&] { detail::start(call_of(buffers, count), *comm_, {}).wait(); },
                "nonblocking, " + std::to_string(count));
  }
}

TEST_P(DeviceAllocation, NoneInPlanStartAndWait) {
  for (const std::int64_t count : counts) {
    const Buffers buffers(count);
    Plan plan = detail::prepare(call_of(buffers, count), *comm_, {});
    const auto repeat = [&] {
      plan.start();
      plan.wait();
    };
    expect_none(repeat, "persistent, " + std::to_string(count));
  }
}

TEST_P(DeviceAllocation, NoneInStreams) {
  for (const std::int64_t count : counts) {
    const Buffers buffers(count);
    const auto repeat = [&] {
      detail::run(call_of(buffers, count), *comm_, {.stream = stream_->get()});
      stream_->synchronize();  // else as many plans as calls may be under way
    };
    expect_none(repeat, "in a stream, " + std::to_string(count));
  }
}

const auto name_of = [](const auto& info) { return std::string{to_string(info.param)}; };
INSTANTIATE_TEST_SUITE_P(All, DeviceAllocation, testing::ValuesIn(all_collectives()), name_of);

}  // namespace
}  // namespace tutti::test
