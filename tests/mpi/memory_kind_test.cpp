// Kinds of memory: their names, and which of them the host can read.
#include "lib/core/memory/memory_kind.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "lib/core/call/arguments.hpp"
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

TEST(Memory, IsReadableByTheHostUnlessItIsADevices) {
  for (const MemoryKind kind : {MemoryKind::host, MemoryKind::pinned, MemoryKind::managed})
    EXPECT_TRUE(is_readable_by_host({kind})) << to_string(kind);
  EXPECT_FALSE(is_readable_by_host(on_gpu_1));
}

TEST(Memory, IsReadableWhereThisProcessHasMapped) {
  const auto heap = std::make_unique<std::array<char, 1 << 20>>();
  EXPECT_TRUE(is_readable(heap.get()));
  EXPECT_FALSE(is_readable(nullptr));
}

TEST(Calls, NameTheBufferThatTheyRefuse) {
  const CallSite call{"allreduce", Rank{3}};
  const BufferMemory none = require_buffer(call, "in", nullptr, {}, Type::fp32);
  EXPECT_EQ(none.device, -1);
  int value = 0;
  EXPECT_EQ(require_buffer(call, "in", &value, {.last = Count{1}}, Type::fp32).device, -1);
  try {
    static_cast<void>(require_buffer(call, "in", nullptr, {.last = Count{2}}, Type::fp32));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const ArgumentError& error) {
    EXPECT_STREQ(error.what(),
                 "tutti::allreduce on rank 3: argument 'in' is null with count 2; allowed: memory of count "
                 "elements");
  }
}

}  // namespace
}  // namespace tutti
