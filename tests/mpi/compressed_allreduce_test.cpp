// Sums of gradients that are compressed on their way: the same bits on all ranks, equal to those of the steps that the
// interface names, and without loss in the long run.
#include "tutti/compressed_allreduce.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

using Floats = std::vector<float>;
constexpr std::array formats{Compression::bf16,     Compression::fp16, Compression::fp8_e4m3,
                             Compression::fp8_e5m2, Compression::int8, Compression::top_k};

Floats gradient_of(int rank, std::size_t count, unsigned step = 0) {
  std::mt19937 random{static_cast<unsigned>(rank) * 100 + step};
  std::uniform_real_distribution<float> digits{-1, 1};
  Floats values(count);
  for (float& value : values)
    value = std::ldexp(digits(random), static_cast<int>(random() % 8) - 4);
  return values;
}

bool is_same_on_all(const Floats& mine) {
  Floats of_first = mine;
  MPI_Bcast(of_first.data(), static_cast<int>(of_first.size()), MPI_FLOAT, 0, MPI_COMM_WORLD);
  return mine.empty() || std::memcmp(mine.data(), of_first.data(), mine.size() * sizeof(float)) == 0;
}

/// Compresses and decompresses, with the error.
void pass(Compression c, std::span<float> values, std::span<float> error, const CompressionOptions& options) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(compressed_size(c, Count{values.size()}, options).value()));
  compress(c, values, error, bytes, options);
  decompress(c, bytes, values, options);
}

/// The same in one process: the gradients and the errors of all ranks.
class Reference {
 public:
  Reference(Compression c, std::size_t count, const CompressionOptions& options)
      : c_(c), options_(options), errors_(static_cast<std::size_t>(world_size()), Floats(count)), sum_error_(count) {
    const auto ranks = static_cast<std::size_t>(world_size());
    const auto block = c == Compression::bf16 || c == Compression::fp16
                           ? std::size_t{4}
                           : static_cast<std::size_t>(options.block.value());
    part_ = c == Compression::top_k ? count : ((count + block - 1) / block + ranks - 1) / ranks * block;
  }
  Floats sum(std::vector<Floats> gradients, float factor) {
    const std::size_t count = sum_error_.size();
    Floats sum(count);
    for (std::size_t begin = 0; begin < count; begin += part_) {
      const std::size_t length = std::min(part_, count - begin);
      const auto its = [&](Floats& of) { return std::span{of}.subspan(begin, length); };
      for (std::size_t rank = 0; rank < gradients.size(); ++rank) {
        pass(c_, its(gradients[rank]), its(errors_[rank]), options_);
        for (std::size_t i = begin; i < begin + length; ++i)
          sum[i] = rank == 0 ? gradients[rank][i] : sum[i] + gradients[rank][i];
      }
      for (float& value : its(sum))
        value *= factor;
      if (c_ != Compression::top_k) pass(c_, its(sum), its(sum_error_), options_);
    }
    return sum;
  }
  [[nodiscard]] const Floats& error() const { return errors_[static_cast<std::size_t>(world_rank())]; }

 private:
  Compression c_;
  CompressionOptions options_;
  std::vector<Floats> errors_;
  Floats sum_error_;
  std::size_t part_ = 0;
};

TEST(CompressedAllreduces, AreTheStepsOfTheInterface) {
  const Communicator comm{MPI_COMM_WORLD};
  for (const Rounding rounding : {Rounding::nearest, Rounding::stochastic})
    for (const Compression c : formats)
      for (const std::size_t count : {0U, 1U, 15U, 16U, 17U, 100U, 5000U}) {
        SCOPED_TRACE(fmt::format("{}, {} elements", to_string(c), count));
        const CompressionOptions options{.block = Count{16}, .keep = 0.1, .rounding = rounding};
        CompressedAllreduce sums{Count{count}, c, comm, options};
        Reference reference{c, count, options};
        for (unsigned step = 0; step < 3; ++step) {
          const float factor = step == 0 ? 1.0F : 1.0F / static_cast<float>(world_size());
          std::vector<Floats> all;
          for (int rank = 0; rank < world_size(); ++rank)
            all.push_back(gradient_of(rank, count, step));
          Floats gradient = all[static_cast<std::size_t>(world_rank())];
          if (step == 1) {
            sums.start(gradient, factor);
            while (!sums.test()) {
            }
          } else {
            sums.run(gradient, factor);
          }
          ASSERT_EQ(gradient, reference.sum(all, factor)) << "step " << step;
          ASSERT_TRUE(is_same_on_all(gradient));
          ASSERT_TRUE(std::ranges::equal(sums.error(), reference.error()));
        }
      }
}

