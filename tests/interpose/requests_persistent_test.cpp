// Persistent collectives (MPI 4), started several times with new data, among persistent messages.
#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "tests/interpose/handled.hpp"
#include "tests/interpose/works.hpp"

namespace tutti::test {
namespace {

/// A block for each rank, of as many integers as its rank and one.
struct Blocks {
  std::vector<int> counts, places, bytes;
  std::vector<MPI_Datatype> types;

  Blocks() : counts(ranks()), places(ranks()), bytes(ranks()), types(ranks(), MPI_INT) {
    std::iota(counts.begin(), counts.end(), 1);
    std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = places[i] * static_cast<int>(sizeof(int));
  }
  static std::size_t ranks() { return static_cast<std::size_t>(size_of()); }
};

struct Collective {
  std::string name;
  std::function<void(int*, int*, MPI_Request*)> make;
  std::function<void(int*, int*)> call;  ///< The call, blocking, by MPI.
};

constexpr int n = 6;

/// `arguments` are those between the name and the request. By `NAME_init` and PMPI_NAME.
#define TUTTI_TEST_BOTH(name, ...)                                                                       \
  Collective {                                                                                           \
#name, [=](int* in, int* out, MPI_Request* request) {                                                  \
      static_cast<void>(in), static_cast<void>(out);                                                       \
      MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, request);                                              \
    },                                                                                                     \
        [=](int* in, int* out) { static_cast<void>(in), static_cast<void>(out), PMPI_##name(__VA_ARGS__); } \
  }

/// `blocks` and `same` live as long as the calls.
std::vector<Collective> collectives(const Blocks& blocks, const Blocks& same) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  const int last = size_of() - 1, mine = rank_in() + 1;
  const auto *counts = blocks.counts.data(), *places = blocks.places.data();
  const auto *sames = same.counts.data(), *at = same.places.data(), *bytes = same.bytes.data();
  const auto* types = same.types.data();
  return {TUTTI_TEST_BOTH(Barrier, comm),
          TUTTI_TEST_BOTH(Bcast, out, n, MPI_INT, last, comm),
          TUTTI_TEST_BOTH(Reduce, in, out, n, MPI_INT, MPI_SUM, last, comm),
          TUTTI_TEST_BOTH(Allreduce, in, out, n, MPI_INT, MPI_MAX, comm),
          TUTTI_TEST_BOTH(Allreduce, MPI_IN_PLACE, out, n, MPI_INT, MPI_SUM, comm),
          TUTTI_TEST_BOTH(Scan, in, out, n, MPI_INT, MPI_SUM, comm),
          TUTTI_TEST_BOTH(Exscan, in, out, n, MPI_INT, MPI_SUM, comm),
          TUTTI_TEST_BOTH(Reduce_scatter_block, in, out, n, MPI_INT, MPI_SUM, comm),
          TUTTI_TEST_BOTH(Reduce_scatter, in, out, counts, MPI_INT, MPI_SUM, comm),
          TUTTI_TEST_BOTH(Allgather, in, n, MPI_INT, out, n, MPI_INT, comm),
          TUTTI_TEST_BOTH(Allgatherv, in, mine, MPI_INT, out, counts, places, MPI_INT, comm),
          TUTTI_TEST_BOTH(Gather, in, n, MPI_INT, out, n, MPI_INT, last, comm),
          TUTTI_TEST_BOTH(Gatherv, in, mine, MPI_INT, out, counts, places, MPI_INT, last, comm),
          TUTTI_TEST_BOTH(Scatter, in, n, MPI_INT, out, n, MPI_INT, last, comm),
          TUTTI_TEST_BOTH(Scatterv, in, counts, places, MPI_INT, out, mine, MPI_INT, last, comm),
          TUTTI_TEST_BOTH(Alltoall, in, n, MPI_INT, out, n, MPI_INT, comm),
          TUTTI_TEST_BOTH(Alltoallv, in, sames, at, MPI_INT, out, sames, at, MPI_INT, comm),
          TUTTI_TEST_BOTH(Alltoallw, in, sames, bytes, types, out, sames, bytes, types, comm)};
}

