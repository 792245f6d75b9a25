// Collectives of lists of buffers: the results of the ordinary calls, however the buffers lie and however many are
// packed.
#include "tutti/lists.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <thread>

#include "lib/core/call/list_parts.hpp"
#include "tests/mpi/allreduce_cases.hpp"
#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

using Element = std::int64_t;
using Counts = std::vector<std::int64_t>;

/// Where the buffers of a list have their inputs.
enum class Place : std::uint8_t { separate, same, mpi_in_place, by_turns };
constexpr std::array places{Place::separate, Place::same, Place::mpi_in_place, Place::by_turns};

struct ListTrial {
  Collective collective = Collective::allreduce;
  Counts counts{};
  Place place = Place::separate;
  Way way = Way::blocking;
  Rank root{};
};

/// One buffer of a list, with elements around its output that nobody may write.
class Room {
 public:
  Room(const ListTrial& trial, std::size_t index, const Communicator& comm)
      : count_(trial.counts[index]), place_(trial.place) {
    const std::int64_t all = comm.size() * count_;
    const bool gathers = trial.collective == Collective::allgather,
               scatters = trial.collective == Collective::reduce_scatter;
    if (place_ == Place::by_turns) place_ = places[index % 3];
    if (trial.collective == Collective::broadcast && place_ == Place::mpi_in_place) place_ = Place::same;
    if (gathers) offset_ = comm.rank().value() * count_;
    values_ = addends(static_cast<std::size_t>(scatters ? all : count_), comm.rank().value(),
                      static_cast<std::int64_t>(index));
    output_.resize(static_cast<std::size_t>(gathers || scatters ? all : count_) + 2 * spare);
    input_.resize(place_ == Place::separate ? values_.size() : 0);
    reset();
  }
  /// The contents before the call; addresses stay.
  void reset() {
    std::ranges::fill(output_, -7);
    std::ranges::copy(values_, place_ == Place::separate ? input_.begin() : output_.begin() + spare + offset_);
  }
  [[nodiscard]] ListedBuffer buffer() {
    Element* const out = output_.data() + spare;
    if (place_ == Place::mpi_in_place) return {MPI_IN_PLACE, out, Count{count_}};
    return {place_ == Place::separate ? input_.data() : out + offset_, out, Count{count_}};
  }
  [[nodiscard]] bool is_same_as(const Room& other) const { return input_ == other.input_ && output_ == other.output_; }

 private:
  static constexpr std::ptrdiff_t spare = 2;
  std::int64_t count_;
  Place place_;
  std::ptrdiff_t offset_ = 0;
  std::vector<Element> values_{}, input_{}, output_{};
};

using Rooms = std::vector<Room>;

Rooms rooms_of(const ListTrial& trial, const Communicator& comm) {
  Rooms rooms;
  for (std::size_t i = 0; i < trial.counts.size(); ++i)
    rooms.emplace_back(trial, i, comm);
  return rooms;
}

/// Plans run twice, on the same data.
void run(const detail::ListCall& call, Way way, const Communicator& comm, Rooms& rooms) {
  if (way == Way::blocking) return detail::run(call, comm, {});
  if (way == Way::async) {
    Request request = detail::start(call, comm, {});
    while (!request.test())
      std::this_thread::yield();
    return request.wait();  // nothing is left to wait for
  }
  Plan plan = detail::prepare(call, comm, {});
  plan.wait();  // not started
  plan.start();
  plan.wait();
  for (Room& room : rooms)
    room.reset();
  plan.start();
  while (!plan.test())
    std::this_thread::yield();
}

void expect_those_of_ordinary_calls(const ListTrial& trial, const Rooms& rooms, const Communicator& comm) {
  Rooms expected = rooms_of(trial, comm);
  for (std::size_t i = 0; i < rooms.size(); ++i) {
    const ListedBuffer one = expected[i].buffer();
    detail::Call call{.function = "one", .collective = trial.collective, .in = one.in, .out = one.out};
    call.count = one.count, call.type = Type::int64, call.root = trial.root;
    detail::run(call, comm, {});
    EXPECT_TRUE(rooms[i].is_same_as(expected[i]))
        << to_string(trial.collective) << ", buffer " << i << " of " << rooms.size() << ", " << trial.counts[i]
        << " elements, place " << static_cast<int>(trial.place) << ", way " << static_cast<int>(trial.way);
  }
}

