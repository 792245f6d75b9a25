// Kinds of memory: their names, which is the host's, and how a call refuses memory that the host cannot read.
#include "lib/memory/memory_kind.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "lib/calls/arguments.hpp"
#include "tutti/error.hpp"

namespace tutti {
namespace {

constexpr Memory on_gpu_1{MemoryKind::device, 1};

TEST(MemoryKind, IsNamed) {
  EXPECT_EQ(to_string(MemoryKind::host), "host");
  EXPECT_EQ(to_string(MemoryKind::pinned), "pinned");
  EXPECT_EQ(to_string(MemoryKind::managed), "managed");
  EXPECT_EQ(to_string(MemoryKind::device), "device");
}

TEST(Memory, IsDescribed) {
  EXPECT_EQ(to_string(Memory{}), "host memory");
  EXPECT_EQ(to_string(Memory{MemoryKind::pinned}), "CUDA pinned memory");
  EXPECT_EQ(to_string(Memory{MemoryKind::managed}), "CUDA managed memory");
  EXPECT_EQ(to_string(on_gpu_1), "CUDA device memory (device 1)");
}

TEST(Memory, OfTheProcessIsTheHosts) {
  static int global = 0;
  int local = 0;
  const auto heap = std::make_unique<std::array<char, 1 << 20>>();
  EXPECT_EQ(memory_of(nullptr), Memory{});
  EXPECT_EQ(memory_of(&global), Memory{});
  EXPECT_EQ(memory_of(&local), Memory{});
  EXPECT_EQ(memory_of(heap.get()), Memory{});
}

TEST(Calls, TakeWhatTheHostCanRead) {
  const CallSite call{"allreduce", Rank{3}};
  for (const MemoryKind kind : {MemoryKind::host, MemoryKind::pinned, MemoryKind::managed})
    EXPECT_NO_THROW(require_readable(call, "in", {kind})) << to_string(kind);
}

TEST(Calls, RefuseDeviceMemoryByName) {
  try {
    require_readable({"allreduce", Rank{3}}, "in", on_gpu_1);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const ArgumentError& error) {
    EXPECT_STREQ(error.what(),
                 "tutti::allreduce on rank 3: argument 'in' is CUDA device memory (device 1); "
                 "allowed: memory that the host can read");
  }
}

}  // namespace
}  // namespace tutti
