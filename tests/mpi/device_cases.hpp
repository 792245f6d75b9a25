#pragma once
// Calls on memory of GPUs, compared to the last bit with the same calls on the host's memory.

#include <cstring>
#include <optional>
#include <vector>

#include "tests/mpi/collective_cases.hpp"
#include "tests/support/device_memory.hpp"

namespace tutti::test {

/// The memory of a call's buffers on one rank; nothing: ordinary memory of the host.
struct Kinds {
  std::optional<TestDevices::Kind> in = TestDevices::Kind::device, out = TestDevices::Kind::device;
};

/// Bytes in memory of any kind.
class AnyArray {
 public:
  AnyArray(const void* data, std::size_t bytes, std::optional<TestDevices::Kind> kind) : bytes_(bytes) {
    if (kind)
      array_.emplace(std::max<std::size_t>(bytes, 1), *kind);
    else
      host_.resize(bytes);
    write(data);
  }
  void write(const void* data) {
    if (bytes_ == 0) return;
    if (array_)
      TestDevices::get().copy(array_->data(), data, bytes_);
    else
      std::memcpy(host_.data(), data, bytes_);
  }
  [[nodiscard]] std::byte* data() { return array_ ? array_->data() : host_.data(); }
  [[nodiscard]] std::vector<std::byte> contents() const {
    std::vector<std::byte> copy = host_;
    copy.resize(bytes_);
    if (array_ && bytes_ > 0) TestDevices::get().copy(copy.data(), array_->data(), bytes_);
    return copy;
  }

 private:
  std::size_t bytes_;
  std::vector<std::byte> host_;
  std::optional<DeviceArray> array_;
};

/// The memory of a CallMemory, copied to memory of other kinds. Calls in place have one buffer, of the kind of `out`.
template <class T>
class DeviceCallMemory {
 public:
  DeviceCallMemory(const CallMemory<T>& from, const Kinds& kinds)
      : is_aliased_(from.is_aliased()),
        output_at_(from.output_at()),
        input_at_(from.input_at()),
        all_(from.all().data(), from.all().size() * sizeof(T), kinds.out),
        apart_(from.apart().data(), from.apart().size() * sizeof(T), kinds.in) {}

  [[nodiscard]] const void* in() { return is_aliased_ ? all_.data() + input_at_ * sizeof(T) : apart_.data(); }
  [[nodiscard]] void* out() { return all_.data() + output_at_ * sizeof(T); }
  /// Whether all bytes are equal, around the buffers too.
  [[nodiscard]] bool same_as(const CallMemory<T>& host) const {
    return same(all_.contents(), host.all()) && same(apart_.contents(), host.apart());
  }

 private:
  template <class Elements>
  static bool same(const std::vector<std::byte>& bytes, const Elements& elements) {
    return bytes.empty() || std::memcmp(bytes.data(), elements.data(), bytes.size()) == 0;
  }
  bool is_aliased_;
  std::size_t output_at_, input_at_;
  AnyArray all_, apart_;
};

/// One call on the host's memory and one on memory of `kinds`: the same bytes.
template <class T>
void expect_bits_of_host(const Trial& trial, const Op& op, const Communicator& comm, const Kinds& kinds) {
  const checker::Problems problems = problems_of(trial, comm.size());
  const Problem& problem = problems.of(comm.rank());
  const std::vector<T> input = inputs<T>(op, comm.rank().value(), shape_of(problem).input.value());
  CallMemory<T> host{problem, input, element<T>(85, 0)};
  DeviceCallMemory<T> device{host, kinds};
  detail::Call call = call_of(trial, problem, type_of<T>, op);
  const auto place = [&](auto& memory) {
    call.in = memory.in();
    call.out = memory.out();
    if (!host.is_aliased() || trial.buffers != BufferUse::mpi_in_place) return;
    if (trial.collective == Collective::scatter)
      call.out = MPI_IN_PLACE;
    else
      call.in = MPI_IN_PLACE;
  };
  place(host);
  run(call, trial, comm);
  place(device);
  run(call, trial, comm);
  EXPECT_TRUE(device.same_as(host)) << describe(trial, op, type_of<T>);
}

inline std::vector<Op> all_operations() {
  return {Op::sum, Op::prod, Op::min,  Op::max, Op::avg,  Op::land,
          Op::lor, Op::lxor, Op::band, Op::bor, Op::bxor, Op::scaled_sum(-0.375)};
}

inline std::vector<int> roots_of(Collective collective) {
  if (!has_root(collective) || world_size() == 1) return {0};
  return {0, world_size() - 1};
}

/// The counts of a Trial: some blocks are empty.
inline std::vector<Count> uneven_counts(Collective collective) {
  const auto size = static_cast<std::size_t>(world_size());
  std::vector<Count> counts;
  for (std::size_t a = 0; a < size; ++a)
    for (std::size_t b = 0; b < (collective == Collective::alltoall ? size : 1); ++b)
      counts.emplace_back((a * b + a + b) % 3 == 0 ? 0 : 1 + static_cast<std::int64_t>((a + b) * 3 % 11));
  return counts;
}

/// Numbers on a device, each 1.
class Ones {
 public:
  explicit Ones(std::size_t count, TestDevices::Kind kind = TestDevices::Kind::device)
      : count_(count), array_(count * sizeof(float), kind) {
    write();
  }
  void write() {
    const std::vector<float> ones(count_, 1);
    TestDevices::get().copy(array_.data(), ones.data(), count_ * sizeof(float));
  }
  [[nodiscard]] float* data() const { return reinterpret_cast<float*>(array_.data()); }
  [[nodiscard]] DeviceSpan<float> span() const { return {data(), count_}; }
  /// The first number; all must be the same.
  [[nodiscard]] float value() const {
    std::vector<float> copy(count_);
    TestDevices::get().copy(copy.data(), array_.data(), count_ * sizeof(float));
    for (const float element : copy)
      if (element != copy[0]) return -1;
    return copy[0];
  }

 private:
  std::size_t count_;
  DeviceArray array_;
};

/// Fixture: each rank has a device of its own, or shares one.
class OnDevices : public testing::Test {
 protected:
  void SetUp() override {
    if (devices_.count() == 0) GTEST_SKIP() << "there is no CUDA device";
    devices_.use(world_rank() % devices_.count());
    faults_ = devices_.faults();
  }
  void TearDown() override { EXPECT_EQ(devices_.faults(), faults_); }

  TestDevices& devices_ = TestDevices::get();

 private:
  std::uint64_t faults_ = 0;
};

}  // namespace tutti::test