void expect_right(const ListTrial& trial, const Communicator& comm) {
  Rooms rooms = rooms_of(trial, comm);
  std::vector<ListedBuffer> list;
  for (Room& room : rooms)
    list.push_back(room.buffer());
  run({"list", trial.collective, list, Type::int64, Op::sum, trial.root}, trial.way, comm, rooms);
  expect_those_of_ordinary_calls(trial, rooms, comm);
}

/// So many elements are packed at most, and one after the other into one call, in a collective of one block.
constexpr std::int64_t packed = detail::list_tuning.packed / 8, most = detail::list_tuning.most / 8;

std::vector<Counts> lists() {
  Counts many;
  for (std::int64_t i = 0; i < 60; ++i)
    many.push_back(i * i * 7 % 131);
  return {{},
          {0},
          {0, 0, 0},
          {5},
          {0, 6, 0},
          {1, 0, 7, 3},
          many,
          {packed - 1, packed, packed + 1, 1, packed + 1, 2},
          {packed / 8, 2, packed / 8 + 1, packed / 16},  // of 8 blocks and of 16
          Counts(static_cast<std::size_t>(2 * most / packed + 1), packed),
          {3, 4 * packed, 0, 3, 2 * packed, 1, packed / 2}};
}

class Lists : public testing::TestWithParam<Collective> {
 protected:
  Communicator comm_{MPI_COMM_WORLD};
};

TEST_P(Lists, GiveTheResultsOfTheOrdinaryCalls) {
  for (const Counts& counts : lists())
    for (const Place place : places)
      for (int way = 0; way < ways; ++way)
        expect_right({GetParam(), counts, place, static_cast<Way>(way), Rank{world_size() - 1}}, comm_);
}

TEST_P(Lists, LeaveTheCommunicatorUsableForAnyOtherCall) {
  for (int again = 0; again < 3; ++again) {
    expect_right({GetParam(), {1, 2, 3, 4 * packed}}, comm_);
    expect_works(comm_);
  }
}

TEST_P(Lists, OfManyUnderWayAtOnce) {
  const Counts counts{9, 1, 2 * packed, 30, packed};
  const ListTrial trial{GetParam(), counts, Place::separate};
  constexpr int requests = 20;
  std::vector<Rooms> rooms(requests, rooms_of(trial, comm_));
  std::vector<Request> under_way;
  for (Rooms& its : rooms) {
    std::vector<ListedBuffer> list;
    for (Room& room : its)
      list.push_back(room.buffer());
    under_way.push_back(detail::start({"list", GetParam(), list, Type::int64, Op::sum}, comm_, {}));
  }
  while (!under_way.empty()) {  // in another order than they were started; some by their end
    if (under_way.size() % 2 == 0) under_way.back().wait();
    under_way.pop_back();
  }
  for (const Rooms& its : rooms)
    expect_those_of_ordinary_calls(trial, its, comm_);
}

INSTANTIATE_TEST_SUITE_P(All, Lists,
                         testing::Values(Collective::allreduce, Collective::broadcast, Collective::allgather,
                                         Collective::reduce_scatter),
                         [](const auto& info) { return std::string{to_string(info.param)}; });

// ---- What is packed

/// What a call adds to a counter.
template <class Do>
std::uint64_t counted(const Communicator& comm, const char* name, const Do& act) {
  const std::uint64_t before = comm.counters().at(name);
  act();
  return comm.counters().at(name) - before;
}

