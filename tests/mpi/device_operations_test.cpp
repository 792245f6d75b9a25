// Users' operations on device buffers, with a kernel and without: a and b give (1 + a) (1 + b) - 1.
#include "tests/mpi/device_cases.hpp"
#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

void combine_on_host(const void* lhs, const void* rhs, void* into, Count count, void* calls) {
  ++*static_cast<int*>(calls);
  const auto *a = static_cast<const std::uint32_t*>(lhs), *b = static_cast<const std::uint32_t*>(rhs);
  for (std::int64_t i = 0; i < count.value(); ++i)
    static_cast<std::uint32_t*>(into)[i] = a[i] + b[i] + a[i] * b[i];
}
constexpr const char* combine_on_device = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry combine(.param .u64 lhs, .param .u64 rhs, .param .u64 into, .param .u64 count) {
  .reg .pred %p<3>;
  .reg .b32 %r<12>;
  .reg .b64 %rd<16>;
  ld.param.u64 %rd1, [lhs];
  ld.param.u64 %rd2, [rhs];
  ld.param.u64 %rd3, [into];
  ld.param.u64 %rd4, [count];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %nctaid.x;
  mul.lo.s32 %r5, %r1, %r2;
  add.s32 %r6, %r5, %r3;
  cvt.u64.u32 %rd5, %r6;
  mul.wide.u32 %rd6, %r4, %r2;
  setp.ge.u64 %p1, %rd5, %rd4;
  @%p1 bra DONE;
LOOP:
  shl.b64 %rd7, %rd5, 2;
  add.s64 %rd8, %rd1, %rd7;
  add.s64 %rd9, %rd2, %rd7;
  add.s64 %rd10, %rd3, %rd7;
  ld.global.u32 %r7, [%rd8];
  ld.global.u32 %r8, [%rd9];
  add.s32 %r9, %r7, %r8;
  mul.lo.s32 %r10, %r7, %r8;
  add.s32 %r11, %r9, %r10;
  st.global.u32 [%rd10], %r11;
  add.s64 %rd5, %rd5, %rd6;
  setp.lt.u64 %p2, %rd5, %rd4;
  @%p2 bra LOOP;
DONE:
  ret;
}
)";

struct UsersResult {
  std::vector<std::uint32_t> data;
  int host_calls = 0;
  std::string explained{};
};
/// An allreduce with a user's operation on numbers of a device that differ from rank to rank.
UsersResult with_users_operation(DeviceKernel kernel, const Communicator& comm) {
  UsersResult result{.data = std::vector<std::uint32_t>(5000)};
  for (std::size_t i = 0; i < result.data.size(); ++i)
    result.data[i] = static_cast<std::uint32_t>(i) * 7 + static_cast<std::uint32_t>(comm.rank().value());
  const std::size_t bytes = result.data.size() * sizeof(std::uint32_t);
  const DeviceArray on_device{bytes};
  TestDevices::get().copy(on_device.data(), result.data.data(), bytes);
  const DeviceSpan<std::uint32_t> span{reinterpret_cast<std::uint32_t*>(on_device.data()), result.data.size()};
  Plan plan = plan_allreduce(span, Op::user(combine_on_host, Commutative::no, &result.host_calls, kernel), comm);
  plan.start();
  plan.wait();
  result.explained = plan.explain();
  TestDevices::get().copy(result.data.data(), on_device.data(), bytes);
  return result;
}

using DeviceOperations = OnDevices;

TEST_F(DeviceOperations, OfUsersAreKernels) {
  const Setting path{"TUTTI_DEVICE_PATH", "staging"}, on_device{"TUTTI_STAGING", "device"};
  const Communicator comm{MPI_COMM_WORLD};
  const UsersResult host = with_users_operation({}, comm);
  const UsersResult device = with_users_operation({devices_.kernel(combine_on_device, "combine")}, comm);
  EXPECT_EQ(device.data, host.data);
  EXPECT_EQ(device.host_calls, 0);
  EXPECT_NE(device.explained.find("the device reduces"), std::string::npos) << device.explained;
  EXPECT_NE(host.explained.find("the user's operation has no kernel"), std::string::npos) << host.explained;
  EXPECT_TRUE(host.host_calls > 0 || comm.size() == 1);
}

}  // namespace
}  // namespace tutti::test
