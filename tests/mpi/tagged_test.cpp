// Messages with tags, from a certain rank and from any.
#include <list>
#include <map>
#include <random>
#include <set>

#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

/// In the header, in one cell of shared memory, at once, announced.
constexpr std::array<std::size_t, 6> counts{0, 1, 5, 1000, 5000, 200'000};

class Tagged : public testing::Test {
 protected:
  [[nodiscard]] Rank at(int distance) const {
    return Rank{((world_rank() + distance) % world_size() + world_size()) % world_size()};
  }
  [[nodiscard]] bool is_last() const { return world_rank() == world_size() - 1; }
  Communicator comm_{MPI_COMM_WORLD};
};

TEST_F(Tagged, MeetTheirReceivesInAnyOrder) {
  std::vector<std::vector<std::int64_t>> mine, theirs;
  std::vector<Request> sends;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    mine.push_back(addends(counts[i], world_rank(), static_cast<int>(i)));
    theirs.emplace_back(counts[i] + 3, -1);  // room for more
    sends.push_back(send_async(std::span{mine[i]}, at(1), Tag{static_cast<int>(i)}, comm_));
  }
  for (std::size_t i = counts.size(); i-- > 0;) {
    const Received received = recv(std::span{theirs[i]}, at(-1), Tag{static_cast<int>(i)}, comm_);
    EXPECT_EQ(received.source, at(-1));
    EXPECT_EQ(received.tag, Tag{static_cast<int>(i)});
    EXPECT_EQ(received.count, Count{counts[i]});
    std::vector<std::int64_t> expected = addends(counts[i], at(-1).value(), static_cast<int>(i));
    expected.resize(counts[i] + 3, -1);
    EXPECT_EQ(theirs[i], expected) << i;
  }
  for (Request& send : sends)
    send.wait();
}

TEST_F(Tagged, ComeFromAnyRank) {
  for (const std::size_t count : counts) {
    const int copies = 3;
    std::vector<std::int64_t> mine(count, world_rank());
    std::vector<Request> sends;
    if (!is_last())
      for (int i = 0; i < copies; ++i)
        sends.push_back(send_async(std::span{mine}, Rank{world_size() - 1}, Tag{100 + i}, comm_));
    std::map<int, int> next;  // by rank: its messages come in order
    for (int i = 0; is_last() && i < copies * (world_size() - 1); ++i) {
      std::vector<std::int64_t> theirs(count);
      const Received received = recv(std::span{theirs}, any_source, any_tag, comm_);
      EXPECT_EQ(received.tag, Tag{100 + next[received.source.value()]++});
      EXPECT_EQ(theirs, std::vector<std::int64_t>(count, received.source.value()));
    }
    for (Request& send : sends)
      send.wait();
    barrier(comm_);
  }
}

/// Short and long messages of one tag in turn, received before and after they come.
TEST_F(Tagged, OfOneTagKeepTheirOrder) {
  constexpr std::size_t messages = 60;
  std::vector<std::vector<std::int64_t>> mine, theirs;
  std::vector<Received> received(messages);
  std::vector<Request> requests;
  const auto size = [](std::size_t i) { return counts[1 + i % 4]; };
  for (std::size_t i = 0; i < messages; ++i) {
    mine.push_back(addends(size(i), world_rank(), static_cast<int>(i)));
    theirs.emplace_back(counts[4]);
  }
  for (std::size_t i = 0; i < messages / 2; ++i)
    requests.push_back(recv_async(std::span{theirs[i]}, i % 2 == 0 ? at(-1) : any_source, Tag{7}, comm_, &received[i]));
  for (std::size_t i = 0; i < messages; ++i)
    requests.push_back(send_async(std::span{mine[i]}, at(1), Tag{7}, comm_));
  for (std::size_t i = messages / 2; i < messages; ++i)
    received[i] = recv(std::span{theirs[i]}, at(-1), any_tag, comm_);
  for (Request& request : requests)
    request.wait();
  for (std::size_t i = 0; i < messages; ++i) {
    ASSERT_EQ(received[i].count, Count{size(i)}) << i;
    theirs[i].resize(size(i));
    EXPECT_EQ(theirs[i], addends(size(i), at(-1).value(), static_cast<int>(i))) << i;
  }
}

TEST_F(Tagged, GoToTheRankItself) {
  for (const std::size_t count : counts) {
    const std::vector<std::int64_t> mine = addends(count, world_rank(), 5);
    std::vector<std::int64_t> early(count), late(count);
    Request first = recv_async(std::span{early}, comm_.rank(), Tag{1}, comm_);
    Request one = send_async(std::span{mine}, comm_.rank(), Tag{1}, comm_);
    Request two = send_async(std::span{mine}, comm_.rank(), Tag{2}, comm_);
    EXPECT_EQ(recv(std::span{late}, any_source, Tag{2}, comm_).source, comm_.rank());
    first.wait();
    one.wait();
    two.wait();
    EXPECT_EQ(early, mine);
    EXPECT_EQ(late, mine);
  }
}

