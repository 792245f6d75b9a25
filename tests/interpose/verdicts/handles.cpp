// Handles that the program frees while calls that use them are under way.
#include <array>
#include <memory>
#include <string>

#include "tests/interpose/verdicts/collectives.hpp"

namespace tutti::test {
namespace {

void add_up(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  for (int i = 0; i < *count; ++i)
    static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

MPI_Datatype gapped() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

/// Something else takes the place of what was freed.
void use_handles_again() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(7, 2, 3, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&type);
}

/// One element a block, as long as three integers.
void use_type(Arguments& a, MPI_Datatype type) {
  a.in_type = a.out_type = type;
  a.in_count = a.out_count = 1;
  a.in_counts.assign(a.in_counts.size(), 1);
  a.out_counts.assign(a.out_counts.size(), 1);
  for (std::size_t i = 0; i < a.in_types.size(); ++i)
    a.in_types[i] = a.out_types[i] = type;
}

void freed_type(Check& check, Collective which) {
  const auto a = std::make_unique<Arguments>(check.comm);
  MPI_Datatype type = gapped();
  use_type(*a, type);
  MPI_Request request = MPI_REQUEST_NULL;
  check.code("begin", begin(which, *a, &request));
  check.code("free", MPI_Type_free(&type));
  use_handles_again();
  check.result("wait", MPI_Wait(&request, MPI_STATUS_IGNORE), a->received);
}

void freed_operation(Check& check, Collective which) {
  const auto a = std::make_unique<Arguments>(check.comm);
  MPI_Op_create(add_up, 1, &a->op);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Op op = a->op;
  check.code("begin", begin(which, *a, &request));
  check.code("free", MPI_Op_free(&op));
  check.result("wait", MPI_Wait(&request, MPI_STATUS_IGNORE), a->received);
}

void freed_communicator(Check& check, Collective which) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(check.comm, &comm);
  MPI_Barrier(comm);
  const auto a = std::make_unique<Arguments>(comm);
  MPI_Request request = MPI_REQUEST_NULL;
  check.code("begin", begin(which, *a, &request));
  check.code("free", MPI_Comm_free(&comm));
  check.number("null", comm == MPI_COMM_NULL ? 1 : 0);
  check.result("wait", MPI_Wait(&request, MPI_STATUS_IGNORE), a->received);
  check.works("later", check.comm);
}

/// A handle's last use is a nonblocking call, and it goes to others before that is complete.
void freed_communicator_used_again(Check& check) {
  MPI_Comm comm = MPI_COMM_NULL, next = MPI_COMM_NULL;
  MPI_Comm_dup(check.comm, &comm);
  MPI_Barrier(comm);
  const auto a = std::make_unique<Arguments>(comm), b = std::make_unique<Arguments>(comm);
  std::array<MPI_Request, 2> requests{};
  begin(Collective::Allgather, *a, &requests[0]);
  MPI_Comm_free(&comm);
  MPI_Comm_dup(check.comm, &next);
  b->comm = next;
  MPI_Barrier(next);
  begin(Collective::Allreduce, *b, &requests[1]);
  MPI_Comm_free(&next);
  check.code("waitall", MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE));
  check.say("data", a->received.hash() + b->received.hash());
}

void disconnected(Check& check) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(check.comm, &comm);
  check.works("before", comm);
  check.code("disconnect", MPI_Comm_disconnect(&comm));
  check.number("null", comm == MPI_COMM_NULL ? 1 : 0);
}

/// MPI must keep what the handles stood for until the call is complete.
void all_freed(Check& check) {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(check.comm, &comm);
  MPI_Barrier(comm);
  MPI_Datatype type = gapped();
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(comm, &handler);
  const auto a = std::make_unique<Arguments>(comm), b = std::make_unique<Arguments>(comm);
  use_type(*a, type);
  MPI_Op_create(add_up, 0, &b->op);
  MPI_Op op = b->op;
  std::array<MPI_Request, 2> requests{};
  begin(Collective::Alltoallw, *a, &requests[0]);
  begin(Collective::Scan, *b, &requests[1]);
  check.code("type", MPI_Type_free(&type));
  check.code("op", MPI_Op_free(&op));
  check.code("comm", MPI_Comm_free(&comm));
  check.code("handler", MPI_Errhandler_free(&handler));
  use_handles_again();
  check.code("waitall", MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE));
  check.say("data", a->received.hash() + b->received.hash());
}

/// The library knows types by attributes that MPI deletes with them.
void many_types(Check& check) {
  std::string all;
  for (int i = 0; i < 300; ++i) {
    const auto a = std::make_unique<Arguments>(check.comm);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_vector(1 + i % 3, 1, 1 + i % 4, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Bcast(a->out, 1, type, i % check.ranks, check.comm);
    MPI_Type_free(&type);
    if (i % 50 == 0) all += a->received.hash() + ",";
  }
  check.say("data", all);
}

void freed_request(Check& check) {
  MPI_Request request = MPI_REQUEST_NULL;
  check.code("free of none", MPI_Request_free(&request));
  check.code("wait of none", MPI_Wait(&request, MPI_STATUS_IGNORE));
  check.code("waitall of nothing", MPI_Waitall(0, nullptr, MPI_STATUSES_IGNORE));
  int index = 0, flag = 0;
  check.code("waitany of none", MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE));
  check.number("index", index == MPI_UNDEFINED ? 1 : 0);
  check.code("test of none", MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
  check.number("flag", flag);
}

/// MPI 4.1, section 6.12: a collective under way may be neither freed nor cancelled.
void forbidden(Check& check, int (*use)(MPI_Request* request)) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(check.comm, &request);
  MPI_Request given = request;
  check.code("code", use(&given));
  check.code("wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
  check.works("later", check.comm);
}

/// What MPI defines of the status of a collective.
void status_of(Check& check, Collective which) {
  const auto a = std::make_unique<Arguments>(check.comm);
  MPI_Request request = MPI_REQUEST_NULL;
  begin(which, *a, &request);
  MPI_Status status;
  status.MPI_ERROR = 77;
  MPI_Wait(&request, &status);
  int is_cancelled = -1;  // Open MPI leaves the count undefined
  MPI_Test_cancelled(&status, &is_cancelled);
  check.number("cancelled", is_cancelled);
  check.number("error", status.MPI_ERROR);
}

}  // namespace

void add_handles(Checks& checks) {
  for_all_collectives([&](Collective which) {
    const std::string name = name_of(which);
    checks.add(name + ".freed_communicator", [which](Check& check) { freed_communicator(check, which); });
    checks.add(name + ".status", [which](Check& check) { status_of(check, which); });
    if (is_reduction(which))
      checks.add(name + ".freed_operation", [which](Check& check) { freed_operation(check, which); });
    else if (which != Collective::Barrier)
      checks.add(name + ".freed_type", [which](Check& check) { freed_type(check, which); });
  });
  checks.add("freed_communicator_used_again", freed_communicator_used_again);
  checks.add("disconnected", disconnected);
  checks.add("all_freed", all_freed);
  checks.add("many_types", many_types);
  checks.add("no_request", freed_request);
  checks.add("request_free", [](Check& check) { forbidden(check, MPI_Request_free); });
  checks.add("cancel", [](Check& check) { forbidden(check, MPI_Cancel); });
  checks.add("start", [](Check& check) { forbidden(check, MPI_Start); });
}

}  // namespace tutti::test