/// The sum over 100 steps of the same gradient approaches 100 times the exact sum: what is left over does not grow.
TEST(CompressedAllreduces, SendEverythingInTheEnd) {
  const Communicator comm{MPI_COMM_WORLD};
  constexpr std::size_t count = 500;
  constexpr int steps = 100;
  std::vector<double> exact(count);
  for (int rank = 0; rank < world_size(); ++rank)
    for (std::size_t i = 0; const float value : gradient_of(rank, count))
      exact[i++] += value;
  for (const Compression c : formats) {
    CompressedAllreduce sums{Count{count}, c, comm, {.keep = 0.1}};
    std::vector<double> total(count);
    for (int step = 0; step < steps; ++step) {
      Floats gradient = gradient_of(world_rank(), count);
      sums.run(gradient);
      for (std::size_t i = 0; i < count; ++i)
        total[i] += gradient[i];
    }
    // Of one step: the errors of every rank and of the sum. A step of top_k leaves out up to what ten steps add.
    const double one_step = c == Compression::top_k ? 20 : 0.5;
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_NEAR(total[i], steps * exact[i], one_step * (world_size() + 1)) << to_string(c) << ' ' << i;
    sums.reset();
    EXPECT_TRUE(std::ranges::all_of(sums.error(), [](float each) { return each == 0; }));
    EXPECT_TRUE(std::ranges::all_of(sums.sum_error(), [](float each) { return each == 0; }));
  }
}

TEST(CompressedAllreduces, TellTheirBytes) {
  const Communicator comm{MPI_COMM_WORLD};
  const auto ranks = static_cast<std::int64_t>(world_size());
  const std::int64_t count = 256 * ranks;
  EXPECT_EQ(CompressedAllreduce(Count{count}, Compression::bf16, comm).bytes_sent(), Bytes{(ranks - 1) * 1024});
  EXPECT_EQ(CompressedAllreduce(Count{count}, Compression::int8, comm).bytes_sent(), Bytes{(ranks - 1) * 2 * 264});
  EXPECT_EQ(CompressedAllreduce(Count{100}, Compression::top_k, comm).bytes_sent(), Bytes{(ranks - 1) * 8});
}

TEST(CompressedAllreduces, MayBeMovedAndUnderWayTogether) {
  const Communicator comm{MPI_COMM_WORLD};
  Floats a = gradient_of(world_rank(), 1000), b = gradient_of(world_rank(), 3000), c = a;
  CompressedAllreduce first{Count{1000}, Compression::int8, comm}, second{Count{3000}, Compression::top_k, comm};
  first.start(a);
  second.start(b);
  CompressedAllreduce moved = std::move(first);
  second.wait();
  moved.wait();
  moved.wait();
  EXPECT_TRUE(moved.test());
  EXPECT_TRUE(is_same_on_all(a) && is_same_on_all(b));
  CompressedAllreduce alone{Count{1000}, Compression::int8, comm};
  alone.run(c);
  EXPECT_EQ(a, c);
  EXPECT_THROW(first.run(a), StateError);  // NOLINT(bugprone-use-after-move): that is what is tested
}

