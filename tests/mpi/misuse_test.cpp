// Arguments that programs pass by mistake, as they come from MPI or call from a wrong place: MPI_IN_PLACE where it
// means nothing, numbers that are no Type. Each is an ArgumentError before any message is posted.
#include <functional>
#include <utility>

#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

constexpr Count one{1};

class Misuse : public testing::Test {
 protected:
  using Call = std::function<void()>;
  /// Each call is refused on every rank with all of `parts`, and nothing happened.
  void expect_each_refused(const std::vector<std::pair<std::string, Call>>& calls,
                           std::initializer_list<std::string> parts) {
    for (const auto& [function, call] : calls) {
      SCOPED_TRACE(function);
      expect_throw<ArgumentError>(call, {"tutti::" + function + " on rank " + std::to_string(world_rank())});
      expect_throw<ArgumentError>(call, parts);
      expect_works(comm_);
    }
  }
  [[nodiscard]] Rank next() const { return Rank{(world_rank() + 1) % world_size()}; }

  Communicator comm_{MPI_COMM_WORLD};
  std::vector<Count> counts_ = std::vector<Count>(static_cast<std::size_t>(world_size()), one);
  std::vector<double> in_ = std::vector<double>(counts_.size(), 1.0), out_ = in_;
  const void* const in = in_.data();
  void* const out = out_.data();
};

TEST_F(Misuse, InPlaceAsOutputOfReductions) {
  void* const bad = MPI_IN_PLACE;
  const Type type = Type::fp64;
  const Op op = Op::sum;
  expect_each_refused(
      {{"allreduce", [&] { allreduce(in, bad, one, type, op, comm_); }},
       {"allreduce", [&] { allreduce_async(in, bad, one, type, op, comm_).wait(); }},
       {"allreduce", [&] { plan_allreduce(in, bad, one, type, op, comm_).start(); }},
       {"allreduce", [&] { allreduce(bad, bad, one, type, op, comm_); }},
       {"allreduce", [&] { allreduce(in, bad, Count{0}, type, op, comm_); }},
       {"reduce", [&] { reduce(in, bad, one, type, op, Rank{0}, comm_); }},
       {"reduce", [&] { reduce_async(in, bad, one, type, op, Rank{0}, comm_).wait(); }},
       {"reduce", [&] { plan_reduce(in, bad, one, type, op, Rank{0}, comm_).start(); }},
       {"reduce_scatter", [&] { reduce_scatter(in, bad, one, type, op, comm_); }},
       {"reduce_scatter", [&] { reduce_scatter(in, bad, counts_, type, op, comm_); }},
       {"reduce_scatter", [&] { reduce_scatter_async(in, bad, counts_, type, op, comm_).wait(); }},
       {"scan", [&] { scan(in, bad, one, type, op, comm_); }},
       {"scan", [&] { scan_async(in, bad, one, type, op, comm_).wait(); }},
       {"exscan", [&] { exscan(in, bad, one, type, op, comm_); }},
       {"exscan", [&] { plan_exscan(in, bad, one, type, op, comm_).start(); }}},
      {"'out' is MPI_IN_PLACE", "in place, give MPI_IN_PLACE as 'in', or the same address as 'in' and 'out'"});
}

TEST_F(Misuse, InPlaceAsOutputOfMoves) {
  void* const bad = MPI_IN_PLACE;
  const Type type = Type::fp64;
  const BlockList blocks{counts_, {}};
  expect_each_refused({{"allgather", [&] { allgather(in, bad, one, type, comm_); }},
                       {"allgather", [&] { allgather_async(in, bad, one, type, comm_).wait(); }},
                       {"allgatherv", [&] { allgatherv(in, bad, blocks, type, comm_); }},
                       {"gather", [&] { gather(in, bad, one, type, Rank{0}, comm_); }},
                       {"gatherv", [&] { gatherv(in, one, bad, blocks, type, Rank{0}, comm_); }}},
                      {"'out' is MPI_IN_PLACE", "give MPI_IN_PLACE as 'in', or this rank's block of 'out' as 'in'"});
  expect_each_refused({{"alltoall", [&] { alltoall(in, bad, one, type, comm_); }},
                       {"alltoallv", [&] { alltoallv(in, blocks, bad, blocks, type, comm_); }}},
                      {"'out' is MPI_IN_PLACE", "as 'in', or the same address"});
}

TEST_F(Misuse, InPlaceAsInputOfScatter) {
  void* const bad = MPI_IN_PLACE;
  const Type type = Type::fp64;
  expect_each_refused({{"scatter", [&] { scatter(bad, out, one, type, Rank{0}, comm_); }},
                       {"scatter", [&] { scatter(bad, bad, one, type, Rank{0}, comm_); }},
                       {"scatterv",
                        [&] {
                          scatterv(bad, {counts_, {}}, out, one, type, Rank{0}, comm_);
                        }}},
                      {"'in' is MPI_IN_PLACE", "give MPI_IN_PLACE as 'out' on the root"});
}

TEST_F(Misuse, InPlaceInBroadcasts) {
  void* const bad = MPI_IN_PLACE;
  expect_each_refused({{"broadcast", [&] { broadcast(bad, one, Type::fp64, Rank{0}, comm_); }},
                       {"broadcast", [&] { broadcast_async(bad, one, Type::fp64, Rank{0}, comm_).wait(); }}},
                      {"'data' is MPI_IN_PLACE", "give one buffer"});
  expect_each_refused({{"broadcast", [&] { broadcast(in, bad, one, Type::fp64, Rank{0}, comm_); }}},
                      {"'out' is MPI_IN_PLACE", "give one buffer"});
}

