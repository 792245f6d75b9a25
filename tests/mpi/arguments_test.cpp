// Wrong calls: the errors that they throw, before any message is posted, and that the communicator works afterwards.
#include <array>
#include <limits>
#include <optional>

#include "lib/core/transport/mpi/handles.hpp"
#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

std::string my_rank() { return "rank " + std::to_string(world_rank()); }

class Arguments : public testing::Test {
 protected:
  /// `call` must throw an ArgumentError that names the rank and has `parts`: on all ranks, then on the last one alone.
  template <class Call>
  void expect_refused(Call call, std::initializer_list<std::string> parts) {
    refused_here(call, parts);
    expect_works(comm_);
    if (world_rank() == world_size() - 1) refused_here(call, parts);
    expect_works(comm_);
  }

  Communicator comm_{MPI_COMM_WORLD};
  std::vector<double> in_ = std::vector<double>(10, 1.0), out_ = std::vector<double>(10);
  const Count ten_{10};

 private:
  template <class Call>
  void refused_here(Call call, std::initializer_list<std::string> parts) {
    expect_throw<ArgumentError>(call, {"tutti::allreduce", my_rank(), "argument", "allowed"});
    expect_throw<ArgumentError>(call, parts);
  }
};

TEST_F(Arguments, SpansOfDifferentLengths) {
  const auto in = std::span{std::as_const(in_)}.first(7);
  const std::initializer_list<std::string> parts{"'out'", "buffer of 10 elements", "as many as 'in', 7"};
  expect_refused([&] { allreduce(in, std::span{out_}, Op::sum, comm_); }, parts);
  expect_refused([&] { allreduce_async(in, std::span{out_}, Op::sum, comm_).wait(); }, parts);
  expect_refused([&] { plan_allreduce(in, std::span{out_}, Op::sum, comm_).start(); }, parts);
}

TEST_F(Arguments, NullWithElements) {
  const void* const in = in_.data();
  expect_refused([&] { allreduce(nullptr, out_.data(), ten_, Type::fp64, Op::sum, comm_); },
                 {"'in'", "null", "10", "memory"});
  expect_refused([&] { allreduce_async(in, nullptr, ten_, Type::fp64, Op::sum, comm_).wait(); },
                 {"'out'", "null", "10", "memory"});
  expect_refused([&] { plan_allreduce(MPI_IN_PLACE, nullptr, ten_, Type::fp64, Op::sum, comm_).start(); },
                 {"null", "10", "memory"});
}

TEST_F(Arguments, NullWithoutElementsIsFine) {
  allreduce(nullptr, nullptr, Count{0}, Type::fp64, Op::sum, comm_);
  allreduce_async(in_.data(), nullptr, Count{0}, Type::fp64, Op::sum, comm_).wait();
  Plan plan = plan_allreduce(std::span<const double>{}, std::span<double>{}, Op::sum, comm_);
  plan.start();
  plan.wait();
  expect_works(comm_);
}

TEST_F(Arguments, Counts) {
  const auto with = [&](std::int64_t count, Type type) {
    return [=, this] { allreduce(in_.data(), out_.data(), Count{count}, type, Op::sum, comm_); };
  };
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  expect_refused(with(-1, Type::fp64), {"'count'", "is -1", "0 to", "fp64"});
  expect_refused(with(-most - 1, Type::int8), {"'count'", "is " + std::to_string(-most - 1), "0 to", "int8"});
  expect_refused(with(most / 8 + 1, Type::fp64),
                 {"'count'", std::to_string(most / 8 + 1), "0 to " + std::to_string(most / 8)});
  expect_refused(with(most, Type::complex_fp64), {"'count'", std::to_string(most), std::to_string(most / 16)});
}

TEST_F(Arguments, CountsThatLeaveNoMemoryForScratch) {
  if (world_size() == 1) GTEST_SKIP() << "one rank needs no scratch";
  if (std::string_view{TUTTI_SANITIZED} != "") GTEST_SKIP() << "a sanitizer's allocator ends the program instead";
  char data = 0;  // never touched
  const Count count{std::int64_t{1} << 55};
  expect_refused([&] { allreduce(&data, &data, count, Type::int8, Op::sum, comm_); },
                 {"'count'", "36028797018963968", "scratch"});
}

