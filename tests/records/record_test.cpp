// One record: what was written is read, also while it is written, and words for it.
#include "lib/watch/records/record.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <limits>
#include <thread>

#include "lib/watch/records/mpi_names.hpp"
#include "lib/watch/records/text.hpp"

namespace tutti::records {
namespace {

Signature some_call() {
  return {.action = Action::allreduce,
          .type = Type::fp32,
          .op = Op::Kind::max,
          .count = 1000,
          .root = -1,
          .rank = 3,
          .ranks = 8,
          .algorithm = 0,
          .parameter = 16,
          .fingerprint = 0xdeadbeef,
          .communicator = CommunicatorId::of(12345, 77)};
}

TEST(Record, PacksAllFields) {
  for (const std::int64_t count : {std::int64_t{0}, std::int64_t{1} << 40U, std::numeric_limits<std::int64_t>::max()}) {
    Signature call = some_call();
    call.count = count;
    call.is_uneven = true;
    call.type = Type::complex_fp64;
    call.op = Op::Kind::user;
    call.mpi = (1U << mpi_bits) - 1;
    EXPECT_EQ(unpack(pack(call)), call);
  }
  EXPECT_EQ(unpack(pack(some_call())), some_call());
  EXPECT_EQ(some_call().communicator.context(), 12345);
}

TEST(Record, PacksWaits) {
  for (const Wait& wait : {Wait{}, Wait{Wait::For::message_from, 12, 3}, Wait{Wait::For::message_to, 262144, 99999},
                           Wait{Wait::For::device, 0, -1}, Wait{Wait::For::all_arguments, 1, 2, 31}})
    EXPECT_EQ(unpacked(packed(wait)), wait);
}

TEST(Record, IsReadAsItWasEntered) {
  Record record;
  EXPECT_FALSE(record.read());
  record.enter(7, 1234, pack(some_call()), (std::uint64_t{5} << 32U) | 41, Manner::nonblocking);
  record.set_wait(7, {Wait::For::message_from, 2, 1});
  auto entry = record.read();
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->number, 7U);
  EXPECT_EQ(entry->state, State::inside);
  EXPECT_EQ(entry->since, 1234);
  EXPECT_EQ(entry->call.sequence, 41U);  // the lower 32 bits
  EXPECT_EQ(entry->call.manner, Manner::nonblocking);
  EXPECT_EQ(entry->wait, (Wait{Wait::For::message_from, 2, 1}));
  record.leave(7, State::failed);
  EXPECT_EQ(record.read()->state, State::failed);
}

TEST(Record, LaterOperationIsNotTouchedByAnEarlierOne) {
  Record record;
  record.enter(7, 1, pack(some_call()), 1, Manner::blocking);
  record.enter(7 + kept, 2, pack(some_call()), 2, Manner::blocking);
  record.leave(7, State::over);
  record.set_wait(7, {Wait::For::device, 9, 9});
  EXPECT_EQ(record.read()->state, State::inside);
  EXPECT_EQ(record.read()->wait, Wait{});
}

/// A reader beside the writer never sees a mixture of two operations.
TEST(Record, ReadersSeeOneOperation) {
  Record record;
  std::atomic<bool> ends{false};
  std::thread writer{[&] {
    for (std::uint64_t number = 1; number < 200'000; ++number) {
      Signature call = some_call();
      call.count = static_cast<std::int64_t>(number);
      call.fingerprint = static_cast<std::uint32_t>(number);
      record.enter(number, static_cast<std::int64_t>(number), pack(call), number, Manner::blocking);
      record.leave(number, State::over);
    }
    ends = true;
  }};
  std::int64_t seen = 0;
  while (!ends) {
    const auto entry = record.read();
    if (!entry) continue;
    ++seen;
    EXPECT_EQ(entry->since, static_cast<std::int64_t>(entry->number));
    EXPECT_EQ(entry->call.count, static_cast<std::int64_t>(entry->number));
    EXPECT_EQ(entry->call.sequence, entry->number);
    EXPECT_EQ(entry->call.fingerprint, entry->number);
  }
  writer.join();
  EXPECT_GT(seen + (record.read() ? 1 : 0), 0);
}

TEST(RecordText, TellsACall) {
  Signature call = some_call();
  call.sequence = 41;
  call.algorithm = -1;
  call.parameter = 0;
  EXPECT_EQ(in_words(call), "allreduce #41 of 1000 fp32, max (no algorithm)");
  call.manner = Manner::persistent;
  call.action = Action::broadcast;
  call.root = 2;
  EXPECT_EQ(in_words(call), "persistent broadcast #41 of 1000 fp32 from rank 2 (no algorithm)");
  EXPECT_EQ(communicator_in_words(call), "communicator 12345 (8 ranks)");
  EXPECT_EQ(in_words(Signature{.action = Action::messages, .count = 16, .root = 5, .parameter = 1}),
            "1 message of 16 bytes, the first with rank 5");
  const Signature making{.action = Action::make_communicator, .ranks = 8};
  EXPECT_EQ(in_words(making) + " on " + communicator_in_words(making), "the making of a communicator on 8 ranks");
}

Signature mpi_call(Action action, std::string_view type, std::int64_t size, std::int64_t count) {
  Signature call = some_call();
  call.action = action;
  call.root = 2;
  call.type = Type::uint8;
  call.op = Op::Kind::sum;
  call.count = count;
  call.sequence = 41;
  call.algorithm = -1;
  call.mpi = mpi_type_of(type, size);
  return call;
}

/// Data that are moved are counted in bytes, those that are reduced in elements.
TEST(RecordText, TellsCallsOfMpiInItsNames) {
  Signature call = mpi_call(Action::broadcast, "MPI_INT", 4, 128);
  EXPECT_EQ(in_words(call), "MPI_Bcast #41 of 32 MPI_INT from rank 2 (no algorithm)");
  EXPECT_EQ(in_words(mpi_call(Action::allreduce, "MPI_DOUBLE", 8, 32)),
            "MPI_Allreduce #41 of 32 MPI_DOUBLE, MPI_SUM (no algorithm)");
  EXPECT_EQ(bytes_in_words(call, 20), "5 MPI_INT");
  EXPECT_EQ(bytes_in_words(call, 21), "21 bytes");
  EXPECT_EQ(bytes_in_words(some_call(), 20), "20 bytes");
  call.mpi = mpi_type_of("a struct of the program", 4);
  EXPECT_EQ(in_words(call), "MPI_Bcast #41 of 128 bytes from rank 2 (no algorithm)");
  EXPECT_EQ(mpi_type_of("MPI_INTEGER", 8), of_unnamed_type) << "a Fortran with other sizes";
}

TEST(RecordText, TellsTheFunctionsOfMpi) {
  using enum Action;
  const auto name_of = [](Action action, bool is_uneven, Manner manner, std::uint8_t mpi = of_first_type) {
    return mpi_function_of({.action = action, .manner = manner, .is_uneven = is_uneven, .mpi = mpi});
  };
  EXPECT_EQ(name_of(barrier, false, Manner::blocking), "MPI_Barrier");
  EXPECT_EQ(name_of(broadcast, false, Manner::nonblocking), "MPI_Ibcast");
  EXPECT_EQ(name_of(reduce_scatter, false, Manner::blocking), "MPI_Reduce_scatter_block");
  EXPECT_EQ(name_of(reduce_scatter, true, Manner::blocking), "MPI_Reduce_scatter");
  EXPECT_EQ(name_of(allgather, true, Manner::persistent), "MPI_Allgatherv_init");
  EXPECT_EQ(name_of(alltoall, true, Manner::blocking), "MPI_Alltoallv");
  EXPECT_EQ(name_of(alltoall, true, Manner::blocking, of_several_types), "MPI_Alltoallw");
}

TEST(RecordText, TellsTheNamesOfCommunicators) {
  const Signature call = some_call();
  name_communicator(call.communicator, "water");
  EXPECT_EQ(communicator_in_words(call), "communicator water (8 ranks)");
  name_communicator(call.communicator, "");
  EXPECT_EQ(communicator_in_words(call), "communicator 12345 (8 ranks)");
}

/// The memory belongs to another process, which may have written anything.
TEST(RecordText, TellsDamagedRecords) {
  for (int value = 0; value < 256; ++value) {
    Signature call = some_call();
    call.action = static_cast<Action>(value);
    call.manner = static_cast<Manner>(value);
    call.type = static_cast<Type>(value);
    call.op = static_cast<Op::Kind>(value);
    call.algorithm = value;
    call.mpi = static_cast<std::uint8_t>(value);
    EXPECT_FALSE(in_words(call).empty());
    EXPECT_FALSE(to_string(static_cast<State>(value)).empty());
    EXPECT_NO_THROW(static_cast<void>(in_words(Wait{static_cast<Wait::For>(value), value, value})));
    EXPECT_NO_THROW(static_cast<void>(differences(call, some_call())));
  }
}

TEST(RecordText, TellsDifferences) {
  const Signature mine = some_call();
  EXPECT_EQ(differences(mine, mine), "");
  const auto differ = [&](auto change) {
    Signature theirs = mine;
    theirs.fingerprint = 1;
    change(theirs);
    return differences(mine, theirs);
  };
  EXPECT_EQ(differ([](Signature& call) { call.count = 5; }), "count 1000 here, 5 there");
  EXPECT_EQ(differ([](Signature& call) { call.type = Type::int32; }), "type fp32 here, int32 there");
  EXPECT_EQ(differ([](Signature& call) { call.op = Op::Kind::sum; }), "operation max here, sum there");
  EXPECT_EQ(differ([](Signature& call) { call.action = Action::barrier; }), "call allreduce here, barrier there");
  EXPECT_EQ(differ([](Signature& call) { call.manner = Manner::persistent; }),
            "manner blocking here, persistent there");
  EXPECT_EQ(differ([](Signature& call) { call.is_uneven = true; }), "blocks of one size here, of listed sizes there");
  EXPECT_NE(differ([](Signature&) {}).find("scale"), std::string::npos);
  const auto of_mpi = [](std::int64_t count) { return mpi_call(Action::broadcast, "MPI_INT", 4, count); };
  EXPECT_EQ(differences(of_mpi(64), of_mpi(128)), "count 16 MPI_INT here, 32 MPI_INT there");
  EXPECT_EQ(differences(of_mpi(64), mpi_call(Action::broadcast, "MPI_DOUBLE", 8, 64)), "") << "as many bytes";
  EXPECT_EQ(differences(of_mpi(64), mpi_call(Action::barrier, "", 0, 0)), "call MPI_Bcast here, MPI_Barrier there");
  EXPECT_EQ(differences({.action = Action::reduce, .root = 1}, {.action = Action::reduce, .root = 2}, {"A", "B"}),
            "root 1 A, 2 B");
}

TEST(RecordText, TellsDurations) {
  constexpr std::int64_t milli = 1'000'000, second = 1000 * milli;
  EXPECT_EQ(duration_in_words(12 * milli), "12 ms");
  EXPECT_EQ(duration_in_words(3500 * milli), "3.5 s");
  EXPECT_EQ(duration_in_words(93 * second), "93 s");
  EXPECT_EQ(duration_in_words(720 * second), "12 min");
  EXPECT_EQ(duration_in_words(5 * 3600 * second), "5 h");
  EXPECT_EQ(duration_in_words(-1), "0 ms");  // clocks of other nodes
}

}  // namespace
}  // namespace tutti::records
