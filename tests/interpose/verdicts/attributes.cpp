// The program's attributes of communicators, whose callbacks may call collectives, and may refuse; and error handlers.
#include "tests/interpose/verdicts/collectives.hpp"

namespace tutti::test {
namespace {

int copies = 0, deletes = 0, errors_left = 0;
MPI_Comm called_on = MPI_COMM_NULL;

int sum_of_ones(MPI_Comm comm) {
  const int one = 1;
  int sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}

int copy_value(MPI_Comm /*comm*/, int /*key*/, void* /*extra*/, void* value, void* copy, int* flag) {
  ++copies;
  *static_cast<void**>(copy) = value;
  *flag = 1;
  return MPI_SUCCESS;
}
int delete_value(MPI_Comm /*comm*/, int /*key*/, void* /*value*/, void* /*extra*/) {
  ++deletes;
  return MPI_SUCCESS;
}
int copy_with_call(MPI_Comm comm, int key, void* extra, void* value, void* copy, int* flag) {
  copies += sum_of_ones(called_on);
  return copy_value(comm, key, extra, value, copy, flag);
}
int delete_with_call(MPI_Comm comm, int key, void* value, void* extra) {
  deletes += sum_of_ones(called_on);
  return delete_value(comm, key, value, extra);
}
int refuse_copy(MPI_Comm /*comm*/, int /*key*/, void* /*extra*/, void* /*value*/, void* /*copy*/, int* flag) {
  *flag = 0;
  return MPI_ERR_OTHER;
}
int refuse_delete(MPI_Comm /*comm*/, int /*key*/, void* /*value*/, void* /*extra*/) {
  return errors_left-- > 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

void count_callbacks(Check& check, MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* drop) {
  copies = deletes = 0;
  called_on = check.comm;
  int key = MPI_KEYVAL_INVALID, is_there = 0;
  void* value = nullptr;
  MPI_Comm first = MPI_COMM_NULL, second = MPI_COMM_NULL, third = MPI_COMM_NULL;
  MPI_Comm_create_keyval(copy, drop, &key, nullptr);
  MPI_Comm_dup(check.comm, &first);
  MPI_Comm_set_errhandler(first, MPI_ERRORS_RETURN);
  MPI_Comm_set_attr(first, key, &copies);
  check.works("before", first);
  check.code("dup", MPI_Comm_dup(first, &second));
  check.number("copies", copies);
  if (second != MPI_COMM_NULL) {
    check.works("copy", second);
    MPI_Comm_get_attr(second, key, static_cast<void*>(&value), &is_there);
    check.number("is there", is_there);
    MPI_Comm_split(second, 0, 0, &third);
    check.number("copies by split", copies);
    MPI_Comm_free(&third);
    check.code("free", MPI_Comm_free(&second));
    check.number("deletes", deletes);
  }
  check.code("delete", MPI_Comm_delete_attr(first, key));
  check.number("deletes", deletes);
  check.works("after", first);
  check.code("free", MPI_Comm_free(&first));
  MPI_Comm_free_keyval(&key);
}

/// A free that the program's own callback refuses leaves the communicator as it is.
void refused_free(Check& check) {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse_delete, &key, nullptr);
  MPI_Comm_dup(check.comm, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  check.works("before", comm);
  MPI_Comm_set_attr(comm, key, nullptr);
  errors_left = 1;
  check.code("free", MPI_Comm_free(&comm));
  check.number("null", comm == MPI_COMM_NULL ? 1 : 0);
  if (comm != MPI_COMM_NULL) {
    check.works("after", comm);
    check.code("free again", MPI_Comm_free(&comm));
  }
  MPI_Comm_free_keyval(&key);
}

void handlers_are_kept(Check& check) {
  MPI_Comm copy = MPI_COMM_NULL;
  check.works("before", check.comm);
  MPI_Comm_dup(check.comm, &copy);
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(copy, &handler);
  check.number("returns", handler == MPI_ERRORS_RETURN ? 1 : 0);
  const Arguments a{copy};
  check.code("code", MPI_Bcast(a.out, -1, MPI_INT, 0, copy));
  MPI_Comm_free(&copy);
}

}  // namespace

void add_attributes(Checks& checks) {
  checks.add("callbacks", [](Check& check) { count_callbacks(check, copy_value, delete_value); });
  checks.add("callbacks_that_call", [](Check& check) { count_callbacks(check, copy_with_call, delete_with_call); });
  checks.add("refused_copy", [](Check& check) { count_callbacks(check, refuse_copy, delete_value); });
  checks.add("refused_free", refused_free);
  checks.add("handlers_are_kept", handlers_are_kept);
}

}  // namespace tutti::test