TEST_F(Arguments, OperationsThatTheTypeDoesNotHave) {
  const auto with = [&](const Op& op, Type type) {
    return [=, this] { allreduce(in_.data(), out_.data(), Count{5}, type, op, comm_); };
  };
  expect_refused(with(Op::band, Type::fp32), {"'op'", "band with type fp32", "int8", "uint64"});
  expect_refused(with(Op::land, Type::bf16), {"'op'", "land with type bf16", "int8", "uint64"});
  expect_refused(with(Op::scaled_sum(2), Type::int32), {"'op'", "scaled_sum with type int32", "fp16", "complex_fp64"});
  expect_refused(with(Op::min, Type::complex_fp32), {"'op'", "min with type complex_fp32", "int8", "fp64"});
  expect_refused(with(Op::max, Type::complex_fp64), {"'op'", "max with type complex_fp64", "int8", "fp64"});
  expect_refused(with(Op::user(nullptr, Commutative::yes), Type::fp64), {"'op'", "without a function", "a function"});
}

TEST_F(Arguments, UnsupportedPairsAreRefusedAsSupportsSays) {
  for (int kind = 0; kind < static_cast<int>(Op::Kind::user); ++kind)
    for (int type = 0; type < type_count; ++type) {
      if (supports(static_cast<Op::Kind>(kind), static_cast<Type>(type))) continue;
      const std::array all{Op::sum,  Op::prod, Op::min, Op::max,  Op::avg,       Op::land,         Op::lor,
                           Op::lxor, Op::band, Op::bor, Op::bxor, Op::exact_sum, Op::scaled_sum(1)};
      const Op op = all.at(static_cast<std::size_t>(kind));
      expect_throw<ArgumentError>(
          [&] { allreduce(in_.data(), out_.data(), Count{5}, static_cast<Type>(type), op, comm_); },
          {"'op'", std::string{to_string(op.kind())}, std::string{to_string(static_cast<Type>(type))}});
    }
  expect_works(comm_);
}

TEST_F(Arguments, Algorithms) {
  expect_refused([&] { allreduce(std::span{out_}, Op::sum, comm_, {.algorithm = "rings"}); },
                 {"'algorithm'", "'rings'", algorithm_names(Collective::allreduce)});
  const Op ordered = Op::user([](const void*, const void*, void*, Count, void*) {}, Commutative::no);
  expect_refused([&] { allreduce(std::span{out_}, ordered, comm_, {.algorithm = "ring"}); },
                 {"'algorithm'", "'ring'", "not commutative", algorithm_names(Collective::allreduce, Order::of_ranks)});
}

TEST_F(Arguments, BuffersThatOverlapPartly) {
  std::vector<double> data(11);
  const auto with = [&](std::size_t in, std::size_t out) {
    return [&data, in, out, this] {
      allreduce(std::span{std::as_const(data)}.subspan(in, 10), std::span{data}.subspan(out, 10), Op::sum, comm_);
    };
  };
  expect_refused(with(0, 1), {"'out'", " 8 bytes from 'in'", "overlapping",
                              "the same as 'in', or memory that does not overlap it"});
  expect_refused(with(1, 0), {"'out'", "-8 bytes from 'in'", "overlapping"});
  std::vector<double> twice(20, 1.0);  // side by side is no overlap
  allreduce(std::span{std::as_const(twice)}.first(10), std::span{twice}.last(10), Op::sum, comm_);
  EXPECT_EQ(twice.front(), 1.0);
  EXPECT_EQ(twice.back(), world_size());
}

TEST(ClosedCommunicator, RefusesCalls) {
  Communicator comm{MPI_COMM_WORLD};
  std::vector<double> data(10);
  comm.close();
  comm.close();
  EXPECT_FALSE(comm.is_open());
  const auto expect_closed = [&](auto call) { expect_throw<StateError>(call, {my_rank(), "was closed"}); };
  expect_closed([&] { allreduce(std::span{data}, Op::sum, comm); });
  expect_closed([&] { allreduce_async(std::span{data}, Op::sum, comm).wait(); });
  expect_closed([&] { plan_allreduce(std::span{data}, Op::sum, comm).start(); });
  expect_closed([&] { static_cast<void>(comm.rank()); });
  expect_works(Communicator{MPI_COMM_WORLD});
}

TEST(MovedFromCommunicator, RefusesCalls) {
  Communicator comm{MPI_COMM_WORLD};
  std::vector<double> data(10);
  const Communicator other = std::move(comm);
  // NOLINTBEGIN(bugprone-use-after-move)
  EXPECT_FALSE(comm.is_open());
  expect_throw<StateError>([&] { allreduce(std::span{data}, Op::sum, comm); }, {"moved from"});
  expect_throw<StateError>([&] { plan_allreduce(std::span{data}, Op::sum, comm).start(); }, {"moved from"});
  expect_throw<StateError>([&] { static_cast<void>(comm.size()); }, {"moved from"});
  comm.close();
  // NOLINTEND(bugprone-use-after-move)
  expect_works(other);
}