/// Buckets on one communicator: while one is sent, the sum of the one before comes back.
TEST(CompressedAllreduces, FollowEachOtherInOneOrder) {
  const Communicator comm{MPI_COMM_WORLD};
  constexpr std::size_t buckets = 5, count = 3000;
  for (const Compression c : formats) {
    std::vector<CompressedAllreduce> sums;
    std::vector<Floats> gradients, expected;
    for (std::size_t i = 0; i < buckets; ++i) {
      sums.emplace_back(Count{count}, c, comm);
      gradients.push_back(gradient_of(world_rank(), count, static_cast<unsigned>(i)));
      expected.push_back(gradients.back());
      CompressedAllreduce{Count{count}, c, comm}.run(expected.back());
    }
    for (std::size_t i = 0; i < buckets; ++i) {
      sums[i].start(gradients[i]);
      if (i > 0) sums[i - 1].go_on();
      if (i > 1) sums[i - 2].wait();
    }
    sums[buckets - 2].wait();
    sums[buckets - 1].go_on();
    sums[buckets - 1].go_on();
    while (!sums[buckets - 1].test()) {
    }
    sums[buckets - 1].go_on();
    EXPECT_EQ(gradients, expected) << to_string(c);
  }
}

/// An object that goes with a run under way waits for it; the gradient is no sum then.
TEST(CompressedAllreduces, MayEndWithARunUnderWay) {
  const Communicator comm{MPI_COMM_WORLD};
  Floats gradient = gradient_of(world_rank(), 100'000);
  {
    CompressedAllreduce sums{Count{100'000}, Compression::bf16, comm};
    sums.start(gradient);
  }
  barrier(comm);
}

TEST(CompressedAllreduces, OfOtherFormatsOnOtherRanksAreRefusedOnAll) {
  const Communicator comm{MPI_COMM_WORLD};
  if (comm.size() < 2) GTEST_SKIP() << "one rank alone always matches itself";
  const bool is_first = comm.rank() == Rank{0};
  EXPECT_THROW((CompressedAllreduce{Count{10}, is_first ? Compression::int8 : Compression::fp8_e4m3, comm}),
               MismatchError);
  EXPECT_THROW((CompressedAllreduce{Count{10}, Compression::int8, comm, {.block = Count{is_first ? 2 : 4}}}),
               MismatchError);
  EXPECT_THROW((CompressedAllreduce{Count{is_first ? 10 : 11}, Compression::int8, comm}), MismatchError);
  // Wrong arguments of one rank are an error on all.
  const CompressionOptions wrong{.block = Count{is_first ? 0 : 256}};
  if (is_first)
    EXPECT_THROW((CompressedAllreduce{Count{10}, Compression::int8, comm, wrong}), ArgumentError);
  else
    EXPECT_THROW((CompressedAllreduce{Count{10}, Compression::int8, comm, wrong}), MismatchError);
  std::vector<float> ones(10, 1.0F);
  CompressedAllreduce{Count{10}, Compression::int8, comm}.run(ones);  // the communicator works on
  EXPECT_EQ(ones[9], static_cast<float>(comm.size()));
}

TEST(CompressedAllreduces, RefuseWhatTheyCannotDo) {
  using testing::HasSubstr;
  const Communicator comm{MPI_COMM_WORLD};
  CompressedAllreduce sums{Count{100}, Compression::fp16, comm};
  Floats gradient(100), other(99);
  try {
    sums.run(other);
    FAIL() << "taken";
  } catch (const ArgumentError& refused) {
    EXPECT_THAT(refused.what(), HasSubstr("argument 'gradient' is 99 elements; allowed: 100 elements"));
  }
  sums.start(gradient);
  EXPECT_THROW(sums.start(gradient), StateError);
  EXPECT_THROW(sums.reset(), StateError);
  sums.wait();
  EXPECT_THROW(CompressedAllreduce(Count{-1}, Compression::fp16, comm), ArgumentError);
  EXPECT_THROW(CompressedAllreduce(Count{1}, Compression::top_k, comm, {.keep = 0}), ArgumentError);
  EXPECT_THROW(CompressedAllreduce(Count{1}, Compression::int8, comm, {.block = Count{0}}), ArgumentError);
  EXPECT_THROW(CompressedAllreduce(Count{1}, Compression::int8, comm, {}, {.stream = nullptr}), ArgumentError);
  EXPECT_THROW(CompressedAllreduce(Count{1}, Compression::int8, comm, {}, {.accumulate = Type::fp32}), ArgumentError);
}

}  // namespace
}  // namespace tutti::test
