// Nonblocking collectives: first on their communicator, many at once, completed in any order and by any function.
#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "tests/interpose/verdicts/collectives.hpp"

namespace tutti::test {
namespace {

using Calls = std::vector<std::unique_ptr<Arguments>>;

/// A duplicate that has seen no call.
MPI_Comm fresh(MPI_Comm of) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(of, &comm);
  return comm;
}

void first_call(Check& check, Collective which) {
  MPI_Comm comm = fresh(check.comm);
  const auto a = std::make_unique<Arguments>(comm);
  check.result("first", waited(which, *a), a->received);
  const auto b = std::make_unique<Arguments>(comm);
  check.result("second", blocking(which, *b), b->received);
  check.works("later", comm);
  MPI_Comm_free(&comm);
}

/// Begins every collective some times.
std::vector<MPI_Request> begin_all(Check& check, Calls& calls, int rounds) {
  std::vector<MPI_Request> requests;
  for (int i = 0; i < rounds; ++i)
    for_all_collectives([&](Collective which) {
      calls.push_back(std::make_unique<Arguments>(check.comm));
      requests.push_back(MPI_REQUEST_NULL);
      if (const int code = begin(which, *calls.back(), &requests.back()); code != MPI_SUCCESS)
        check.code(name_of(which), code);
    });
  return requests;
}

void say_all(Check& check, const Calls& calls, const std::vector<MPI_Request>& requests) {
  std::string all;
  for (const auto& call : calls)
    all += call->received.hash() + ",";
  check.say("data", all);
  check.number("null", std::ranges::count(requests, MPI_REQUEST_NULL));
}

using Finish = void (*)(Check& check, std::vector<MPI_Request>& requests);

void many(Check& check, int rounds, Finish finish) {
  Calls calls;
  std::vector<MPI_Request> requests = begin_all(check, calls, rounds);
  finish(check, requests);
  say_all(check, calls, requests);
  check.works("later", check.comm);
}

void wait_in_order(Check& /*check*/, std::vector<MPI_Request>& requests) {
  for (MPI_Request& request : requests)
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}
void wait_backwards(Check& /*check*/, std::vector<MPI_Request>& requests) {
  for (auto request = requests.rbegin(); request != requests.rend(); ++request)
    MPI_Wait(&*request, MPI_STATUS_IGNORE);
}
/// Each rank in an order of its own.
void wait_in_any_order(Check& check, std::vector<MPI_Request>& requests) {
  const auto first = requests.begin() + check.rank * 5 % static_cast<std::ptrdiff_t>(requests.size());
  for (auto request = first; request != requests.end(); ++request)
    MPI_Wait(&*request, MPI_STATUS_IGNORE);
  wait_backwards(check, requests);
}
void wait_for_all(Check& check, std::vector<MPI_Request>& requests) {
  std::vector<MPI_Status> statuses(requests.size());
  check.code("waitall", MPI_Waitall(static_cast<int>(requests.size()), requests.data(), statuses.data()));
}
void wait_for_any(Check& check, std::vector<MPI_Request>& requests) {
  const int count = static_cast<int>(requests.size());
  int index = 0, found = 0;
  while (MPI_Waitany(count, requests.data(), &index, MPI_STATUS_IGNORE) == MPI_SUCCESS && index != MPI_UNDEFINED)
    ++found;
  check.number("found", found);
}
void wait_for_some(Check& check, std::vector<MPI_Request>& requests) {
  const int count = static_cast<int>(requests.size());
  std::vector<int> indices(requests.size());
  int done = 0, found = 0;
  while (MPI_Waitsome(count, requests.data(), &done, indices.data(), MPI_STATUSES_IGNORE) == MPI_SUCCESS &&
         done != MPI_UNDEFINED)
    found += done;
  check.number("found", found);
}
void test_all(Check& /*check*/, std::vector<MPI_Request>& requests) {
  int flag = 0;
  while (flag == 0)
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &flag, MPI_STATUSES_IGNORE);
}
void look_then_wait(Check& check, std::vector<MPI_Request>& requests) {
  for (MPI_Request& request : requests) {
    int flag = 0;
    while (flag == 0)
      MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
  }
  wait_for_all(check, requests);
}
void block_then_wait(Check& check, std::vector<MPI_Request>& requests) {
  check.works("between", check.comm);
  wait_backwards(check, requests);
}

/// Messages from rank to rank, collectives and nothing, in one list.
void mixed_with_messages(Check& check) {
  const auto a = std::make_unique<Arguments>(check.comm), b = std::make_unique<Arguments>(check.comm);
  const int right = (check.rank + 1) % check.ranks, left = (check.rank + check.ranks - 1) % check.ranks;
  int got = -1;
  std::array<MPI_Request, 5> requests{};
  MPI_Irecv(&got, 1, MPI_INT, left, 3, check.comm, &requests[0]);
  begin(Collective::Allreduce, *a, &requests[1]);
  requests[2] = MPI_REQUEST_NULL;
  MPI_Isend(&check.rank, 1, MPI_INT, right, 3, check.comm, &requests[3]);
  begin(Collective::Alltoallv, *b, &requests[4]);
  std::array<MPI_Status, 5> statuses{};
  check.code("waitall", MPI_Waitall(5, requests.data(), statuses.data()));
  check.number("got", got);
  check.number("source", statuses[0].MPI_SOURCE);
  int is_cancelled = -1;  // Open MPI leaves the count of a collective undefined
  MPI_Test_cancelled(&statuses[1], &is_cancelled);
  check.number("cancelled", is_cancelled);
  check.say("data", a->received.hash() + b->received.hash());
}