TEST(Creation, RefusesWhatIsNoIntraCommunicator) {
  expect_throw<ArgumentError>([] { const Communicator comm{MPI_COMM_NULL}; }, {"'comm'", "MPI_COMM_NULL", "allowed"});
  if (world_size() == 1) return;
  mpi::UniqueComm half, inter;
  const int side = world_rank() % 2;
  MPI_Comm_split(MPI_COMM_WORLD, side, 0, half.receive());
  MPI_Intercomm_create(half.get(), 0, MPI_COMM_WORLD, 1 - side, 0, inter.receive());
  expect_throw<ArgumentError>([&] { const Communicator comm{inter.get()}; },
                              {"'comm'", "inter-communicator", "allowed"});
}

/// MPICH hands the error of a request to the error handler of MPI_COMM_WORLD, on any communicator.
class ReturningErrors {
 public:
  explicit ReturningErrors(MPI_Comm comm) : comm_(comm) {
    MPI_Comm_get_errhandler(comm_, &saved_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }
  ReturningErrors(const ReturningErrors&) = delete;
  ReturningErrors& operator=(const ReturningErrors&) = delete;
  ~ReturningErrors() {
    MPI_Comm_set_errhandler(comm_, saved_);
    MPI_Errhandler_free(&saved_);
  }

 private:
  MPI_Comm comm_;
  MPI_Errhandler saved_ = MPI_ERRHANDLER_NULL;
};

/// Ranks 0 and 1 call with different counts: `count` of rank 0, twice it of rank 1. Neither hangs; both name the other.
/// Messages must be small: a larger one that is too long for its receive is written past the end by Open MPI 4.1 where
/// it reads the sender's memory directly.
void expect_mismatch_is_named(MPI_Comm pair, std::size_t count, std::string_view algorithm) {
  const Communicator comm{pair};
  const int rank = comm.rank().value();
  const std::string peer = "rank " + std::to_string(1 - rank);
  std::vector<double> data(count * static_cast<std::size_t>(1 + rank));
  const auto call = [&] { allreduce(std::span{data}, Op::sum, comm, {.algorithm = algorithm}); };
  expect_throw<Error>(call, {"allreduce", "operation 0 on " + my_rank(), peer});
  expect_throw<Error>(call, {"unusable", "failed", peer});
  std::vector<double> one(1);
  expect_throw<Error>([&] { allreduce_async(std::span{one}, Op::sum, comm).wait(); }, {"unusable", peer});
  expect_throw<Error>([&] { plan_allreduce(std::span{one}, Op::sum, comm).start(); }, {"unusable", peer});
}

TEST(MismatchedCounts, AreNamedOnBothRanks) {
  if (world_size() == 1) GTEST_SKIP() << "needs two ranks";
  if (mpi_library().starts_with("Intel")) GTEST_SKIP() << "ends the job at a message too long, whatever the handler";
  const ReturningErrors world{MPI_COMM_WORLD};
  const Communicator all{MPI_COMM_WORLD};
  mpi::UniqueComm pair;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank() < 2 ? 0 : MPI_UNDEFINED, 0, pair.receive());
  // In these, both ranks receive before anything else can go wrong. In others, one that only waits for the rank that
  // failed waits for ever.
  for (const std::string_view algorithm : {"", "recursive_doubling", "ring", "rabenseifner", "one_shot"})
    for (const std::size_t count : {2, 4, 20, 200}) {
      if (world_rank() < 2) expect_mismatch_is_named(pair.get(), count, algorithm);
      expect_works(all);
    }
}

/// Operations in flight beside the one that fails are over too; nothing waits for ever.
TEST(MismatchedCounts, EndAllOperationsOfTheCommunicator) {
  if (world_size() == 1) GTEST_SKIP() << "needs two ranks";
  if (mpi_library().starts_with("Intel")) GTEST_SKIP() << "ends the job at a message too long, whatever the handler";
  const ReturningErrors world{MPI_COMM_WORLD};
  const Communicator all{MPI_COMM_WORLD};
  mpi::UniqueComm pair;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank() < 2 ? 0 : MPI_UNDEFINED, 0, pair.receive());
  if (world_rank() < 2) {
    const Communicator comm{pair.get()};
    std::vector<double> data(world_rank() == 0 ? 2 : 4);
    std::vector<std::vector<double>> others(20, std::vector<double>(3));
    std::vector<Request> requests;
    Request failing = allreduce_async(std::span{data}, Op::sum, comm);
    expect_throw<Error>([&] { failing.wait(); }, {"rank " + std::to_string(1 - world_rank())});
    EXPECT_TRUE(failing.test()) << "the error is thrown once";
    for (auto& other : others)
      expect_throw<Error>([&] { requests.push_back(allreduce_async(std::span{other}, Op::sum, comm)); }, {"unusable"});
  }
  expect_works(all);
}

}  // namespace
}  // namespace tutti::test
