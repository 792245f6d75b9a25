// Every kernel against the host's, bit for bit: over the fake driver, or on a GPU.
#include "lib/cuda/kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <optional>
#include <random>
#include <vector>

#include "lib/reduce/kernels.hpp"
#include "tests/cuda/cuda_support.hpp"
#include "tutti/error.hpp"

namespace tutti::cuda {
namespace {

using Buffer = std::vector<std::byte>;

bool is_nan(Type type, const std::byte* at) {
  const auto word = [&](auto value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  switch (type) {
    case Type::fp16:
      return (word(std::uint16_t{}) & 0x7fffU) > 0x7c00U;
    case Type::bf16:
      return (word(std::uint16_t{}) & 0x7fffU) > 0x7f80U;
    case Type::fp32:
      return std::isnan(word(float{}));
    case Type::fp64:
      return std::isnan(word(double{}));
    default:
      return false;
  }
}

/// The numbers of which an element is made: a complex one of two.
struct Parts {
  Type type;
  std::size_t bytes, count;
};
Parts parts_of(Type type) {
  if (type == Type::complex_fp32) return {Type::fp32, 4, 2};
  if (type == Type::complex_fp64) return {Type::fp64, 8, 2};
  return {type, static_cast<std::size_t>(size_of(type).value()), 1};
}

class CudaKernels : public testing::Test {
 protected:
  static constexpr std::size_t room = 1 << 14;  ///< Bytes of a buffer on the device.

  void SetUp() override {
    if (driver() == nullptr) GTEST_SKIP() << why_no_driver();
    CUcontext context = nullptr;
    check(of_driver<decltype(cuDevicePrimaryCtxRetain)>("cuDevicePrimaryCtxRetain")(&context, 0), "retain");
    check(of_driver<decltype(cuCtxSetCurrent)>("cuCtxSetCurrent")(context), "set");
    for (CUdeviceptr& each : device_)
      check(of_driver<decltype(cuMemAlloc)>("cuMemAlloc_v2")(&each, room), "cuMemAlloc");
    kernels_.emplace();
  }
  Buffer random(std::size_t bytes) {
    Buffer data(bytes);
    for (std::byte& each : data)
      each = static_cast<std::byte>(random_());
    return data;
  }
  static void to_device(CUdeviceptr to, const Buffer& data) {
    check(of_driver<decltype(cuMemcpyHtoD)>("cuMemcpyHtoD_v2")(to, data.data(), data.size()), "cuMemcpyHtoD");
  }
  static Buffer to_host(CUdeviceptr from, std::size_t bytes) {
    Buffer data(bytes);
    check(of_driver<decltype(cuMemcpyDtoH)>("cuMemcpyDtoH_v2")(data.data(), from, bytes), "cuMemcpyDtoH");
    return data;
  }
  /// Bit for bit, but for the bits of a NaN.
  static void expect_same(Type type, const Buffer& found, const Buffer& wanted, const std::string& what) {
    const Parts parts = parts_of(type);
    int wrong = 0;
    for (std::size_t at = 0; at < wanted.size(); at += parts.bytes) {
      if (std::memcmp(&found[at], &wanted[at], parts.bytes) == 0) continue;
      if (is_nan(parts.type, &found[at]) && is_nan(parts.type, &wanted[at])) continue;
      if (++wrong == 1) ADD_FAILURE() << what << ": differs from byte " << at << " on";
    }
  }

  /// `offset` bytes into each buffer, and one output more `other_offset` bytes into another.
  void expect_reduces(Op::Kind kind, Type type, std::size_t inputs, std::int64_t count, std::size_t offset,
                      std::size_t other_offset) {
    const auto bytes = static_cast<std::size_t>(count * size_of(type).value());
    std::vector<Buffer> data;
    std::vector<const void*> operands;
    std::vector<CUdeviceptr> from;
    for (std::size_t k = 0; k < inputs; ++k) {
      data.push_back(random(bytes));
      from.push_back(device_[k] + (k == 1 ? other_offset : offset));
      to_device(from[k], data[k]);
    }
    for (const Buffer& each : data)
      operands.push_back(each.data());
    const Buffer untouched = random(room);
    const CUdeviceptr to[] = {device_[4] + offset, device_[5] + other_offset};
    for (const CUdeviceptr buffer : {device_[4], device_[5]})
      to_device(buffer, untouched);
    Buffer wanted(bytes);
    reduce_many_kernel(kind, type)(operands.data(), operands.size(), wanted.data(), nullptr,
                                   static_cast<std::size_t>(count));
    kernels_->reduce(kind, type, from, to, Count{count}, nullptr);
    const std::string what = std::string{to_string(kind)} + " of " + std::to_string(count) + " " +
                             std::string{to_string(type)} + ", " + std::to_string(inputs) + " inputs, " +
                             std::to_string(offset) + " and " + std::to_string(other_offset) + " bytes further on";
    for (const auto& [buffer, at] : {std::pair{device_[4], offset}, {device_[5], other_offset}}) {
      const Buffer whole = to_host(buffer, room);
      expect_same(
          type,
          {whole.begin() + static_cast<std::ptrdiff_t>(at), whole.begin() + static_cast<std::ptrdiff_t>(at + bytes)},
          wanted, what);
      EXPECT_EQ(std::memcmp(whole.data(), untouched.data(), at), 0) << what;
      EXPECT_EQ(std::memcmp(whole.data() + at + bytes, untouched.data() + at + bytes, room - at - bytes), 0) << what;
    }
  }

  std::mt19937 random_{11};
  CUdeviceptr device_[6] = {};
  std::optional<Kernels> kernels_;
};

TEST_F(CudaKernels, GiveTheBitsOfTheHost) {
  for (int kind = 0; kind < static_cast<int>(Op::Kind::user); ++kind)
    for (int type = 0; type < type_count; ++type) {
      const auto op = static_cast<Op::Kind>(kind);
      const auto of = static_cast<Type>(type);
      if (reduce_kernel(op, of) == nullptr) continue;
      expect_reduces(op, of, 2, 300, 0, 0);
      expect_reduces(op, of, 4, 77, 16, 32);
    }
}

TEST_F(CudaKernels, TakeAnyAlignmentAndSize) {
  for (const Type type : {Type::int8, Type::fp16, Type::fp32, Type::fp64, Type::complex_fp64})
    for (const std::int64_t count : {0, 1, 3, 15, 16, 17, 100})
      for (const std::size_t offset : {0, 1, 2, 4, 8, 13})
        for (const std::size_t other : {std::size_t{0}, offset, offset + 16, std::size_t{3}})
          expect_reduces(Op::Kind::sum, type, 3, count, offset, other);
}

TEST_F(CudaKernels, CopyOneInput) { expect_reduces(Op::Kind::sum, Type::int32, 1, 500, 4, 4); }

TEST_F(CudaKernels, ReduceInPlace) {
  const Buffer a = random(4000), b = random(4000);
  to_device(device_[0], a);
  to_device(device_[1], b);
  Buffer wanted(4000);
  reduce_kernel(Op::Kind::max, Type::int16)(a.data(), b.data(), wanted.data(), 2000);
  kernels_->reduce(Op::Kind::max, Type::int16, {{device_[0], device_[1]}}, {{device_[1]}}, Count{2000}, nullptr);
  EXPECT_EQ(to_host(device_[1], 4000), wanted);
}

TEST_F(CudaKernels, FinishAveragesAndScaledSums) {
  for (int number = 0; number < type_count; ++number) {
    const auto type = static_cast<Type>(number);
    const std::size_t count = 200;
    Buffer wanted = random(count * static_cast<std::size_t>(size_of(type).value()));
    to_device(device_[0], wanted);
    to_device(device_[1], wanted);
    Buffer scaled = wanted;
    divide_kernel(type)(wanted.data(), count, 7);
    kernels_->divide(type, device_[0], Count{count}, 7, nullptr);
    expect_same(type, to_host(device_[0], wanted.size()), wanted, "average of " + std::string{to_string(type)});
    if (scale_kernel(type) == nullptr) {
      EXPECT_THROW(kernels_->scale(type, device_[1], Count{count}, 0.3, nullptr), Error);
      continue;
    }
    scale_kernel(type)(scaled.data(), count, 0.3);
    kernels_->scale(type, device_[1], Count{count}, 0.3, nullptr);
    expect_same(type, to_host(device_[1], scaled.size()), scaled, "scaled " + std::string{to_string(type)});
  }
}

TEST_F(CudaKernels, RefuseAnOperationThatTheTypeHasNot) {
  EXPECT_THROW(kernels_->reduce(Op::Kind::band, Type::fp32, {{device_[0]}}, {{device_[1]}}, Count{1}, nullptr), Error);
  EXPECT_THROW(kernels_->reduce(Op::Kind::user, Type::fp32, {{device_[0]}}, {{device_[1]}}, Count{1}, nullptr), Error);
}

TEST_F(CudaKernels, RefuseTooManyInputs) {
  const std::vector<CUdeviceptr> inputs(most_inputs + 1, device_[0]);
  EXPECT_THROW(kernels_->reduce(Op::Kind::sum, Type::fp32, inputs, {{device_[1]}}, Count{1}, nullptr), Error);
  EXPECT_THROW(kernels_->reduce(Op::Kind::sum, Type::fp32, {{device_[0]}}, {}, Count{1}, nullptr), Error);
}

}  // namespace
}  // namespace tutti::cuda
