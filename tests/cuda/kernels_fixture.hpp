#pragma once
// Runs a kernel beside the host's, and compares what they wrote, bit for bit.

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "lib/core/reduce/kernels.hpp"
#include "lib/device/driver/kernels.hpp"
#include "tests/cuda/cuda_support.hpp"

namespace tutti::cuda {

using Buffer = std::vector<std::byte>;

template <class Word>
Word word_at(const std::byte* at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

inline bool is_nan(Type type, const std::byte* at) {
  switch (type) {
    case Type::fp8_e4m3:
      return (word_at<std::uint8_t>(at) & 0x7fU) == 0x7fU;
    case Type::fp8_e5m2:
      return (word_at<std::uint8_t>(at) & 0x7fU) > 0x7cU;
    case Type::fp16:
      return (word_at<std::uint16_t>(at) & 0x7fffU) > 0x7c00U;
    case Type::bf16:
      return (word_at<std::uint16_t>(at) & 0x7fffU) > 0x7f80U;
    case Type::fp32:
      return std::isnan(word_at<float>(at));
    case Type::fp64:
      return std::isnan(word_at<double>(at));
    default:
      return false;
  }
}

/// The numbers of which an element is made: a complex one of two.
struct Parts {
  Type type;
  std::size_t bytes;
};
inline Parts parts_of(Type type) {
  if (type == Type::complex_fp32) return {Type::fp32, 4};
  if (type == Type::complex_fp64) return {Type::fp64, 8};
  return {type, static_cast<std::size_t>(size_of(type).value())};
}

/// One call of Kernels::reduce: where in its buffer each array begins, and which outputs are inputs.
struct Reduction {
  Op::Kind kind;
  Type type;
  std::int64_t count;
  std::vector<std::size_t> inputs, outputs;  ///< Bytes.
  std::vector<int> in_place{};               ///< The input that an output is, or -1; for the first outputs.
};

inline std::string to_text(const Reduction& r) {
  return fmt::format("{} of {} {}, inputs at {}, outputs at {}, in place {}", to_string(r.kind), r.count,
                     to_string(r.type), fmt::join(r.inputs, " "), fmt::join(r.outputs, " "),
                     fmt::join(r.in_place, " "));
}

/// Device 0's primary context is current, and has the kernels.
class CudaKernels : public CudaDevice {
 protected:
  static constexpr std::size_t room = 1 << 13;  ///< Bytes of a buffer on the device.

  void SetUp() override {
    CudaDevice::SetUp();
    if (!device_) return;
    kernels_ = &device_->kernels();
    buffers_.reserve(most_inputs + most_outputs);
  }
  CUdeviceptr buffer(std::size_t number) {
    while (buffers_.size() <= number)
      buffers_.emplace_back(*device_, room);
    return buffers_[number].address();
  }

  Buffer random(std::size_t bytes) {
    Buffer data(bytes);
    for (std::byte& each : data)
      each = static_cast<std::byte>(random_());
    return data;
  }
  /// With zeros, infinities and the smallest numbers of every floating-point type among them.
  Buffer random(Type type, std::int64_t count) {
    Buffer data = random(static_cast<std::size_t>(count * size_of(type).value()));
    const std::size_t bytes = parts_of(type).bytes;
    if (bytes == 1) return data;
    constexpr std::uint16_t special[] = {0x0000, 0x8000, 0x7c00, 0xfc00, 0x7f80,
                                         0xff80, 0x7ff0, 0xfff0, 0x0001, 0x8001};
    for (std::size_t at = 0; at < data.size(); at += bytes) {
      if (random_() % 4 != 0) continue;
      std::memset(&data[at], 0, bytes);
      std::memcpy(&data[at + bytes - 2], &special[random_() % std::size(special)], 2);
    }
    return data;
  }
  static void to_device(CUdeviceptr to, const Buffer& data) {
    copy_now(std::bit_cast<std::byte*>(to), data.data(), data.size());
  }
  static Buffer to_host(CUdeviceptr from, std::size_t bytes) {
    Buffer data(bytes);
    copy_now(data.data(), std::bit_cast<const std::byte*>(from), bytes);
    return data;
  }

  /// Bit for bit, but for which NaN a NaN is.
  static void expect_same(Type type, const std::byte* found, const Buffer& wanted, const std::string& what) {
    const Parts parts = parts_of(type);
    for (std::size_t at = 0; at < wanted.size(); at += parts.bytes) {
      if (std::memcmp(found + at, &wanted[at], parts.bytes) == 0) continue;
      if (is_nan(parts.type, found + at) && is_nan(parts.type, &wanted[at])) continue;
      ADD_FAILURE() << what << ": differs from byte " << at << " on";
      return;
    }
  }
  /// `whole` has the wanted elements from byte `at` on, and is untouched around them.
  static void expect_within(Type type, const Buffer& whole, std::size_t at, const Buffer& wanted,
                            const Buffer& untouched, const std::string& what) {
    const std::size_t end = at + wanted.size();
    expect_same(type, whole.data() + at, wanted, what);
    EXPECT_EQ(std::memcmp(whole.data(), untouched.data(), at), 0) << what << ": wrote before";
    EXPECT_EQ(std::memcmp(whole.data() + end, untouched.data() + end, room - end), 0) << what << ": wrote behind";
  }

  void expect_reduces(const Reduction& r) {
    const std::string what = to_text(r);
    const Buffer untouched = random(room);
    std::vector<Buffer> data;
    std::vector<const void*> operands;
    std::vector<CUdeviceptr> from, to, written;  // The last: the buffers of the outputs.
    for (std::size_t k = 0; k < r.inputs.size(); ++k) {
      data.push_back(random(r.type, r.count));
      to_device(buffer(k), untouched);
      from.push_back(buffer(k) + r.inputs[k]);
      to_device(from[k], data[k]);
    }
    for (const Buffer& each : data)
      operands.push_back(each.data());
    std::vector<std::size_t> at = r.outputs;
    for (std::size_t k = 0; k < at.size(); ++k) {
      const int input = k < r.in_place.size() ? r.in_place[k] : -1;
      if (input >= 0) at[k] = r.inputs[static_cast<std::size_t>(input)];
      written.push_back(buffer(input >= 0 ? static_cast<std::size_t>(input) : r.inputs.size() + k));
      if (input < 0) to_device(written[k], untouched);
      to.push_back(written[k] + at[k]);
    }
    Buffer wanted(static_cast<std::size_t>(r.count * size_of(r.type).value()));
    reduce_many_kernel(r.kind, r.type)(operands.data(), operands.size(), wanted.data(), nullptr,
                                       static_cast<std::size_t>(r.count));
    const FakeCudaCounters before = fake_counters();
    kernels_->reduce(r.kind, r.type, from, to, Count{r.count}, nullptr);
    for (std::size_t k = 0; k < at.size(); ++k)
      expect_within(r.type, to_host(written[k], room), at[k], wanted, untouched, what);
    // Exact sums of bits at random are often made of digits, of operands that are read again.
    if (r.kind != Op::Kind::exact_sum)
      expect_touched(before, from.size() * wanted.size(), to.size() * wanted.size(), what);
  }

  /// Every byte once; over the fake driver only.
  static void expect_touched(const FakeCudaCounters& before, std::size_t read, std::size_t wrote,
                             const std::string& what) {
    const FakeCudaCounters after = fake_counters();
    if (after.calls == 0) return;
    EXPECT_EQ(after.bytes_read - before.bytes_read, read) << what;
    EXPECT_EQ(after.bytes_written - before.bytes_written, wrote) << what;
    EXPECT_EQ(after.faults, 0U) << what;
  }

  const Kernels* kernels_ = nullptr;

 private:
  std::mt19937 random_{11};
  std::vector<DeviceBuffer> buffers_;
};

}  // namespace tutti::cuda
