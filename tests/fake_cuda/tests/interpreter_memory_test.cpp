// Memory, barriers and atomics of kernels that the interpreter runs.
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "tests/fake_cuda/ptx/machine.hpp"

namespace fake_cuda::ptx {
namespace {

TEST(Interpreter, MovesVectorsOf16Bytes) {
  alignas(16) std::uint32_t from[4] = {1, 2, 3, 4}, to[4] = {};
  const auto module = load(R"(.version 7.0
.target sm_80
.visible .entry move(.param .u64 from, .param .u64 to) {
  .reg .b64 %rd<4>; .reg .b32 %r<8>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  ld.global.nc.L1::no_allocate.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];
  st.global.v4.u32 [%rd2], {%r4, %r3, %r2, %r1};
  ret;
}
)");
  const std::uint64_t addresses[] = {reinterpret_cast<std::uint64_t>(from), reinterpret_cast<std::uint64_t>(to)};
  std::vector<std::size_t> sizes;
  run(module->kernels.at(0), {}, {}, 0, std::as_bytes(std::span{addresses}),
      [&](std::uint64_t address, std::size_t bytes, bool) {
        sizes.push_back(bytes);
        return reinterpret_cast<std::byte*>(address);
      });
  EXPECT_EQ(sizes, (std::vector<std::size_t>{16, 16}));
  EXPECT_EQ((std::vector<std::uint32_t>(to, to + 4)), (std::vector<std::uint32_t>{4, 3, 2, 1}));
}

/// Sums 256 numbers in shared memory, with barriers and an atomic addition at the end.
TEST(Interpreter, MeetsBarriers) {
  const auto module = load(R"(.version 7.0
.target sm_80
.visible .entry total(.param .u64 from, .param .u64 to) {
  .reg .b64 %rd<8>; .reg .b32 %r<12>; .reg .pred %p<4>;
  .shared .align 4 .b8 room[1024];
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.u32 %r2, [%rd4];
  shl.b32 %r3, %r1, 2;
  mov.u32 %r4, room;
  add.s32 %r5, %r4, %r3;
  st.shared.u32 [%r5], %r2;
  mov.u32 %r6, 128;
$LOOP:
  bar.sync 0;
  setp.ge.u32 %p1, %r1, %r6;
  @%p1 bra $SKIP;
  shl.b32 %r7, %r6, 2;
  add.s32 %r8, %r5, %r7;
  ld.shared.u32 %r9, [%r8];
  ld.shared.u32 %r10, [%r5];
  add.s32 %r10, %r10, %r9;
  st.shared.u32 [%r5], %r10;
$SKIP:
  shr.u32 %r6, %r6, 1;
  setp.ne.s32 %p2, %r6, 0;
  @%p2 bra $LOOP;
  setp.ne.s32 %p3, %r1, 0;
  @%p3 bra $END;
  ld.shared.u32 %r11, [room];
  red.global.add.u32 [%rd2], %r11;
$END:
  ret;
}
)");
  std::vector<std::uint32_t> from(256);
  std::uint32_t sum = 0, wanted = 0;
  for (std::size_t i = 0; i < from.size(); ++i)
    wanted += 3 * (from[i] = static_cast<std::uint32_t>(i * i + 1));
  const std::uint64_t addresses[] = {reinterpret_cast<std::uint64_t>(from.data()),
                                     reinterpret_cast<std::uint64_t>(&sum)};
  EXPECT_EQ(module->kernels.at(0).error, "");
  run(module->kernels[0], {3, 1, 1}, {256, 1, 1}, 0, std::as_bytes(std::span{addresses}),
      [](std::uint64_t address, std::size_t, bool) { return reinterpret_cast<std::byte*>(address); });
  EXPECT_EQ(sum, wanted);
}

}  // namespace
}  // namespace fake_cuda::ptx
