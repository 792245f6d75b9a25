// Collectives of lists of buffers: the results of the ordinary calls, however the buffers lie and however many are
// packed.
#include "tutti/lists.hpp"

#include <algorithm>
#include <array>
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

}  // namespace
}  // namespace tutti::test