TEST_F(Tagged, TooLongForTheirReceiveAreLostAlone) {
  for (const std::size_t count : {std::size_t{4}, std::size_t{900}, std::size_t{100'000}}) {
    for (const bool is_early : {false, true}) {
      const std::vector<std::int64_t> mine(count, 1);
      std::vector<std::int64_t> room(count - 1, -1);
      Request early, send;
      Received received;
      if (is_early) early = recv_async(std::span{room}, at(-1), Tag{3}, comm_, &received);
      barrier(comm_);
      send = send_async(std::span{mine}, at(1), Tag{3}, comm_);
      if (!is_early) early = recv_async(std::span{room}, at(-1), Tag{3}, comm_, &received);
      try {
        early.wait();
        ADD_FAILURE() << "no error";
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("room for " + std::to_string(8 * (count - 1)) + " bytes"));
      }
      send.wait();
      EXPECT_EQ(received.count, Count{count});
      EXPECT_EQ(room, std::vector<std::int64_t>(count - 1, -1));
      EXPECT_EQ(comm_.status(), "");
    }
  }
  std::int64_t sum = 1;
  allreduce(sum, Op::sum, comm_);
  EXPECT_EQ(sum, world_size());
}

/// Messages with tags, without, and collectives at the same time do not meet.
TEST_F(Tagged, AreApartFromAllElse) {
  for (const std::size_t count : {std::size_t{3}, std::size_t{3000}, std::size_t{40'000}}) {
    const std::vector<std::int64_t> tagged(count, 10 + world_rank()), plain(count, 20 + world_rank());
    std::vector<std::int64_t> got_tagged(count), got_plain(count), sum(count, 1);
    Received received;
    Batch batch{comm_};
    batch.recv(std::span{got_tagged}, any_source, any_tag, &received);
    batch.send(std::span{plain}, at(1));
    batch.send(std::span{tagged}, at(1), Tag{9});
    batch.recv(std::span{got_plain}, at(-1));
    Request both = batch.start();
    Request reduction = allreduce_async(std::span{sum}, Op::sum, comm_);
    both.wait();
    reduction.wait();
    EXPECT_EQ(got_tagged, std::vector<std::int64_t>(count, 10 + at(-1).value()));
    EXPECT_EQ(got_plain, std::vector<std::int64_t>(count, 20 + at(-1).value()));
    EXPECT_EQ(sum, std::vector<std::int64_t>(count, world_size()));
    EXPECT_EQ(received.source, at(-1));
    batch.run();  // again
    EXPECT_THROW(static_cast<void>(batch.plan()), ArgumentError);
  }
}

TEST_F(Tagged, ReceivesThatNothingMetAreTakenBack) {
  std::vector<std::int64_t> unused(2, -1), data(2);
  Request never = recv_async(std::span{unused}, any_source, Tag{11}, comm_);
  Request neither = recv_async(std::span{unused}, at(-1), any_tag, comm_);
  EXPECT_FALSE(never.wait_for(std::chrono::milliseconds{2}));
  EXPECT_TRUE(never.cancel());
  EXPECT_TRUE(neither.cancel());
  EXPECT_TRUE(never.test());
  barrier(comm_);
  const std::vector<std::int64_t> mine(2, world_rank());
  Request send = send_async(std::span{mine}, at(1), Tag{11}, comm_);
  Request met = recv_async(std::span{data}, at(-1), Tag{11}, comm_);
  met.wait();
  EXPECT_TRUE(met.cancel());  // there is nothing to take back
  send.wait();
  EXPECT_EQ(data, std::vector<std::int64_t>(2, at(-1).value()));
  EXPECT_EQ(unused, std::vector<std::int64_t>(2, -1));
  std::int64_t one = 1;
  Request collective = allreduce_async(one, Op::max, comm_);
  if (world_size() > 1) {
    EXPECT_FALSE(collective.test() ? false : collective.cancel());
  }
  collective.wait();
}

/// Receives that were posted and taken back, or never met, do not keep a communicator from its end.
TEST_F(Tagged, ACommunicatorEndsWithReceivesPosted) {
  for (int i = 0; i < 40; ++i) {
    Communicator comm{MPI_COMM_WORLD};
    std::int64_t data = -1;
    Request never = recv_async(data, any_source, any_tag, comm);
    EXPECT_TRUE(never.cancel());
  }
}

TEST_F(Tagged, FromNobodyAreNone) {
  std::int64_t data = 7;
  const Rank nobody{MPI_PROC_NULL};
  send(data, nobody, Tag{1}, comm_);
  const Received received = recv(data, nobody, Tag{1}, comm_);
  EXPECT_EQ(received.source, nobody);
  EXPECT_EQ(received.tag, any_tag);
  EXPECT_EQ(received.count, Count{0});
  EXPECT_EQ(data, 7);
}

TEST_F(Tagged, WrongArgumentsAreNamed) {
  std::int64_t data = 0;
  const auto text_of = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const ArgumentError& error) {
      return error.what();
    }
    return "no error";
  };
  using testing::HasSubstr;
  const std::string rank = " on rank " + std::to_string(world_rank()) + ": ";
  EXPECT_THAT(text_of([&] { send(data, at(1), Tag{-5}, comm_); }),
              HasSubstr("tutti::send" + rank + "argument 'tag' is -5; allowed: 0 to 2147483647"));
  EXPECT_THAT(text_of([&] { send(data, at(1), any_tag, comm_); }), HasSubstr("argument 'tag' is"));
  EXPECT_THAT(text_of([&] { static_cast<void>(recv(data, at(1), Tag{-77}, comm_)); }), HasSubstr("or any_tag"));
  EXPECT_THAT(text_of([&] { send(data, Rank{world_size()}, Tag{1}, comm_); }), HasSubstr("argument 'to' is"));
  EXPECT_THAT(text_of([&] { static_cast<void>(recv(data, Rank{-99}, Tag{1}, comm_)); }),
              HasSubstr("argument 'from' is"));
  EXPECT_THAT(text_of([&] { send(nullptr, Count{1}, Type::int8, at(1), Tag{1}, comm_); }),
              HasSubstr("argument 'data'"));
}

/// All to all, of random sizes and tags, in the order of a seed. Of two tags, receives are from any rank.
TEST_F(Tagged, PassInRandomPatterns) {
  struct Planned {
    int from, to, tag;
    std::size_t count;
    [[nodiscard]] std::int64_t value() const { return 100'000 * from + 10 * static_cast<std::int64_t>(count) + tag; }
  };
  struct Expected {
    Received received{};
    std::vector<std::int64_t> data = std::vector<std::int64_t>(counts[4], -1);
  };
  for (unsigned seed = 0; seed < 6; ++seed) {
    std::mt19937 random{seed}, own{seed * 1000 + static_cast<unsigned>(world_rank())};
    const auto below = [&](int end) { return static_cast<int>(random() % static_cast<unsigned>(end)); };
    std::vector<Planned> all;
    for (int i = 0; i < 30 * world_size(); ++i)
      all.push_back({below(world_size()), below(world_size()), below(4), counts[static_cast<std::size_t>(below(5))]});
    std::list<std::vector<std::int64_t>> sent;
    std::map<std::pair<int, int>, std::list<Expected>> got;  // by source, -1 for any, and tag
    std::vector<Request> requests;
    for (const Planned& each : all) {
      if (each.to == world_rank()) {
        const int source = each.tag < 2 ? -1 : each.from;
        Expected& into = got[{source, each.tag}].emplace_back();
        requests.push_back(recv_async(std::span{into.data}, source < 0 ? any_source : Rank{source}, Tag{each.tag},
                                      comm_, &into.received));
      }
      if (each.from == world_rank()) {
        sent.emplace_back(each.count, each.value());
        requests.push_back(send_async(std::span{sent.back()}, Rank{each.to}, Tag{each.tag}, comm_));
      }
      if (own() % 3 == 0) static_cast<void>(requests.empty() || requests.back().wait_for(std::chrono::microseconds{1}));
    }
    for (Request& request : requests)
      request.wait();
    std::multiset<std::int64_t> expected, found;
    for (const Planned& each : all)
      if (each.to == world_rank()) {
        expected.insert(each.value());
        if (each.tag < 2) continue;
        std::list<Expected>& of_pair = got[{each.from, each.tag}];
        EXPECT_EQ(of_pair.front().received.count, Count{each.count});  // in their order
        of_pair.splice(of_pair.end(), of_pair, of_pair.begin());
      }
    for (const auto& [from, messages] : got)
      for (const Expected& message : messages) {
        const auto count = static_cast<std::size_t>(message.received.count.value());
        const Planned of{message.received.source.value(), world_rank(), message.received.tag.value(), count};
        found.insert(of.value());
        const std::vector<std::int64_t> head(message.data.begin(),
                                             message.data.begin() + static_cast<std::ptrdiff_t>(count));
        EXPECT_EQ(head, std::vector<std::int64_t>(count, of.value()));
      }
    EXPECT_EQ(found, expected);
    barrier(comm_);  // a receive from any rank would take a message of the next pattern
  }
}

}  // namespace
}  // namespace tutti::test