class Packing : public testing::Test {
 protected:
  /// Buffers with a gap between them, so that they do not lie one after the other.
  std::vector<std::span<Element>> apart(const Counts& counts) {
    memory_.assign(
        static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0})) + counts.size(), 1);
    std::vector<std::span<Element>> buffers;
    Element* next = memory_.data();
    for (const std::int64_t count : counts) {
      buffers.emplace_back(next, static_cast<std::size_t>(count));
      next += count + 1;
    }
    return buffers;
  }
  void expect_packed(const Counts& counts, std::uint64_t calls, std::uint64_t buffers) {
    const auto list = apart(counts);
    const Counters before = comm_.counters();
    allreduce_list(list, Op::sum, comm_);
    EXPECT_EQ(comm_.counters().at("calls.packed") - before.at("calls.packed"), calls);
    EXPECT_EQ(comm_.counters().at("calls.packed_buffers") - before.at("calls.packed_buffers"), buffers);
    for (const auto& buffer : list)
      for (const Element element : buffer)
        EXPECT_EQ(element, comm_.size());
    for (std::size_t i = 0, at = 0; i < counts.size(); ++i, ++at)
      EXPECT_EQ(memory_[at += static_cast<std::size_t>(counts[i])], 1) << "the gap behind buffer " << i;
  }
  Communicator comm_{MPI_COMM_WORLD};
  std::vector<Element> memory_{};
};

TEST_F(Packing, OfShortBuffers) {
  expect_packed(Counts(100, 16), 1, 100);
  expect_packed({16, 0, 16}, 1, 2);
  expect_packed({packed, packed}, 1, 2);
}

TEST_F(Packing, LeavesOneBufferAloneAndLongOnesWhereTheyAre) {
  expect_packed({}, 0, 0);
  expect_packed({16}, 0, 0);
  expect_packed({0, 16, 0}, 0, 0);
  expect_packed({packed + 1, packed + 1}, 0, 0);
  expect_packed({packed + 1, 3, packed + 1}, 0, 0);
  expect_packed({packed + 1, 3, packed + 1, 3}, 1, 2);
}

TEST_F(Packing, BeginsAnewWhereACallIsFull) {
  const std::int64_t full = most / packed;
  expect_packed(Counts(static_cast<std::size_t>(full), packed), 1, static_cast<std::uint64_t>(full));
  expect_packed(Counts(static_cast<std::size_t>(2 * full + 1), packed), 2, static_cast<std::uint64_t>(2 * full));
}

TEST_F(Packing, CountsAllBlocks) {
  const std::int64_t block = packed / comm_.size();
  std::vector<std::vector<Element>> buffers(2, std::vector<Element>(static_cast<std::size_t>(block * comm_.size())));
  const auto gather = [&] { allgather_list(buffers, comm_); };
  const auto reduce = [&] { reduce_scatter_list(buffers, Op::sum, comm_); };
  EXPECT_EQ(counted(comm_, "calls.packed", gather), 1U);
  EXPECT_EQ(counted(comm_, "calls.packed", reduce), 1U);
  for (auto& buffer : buffers)
    buffer.resize(static_cast<std::size_t>((block + 1) * comm_.size()));
  EXPECT_EQ(counted(comm_, "calls.packed", gather), 0U);
  EXPECT_EQ(counted(comm_, "calls.packed", reduce), 0U);
}

TEST_F(Packing, IsNotNeededWhereBuffersLieOneAfterTheOther) {
  std::vector<Element> memory(300, 1);
  const std::array<std::span<Element>, 3> list{std::span{memory}.first(100), std::span{memory}.subspan(100, 50),
                                               std::span{memory}.subspan(150)};
  EXPECT_EQ(counted(comm_, "calls.packed", [&] { allreduce_list(list, Op::sum, comm_); }), 0U);
  EXPECT_EQ(memory, std::vector<Element>(300, comm_.size()));
  EXPECT_EQ(counted(comm_, "calls.packed", [&] { broadcast_list(list, Rank{0}, comm_); }), 0U);
  // Other ranks pack the same list.
  const auto mixed =
      world_rank() % 2 == 0 ? std::vector<std::span<Element>>{list.begin(), list.end()} : apart({100, 50, 150});
  memory.assign(300, 1);
  allreduce_list(mixed, Op::sum, comm_);
  for (const auto& buffer : mixed)
    EXPECT_EQ(std::ranges::count(buffer, Element{comm_.size()}), static_cast<std::ptrdiff_t>(buffer.size()));
}