/// A message that only comes when the collective is complete, which has to move while its rank waits for that message.
void message_after_collective(Check& check) {
  const auto a = std::make_unique<Arguments>(check.comm);
  MPI_Request request = MPI_REQUEST_NULL;
  begin(Collective::Allreduce, *a, &request);
  if (check.rank == 0) {
    int got = 0;
    MPI_Recv(&got, 1, MPI_INT, 1, 4, check.comm, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (check.rank == 1) MPI_Send(&check.rank, 1, MPI_INT, 0, 4, check.comm);
  }
  check.say("data", a->received.hash());
}

/// On two communicators, in opposite orders on even and odd ranks.
void two_communicators(Check& check) {
  std::array comms{fresh(check.comm), fresh(check.comm)};
  Calls calls;
  std::array<MPI_Request, 2> requests{};
  for (const MPI_Comm comm : comms)
    calls.push_back(std::make_unique<Arguments>(comm));
  for (int i = 0; i < 2; ++i) {
    const auto which = static_cast<std::size_t>((i + check.rank) % 2);
    begin(Collective::Alltoall, *calls[which], &requests[which]);
  }
  MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  check.say("data", calls[0]->received.hash() + calls[1]->received.hash());
  for (MPI_Comm& comm : comms)
    MPI_Comm_free(&comm);
}

/// The others begin theirs when rank 0 has looked.
void barrier_holds(Check& check) {
  MPI_Request request = MPI_REQUEST_NULL;
  int flag = 0;
  if (check.rank == 0) {
    MPI_Ibarrier(check.comm, &request);
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    for (int other = 1; other < check.ranks; ++other)
      MPI_Send(nullptr, 0, MPI_INT, other, 5, check.comm);
  } else {
    MPI_Recv(nullptr, 0, MPI_INT, 0, 5, check.comm, MPI_STATUS_IGNORE);
    MPI_Ibarrier(check.comm, &request);
  }
  check.number("too early", flag);
  check.code("wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
  check.number("null", request == MPI_REQUEST_NULL ? 1 : 0);
}

void in_place(Check& check, Collective which) {
  const auto a = std::make_unique<Arguments>(check.comm), b = std::make_unique<Arguments>(check.comm);
  for (Arguments* const one : {a.get(), b.get()}) {
    const bool is_scatter = which == Collective::Scatter || which == Collective::Scatterv;
    if (has_root(which) && check.rank != 0) continue;
    if (is_scatter)
      one->out = MPI_IN_PLACE;
    else
      one->in = MPI_IN_PLACE;
  }
  check.result("blocking", blocking(which, *a), a->received);
  check.result("nonblocking", waited(which, *b), b->received);
}

/// Started some times, completed in other ways, with new data each time.
void persistent(Check& check, Collective which) {
  const auto a = std::make_unique<Arguments>(check.comm);
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = prepare(which, *a, &request);
  check.code("init", code);
  if (code != MPI_SUCCESS) return;
  for (int i = 0; i < 3; ++i) {
    ++*a->sent.at<int>();
    check.code("start", MPI_Start(&request));
    int flag = 0;
    while (i == 1 && flag == 0)
      MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    check.result("wait", MPI_Wait(&request, MPI_STATUS_IGNORE), a->received);
  }
  check.code("free", MPI_Request_free(&request));
  check.number("null", request == MPI_REQUEST_NULL ? 1 : 0);
}

void persistent_together(Check& check) {
  Calls calls;
  std::vector<MPI_Request> requests;
  for_all_collectives([&](Collective which) {
    calls.push_back(std::make_unique<Arguments>(check.comm));
    MPI_Request request = MPI_REQUEST_NULL;
    if (prepare(which, *calls.back(), &request) == MPI_SUCCESS) requests.push_back(request);
  });
  const int count = static_cast<int>(requests.size());
  for (int round = 0; round < 2; ++round) {
    check.code("startall", MPI_Startall(count, requests.data()));
    check.works("between", check.comm);
    check.code("waitall", MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE));
  }
  for (MPI_Request& request : requests)
    MPI_Request_free(&request);
  say_all(check, calls, requests);
}

}  // namespace

void add_nonblocking(Checks& checks) {
  for_all_collectives([&](Collective which) {
    const std::string name = name_of(which);
    checks.add(name + ".first_call", [which](Check& check) { first_call(check, which); });
    if (which != Collective::Barrier && which != Collective::Bcast)
      checks.add(name + ".in_place", [which](Check& check) { in_place(check, which); });
  });
  const std::array<std::pair<const char*, Finish>, 9> finishes{{{"wait_in_order", wait_in_order},
                                                                {"wait_backwards", wait_backwards},
                                                                {"wait_in_any_order", wait_in_any_order},
                                                                {"wait_for_all", wait_for_all},
                                                                {"wait_for_any", wait_for_any},
                                                                {"wait_for_some", wait_for_some},
                                                                {"test_all", test_all},
                                                                {"look_then_wait", look_then_wait},
                                                                {"block_then_wait", block_then_wait}}};
  for (const auto& [name, finish] : finishes)
    for (const int rounds : {1, 8})
      checks.add("many." + std::string{name} + "." + std::to_string(rounds),
                 [rounds, finish = finish](Check& check) { many(check, rounds, finish); });
  checks.add("mixed_with_messages", mixed_with_messages);
  checks.add("message_after_collective", message_after_collective, 2);
  checks.add("two_communicators", two_communicators);
  checks.add("barrier_holds", barrier_holds, 2);
}

void add_persistent(Checks& checks) {
  for_all_collectives(
      [&](Collective which) { checks.add(name_of(which), [which](Check& check) { persistent(check, which); }); });
  checks.add("together", persistent_together);
}

}  // namespace tutti::test
