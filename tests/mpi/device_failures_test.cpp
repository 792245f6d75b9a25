// Each function of the driver fails in turn, at each of its calls in the life of a communicator: the call succeeds all
// the same or throws an error that says where, nothing is left behind, and the next communicator works.
#include <fmt/format.h>

#include <array>

#include "tests/cuda/cuda_support.hpp"
#include "tests/mpi/device_cases.hpp"
#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

using cuda::of_driver;

/// All that the library calls once the driver is loaded.
constexpr std::array functions{"cuDevicePrimaryCtxGetState",
                               "cuDevicePrimaryCtxRetain",
                               "cuCtxGetId",
                               "cuCtxGetDevice",
                               "cuCtxPushCurrent",
                               "cuDeviceGetAttribute",
                               "cuMemAlloc",
                               "cuMemFree",
                               "cuMemHostRegister",
                               "cuMemHostUnregister",
                               "cuMemcpyAsync",
                               "cuCtxGetStreamPriorityRange",
                               "cuStreamCreate",  // with a priority
                               "cuStreamDestroy",
                               "cuStreamSynchronize",
                               "cuEventCreate",
                               "cuEventDestroy",
                               "cuEventRecord",
                               "cuEventQuery",
                               "cuEventSynchronize",
                               "cuPointerGetAttributes",
                               "cuModuleLoadData",
                               "cuModuleUnload",
                               "cuModuleGetFunction",
                               "cuLaunchKernel",
                               "cuFuncLoad"};
/// Functions of the table that are called before: cuInit, cuDriverGetVersion, cuDeviceGetCount; those that name errors,
/// which do not fail here; five that describe devices to people (lib/device/driver/survey.hpp); and cuCtxPopCurrent:
/// once it has failed nobody knows which context is current. Twelve for memory that processes share:
/// device_ipc_failures_test; cuCtxGetCurrent, which only communicators ask when they are made; and thirteen for calls
/// in streams: device_stream_rules_test.
constexpr std::size_t left_out = 37;
static_assert(functions.size() + left_out == sizeof(cuda::Driver) / sizeof(void*));
/// Whether a failure of the function means that one object of the driver is not freed.
bool frees(std::string_view function) {
  return function == "cuMemFree" || function == "cuMemHostUnregister" || function == "cuStreamDestroy" ||
         function == "cuEventDestroy" || function == "cuModuleUnload" || function == "cuCtxPushCurrent" ||
         function == "cuPointerGetAttributes";
}

/// Whether a life without other failures does not call the function, or its result does not matter.
bool is_never_needed(std::string_view function) {
  return function == "cuStreamSynchronize" || function == "cuEventSynchronize" || function == "cuFuncLoad" ||
         function == "cuDevicePrimaryCtxRetain";
}

constexpr std::size_t count = 3000;

/// A context of its own, in which the library has made nothing yet.
class OwnContext {
 public:
  OwnContext() { EXPECT_EQ(of_driver<CUresult(CUcontext*, unsigned, CUdevice)>("cuCtxCreate_v2")(&context_, 0, 0), 0); }
  OwnContext(const OwnContext&) = delete;
  OwnContext& operator=(const OwnContext&) = delete;
  ~OwnContext() { EXPECT_EQ(of_driver<decltype(cuCtxDestroy)>("cuCtxDestroy_v2")(context_), CUDA_SUCCESS); }

 private:
  CUcontext context_ = nullptr;
};