TEST_F(Packing, SendsTheMessagesOfOneCall) {
  const auto list = apart(Counts(100, 16));
  std::vector<Element> whole(1600, 1);
  const std::uint64_t sent = counted(comm_, "shm.sent", [&] { allreduce(whole, Op::sum, comm_); });
  EXPECT_EQ(counted(comm_, "shm.sent", [&] { allreduce_list(list, Op::sum, comm_); }), sent);
}

TEST_F(Packing, IsExplained) {
  const auto list = apart({16, 16, packed + 1});
  const Plan plan = plan_allreduce_list(list, Op::sum, comm_);
  EXPECT_EQ(plan.explain().find("2 buffers, packed: allreduce of 32 elements of int64"), 0U) << plan.explain();
  EXPECT_NE(plan.explain().find("\n1 buffer: allreduce of " + std::to_string(packed + 1)), std::string::npos);
  EXPECT_FALSE(plan.algorithm().empty());
}

// ---- The calls on ranges

TEST(ListsOfRanges, AreInPlace) {
  const Communicator comm{MPI_COMM_WORLD};
  const auto size = static_cast<std::size_t>(comm.size()), rank = static_cast<std::size_t>(comm.rank().value());
  std::vector<std::vector<float>> numbers{{1, 2}, {}, {3}};
  const auto sum = static_cast<float>(size);
  allreduce_list(numbers, Op::sum, comm);
  EXPECT_EQ(numbers, (std::vector<std::vector<float>>{{sum, 2 * sum}, {}, {3 * sum}}));
  int a = comm.rank().value() + 1, b = 7;
  allreduce_list_async(std::array{std::span{&a, 1}, std::span{&b, 1}}, Op::max, comm).wait();
  EXPECT_EQ(a, comm.size());
  EXPECT_EQ(b, 7);
  a = b = comm.rank().value();
  broadcast_list(std::vector{std::span{&a, 1}, std::span{&b, 1}}, Rank{comm.size() - 1}, comm);
  EXPECT_EQ(a + b, 2 * (comm.size() - 1));
  std::vector<std::vector<int>> blocks{std::vector<int>(size), std::vector<int>(2 * size)};
  blocks[0][rank] = blocks[1][2 * rank] = blocks[1][2 * rank + 1] = comm.rank().value() + 1;
  Plan plan = plan_allgather_list(blocks, comm);
  plan.start();
  plan.wait();
  for (std::size_t i = 0; i < 2 * size; ++i)
    EXPECT_EQ(blocks[1][i], static_cast<int>(i / 2) + 1);
  reduce_scatter_list(blocks, Op::sum, comm);
  EXPECT_EQ(blocks[0][0], comm.size() * (comm.rank().value() + 1));
}

// ---- Errors

class RefusedLists : public testing::Test {
 protected:
  void expect_refused(const std::vector<ListedBuffer>& list, std::initializer_list<std::string> parts) {
    const std::uint64_t sent = comm_.counters().at("shm.sent");
    expect_throw<ArgumentError>([&] { allreduce_list(list, Type::fp64, Op::sum, comm_); }, parts);
    expect_throw<ArgumentError>([&] { (void)allreduce_list_async(list, Type::fp64, Op::sum, comm_); }, parts);
    expect_throw<ArgumentError>([&] { (void)plan_allreduce_list(list, Type::fp64, Op::sum, comm_); }, parts);
    EXPECT_EQ(comm_.counters().at("shm.sent"), sent);
    expect_works(comm_);
  }
  [[nodiscard]] ListedBuffer at(std::size_t first, std::int64_t count) {
    return {&memory_[first], &memory_[first], Count{count}};
  }
  Communicator comm_{MPI_COMM_WORLD};
  std::vector<double> memory_ = std::vector<double>(100);
  std::string rank_ = "on rank " + std::to_string(world_rank());
};

TEST_F(RefusedLists, NameTheBuffer) {
  expect_refused({at(0, 3), {&memory_[9], nullptr, Count{3}}, at(20, 1)},
                 {"tutti::allreduce_list, buffer 1 of 3", rank_, "'out'", "null with count 3", "memory of count"});
  expect_refused({at(0, 3), at(20, -1)}, {"buffer 1 of 2", rank_, "'count'", "-1", "0 to"});
  expect_refused({at(0, 3), {&memory_[9], &memory_[10], Count{3}}}, {"buffer 1 of 2", rank_, "overlapping it partly"});
}

