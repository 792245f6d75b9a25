// What waits for requests, tests, starts, cancels and frees them.
#include "bindings/preload/fortran/export.hpp"
#include "bindings/preload/fortran/request_arguments.hpp"

namespace tutti::interpose::fortran {
namespace {

int wait(MPI_Fint* request, MPI_Fint* status) {
  RequestArguments requests{1, request};
  StatusArguments statuses{1, status};
  const int code = MPI_Wait(requests.data(), statuses.one());
  statuses.store(1);
  return code;
}

int waitall(const MPI_Fint* count, MPI_Fint* array, MPI_Fint* status) {
  RequestArguments requests{*count, array};
  StatusArguments statuses{*count, status};
  const int code = MPI_Waitall(*count, requests.data(), statuses.data());
  statuses.store(*count);
  return code;
}

int waitany(const MPI_Fint* count, MPI_Fint* array, MPI_Fint* index, MPI_Fint* status) {
  RequestArguments requests{*count, array};
  StatusArguments statuses{1, status};
  int done = MPI_UNDEFINED;
  const int code = MPI_Waitany(*count, requests.data(), &done, statuses.one());
  *index = from_one(done);
  statuses.store(1);
  return code;
}

int test(MPI_Fint* request, MPI_Fint* flag, MPI_Fint* status) {
  RequestArguments requests{1, request};
  StatusArguments statuses{1, status};
  int is_done = 0;
  const int code = MPI_Test(requests.data(), &is_done, statuses.one());
  *flag = logical(is_done);
  statuses.store(is_done != 0 ? 1 : 0);
  return code;
}

int testall(const MPI_Fint* count, MPI_Fint* array, MPI_Fint* flag, MPI_Fint* status) {
  RequestArguments requests{*count, array};
  StatusArguments statuses{*count, status};
  int are_done = 0;
  const int code = MPI_Testall(*count, requests.data(), &are_done, statuses.data());
  *flag = logical(are_done);
  statuses.store(are_done != 0 || code != MPI_SUCCESS ? *count : 0);
  return code;
}

int testany(const MPI_Fint* count, MPI_Fint* array, MPI_Fint* index, MPI_Fint* flag, MPI_Fint* status) {
  RequestArguments requests{*count, array};
  StatusArguments statuses{1, status};
  int done = MPI_UNDEFINED, is_done = 0;
  const int code = MPI_Testany(*count, requests.data(), &done, &is_done, statuses.one());
  *index = from_one(done);
  *flag = logical(is_done);
  statuses.store(is_done != 0 ? 1 : 0);
  return code;
}

using Some = int(int, MPI_Request*, int*, int*, MPI_Status*);

/// MPI_Waitsome and MPI_Testsome.
int some(Some* function, int count, MPI_Fint* array, MPI_Fint* done, MPI_Fint* indices, MPI_Fint* status) {
  RequestArguments requests{count, array};
  StatusArguments statuses{count, status};
  const int code = function(count, requests.data(), done, indices, statuses.data());
  if (*done == MPI_UNDEFINED || (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS)) return code;
  for (int i = 0; i < *done; ++i)
    indices[i] = from_one(indices[i]);
  statuses.store(*done);
  return code;
}

int waitsome(const MPI_Fint* count, MPI_Fint* array, MPI_Fint* done, MPI_Fint* indices, MPI_Fint* status) {
  return some(MPI_Waitsome, *count, array, done, indices, status);
}

int testsome(const MPI_Fint* count, MPI_Fint* array, MPI_Fint* done, MPI_Fint* indices, MPI_Fint* status) {
  return some(MPI_Testsome, *count, array, done, indices, status);
}

int request_get_status(const MPI_Fint* request, MPI_Fint* flag, MPI_Fint* status) {
  StatusArguments statuses{1, status};
  int is_done = 0;
  const int code = MPI_Request_get_status(to_c<MPI_Request>(*request), &is_done, statuses.one());
  *flag = logical(is_done);
  statuses.store(is_done != 0 ? 1 : 0);
  return code;
}

int request_free(MPI_Fint* request) { return with_handle(MPI_Request_free, request); }

int cancel(MPI_Fint* request) { return with_handle(MPI_Cancel, request); }

int start(MPI_Fint* request) { return with_handle(MPI_Start, request); }

int startall(const MPI_Fint* count, MPI_Fint* array) {
  RequestArguments requests{*count, array};
  return MPI_Startall(*count, requests.data());
}

}  // namespace

TUTTI_FORTRAN(wait, WAIT, wait, 2)
TUTTI_FORTRAN(waitall, WAITALL, waitall, 3)
TUTTI_FORTRAN(waitany, WAITANY, waitany, 4)
TUTTI_FORTRAN(waitsome, WAITSOME, waitsome, 5)
TUTTI_FORTRAN(test, TEST, test, 3)
TUTTI_FORTRAN(testall, TESTALL, testall, 4)
TUTTI_FORTRAN(testany, TESTANY, testany, 5)
TUTTI_FORTRAN(testsome, TESTSOME, testsome, 5)
TUTTI_FORTRAN(request_get_status, REQUEST_GET_STATUS, request_get_status, 3)
TUTTI_FORTRAN(request_free, REQUEST_FREE, request_free, 1)
TUTTI_FORTRAN(cancel, CANCEL, cancel, 1)
TUTTI_FORTRAN(start, START, start, 1)
TUTTI_FORTRAN(startall, STARTALL, startall, 2)

}  // namespace tutti::interpose::fortran
