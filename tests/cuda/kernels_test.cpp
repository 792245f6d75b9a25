// Every kernel against the host's, bit for bit: over the fake driver, or on a GPU.
#include "lib/device/driver/image.hpp"
#include "tests/cuda/kernels_fixture.hpp"
#include "tutti/error.hpp"

namespace tutti::cuda {
namespace {

/// Calls what(type) for every type, and what(kind, type) for every operation that the type has.
template <class What>
void for_every_type(What what) {
  for (int type = 0; type < type_count; ++type)
    what(static_cast<Type>(type));
}
template <class What>
void for_every_operation(What what) {
  for_every_type([&](Type type) {
    for (int kind = 0; kind < static_cast<int>(Op::Kind::user); ++kind)
      if (reduce_kernel(static_cast<Op::Kind>(kind), type) != nullptr) what(static_cast<Op::Kind>(kind), type);
  });
}

/// The ways in which the threads may divide the elements (Split), and sizes that are no multiples of anything.
TEST_F(CudaKernels, GiveTheBitsOfTheHostInEveryWay) {
  for_every_operation([&](Op::Kind kind, Type type) {
    const std::size_t part = parts_of(type).bytes;
    expect_reduces({kind, type, 300, {0, 0}, {0}});                                // vectors, a tail
    expect_reduces({kind, type, 77, {16, 32, 0, 48}, {0, 16}});                    // equal modulo 16
    expect_reduces({kind, type, 77, {part, part, part + 16}, {part + 32, part}});  // a head
    expect_reduces({kind, type, 77, {0, part, 2 * part}, {3 * part, 0}});          // differ modulo 16
    expect_reduces({kind, type, 77, {1, 1, 17}, {1, 33}});                         // equal, and unaligned
    expect_reduces({kind, type, 77, {0, 1, 2}, {3, 16}});                          // byte by byte
  });
}

TEST_F(CudaKernels, TakeAnyAlignmentAndSize) {
  for_every_type([&](Type type) {
    for (const std::int64_t count : {0, 1, 3, 15, 16, 17, 33, 100})
      for (const std::size_t offset : {0, 1, 2, 4, 8, 13})
        for (const std::size_t other : {std::size_t{0}, offset, offset + 16, std::size_t{3}})
          expect_reduces({Op::Kind::sum, type, count, {offset, other, offset}, {offset, other}});
  });
}

TEST_F(CudaKernels, CopyOneInput) {
  for_every_type([&](Type type) { expect_reduces({Op::Kind::sum, type, 101, {parts_of(type).bytes}, {3, 0, 16}}); });
}

TEST_F(CudaKernels, ReduceInPlace) {
  for_every_type([&](Type type) {
    for (const std::size_t offset : {std::size_t{0}, parts_of(type).bytes, std::size_t{1}}) {
      expect_reduces({Op::Kind::prod, type, 99, {offset, offset}, {offset}, {0}});
      expect_reduces({Op::Kind::prod, type, 99, {offset, offset}, {offset}, {1}});
      expect_reduces({Op::Kind::sum, type, 99, {offset, 16, offset}, {0, offset, 0}, {2, -1, 1}});
    }
  });
}

TEST_F(CudaKernels, TakeTheMostInputsAndOutputs) {
  for_every_type([&](Type type) {
    const std::size_t part = parts_of(type).bytes;
    std::vector<std::size_t> inputs(most_inputs, part), outputs(most_outputs, part);
    expect_reduces({Op::Kind::sum, type, 75, inputs, outputs});
    inputs[most_inputs - 1] = 2 * part;
    expect_reduces({Op::Kind::sum, type, 75, inputs, outputs});
    outputs[most_outputs - 1] = 17;
    expect_reduces({Op::Kind::sum, type, 75, inputs, outputs, {most_inputs - 1, 0}});
  });
}

/// More elements than all threads have in their first turn.
TEST_F(CudaKernels, GoRoundAsOftenAsNeeded) {
  constexpr std::size_t bytes = 1 << 20;
  const DeviceBuffer lhs{*device_, bytes}, rhs{*device_, bytes}, into{*device_, bytes + 1};
  const Buffer a = random(Type::int16, bytes / 2), b = random(Type::int16, bytes / 2);
  Buffer wanted(bytes);
  to_device(lhs.address(), a);
  to_device(rhs.address(), b);
  reduce_kernel(Op::Kind::sum, Type::int16)(a.data(), b.data(), wanted.data(), bytes / 2);
  for (const unsigned offset : {0, 1}) {
    kernels_->reduce(Op::Kind::sum, Type::int16, {{lhs.address(), rhs.address()}}, {{into.address() + offset}},
                     Count{bytes / 2}, nullptr);
    EXPECT_EQ(to_host(into.address() + offset, bytes), wanted) << offset;
  }
}

TEST_F(CudaKernels, CombineEveryPairOfFp8) {
  for (const Type type : {Type::fp8_e4m3, Type::fp8_e5m2})
    for (const Op::Kind kind : {Op::Kind::sum, Op::Kind::prod, Op::Kind::min, Op::Kind::max})
      for (std::size_t first = 0; first < 65536; first += room) {
        Buffer a(room), b(room), wanted(room);
        for (std::size_t i = 0; i < room; ++i) {
          a[i] = static_cast<std::byte>(first + i);
          b[i] = static_cast<std::byte>((first + i) >> 8U);
        }
        to_device(buffer(0), a);
        to_device(buffer(1), b);
        reduce_kernel(kind, type)(a.data(), b.data(), wanted.data(), room);
        kernels_->reduce(kind, type, {{buffer(0), buffer(1)}}, {{buffer(2)}}, Count{room}, nullptr);
        expect_same(type, to_host(buffer(2), room).data(), wanted,
                    fmt::format("{} of {} from {} on", to_string(kind), to_string(type), first));
      }
}

TEST_F(CudaKernels, FinishAveragesAndScaledSums) {
  for_every_type([&](Type type) {
    const auto expect_finishes = [&](std::size_t at, std::int64_t count, const char* name, auto host, auto device) {
      const Buffer untouched = random(room);
      Buffer wanted = random(type, count);
      to_device(buffer(0), untouched);
      to_device(buffer(0) + at, wanted);
      host(wanted.data(), static_cast<std::size_t>(count));
      const FakeCudaCounters before = fake_counters();
      device(buffer(0) + at, Count{count});
      const std::string what = fmt::format("{} of {} {} at {}", name, count, to_string(type), at);
      expect_within(type, to_host(buffer(0), room), at, wanted, untouched, what);
      expect_touched(before, wanted.size(), wanted.size(), what);
    };
    for (const std::size_t at : {std::size_t{0}, parts_of(type).bytes, std::size_t{1}, std::size_t{24}})
      for (const std::int64_t count : {0, 1, 15, 203}) {
        if (divide_kernel(type) == nullptr) continue;
        for (const int divisor : {7, 1000})
          expect_finishes(
              at, count, "average", [&](void* data, std::size_t n) { divide_kernel(type)(data, n, divisor); },
              [&](CUdeviceptr data, Count n) { kernels_->divide(type, data, n, divisor, nullptr); });
        if (scale_kernel(type) == nullptr) {
          EXPECT_THROW(kernels_->scale(type, buffer(0), Count{count}, 0.3, nullptr), Error);
          continue;
        }
        for (const double factor : {0.3, -1e30})
          expect_finishes(
              at, count, "scaled sum", [&](void* data, std::size_t n) { scale_kernel(type)(data, n, factor); },
              [&](CUdeviceptr data, Count n) { kernels_->scale(type, data, n, factor, nullptr); });
      }
  });
}

/// A compiler may make 16 reads of one: the same bits, at a fraction of the speed.
TEST_F(CudaKernels, AccessVectorsWhole) {
  // The PTX is a text in the image, whose size is in its header.
  const auto* const fatbin = static_cast<const std::byte*>(image());
  const std::string_view text(reinterpret_cast<const char*>(fatbin),
                              word_at<std::uint16_t>(fatbin + 6) + word_at<std::uint64_t>(fatbin + 8));
  constexpr std::string_view entry = ".visible .entry tutti_";
  const auto times = [](std::string_view in, std::string_view what) {
    std::size_t found = 0;
    for (std::size_t at = in.find(what); at != std::string_view::npos; at = in.find(what, at + 1))
      ++found;
    return found;
  };
  std::size_t kernels = 0;
  for (std::size_t at = text.find(entry); at != std::string_view::npos; ++kernels) {
    const std::size_t next = text.find(entry, at + 1);
    const std::string_view kernel = text.substr(at, std::min(next, text.find('\0', at)) - at);
    const std::string_view name = kernel.substr(entry.size(), kernel.find('(') - entry.size());
    const bool finishes = name.starts_with("divide") || name.starts_with("scale");
    const bool compresses = name.starts_with("compress") || name.starts_with("decompress");
    // Floats go four at a time; four elements of fp8 are no vector.
    const bool takes_few = name.starts_with("sum_in") && name.find("fp8") != std::string_view::npos;
    if (compresses) {
      EXPECT_GE(times(kernel, "ld.global.v4") + times(kernel, "st.global.v4"), 1U) << name;
    } else if (!takes_few && !name.starts_with("top_")) {
      EXPECT_EQ(times(kernel, "ld.global.v"), finishes ? 1U : 2U) << name;
      EXPECT_EQ(times(kernel, "st.global.v"), 1U) << name;
    }
    EXPECT_EQ(times(kernel, ".local"), 0U) << name << " keeps something in memory";
    at = next;
  }
  EXPECT_EQ(kernels, 184U);
}

/// Devices of other generations compile the PTX when it is loaded, if their driver knows its version.
TEST_F(CudaKernels, AreMachineCodeForKnownDevicesAndPtxForOthers) {
  const auto* const fatbin = static_cast<const std::byte*>(image());
  const auto header = word_at<std::uint16_t>(fatbin + 6);
  const auto bytes = word_at<std::uint64_t>(fatbin + 8);
  std::set<std::uint32_t> generations;
  std::string_view ptx;
  for (std::uint64_t at = header; at < header + bytes;) {
    constexpr std::uint16_t kind_of_ptx = 1;
    const std::byte* const entry = fatbin + at;
    const auto its_header = word_at<std::uint32_t>(entry + 4);
    const auto its_bytes = word_at<std::uint64_t>(entry + 8);
    if (word_at<std::uint16_t>(entry) == kind_of_ptx)
      ptx = {reinterpret_cast<const char*>(entry + its_header), its_bytes};
    else
      generations.insert(word_at<std::uint32_t>(entry + 28));
    at += its_header + its_bytes;
  }
  for (const std::uint32_t generation : {80U, 90U})
    EXPECT_TRUE(generations.contains(generation)) << generation;
  EXPECT_NE(ptx.find("\n.version 8.0\n"), std::string_view::npos) << "what the driver of CUDA 12.0 takes";
  EXPECT_NE(ptx.find("\n.target sm_80\n"), std::string_view::npos);
  EXPECT_LT(bytes, std::uint64_t{9} << 20U) << "the size of the library";
}

TEST_F(CudaKernels, RefuseAnOperationThatTheTypeHasNot) {
  const auto reduce = [&](Op::Kind kind, Type type) {
    kernels_->reduce(kind, type, {{buffer(0)}}, {{buffer(1)}}, Count{1}, nullptr);
  };
  EXPECT_THROW(reduce(Op::Kind::user, Type::fp32), Error);
  for_every_type([&](Type type) {
    for (const Op::Kind kind : {Op::Kind::band, Op::Kind::lxor, Op::Kind::min})
      if (reduce_kernel(kind, type) == nullptr) {
        EXPECT_THROW(reduce(kind, type), Error) << to_string(kind) << " of " << to_string(type);
      }
  });
}

TEST_F(CudaKernels, RefuseTooManyInputs) {
  const std::vector<CUdeviceptr> inputs(most_inputs + 1, buffer(0));
  EXPECT_THROW(kernels_->reduce(Op::Kind::sum, Type::fp32, inputs, {{buffer(1)}}, Count{1}, nullptr), Error);
  EXPECT_THROW(kernels_->reduce(Op::Kind::sum, Type::fp32, {{buffer(0)}}, {}, Count{1}, nullptr), Error);
}

}  // namespace
}  // namespace tutti::cuda
