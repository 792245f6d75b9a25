// A nonblocking collective is over on a rank that waits for it, though the others do not wait for theirs yet.
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "tests/interpose/works.hpp"

namespace tutti::test {
namespace {

constexpr int tag = 3, message = 1 << 20U;

struct Busy {
  std::string name;
  /// What rank 0 does after its collective is over, and the others while theirs is pending.
  std::function<void()> first, others;
};

/// Each of the others waits for a message that rank 0 sends afterwards.
template <class Receive>
Busy receiving(const std::string& name, int size, const Receive& receive) {
  return {name,
          [size] {
            const std::vector<int> data(static_cast<std::size_t>(size), 1);
            for (int rank = 1; rank < size_of(); ++rank)
              MPI_Send(data.data(), size, MPI_INT, rank, tag, MPI_COMM_WORLD);
          },
          [size, receive] {
            std::vector<int> data(static_cast<std::size_t>(size));
            receive(data);
            EXPECT_EQ(data.back(), 1);
          }};
}

void receive(std::vector<int>& data) {
  MPI_Recv(data.data(), static_cast<int>(data.size()), MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
void receive_by_request(std::vector<int>& data) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(data.data(), static_cast<int>(data.size()), MPI_INT, 0, tag, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
void probe_and_receive(std::vector<int>& data) {
  MPI_Probe(0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  receive(data);
}

/// All ranks do the same, rank 0 later.
Busy joining(const std::string& name, const std::function<void()>& join) { return {name, join, join}; }

MPI_Comm other_comm() {
  static MPI_Comm comm = [] {
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Barrier(made);  // so that nonblocking calls are served
    return made;
  }();
  return comm;
}

// NOLINTNEXTLINE(readability-non-const-parameter): MPI's prototype has no const
void add(void* in, void* inout, int* /*length*/, MPI_Datatype* /*type*/) {
  *static_cast<int*>(inout) += *static_cast<int*>(in);
}

/// In memory that all ranks share.
std::atomic<int>& flag() {
  static auto* const shared = [] {
    void* memory = nullptr;
    MPI_Win window = MPI_WIN_NULL;
    const MPI_Aint bytes = rank_in() == 0 ? sizeof(std::atomic<int>) : 0;
    MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&memory), &window);
    MPI_Aint size = 0;
    int unit = 0;
    MPI_Win_shared_query(window, 0, &size, &unit, static_cast<void*>(&memory));
    return new (memory) std::atomic<int>;
  }();
  return *shared;
}

/// Without MPI, until rank 0 has its result.
void compute() {
  const auto begin = std::chrono::steady_clock::now();
  while (flag() == 0 && std::chrono::steady_clock::now() - begin < std::chrono::seconds{10})
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  EXPECT_EQ(flag(), 1) << "rank 0 has no result in ten seconds";
}

std::vector<Busy> ways_to_be_busy() {
  return {receiving("MPI_Recv", 1, receive),
          receiving("MPI_Recv of much", message, receive),
          receiving("MPI_Wait", 1, receive_by_request),
          receiving("MPI_Probe", 1, probe_and_receive),
          joining("a served barrier", [] { MPI_Barrier(other_comm()); }),
          joining("MPI's barrier", [] { PMPI_Barrier(other_comm()); }),
          joining("a passed collective",
                  [] {
                    MPI_Op op = MPI_OP_NULL;
                    MPI_Op_create(add, 1, &op);
                    int sum = 0;
                    const int one = 1;
                    MPI_Request request = MPI_REQUEST_NULL;
                    MPI_Iallreduce(&one, &sum, 1, MPI_INT, op, other_comm(), &request);
                    MPI_Wait(&request, MPI_STATUS_IGNORE);
                    EXPECT_EQ(sum, size_of());
                    MPI_Op_free(&op);
                  }),
          {"computing", [] { flag() = 1; }, compute}};
}

class Progress : public testing::TestWithParam<int> {};

/// Rank 0 could not go on, and with it the others, if they had to wait for their requests first.
TEST_P(Progress, WhileTheOthersAreBusy) {
  other_comm();
  for (const Busy& busy : ways_to_be_busy()) {
    SCOPED_TRACE(busy.name);
    const auto count = static_cast<std::size_t>(GetParam());
    std::vector<int> own(count, 1), sum(count);
    flag() = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(own.data(), sum.data(), GetParam(), MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    if (rank_in() != 0) busy.others();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank_in() == 0) busy.first();
    EXPECT_EQ(sum, std::vector<int>(count, size_of()));
  }
  EXPECT_TRUE(works(MPI_COMM_WORLD));
}
INSTANTIATE_TEST_SUITE_P(Lengths, Progress, testing::Values(1, 100, 20'000, 1 << 20U));

/// Rank 0's looks at its collective, which cannot be over yet, also move its message.
class Looks : public testing::Test {
 protected:
  template <class Look>
  static void move_a_message(const Look& look) {
    std::vector<int> data(message, rank_in());
    int flag = 0, sum = 0;
    const int one = 1;
    std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    if (rank_in() == 0 && size_of() > 1) MPI_Irecv(data.data(), message, MPI_INT, 1, tag, MPI_COMM_WORLD, &requests[1]);
    if (rank_in() == 1) MPI_Ssend(data.data(), message, MPI_INT, 0, tag, MPI_COMM_WORLD);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, requests.data());
    while (flag == 0)
      look(requests, flag);
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
    EXPECT_EQ(sum, size_of());
    EXPECT_EQ(data.back(), rank_in() == 0 && size_of() > 1 ? 1 : rank_in());
  }
};

TEST_F(Looks, OfTest) {
  move_a_message([](auto& requests, int& flag) { MPI_Test(requests.data(), &flag, MPI_STATUS_IGNORE); });
}
TEST_F(Looks, OfTestall) {
  move_a_message([](auto& requests, int& flag) { MPI_Testall(2, requests.data(), &flag, MPI_STATUSES_IGNORE); });
}
TEST_F(Looks, OfGetStatus) {
  move_a_message([](auto& requests, int& flag) { MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE); });
}
TEST_F(Looks, OfWait) {
  move_a_message([](auto& requests, int& flag) {
    MPI_Wait(requests.data(), MPI_STATUS_IGNORE);
    flag = 1;
  });
}

}  // namespace
}  // namespace tutti::test