TEST_F(Misuse, InPlaceInMessages) {
  void* const bad = MPI_IN_PLACE;
  const Type type = Type::fp64;
  Batch batch{comm_};
  std::vector<std::pair<std::string, Call>> calls{
      {"send", [&] { sendrecv(bad, one, next(), out, one, next(), type, comm_); }},
      {"recv", [&] { sendrecv(in, one, next(), bad, one, next(), type, comm_); }},
      {"send", [&] { batch.send(bad, one, type, next()); }},
      {"recv", [&] { batch.recv(bad, one, type, next()); }}};
  if (world_size() > 1) {
    calls.emplace_back("send", [&] { send(bad, one, type, next(), comm_); });
    calls.emplace_back("send", [&] { send_async(bad, one, type, next(), comm_).wait(); });
    calls.emplace_back("recv", [&] { recv(bad, one, type, next(), comm_); });
    calls.emplace_back("recv", [&] { plan_recv(bad, one, type, next(), comm_).start(); });
  }
  expect_each_refused(calls, {"'data' is MPI_IN_PLACE", "never in place"});
}

/// MPI's other marks, as MPI_BUFFER_AUTOMATIC of the standard ABI, and the other MPI's MPI_IN_PLACE.
TEST_F(Misuse, AddressesWhereNoMemoryIs) {
  for (const std::uintptr_t address :
       {std::uintptr_t{2}, std::uintptr_t{3}, std::uintptr_t{4095}, ~std::uintptr_t{1}}) {
    auto* const bad = reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr): of no object
    const std::initializer_list<std::string> parts{"where there is no memory", "with count"};
    expect_each_refused({{"allreduce", [&] { allreduce(bad, out, one, Type::fp64, Op::sum, comm_); }},
                         {"allreduce", [&] { allreduce(in, bad, one, Type::fp64, Op::sum, comm_); }},
                         {"alltoall", [&] { alltoall(in, bad, one, Type::fp64, comm_); }},
                         {"broadcast", [&] { broadcast(bad, one, Type::fp64, Rank{0}, comm_); }},
                         {"recv", [&] { sendrecv(in, one, next(), bad, one, next(), Type::fp64, comm_); }}},
                        parts);
    allreduce(bad, bad, Count{0}, Type::fp64, Op::sum, comm_);  // nothing is there to be read
  }
}

TEST_F(Misuse, NumbersThatAreNoType) {
  const BlockList blocks{counts_, {}};
  for (const int number : {type_count, 99, 255}) {
    const Type bad = static_cast<Type>(number);
    Batch batch{comm_};
    expect_each_refused(
        {{"allreduce", [&] { allreduce(in, out, one, bad, Op::sum, comm_); }},
         {"allreduce", [&] { allreduce_async(in, out, one, bad, Op::sum, comm_).wait(); }},
         {"allreduce", [&] { plan_allreduce(in, out, one, bad, Op::user(nullptr, Commutative::no), comm_).start(); }},
         {"reduce", [&] { reduce(in, out, one, bad, Op::sum, Rank{0}, comm_); }},
         {"reduce_scatter", [&] { reduce_scatter(in, out, one, bad, Op::sum, comm_); }},
         {"reduce_scatter", [&] { reduce_scatter(in, out, counts_, bad, Op::sum, comm_); }},
         {"scan", [&] { scan(in, out, one, bad, Op::sum, comm_); }},
         {"exscan", [&] { exscan(in, out, one, bad, Op::sum, comm_); }},
         {"broadcast", [&] { broadcast(out, one, bad, Rank{0}, comm_); }},
         {"broadcast", [&] { broadcast(in, out, Count{0}, bad, Rank{0}, comm_); }},
         {"allgather", [&] { allgather(in, out, one, bad, comm_); }},
         {"allgatherv", [&] { allgatherv(in, out, blocks, bad, comm_); }},
         {"gather", [&] { gather(in, out, one, bad, Rank{0}, comm_); }},
         {"gatherv", [&] { gatherv(in, one, out, blocks, bad, Rank{0}, comm_); }},
         {"scatter", [&] { scatter(in, out, one, bad, Rank{0}, comm_); }},
         {"scatterv", [&] { scatterv(in, blocks, out, one, bad, Rank{0}, comm_); }},
         {"alltoall", [&] { alltoall(in, out, one, bad, comm_); }},
         {"alltoallv", [&] { alltoallv(in, blocks, out, blocks, bad, comm_); }},
         {"recv", [&] { sendrecv(in, one, next(), out, one, next(), bad, comm_); }},
         {"send", [&] { batch.send(in, one, bad, next()); }},
         {"recv", [&] { batch.recv(out, one, bad, next()); }}},
        {"'type' is " + std::to_string(number), "no Type"});
    std::vector<Type> types(counts_.size(), Type::fp64), wrong = types;
    wrong.back() = bad;
    expect_each_refused({{"alltoallw",
                          [&] {
                            alltoallw(in, {counts_, {}, types}, out, {counts_, {}, wrong}, comm_);
                          }}},
                        {"'out_blocks.types[" + std::to_string(world_size() - 1) + "]' is " + std::to_string(number)});
  }
}

}  // namespace
}  // namespace tutti::test
