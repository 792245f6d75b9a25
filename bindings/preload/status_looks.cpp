// MPI_Request_get_status for several requests (MPI 4.1), as the program calls it. Where some are ours, each is looked
// at by itself.
#include "bindings/preload/beneath.hpp"
#include "bindings/preload/requests.hpp"
#include "tutti/export.hpp"

namespace {

bool has_ours(int count, const MPI_Request* requests) {
  for (int i = 0; i < count; ++i)
    if (tutti::interpose::find_pending(requests[i]) != nullptr) return true;
  return false;
}

/// Whether a request is null or inactive: its status is empty, and a call that looks for any passes it over.
bool is_inactive(MPI_Request request) {
  if (request == MPI_REQUEST_NULL) return true;
  const tutti::interpose::Pending* const call = tutti::interpose::find_pending(request);
  return call != nullptr && !call->is_active();
}

}  // namespace

extern "C" {

TUTTI_API int MPI_Request_get_status_all(int count, const MPI_Request* requests, int* flag, MPI_Status* statuses) {
  if (!has_ours(count, requests)) return TUTTI_BENEATH(MPI_Request_get_status_all)(count, requests, flag, statuses);
  *flag = 1;
  for (int i = 0; i < count; ++i) {
    int is_over = 0;
    MPI_Status* const status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
    if (const int result = MPI_Request_get_status(requests[i], &is_over, status); result != MPI_SUCCESS) return result;
    if (is_over == 0) *flag = 0;
  }
  return MPI_SUCCESS;
}

TUTTI_API int MPI_Request_get_status_any(int count, const MPI_Request* requests, int* index, int* flag,
                                         MPI_Status* status) {
  if (!has_ours(count, requests))
    return TUTTI_BENEATH(MPI_Request_get_status_any)(count, requests, index, flag, status);
  *flag = 1;
  *index = MPI_UNDEFINED;
  for (int i = 0; i < count; ++i) {
    if (is_inactive(requests[i])) continue;
    *index = i;
    if (const int result = MPI_Request_get_status(requests[i], flag, status); result != MPI_SUCCESS || *flag != 0)
      return result;
  }
  if (*index == MPI_UNDEFINED) return MPI_Request_get_status(MPI_REQUEST_NULL, flag, status);
  *index = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

TUTTI_API int MPI_Request_get_status_some(int count, const MPI_Request* requests, int* done, int* indices,
                                          MPI_Status* statuses) {
  if (!has_ours(count, requests))
    return TUTTI_BENEATH(MPI_Request_get_status_some)(count, requests, done, indices, statuses);
  *done = MPI_UNDEFINED;
  for (int i = 0; i < count; ++i) {
    if (is_inactive(requests[i])) continue;
    if (*done == MPI_UNDEFINED) *done = 0;
    int is_over = 0;
    MPI_Status* const status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[*done];
    if (const int result = MPI_Request_get_status(requests[i], &is_over, status); result != MPI_SUCCESS) return result;
    if (is_over != 0) indices[(*done)++] = i;
  }
  return MPI_SUCCESS;
}
}