std::vector<int> values(int seed) {
  std::vector<int> all(64);
  std::iota(all.begin(), all.end(), 1000 * seed + 100 * rank_in());
  return all;
}

/// Blocks of three integers.
Blocks equal_blocks() {
  Blocks blocks;
  for (std::size_t i = 0; i < Blocks::ranks(); ++i) {
    blocks.counts[i] = 3;
    blocks.places[i] = 4 * static_cast<int>(i);
    blocks.bytes[i] = 4 * blocks.places[i];
  }
  return blocks;
}

TEST(Persistent, GiveEachTimeWhatTheBlockingCallGives) {
  const Blocks blocks, same = equal_blocks();
  for (const Collective& collective : collectives(blocks, same)) {
    SCOPED_TRACE(collective.name);
    std::vector<int> in(64), out(64), expected_in(64), expected_out(64);
    MPI_Request request = MPI_REQUEST_NULL;
    collective.make(in.data(), out.data(), &request);
    const MPI_Request made = request;
    for (int round = 1; round <= 4; ++round) {
      in = expected_in = values(round);
      out = expected_out = values(-round);
      EXPECT_EQ(round % 2 == 0 ? MPI_Start(&request) : MPI_Startall(1, &request), MPI_SUCCESS);
      int flag = 0;
      while (round > 2 && flag == 0)
        EXPECT_EQ(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
      EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
      collective.call(expected_in.data(), expected_out.data());
      EXPECT_EQ(out, expected_out);
      EXPECT_EQ(in, expected_in);
      EXPECT_EQ(request, made);
    }
    EXPECT_EQ(MPI_Request_free(&request), MPI_SUCCESS);
    EXPECT_EQ(request, MPI_REQUEST_NULL);
  }
}

/// All collectives, a message to the next rank, and no request.
class Several {
 public:
  Several() {
    for (std::size_t i = 0; i < all_.size(); ++i)
      all_[i].make(in_[i].data(), out_[i].data(), &requests_[i]);
    MPI_Send_init(&sent_, 1, MPI_INT, (rank_in() + 1) % size_of(), 9, MPI_COMM_WORLD, &requests_[all_.size()]);
    MPI_Recv_init(&received_, 1, MPI_INT, left_, 9, MPI_COMM_WORLD, &requests_[all_.size() + 1]);
    made_ = requests_;
  }
  Several(const Several&) = delete;
  Several& operator=(const Several&) = delete;
  ~Several() {
    for (std::size_t i = 0; i < active(); ++i)
      EXPECT_EQ(MPI_Request_free(&requests_[i]), MPI_SUCCESS);
  }
  /// The number of requests that are not null.
  [[nodiscard]] std::size_t active() const { return all_.size() + 2; }
  [[nodiscard]] int count() const { return static_cast<int>(requests_.size()); }
  [[nodiscard]] MPI_Request* requests() { return requests_.data(); }

  void start(int round) {
    round_ = round;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      std::ranges::copy(values(round), in_[i].begin());  // the buffers stay where they are
      std::ranges::copy(values(-round), out_[i].begin());
    }
    sent_ = round * 10 + rank_in();
    EXPECT_EQ(MPI_Startall(static_cast<int>(active()), requests_.data()), MPI_SUCCESS);
  }
  void expect_status(int index, const MPI_Status& status) const {
    EXPECT_TRUE(index != static_cast<int>(active()) - 1 || status.MPI_SOURCE == left_);
  }
  void expect_over() {
    int index = 0, done = 0;
    std::vector<int> indices(requests_.size());
    EXPECT_EQ(MPI_Waitany(count(), requests(), &index, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(index, MPI_UNDEFINED);
    EXPECT_EQ(MPI_Testsome(count(), requests(), &done, indices.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(done, MPI_UNDEFINED);
    for (std::size_t i = 0; i < all_.size(); ++i) {
      std::vector<int> in = values(round_), out = values(-round_);
      all_[i].call(in.data(), out.data());
      EXPECT_EQ(out_[i], out) << all_[i].name;
    }
    EXPECT_EQ(received_, round_ * 10 + left_);
    EXPECT_EQ(requests_, made_);
  }

 private:
  Blocks blocks_, same_ = equal_blocks();
  std::vector<Collective> all_ = collectives(blocks_, same_);
  std::vector<std::vector<int>> in_{all_.size(), std::vector<int>(64)}, out_ = in_;
  std::vector<MPI_Request> requests_ = std::vector<MPI_Request>(all_.size() + 3, MPI_REQUEST_NULL), made_;
  int left_ = (rank_in() + size_of() - 1) % size_of(), round_ = 0, sent_ = 0, received_ = 0;
};

TEST(Persistent, AreCompletedTogether) {
  Several several;
  for (int round = 1; round <= 3; ++round) {
    several.start(round);
    EXPECT_EQ(MPI_Waitall(several.count(), several.requests(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
    several.expect_over();
  }
}

TEST(Persistent, AreCompletedOneByOne) {
  Several several;
  for (int round = 1; round <= 3; ++round) {
    several.start(round);
    std::vector<bool> seen(several.active(), false);
    for (std::size_t times = 0; times < several.active(); ++times) {
      int index = -1;
      MPI_Status status{};
      EXPECT_EQ(MPI_Waitany(several.count(), several.requests(), &index, &status), MPI_SUCCESS);
      ASSERT_GE(index, 0);
      ASSERT_LT(index, static_cast<int>(several.active()));
      EXPECT_FALSE(seen[static_cast<std::size_t>(index)]);
      seen[static_cast<std::size_t>(index)] = true;
      several.expect_status(index, status);
    }
    several.expect_over();
  }
}

TEST(Persistent, AreNotStartedTwiceOrFreedWhileActive) {
  const NotingComm comm;
  const int one = 1;
  int sum = 0, flag = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, comm.get(), MPI_INFO_NULL, &request);
  EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS) << "though it is inactive";
  EXPECT_EQ(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_NE(flag, 0);
  EXPECT_EQ(MPI_Start(&request), MPI_SUCCESS);
  EXPECT_EQ(class_of(MPI_Start(&request)), MPI_ERR_REQUEST);
  EXPECT_EQ(class_of(MPI_Request_free(&request)), MPI_ERR_REQUEST);
  EXPECT_EQ(class_of(MPI_Cancel(&request)), MPI_ERR_REQUEST);
  EXPECT_EQ(handled.times, 3);
  EXPECT_EQ(handled.comm, comm.get());
  EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(sum, size_of());
  EXPECT_EQ(MPI_Request_free(&request), MPI_SUCCESS);
  EXPECT_TRUE(works(comm.get()));
}

TEST(Persistent, OutliveTheirTypeAndCommunicator) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Datatype apart = MPI_DATATYPE_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Type_vector(2, 1, 2, MPI_INT, &apart);
  MPI_Type_commit(&apart);
  std::array<int, 4> data{};
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Bcast_init(data.data(), 1, apart, 0, comm, MPI_INFO_NULL, &request);
  MPI_Type_free(&apart);
  MPI_Comm_free(&comm);
  for (int round = 1; round < 5; ++round) {
    data.fill(rank_in() == 0 ? round : 0);
    EXPECT_EQ(MPI_Start(&request), MPI_SUCCESS);
    EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(data[2], round);
  }
  EXPECT_EQ(MPI_Request_free(&request), MPI_SUCCESS);
}

/// Programs forget to: nothing may hang or crash when MPI is finalized.
TEST(Persistent, MayBeLeftBehind) {
  static std::array<int, 2> data{1, 0};
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Allreduce_init(data.data(), &data[1], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  EXPECT_EQ(MPI_Start(&request), MPI_SUCCESS);
  EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(data[1], size_of());
}

}  // namespace
}  // namespace tutti::test
