// Tutti memory: collectives read and write it in place, with the same results, on any of the ranks.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "tests/mpi/collective_cases.hpp"
#include "tests/support/program_checks.hpp"

namespace tutti::test {
namespace {

/// First of all: no communicator has been made yet.
TEST(TuttiMemory, NeedsACommunicator) {
  expect_throw<StateError>([] { static_cast<void>(tutti::allocate(Bytes{1})); }, {"tutti::allocate", "MPI_COMM_WORLD"});
  deallocate(nullptr);
}

class Memory : public testing::Test {
 protected:
  ~Memory() override { memory_kind = MemoryKind::ordinary; }
  struct Pieces {
    std::uint64_t read, written, forwarded;
  };
  /// The sums over all ranks.
  Pieces sums() const {
    const Counters mine = comm_.counters();
    std::uint64_t all[] = {mine.at("shm.tutti_memory.get"), mine.at("shm.tutti_memory.put"),
                           mine.at("shm.reduce.forwarded")};
    MPI_Allreduce(MPI_IN_PLACE, all, 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return {all[0], all[1], all[2]};
  }
  Communicator comm_{MPI_COMM_WORLD};
};

TEST_F(Memory, IsOrdinaryToTheProgram) {
  for (const std::size_t size : {0, 1, 1000, 3'000'000}) {
    SharedBuffer<float> buffer{size};
    EXPECT_EQ(buffer.size(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 4096, 0);
    EXPECT_TRUE(std::ranges::all_of(buffer, [](float value) { return value == 0; })) << "also where others were before";
    std::ranges::fill(buffer, 1.5F);
    SharedBuffer<float> moved = std::move(buffer);
    EXPECT_TRUE(buffer.span().empty());  // NOLINT(bugprone-use-after-move): that it is empty is promised
    EXPECT_EQ(std::ranges::count(moved.span(), 1.5F), static_cast<std::ptrdiff_t>(size));
  }
}

TEST_F(Memory, RefusesWhatCannotBe) {
  expect_throw<ArgumentError>([] { static_cast<void>(tutti::allocate(Bytes{-1})); }, {"-1 bytes", "0 or more"});
  int mine = 0;
  expect_throw<ArgumentError>([&] { deallocate(&mine); }, {"tutti::deallocate", "tutti::allocate"});
  for (const std::int64_t bytes : {std::int64_t{1} << 50, std::int64_t{1} << 60})
    expect_throw<Error>([&] { static_cast<void>(tutti::allocate(Bytes{bytes})); }, {std::to_string(bytes)});
  expect_throw<Error>([] { const SharedBuffer<double> all{std::size_t{1} << 61}; }, {"bytes"});
  const SharedBuffer<int> still_works{1000};
  EXPECT_EQ(still_works[999], 0);
}

/// The ranks that use it: all, every other one, none.
enum class Users : std::uint8_t { all, some, none };

void use(Users users) {
  const bool uses = users == Users::all || (users == Users::some && world_rank() % 2 == 0);
  memory_kind = uses ? MemoryKind::tutti : MemoryKind::ordinary;
}

TEST_F(Memory, ServesEveryCollective) {
  for (const Collective collective : all_collectives())
    for (const std::string& algorithm : whole_choices_of(collective))
      for (const Users users : {Users::all, Users::some, Users::none}) {
        const std::uint64_t before = sums().read;
        use(users);
        for (const BufferUse use : {BufferUse::separate, BufferUse::in_place})
          for (const std::int64_t count : {3, 702, 20'000}) {  // the first two of blocking calls
            Trial trial{.collective = collective, .algorithm = algorithm, .buffers = use, .count = count};
            if (has_root(collective)) trial.root = world_size() - 1;
            trial.way = static_cast<Way>(count % ways);
            expect_right<std::int64_t>(trial, Op::sum, comm_);
          }
        const std::uint64_t read = sums().read - before;
        const std::string what = std::string{to_string(collective)} + " " + algorithm;
        if (users == Users::none || world_size() == 1) {
          EXPECT_EQ(read, 0) << what;
        } else if (users == Users::all && algorithm.empty() && collective != Collective::barrier) {
          EXPECT_GT(read, 0) << what;  // some other algorithms send scratch alone
        }
      }
}

TEST_F(Memory, GivesTheSameBits) {
  constexpr std::size_t count = 50'001;
  std::mt19937 random{static_cast<unsigned>(world_rank())};
  std::vector<float> values(count), expected(count);
  for (float& value : values)
    value = std::ldexp(static_cast<float>(random() % 1000) - 500, static_cast<int>(random() % 20));
  SharedBuffer<float> in{count}, out{count};
  std::ranges::copy(values, in.begin());
  for (const std::string& algorithm : choices_of(Collective::allreduce)) {
    if (algorithm.ends_with("/16") || algorithm.ends_with("/24")) continue;
    const Options options{.algorithm = algorithm};
    allreduce(std::span<const float>{values}, std::span<float>{expected}, Op::sum, comm_, options);
    allreduce(std::span<const float>{in.span()}, out.span(), Op::sum, comm_, options);
    EXPECT_EQ(std::memcmp(out.data(), expected.data(), count * sizeof(float)), 0) << algorithm;
    std::ranges::copy(values, out.begin());
    allreduce(out.span(), Op::sum, comm_, options);
    EXPECT_EQ(std::memcmp(out.data(), expected.data(), count * sizeof(float)), 0) << algorithm << " in place";
  }
}

/// Two ranks each reduce a half from both inputs to both outputs, without another copy.
TEST_F(Memory, ResultsAreWrittenWhereTheyBelong) {
  if (world_size() != 2) GTEST_SKIP() << "of 2 ranks";
  for (const BufferUse use : {BufferUse::separate, BufferUse::in_place})
    for (const char* const algorithm : {"two_shot", "rabenseifner", "two_shot/64K"}) {
      const Pieces before = sums();
      memory_kind = MemoryKind::tutti;
      expect_right<double>({.algorithm = algorithm, .buffers = use, .count = 100'000}, Op::sum, comm_);
      memory_kind = MemoryKind::ordinary;
      const Pieces after = sums();
      EXPECT_EQ(after.read - before.read, after.written - before.written) << algorithm;
      EXPECT_GT(after.written, before.written) << algorithm;
      EXPECT_EQ(after.forwarded, before.forwarded) << algorithm;
    }
}

/// In other memory the result is written in one pass to the output and to the message that is sent next.
TEST_F(Memory, ResultsAreForwardedFromOtherMemory) {
  if (world_size() != 2) GTEST_SKIP() << "of 2 ranks";
  for (const BufferUse use : {BufferUse::separate, BufferUse::in_place})
    for (const Op& op : {Op{Op::sum}, Op{Op::max}}) {
      const Pieces before = sums();
      expect_right<double>({.algorithm = "two_shot/256K", .buffers = use, .count = 200'000}, op, comm_);
      const Pieces after = sums();
      EXPECT_GT(after.forwarded, before.forwarded);
      EXPECT_EQ(after.read, before.read);
    }
}

TEST_F(Memory, ServesManyOperationsInFlight) {
  constexpr std::size_t count = 30'000, calls = 8;
  std::vector<SharedBuffer<int>> outs;
  std::vector<Request> requests;
  SharedBuffer<int> in{count};
  std::ranges::fill(in, world_rank() + 1);
  for (std::size_t i = 0; i < calls; ++i)
    outs.emplace_back(count);
  for (const auto& out : outs)
    requests.push_back(allreduce_async(std::span<const int>{in.span()}, out.span(), Op::sum, comm_));
  for (Request& request : requests)
    request.wait();
  const int sum = world_size() * (world_size() + 1) / 2;
  for (const auto& out : outs)
    EXPECT_EQ(std::ranges::count(out, sum), static_cast<std::ptrdiff_t>(count));
}

}  // namespace
}  // namespace tutti::test
