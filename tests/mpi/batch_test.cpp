// Messages between two ranks: send, recv, sendrecv, and batches of them.
#include <numeric>

#include "lib/core/communicator/communicator_state.hpp"
#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

class Messages : public testing::Test {
 protected:
  [[nodiscard]] Rank at(int distance) const {
    return Rank{((world_rank() + distance) % world_size() + world_size()) % world_size()};
  }
  Communicator comm_{MPI_COMM_WORLD};
};

TEST_F(Messages, PassRoundTheRing) {
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{300'000}}) {
    const std::vector<std::int64_t> mine = addends(count, world_rank(), 3);
    std::vector<std::int64_t> theirs(count);
    sendrecv(std::span{mine}, at(1), std::span{theirs}, at(-1), comm_);
    EXPECT_EQ(theirs, addends(count, at(-1).value(), 3));
  }
}

TEST_F(Messages, FromOneToTheOther) {
  if (world_size() == 1) GTEST_SKIP() << "needs two ranks";
  const Rank first{0}, last{world_size() - 1};
  for (const std::size_t count : {std::size_t{1}, std::size_t{5000}, std::size_t{200'000}}) {
    std::vector<double> data(count, world_rank());
    if (comm_.rank() == first) send(std::span{data}, last, comm_);
    if (comm_.rank() == last) {
      recv(std::span{data}, first, comm_);
      EXPECT_EQ(data, std::vector<double>(count, 0));
    }
  }
}

/// The k-th message of a pair is the k-th received, by any kind of call, while collectives go on beside them.
TEST_F(Messages, KeepTheirOrder) {
  constexpr int messages = 40;
  std::vector<std::vector<std::int64_t>> sent, received(messages);
  std::vector<Request> requests;
  std::vector<std::int64_t> sum(7, 1);
  for (int i = 0; i < messages; ++i) {
    sent.push_back(addends(static_cast<std::size_t>(1 + i % 5), world_rank(), i));
    received[static_cast<std::size_t>(i)].resize(sent.back().size());
  }
  for (int i = 0; i < messages; ++i) {
    const auto place = static_cast<std::size_t>(i);
    requests.push_back(sendrecv_async(sent[place].data(), Count{sent[place].size()}, at(1), received[place].data(),
                                      Count{received[place].size()}, at(-1), Type::int64, comm_));
    if (i % 7 == 0) requests.push_back(allreduce_async(std::span{sum}, Op::max, comm_));
  }
  while (!requests.empty())
    requests.pop_back();  // waits
  for (int i = 0; i < messages; ++i)
    EXPECT_EQ(received[static_cast<std::size_t>(i)], addends(static_cast<std::size_t>(1 + i % 5), at(-1).value(), i));
  EXPECT_EQ(sum, std::vector<std::int64_t>(7, 1));
}

/// Everybody with everybody, this rank included, sends written first: no order of calls can deadlock a batch.
TEST_F(Messages, ABatchMayHaveAnyPattern) {
  const auto size = static_cast<std::size_t>(world_size());
  for (const std::size_t count : {std::size_t{3}, std::size_t{40'000}}) {
    std::vector<std::int64_t> out(size * count), in(size * count);
    std::iota(out.begin(), out.end(), world_rank() * 1'000'000);
    Batch batch{comm_};
    for (std::size_t peer = 0; peer < size; ++peer)
      batch.send(std::span{std::as_const(out)}.subspan(peer * count, count), Rank{static_cast<int>(peer)});
    for (std::size_t peer = size; peer-- > 0;)
      batch.recv(std::span{in}.subspan(peer * count, count), Rank{static_cast<int>(peer)});
    for (int again = 0; again < 2; ++again) {
      std::fill(in.begin(), in.end(), -1);
      batch.run();
      for (std::size_t peer = 0; peer < size; ++peer)
        EXPECT_EQ(in[peer * count + 1], static_cast<std::int64_t>(peer) * 1'000'000 +
                                            static_cast<std::int64_t>(static_cast<std::size_t>(world_rank()) * count) +
                                            1);
    }
  }
}

TEST_F(Messages, PlansRunAgain) {
  std::vector<double> out(10), in(10);
  Batch batch{comm_};
  batch.send(std::span<const double>{out}, at(1));
  batch.recv(std::span{in}, at(-1));
  Plan plan = batch.plan();
  EXPECT_TRUE(plan.algorithm().empty());
  EXPECT_NE(plan.explain().find("point-to-point"), std::string::npos);
  for (int turn = 0; turn < 5; ++turn) {
    out.assign(10, 100 * world_rank() + turn);
    plan.start();
    plan.wait();
    EXPECT_EQ(in, std::vector<double>(10, 100 * at(-1).value() + turn));
  }
}

/// Several messages of one size each way between two ranks, as in a periodic halo.
TEST_F(Messages, ManyOfOneSizeEachWay) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{3000}, std::size_t{20'000}}) {
    std::vector<std::vector<std::int64_t>> sent, received(4, std::vector<std::int64_t>(count));
    for (int i = 0; i < 4; ++i)
      sent.push_back(addends(count, world_rank(), i));
    Batch batch{comm_};
    for (std::size_t i = 0; i < sent.size(); ++i)
      batch.send(std::span{sent[i]}, at(i % 2 == 0 ? 1 : -1));
    for (std::size_t i = 0; i < sent.size(); ++i)
      batch.recv(std::span{received[i]}, at(i % 2 == 0 ? -1 : 1));
    for (int again = 0; again < 3; ++again)
      batch.run();
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(received[static_cast<std::size_t>(i)], addends(count, at(i % 2 == 0 ? -1 : 1).value(), i));
  }
}

TEST_F(Messages, SplitAtTheLimit) {
  const Setting limit{"TUTTI_MESSAGE_LIMIT", "100"};
  const Communicator comm{MPI_COMM_WORLD};
  const std::vector<std::int64_t> mine = addends(1003, world_rank(), 9);
  std::vector<std::int64_t> theirs(1003);
  sendrecv(std::span{mine}, at(2), std::span{theirs}, at(-2), comm);
  EXPECT_EQ(theirs, addends(1003, at(-2).value(), 9));
}

TEST_F(Messages, RefuseWhatIsNotAllowed) {
  std::vector<double> data(4), others(4);
  const std::string me = "rank " + std::to_string(world_rank());
  const std::string ranks = "0 to " + std::to_string(world_size() - 1);
  const std::span<const double> out{data};
  expect_throw<ArgumentError>([&] { send(out, Rank{world_size()}, comm_); },
                              {"send on " + me, "'to'", std::to_string(world_size()), ranks});
  expect_throw<ArgumentError>([&] { recv(std::span{data}, Rank{-7}, comm_); },
                              {"recv on " + me, "'from'", "-7", ranks});
  expect_throw<ArgumentError>([&] { send(out, comm_.rank(), comm_); }, {"'to'", "this rank itself", "Batch"});
  expect_throw<ArgumentError>([&] { recv(std::span{data}, comm_.rank(), comm_); }, {"'from'", "this rank itself"});
  Batch any{comm_};
  expect_throw<ArgumentError>([&] { any.send(nullptr, Count{3}, Type::fp32, at(1)); }, {"send on " + me, "null"});
  expect_throw<ArgumentError>([&] { any.recv(data.data(), Count{-3}, Type::fp32, at(1)); }, {"recv on " + me, "-3"});
  Batch uneven{comm_};
  uneven.send(out, comm_.rank());
  expect_throw<ArgumentError>([&] { uneven.run(); }, {"1 sends and 0 receives", "as many"});
  uneven.recv(std::span{others}.first(3), comm_.rank());
  expect_throw<ArgumentError>([&] { uneven.run(); }, {"32 bytes sent to itself and 24 received"});
  Batch itself{comm_};
  itself.send(out, comm_.rank());
  itself.recv(std::span{data}, comm_.rank());
  expect_throw<ArgumentError>([&] { itself.run(); }, {"both sent from and received into"});
  expect_works(comm_);
}

/// The plan of a message to itself fits any memory; that it overlaps is seen all the same.
TEST_F(Messages, RefuseOverlapsWithAPlanThatIsThere) {
  std::vector<double> data(4);
  const std::span<double> all{data};
  const auto to_itself = [&](std::span<double> from, std::span<double> into) {
    sendrecv(std::span<const double>{from}, comm_.rank(), into, comm_.rank(), comm_);
  };
  to_itself(all.first(2), all.last(2));
  expect_throw<ArgumentError>([&] { to_itself(all.first(2), all.subspan(1, 2)); },
                              {"both sent from and received into"});
  to_itself(all.last(2), all.first(2));
}

/// Calls that repeat the one before in all but one respect, and then in all.
TEST_F(Messages, NeighboursSizesAndBuffersChangeFromCallToCall) {
  struct Shift {
    int by;
    std::size_t count, at;
  };
  for (const auto [by, count, place] : {Shift{1, 5, 0}, Shift{1, 5, 9}, Shift{1, 5, 9}, Shift{-1, 5, 9},
                                        Shift{-1, 6, 9}, Shift{1, 5, 0}, Shift{1, 0, 0}, Shift{1, 5, 0}}) {
    std::vector<std::int64_t> in(20, -1), expected(20, -1);
    const std::vector<std::int64_t> out = addends(20, world_rank(), by);
    const std::vector<std::int64_t> theirs = addends(20, at(-by).value(), by);
    std::copy_n(theirs.begin() + static_cast<std::ptrdiff_t>(place), count, expected.begin() + 3);
    sendrecv(std::span{out}.subspan(place, count), at(by), std::span{in}.subspan(3, count), at(-by), comm_);
    EXPECT_EQ(in, expected) << by << ' ' << count << ' ' << place;
  }
}

TEST_F(Messages, OutliveTheCommunicatorObject) {
  auto comm = std::make_unique<Communicator>(MPI_COMM_WORLD);
  const Batch batch{*comm};
  comm.reset();
  expect_throw<StateError>([&] { batch.run(); }, {"was closed"});
}

/// The forms on spans and in place, each once: that they pass on their arguments.
TEST(Spans, OfEveryCollective) {
  const Communicator comm{MPI_COMM_WORLD};
  const auto size = static_cast<std::size_t>(comm.size());
  const int rank = world_rank();
  const Rank root{comm.size() - 1};
  const auto p = static_cast<double>(size);
  const std::vector<double> mine{double(rank), double(rank) + 0.5};
  std::vector<double> all(2 * size), two(2);
  allgather(std::span{mine}, std::span{all}, comm);
  EXPECT_EQ(all.back(), p - 0.5);
  allgather_async(std::span{all}, comm).wait();
  EXPECT_EQ(all.front(), 0);
  gather(std::span{mine}, std::span{all}, root, comm);
  scatter(std::span{std::as_const(all)}, std::span{two}, root, comm);
  EXPECT_EQ(two, mine);
  std::vector<double> turned(all.size());
  alltoall(std::span{std::as_const(all)}, std::span{turned}, comm);
  alltoall(std::span{turned}, comm);
  EXPECT_EQ(turned, all);
  reduce_scatter(std::span{std::as_const(all)}, std::span{two}, Op::sum, comm);
  EXPECT_EQ(two[0], p * rank);
  broadcast(std::span{two}, root, comm);
  EXPECT_EQ(two[0], p * (p - 1));
  two = mine;
  reduce(std::span{mine}, std::span{two}, Op::sum, root, comm);
  EXPECT_EQ(two[0], comm.rank() == root ? p * (p - 1) / 2 : rank);
  two = mine;
  scan(std::span{two}, Op::sum, comm);
  EXPECT_EQ(two[0], rank * (rank + 1) / 2.0);
  exscan(std::span{mine}, std::span{two}, Op::sum, comm);
  EXPECT_EQ(two[0], rank == 0 ? 0.0 : rank * (rank - 1) / 2.0);
  barrier(comm);
  Request pending = barrier_async(comm);
  pending.wait();

  const std::vector<Count> counts(size, Count{2});
  std::vector<Count> offsets;
  for (std::size_t i = 0; i < size; ++i)
    offsets.emplace_back(3 * i + 1);
  const BlockList spread{counts, offsets}, dense{counts, {}};
  std::vector<double> wide(3 * size, -1);
  allgatherv(std::span{mine}, std::span{wide}, spread, comm);
  EXPECT_EQ(wide[0], -1);
  EXPECT_EQ(wide[1], 0);
  EXPECT_EQ(wide.back(), p - 0.5);
  std::fill(wide.begin(), wide.end(), -1);
  gatherv(std::span{mine}, std::span{wide}, spread, root, comm);
  scatterv(std::span{std::as_const(wide)}, spread, std::span{two}, root, comm);
  EXPECT_EQ(two, mine);
  alltoallv(std::span{std::as_const(all)}, dense, std::span{wide}, spread, comm);
  EXPECT_EQ(wide[1], 2.0 * 0 + rank == 0 ? all[0] : wide[1]);
  reduce_scatter(all.data(), two.data(), counts, Type::fp64, Op::max, comm);
  EXPECT_EQ(two[0], rank);
}

TEST(Alltoallw, MixesTypes) {
  const Communicator comm{MPI_COMM_WORLD};
  const auto size = static_cast<std::size_t>(comm.size());
  const int rank = world_rank();
  // Even ranks take doubles, odd ones 16-bit integers; rank r gets r + 1 of them from everybody.
  const auto type_of_rank = [](std::size_t r) { return r % 2 == 0 ? Type::fp64 : Type::int16; };
  std::vector<Count> out_counts, in_counts;
  std::vector<Bytes> out_offsets, in_offsets;
  std::vector<Type> out_types, in_types;
  std::int64_t end = 0, in_end = 0;
  for (std::size_t r = 0; r < size; ++r) {
    out_counts.emplace_back(r + 1), out_types.push_back(type_of_rank(r)), out_offsets.emplace_back(end);
    end += static_cast<std::int64_t>(r + 1) * 8;
    const auto own = static_cast<std::size_t>(rank);
    in_counts.emplace_back(own + 1), in_types.push_back(type_of_rank(own)), in_offsets.emplace_back(in_end);
    in_end += static_cast<std::int64_t>(own + 1) * 8;
  }
  std::vector<std::byte> out(static_cast<std::size_t>(end)), in(static_cast<std::size_t>(in_end));
  for (std::size_t r = 0; r < size; ++r)
    for (std::size_t i = 0; i <= r; ++i) {
      const double real = 100.0 * rank + static_cast<double>(i);
      const auto whole = static_cast<std::int16_t>(real);
      std::byte* const at = out.data() + out_offsets[r].value();
      if (type_of_rank(r) == Type::fp64)
        std::memcpy(at + 8 * i, &real, 8);
      else
        std::memcpy(at + 2 * i, &whole, 2);
    }
  const TypedBlocks sent{out_counts, out_offsets, out_types}, received{in_counts, in_offsets, in_types};
  alltoallw(out.data(), sent, in.data(), received, comm);
  for (std::size_t r = 0; r < size; ++r) {
    const std::byte* const at = in.data() + in_offsets[r].value();
    double real = 0;
    std::int16_t whole = 0;
    if (type_of_rank(static_cast<std::size_t>(rank)) == Type::fp64)
      std::memcpy(&real, at + 8 * rank, 8);
    else
      std::memcpy(&whole, at + 2 * rank, 2), real = whole;
    EXPECT_EQ(real, 100.0 * static_cast<double>(r) + rank);
  }
  expect_throw<ArgumentError>(
      [&] {
        alltoallw(out.data(), {out_counts, {}, {}}, in.data(), received, comm);
      },
      {"alltoallw", "'in_blocks'", "0 types"});
}

}  // namespace
}  // namespace tutti::test