TEST_F(RefusedLists, OutputsThatShareMemory) {
  expect_refused({at(0, 3), at(50, 9), at(2, 3)}, {"'buffers'", "outputs of buffers 0 and 2 share memory", rank_});
  expect_refused({at(2, 3), at(0, 3)}, {"outputs of buffers 0 and 1"});
  expect_refused({at(7, 3), at(7, 3)}, {"outputs of buffers 0 and 1"});
  expect_refused({{&memory_[10], &memory_[30], Count{5}}, at(14, 3)},
                 {"the output and the input of buffers 1 and 0 share memory", "apart from all other buffers"});
  std::vector<ListedBuffer> inputs{{&memory_[0], &memory_[30], Count{5}}, {&memory_[2], &memory_[40], Count{5}}};
  allreduce_list(inputs, Type::fp64, Op::sum, comm_);  // inputs may
}

TEST_F(RefusedLists, OtherArgumentsOfAnyList) {
  for (const std::vector<ListedBuffer>& list : {std::vector<ListedBuffer>{}, {at(0, 1), at(2, 1)}, {at(0, 1)}}) {
    expect_throw<ArgumentError>([&] { allreduce_list(list, Type::fp64, Op::bxor, comm_); }, {"'op'", rank_});
    expect_throw<ArgumentError>([&] { broadcast_list(list, Type::fp64, Rank{-1}, comm_); }, {"'root'", "-1", rank_});
    expect_throw<ArgumentError>([&] { allreduce_list(list, Type::fp64, Op::sum, comm_, {.algorithm = "no"}); },
                                {"'no'", rank_});
  }
  std::vector<float> odd(static_cast<std::size_t>(world_size() + 1));
  if (world_size() > 1)
    expect_throw<ArgumentError>([&] { allgather_list(std::array{std::span{odd}}, comm_); },
                                {"allgather_list", "'buffers[0]'", "a multiple of the", rank_});
  expect_works(comm_);
}

TEST_F(RefusedLists, OfClosedCommunicators) {
  Communicator closed{MPI_COMM_WORLD};
  const std::vector<ListedBuffer> list{at(0, 1), at(2, 1)};
  Plan plan = plan_allreduce_list(list, Type::fp64, Op::sum, closed);
  plan.start();
  plan.wait();
  { const Communicator gone = std::move(closed); }
  expect_throw<StateError>([&] { plan.start(); }, {});
}

TEST_F(RefusedLists, StartsOfPlansUnderWay) {
  const std::vector<ListedBuffer> list{at(0, 1), at(2, 1), at(20, 70)};
  Plan plan = plan_allreduce_list(list, Type::fp64, Op::sum, comm_);
  plan.start();
  expect_throw<StateError>([&] { plan.start(); }, {"still running"});
  plan.wait();
}

/// One call on each rank, of other sizes; and two calls under way where other ranks have one.
TEST_F(RefusedLists, ThatDifferBetweenRanks) {
  if (world_size() < 2) GTEST_SKIP() << "one rank alone always matches itself";
  memory_.resize(static_cast<std::size_t>(20 + 2 * packed));
  for (const std::int64_t other : {std::int64_t{11}, 2 * packed}) {
    const Communicator own{MPI_COMM_WORLD};
    const bool is_other = world_rank() == 1;
    // Once with the same total, which messages of MPI do not tell without the check of arguments.
    const bool is_told = std::getenv("TUTTI_TRANSPORT") == nullptr || std::getenv("TUTTI_CHECK") != nullptr;
    const std::int64_t first = is_other && other == 11 && is_told ? 9 : 10;
    const std::vector<ListedBuffer> list{at(0, first), at(20, is_other ? other : 10)};
    std::string told;
    for (int calls = 0; calls < 3 && told.empty(); ++calls) {  // a rank whose own call could end learns it in the next
      try {
        allreduce_list(list, Type::fp64, Op::sum, own);
      } catch (const MismatchError& error) {
        told = error.what();
      }
    }
    EXPECT_NE(told.find("allreduce"), std::string::npos) << told;
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

}  // namespace
}  // namespace tutti::test
