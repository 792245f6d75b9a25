// Bits::fixed on buffers of devices: the folded tree of ranks, computed here, whether the host or the device reduces,
// peers map each other's memory or not, and in streams. And reductions of arrays that are on devices.
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string_view>

#include "tests/mpi/device_cases.hpp"
#include "tests/support/device_streams.hpp"
#include "tests/support/mpi_support.hpp"
#include "tutti/array_reduction.hpp"

namespace tutti::test {
namespace {

using Floats = std::vector<float>;

/// Numbers of many magnitudes, of which every order has another sum.
Floats numbers(int rank, std::size_t count) {
  std::mt19937 random{static_cast<unsigned>(1000 * rank) + static_cast<unsigned>(count)};
  std::uniform_real_distribution<float> digits{-1, 1};
  Floats data;
  for (std::size_t i = 0; i < count; ++i)
    data.push_back(std::ldexp(digits(random), static_cast<int>(random() % 20) - 10));
  return data;
}

/// The first ranks pair up until a power of two is left, then all do.
Floats folded(std::size_t count) {
  std::vector<Floats> row;
  for (int rank = 0; rank < world_size(); ++rank)
    row.push_back(numbers(rank, count));
  const auto join = [&](std::size_t place) {
    for (std::size_t i = 0; i < count; ++i)
      row[place][i] += row[place + 1][i];
    row.erase(row.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  };
  for (std::size_t place = 0; !std::has_single_bit(row.size()); ++place)
    join(place);
  while (row.size() > 1)
    for (std::size_t place = 0; place < row.size(); ++place)
      join(place);
  return row[0];
}

class OnDevice {
 public:
  explicit OnDevice(const Floats& floats)
      : count_(floats.size()), array_(floats.data(), count_ * sizeof(float), TestDevices::Kind::device) {}
  [[nodiscard]] float* data() { return reinterpret_cast<float*>(array_.data()); }
  [[nodiscard]] DeviceSpan<const float> span() { return {data(), count_}; }
  [[nodiscard]] bool is(const float* wanted) const {
    return std::memcmp(array_.contents().data(), wanted, count_ * sizeof(float)) == 0;
  }

 private:
  std::size_t count_;
  AnyArray array_;
};

bool is_set(const char* name, std::string_view value) {
  const char* const its = std::getenv(name);
  return its != nullptr && its == value;
}

class DeviceFixedBits : public OnDevices {};

TEST_F(DeviceFixedBits, AreThoseOfTheTree) {
  const Communicator comm{MPI_COMM_WORLD, {.bits = Bits::fixed}};
  const int root = world_size() - 1;
  for (const std::size_t count : {1U, 100U, 3001U, 70'000U}) {
    const Floats wanted = folded(count);
    OnDevice in{numbers(world_rank(), count)}, out{Floats(count)}, reduced{Floats(count)};
    allreduce(in.data(), out.data(), Count{count}, Type::fp32, Op::sum, comm);
    EXPECT_TRUE(out.is(wanted.data())) << count;
    reduce(in.data(), reduced.data(), Count{count}, Type::fp32, Op::sum, Rank{root}, comm);
    EXPECT_TRUE(world_rank() != root || reduced.is(wanted.data())) << count << ", reduce";
    allreduce_async(in.data(), in.data(), Count{count}, Type::fp32, Op::sum, comm).wait();
    EXPECT_TRUE(in.is(wanted.data())) << count << ", nonblocking and in place";
    const std::size_t all = count * static_cast<std::size_t>(world_size());
    const Floats whole = folded(all);
    OnDevice blocks{numbers(world_rank(), all)};
    reduce_scatter(blocks.data(), out.data(), Count{count}, Type::fp32, Op::sum, comm);
    EXPECT_TRUE(out.is(whole.data() + count * static_cast<std::size_t>(world_rank()))) << count << ", reduce_scatter";
  }
  const Counters counters = comm.counters();
  const bool is_staged = is_set("TUTTI_DEVICE_PATH", "staging") && world_size() > 1;
  // On several nodes a rank may have no peer on its own.
  if (is_staged || comm.node_count() == 1) {
    EXPECT_EQ(counters.at("device.ipc.reduced") + counters.at("device.ipc.taken") > 0, !is_staged && world_size() > 1);
  }
  if (is_staged && is_set("TUTTI_STAGING", "host")) {
    EXPECT_EQ(counters.at("device.runs_on_device"), 0U);
  }
  if (is_staged && is_set("TUTTI_STAGING", "device")) {
    EXPECT_GT(counters.at("device.runs_on_device"), 0U);
  }
}

TEST_F(DeviceFixedBits, AreThoseOfTheTreeInStreams) {
  const Communicator comm{MPI_COMM_WORLD};
  const TestStream stream;
  const Options options{.stream = stream.get(), .bits = Bits::fixed};
  for (const std::size_t count : {1U, 3001U, 70'000U}) {
    const Floats wanted = folded(count);
    OnDevice in{numbers(world_rank(), count)}, out{Floats(count)};
    allreduce(in.data(), out.data(), Count{count}, Type::fp32, Op::sum, comm, options);
    stream.synchronize();
    EXPECT_TRUE(out.is(wanted.data())) << count;
    OnDevice again{Floats(count)};
    Plan plan = plan_allreduce(in.data(), again.data(), Count{count}, Type::fp32, Op::sum, comm, options);
    EXPECT_NE(plan.explain().find("in fixed order"), std::string::npos) << plan.explain();
    plan.start();
    stream.synchronize();
    EXPECT_TRUE(again.is(wanted.data())) << count << ", prepared";
  }
  const Counters counters = comm.counters();
  if (world_size() > 1) {
    EXPECT_GT(counters.at("device.stream.programs") + counters.at("device.stream.gated"), 0U);
  }
}

/// The exact sums of ranks 0 to `last`: doubles hold these.
Floats exact(std::size_t count, int last) {
  std::vector<double> sums(count);
  for (int rank = 0; rank <= last; ++rank)
    for (std::size_t i = 0; const float each : numbers(rank, count))
      sums[i++] += each;
  return {sums.begin(), sums.end()};
}

/// By the kernel of a device where the device reduces; in streams the host moves them.
TEST_F(DeviceFixedBits, OfExactSumsAreRoundedOnce) {
  const Communicator comm{MPI_COMM_WORLD};
  for (const std::size_t count : {1U, 100U, 3001U, 70'000U}) {
    const Floats wanted = exact(count, world_size() - 1), scanned = exact(count, world_rank());
    OnDevice in{numbers(world_rank(), count)}, out{Floats(count)}, prefix{Floats(count)};
    allreduce(in.data(), out.data(), Count{count}, Type::fp32, Op::exact_sum, comm);
    EXPECT_TRUE(out.is(wanted.data())) << count;
    scan(in.data(), prefix.data(), Count{count}, Type::fp32, Op::exact_sum, comm);
    EXPECT_TRUE(prefix.is(scanned.data())) << count << ", scan";
    const TestStream stream;
    OnDevice later{Floats(count)};
    allreduce(in.data(), later.data(), Count{count}, Type::fp32, Op::exact_sum, comm, {.stream = stream.get()});
    stream.synchronize();
    EXPECT_TRUE(later.is(wanted.data())) << count << ", in a stream";
    allreduce(in.data(), in.data(), Count{count}, Type::fp32, Op::exact_sum, comm);
    EXPECT_TRUE(in.is(wanted.data())) << count << ", in place";
    const float total = reduce_array(out.span(), Op::exact_sum, comm);
    EXPECT_EQ(total, reduce_array(wanted, Op::exact_sum, comm));
  }
  if (is_set("TUTTI_STAGING", "device") && world_size() > 1) {
    EXPECT_GT(comm.counters().at("device.runs_on_device"), 0U);
  }
}

/// Sums in fp64, rounded once, and in streams, too, where the host moves them.
TEST_F(DeviceFixedBits, OfWideSumsAreThoseOfTheHost) {
  const Communicator comm{MPI_COMM_WORLD};
  for (const Rounding rounding : {Rounding::nearest, Rounding::stochastic})
    for (const std::size_t count : {1U, 100U, 3001U, 70'000U}) {
      const Options options{.accumulate = Type::fp64, .rounding = rounding};
      const Floats mine = numbers(world_rank(), count);
      Floats wanted(count);
      allreduce(mine.data(), wanted.data(), Count{count}, Type::fp32, Op::avg, comm, options);
      OnDevice in{mine}, out{Floats(count)}, later{Floats(count)};
      allreduce(in.data(), out.data(), Count{count}, Type::fp32, Op::avg, comm, options);
      EXPECT_TRUE(out.is(wanted.data())) << count;
      const TestStream stream;
      Options streamed = options;
      streamed.stream = stream.get();
      allreduce(in.data(), later.data(), Count{count}, Type::fp32, Op::avg, comm, streamed);
      stream.synchronize();
      EXPECT_TRUE(later.is(wanted.data())) << count << ", in a stream";
      allreduce(in.data(), in.data(), Count{count}, Type::fp32, Op::avg, comm, options);
      EXPECT_TRUE(in.is(wanted.data())) << count << ", in place";
    }
  if (is_set("TUTTI_STAGING", "device") && world_size() > 1) {
    EXPECT_GT(comm.counters().at("device.runs_on_device"), 0U);
  }
}

/// Every type that may be added in a wider one.
TEST_F(DeviceFixedBits, OfWideSumsOfEveryTypeAreThoseOfTheHost) {
  const Communicator comm{MPI_COMM_WORLD};
  for (const Type type : {Type::fp8_e4m3, Type::fp8_e5m2, Type::fp16, Type::bf16, Type::fp32})
    for (const Type wide : {Type::fp32, Type::fp64})
      for (const Rounding rounding : {Rounding::nearest, Rounding::stochastic})
        for (const Op& op : {Op::sum, Op::avg}) {
          if (type == wide) continue;
          const Options options{.accumulate = wide, .rounding = rounding};
          const auto size = static_cast<std::size_t>(size_of(type).value());
          constexpr std::size_t count = 1003;
          std::mt19937 random{static_cast<unsigned>(world_rank()) * 7 + static_cast<unsigned>(type)};
          std::vector<std::uint8_t> mine(count * size);
          for (std::uint8_t& byte : mine)
            byte = static_cast<std::uint8_t>(random());
          std::vector<std::uint8_t> wanted(mine.size());
          allreduce(mine.data(), wanted.data(), Count{count}, type, op, comm, options);
          // One behind what is aligned, too.
          for (const std::size_t at : {std::size_t{0}, size}) {
            const DeviceArray in{mine.size() + size}, out{mine.size() + size};
            TestDevices::get().copy(in.data() + at, mine.data(), mine.size());
            allreduce(in.data() + at, out.data() + at, Count{count}, type, op, comm, options);
            std::vector<std::uint8_t> given(mine.size());
            TestDevices::get().copy(given.data(), out.data() + at, given.size());
            EXPECT_EQ(given, wanted) << to_string(type) << " in " << to_string(wide) << ", " << to_string(op.kind());
          }
        }
}

/// More than is fetched at once, with cuts that are no multiple of anything; some ranks have theirs on the host.
TEST_F(DeviceFixedBits, OfArraysAreThoseOfTheHost) {
  const Communicator comm{MPI_COMM_WORLD};
  for (const std::size_t count : {0U, 5U, 1'000'003U}) {
    const auto rank = static_cast<std::size_t>(world_rank()), size = static_cast<std::size_t>(world_size());
    const std::size_t begin = count * rank / size, end = count * (rank + 1) / size;
    const Floats all = numbers(0, count), others = numbers(1, count);
    const Floats x{all.begin() + static_cast<std::ptrdiff_t>(begin), all.begin() + static_cast<std::ptrdiff_t>(end)};
    const Floats y{others.begin() + static_cast<std::ptrdiff_t>(begin),
                   others.begin() + static_cast<std::ptrdiff_t>(end)};
    OnDevice x_there{x}, y_there{y};
    const std::uint64_t fetched = devices_.counters().bytes_to_host;
    const float total = sum(x_there.span(), comm);
    if (devices_.is_fake()) {
      EXPECT_EQ(devices_.counters().bytes_to_host - fetched, x.size() * sizeof(float));
    }
    EXPECT_EQ(std::bit_cast<std::uint32_t>(total), std::bit_cast<std::uint32_t>(sum(x, comm)));
    EXPECT_EQ(dot(x_there.span(), y_there.span(), comm), dot(x, y, comm));
    EXPECT_EQ(dot(x_there.span(), y, comm), dot(x, y, comm)) << "one on the device, one on the host";
    EXPECT_EQ(rank % 2 == 0 ? sum(x_there.span(), comm) : sum(x, comm), total) << "some ranks on devices";
    EXPECT_EQ(norm2(x_there.span(), comm), norm2(x, comm));
    if (count > 0) {
      EXPECT_EQ(reduce_array(x_there.span(), Op::max, comm), *std::ranges::max_element(all));
    }
  }
}

TEST_F(DeviceFixedBits, OfNormsAreScaledOnDevicesToo) {
  const Communicator comm{MPI_COMM_WORLD};
  OnDevice large{Floats(500'000, 0x1p100F)};
  const float norm = norm2(large.span(), comm);
  EXPECT_NEAR(norm / 0x1p100F, std::sqrt(500'000.0F * static_cast<float>(world_size())), 1);
}

}  // namespace
}  // namespace tutti::test