class DeviceFailures : public OnDevices, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    OnDevices::SetUp();
    if (!devices_.is_fake()) GTEST_SKIP() << "only the fake driver fails when it is told to";
  }

  /// Data in memory of a device, of CUDA's pools, and of the host.
  struct Data {
    std::vector<float> ones = std::vector<float>(count, 1), host = ones;
    AnyArray in{ones.data(), count * sizeof(float), TestDevices::Kind::device};
    AnyArray out{ones.data(), count * sizeof(float), TestDevices::Kind::pool};
    [[nodiscard]] bool is_all(float value) const {
      const std::vector<float> wanted(count, value);
      return std::memcmp(out.contents().data(), wanted.data(), count * sizeof(float)) == 0 && host == wanted;
    }
  };

  /// The calls of a communicator's life; false: one threw an error.
  static bool call(Data& data, const Communicator& comm) {
    try {
      allreduce(data.in.data(), data.out.data(), Count{count}, Type::fp32, Op::scaled_sum(3), comm);
      reduce(data.in.data(), data.host.data(), Count{count}, Type::fp32, Op::scaled_sum(3), comm.rank(), comm);
      Plan plan = plan_allreduce(data.in.data(), data.out.data(), Count{count}, Type::fp32, Op::scaled_sum(3), comm);
      for (int again = 0; again < 2; ++again) {
        plan.start();
        plan.wait();
      }
      return true;
    } catch (const Error& error) {
      EXPECT_NE(std::string_view{error.what()}.find("on rank 0"), std::string_view::npos) << error.what();
      EXPECT_NE(std::string_view{error.what()}.find(GetParam()), std::string_view::npos) << error.what();
      return false;
    }
  }
  /// A communicator's life on new data, in which one call of the function fails; false: there were not as many.
  bool live(int failing, bool& has_thrown) {
    Data data;
    const std::uint64_t before = devices_.calls(GetParam());
    devices_.fail(fmt::format("{}:{}", GetParam(), failing));
    {
      const Communicator comm{MPI_COMM_WORLD};
      has_thrown = !call(data, comm);
    }
    devices_.fail("");
    const std::uint64_t calls = devices_.calls(GetParam()) - before;
    EXPECT_TRUE(has_thrown || data.is_all(3));
    return calls >= static_cast<std::uint64_t>(failing);
  }
  void expect_works() {
    bool has_thrown = false;
    EXPECT_FALSE(live(0, has_thrown) && has_thrown);
  }
};

TEST_P(DeviceFailures, LoseNothing) {
  constexpr int most = 10;
  int errors = 0;
  expect_works();  // makes all that the library needs for the primary context, to which pools belong
  const std::uint64_t left = frees(GetParam()) ? 1 : 0;
  for (int failing = 1; failing <= most; ++failing) {
    const FakeCudaCounters before = devices_.counters();
    const OwnContext context;
    bool has_thrown = false;
    const bool has_failed = live(failing, has_thrown);
    errors += has_thrown ? 1 : 0;
    expect_works();
    const FakeCudaCounters after = devices_.counters();
    EXPECT_LE(after.live_pinned - before.live_pinned, left) << failing;
    // What the library keeps of a device, and no more than once.
    EXPECT_LE(after.live_device - before.live_device, left + 1) << failing;
    EXPECT_LE(after.live_streams - before.live_streams, 4U) << failing;
    EXPECT_LE(after.live_modules - before.live_modules, 1U) << failing;
    if (!has_failed) break;
  }
  EXPECT_TRUE(errors > 0 || frees(GetParam()) || is_never_needed(GetParam())) << "no call has failed";
}

class DeviceLoss : public OnDevices {
 protected:
  void SetUp() override {
    OnDevices::SetUp();
    if (!devices_.is_fake()) GTEST_SKIP() << "only the fake driver fails when it is told to";
  }
};

// A program may reset its device, or destroy a context, before a communicator ends; a new context may get the address.
TEST_F(DeviceLoss, OfAContextIsNoLossOfOtherMemory) {
  const FakeCudaCounters before = devices_.counters();
  Communicator comm{MPI_COMM_WORLD};
  {
    const OwnContext context;
    const Ones in(count), out(count);
    allreduce(in.span(), out.span(), Op::scaled_sum(2), comm);
    EXPECT_EQ(out.value(), 2);
  }
  const OwnContext context;
  const Ones mine(count);
  comm.close();
  EXPECT_EQ(mine.value(), 1);
  EXPECT_EQ(devices_.counters().live_device, before.live_device + 1);
}

TEST_F(DeviceLoss, IsNamedWithARemedy) {
  const Ones in(count), out(count);
  const Communicator comm{MPI_COMM_WORLD}, other{MPI_COMM_WORLD};
  devices_.fail("cuEventQuery:1:700");
  const auto call = [&] { allreduce(in.span(), out.span(), Op::prod, comm); };
  expect_throw<Error>(call, {"allreduce", "on rank 0", "cuEventQuery", "CUDA_ERROR_ILLEGAL_ADDRESS", "it must end"});
  devices_.fail("");
  expect_throw<Error>(call, {"unusable", "CUDA_ERROR_ILLEGAL_ADDRESS"});
  allreduce(in.span(), out.span(), Op::scaled_sum(5), other);
  EXPECT_EQ(out.value(), 5);
}

const auto name_of = [](const auto& info) { return std::string{info.param}; };
INSTANTIATE_TEST_SUITE_P(All, DeviceFailures, testing::ValuesIn(functions), name_of);

}  // namespace
}  // namespace tutti::test
