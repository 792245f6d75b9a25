// The calls that complete requests, as the program calls them. Where no request is one of ours, MPI gets the call as it
// is. Else ours are moved and waited for here, and MPI is asked for the others, and to free what is complete.
#include <sched.h>

#include <algorithm>
#include <array>
#include <vector>

#include "bindings/preload/beneath.hpp"
#include "bindings/preload/completion.hpp"
#include "bindings/preload/errors.hpp"
#include "lib/core/transport/mpi/api.hpp"
#include "tutti/export.hpp"

using tutti::interpose::Pending;
using tutti::interpose::Requests;
using tutti::mpi::api;

namespace {

std::span<MPI_Request> span_of(int count, MPI_Request* requests) {
  if (!tutti::interpose::has_pending() || requests == nullptr || count <= 0) return {};
  return {requests, static_cast<std::size_t>(count)};
}

/// One look at requests some of which are ours, as MPI_Testany.
int look_for_any(Requests& requests, int count, int* index, int* flag, MPI_Status* status) {
  requests.poll();
  if (const std::size_t over = requests.next_over(0); over < static_cast<std::size_t>(count)) {
    *index = static_cast<int>(over);
    *flag = 1;
    return requests.complete(over, status);
  }
  *flag = 0;
  const int result = api.Testany(count, requests.others(), index, flag, status);
  requests.take_others();
  if (*flag != 0 && *index == MPI_UNDEFINED && requests.has_active()) *flag = 0;
  return result;
}

/// MPI_Testsome, for requests of which some are Tutti's.
int look_for_some(Requests& requests, int count, int* done, int* indices, MPI_Status* statuses) {
  requests.poll();
  const bool had_active = requests.has_active(), tells = statuses != MPI_STATUSES_IGNORE;
  *done = 0;
  int result = api.Testsome(count, requests.others(), done, indices, statuses);
  requests.take_others();
  if (result != MPI_SUCCESS && result != MPI_ERR_IN_STATUS) return result;
  if (*done == MPI_UNDEFINED && had_active) *done = 0;
  for (int i = 0; tells && result == MPI_SUCCESS && i < *done; ++i)
    statuses[i].MPI_ERROR = MPI_SUCCESS;  // MPI leaves it as it is, but one of ours may have failed
  for (std::size_t over = requests.next_over(0); over < static_cast<std::size_t>(count);
       over = requests.next_over(over + 1)) {
    MPI_Status* const status = tells ? &statuses[*done] : MPI_STATUS_IGNORE;
    const int code = requests.complete(over, status);
    if (tells) status->MPI_ERROR = code;
    if (code != MPI_SUCCESS) result = MPI_ERR_IN_STATUS;
    indices[(*done)++] = static_cast<int>(over);
  }
  return result;
}

}  // namespace

extern "C" {

TUTTI_API int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  Requests requests{span_of(1, request)};
  if (!requests.has_ours()) return TUTTI_BENEATH(MPI_Wait)(request, status);
  requests.wait_for_ours();
  return requests.next_over(0) == 0 ? requests.complete(0, status) : api.Wait(requests.others(), status);
}

TUTTI_API int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  Requests requests{span_of(1, request)};
  if (!requests.has_ours()) return TUTTI_BENEATH(MPI_Test)(request, flag, status);
  int index = 0;
  return look_for_any(requests, 1, &index, flag, status);
}

TUTTI_API int MPI_Waitall(int count, MPI_Request* given, MPI_Status* statuses) {
  Requests requests{span_of(count, given)};
  if (!requests.has_ours()) return TUTTI_BENEATH(MPI_Waitall)(count, given, statuses);
  requests.wait_for_ours();
  const int result = api.Waitall(count, requests.others(), statuses);
  requests.take_others();
  return requests.complete_all(result, statuses);
}

TUTTI_API int MPI_Testall(int count, MPI_Request* given, int* flag, MPI_Status* statuses) {
  Requests requests{span_of(count, given)};
  if (!requests.has_ours()) return TUTTI_BENEATH(MPI_Testall)(count, given, flag, statuses);
  requests.poll();
  *flag = 0;
  if (!requests.are_over()) return MPI_SUCCESS;
  const int result = api.Testall(count, requests.others(), flag, statuses);
  requests.take_others();
  return *flag == 0 ? result : requests.complete_all(result, statuses);
}

TUTTI_API int MPI_Waitany(int count, MPI_Request* given, int* index, MPI_Status* status) {
  Requests requests{span_of(count, given)};
  if (!requests.has_ours()) return TUTTI_BENEATH(MPI_Waitany)(count, given, index, status);
  for (int flag = 0;; sched_yield()) {
    const int result = look_for_any(requests, count, index, &flag, status);
    if (flag != 0 || result != MPI_SUCCESS) return result;
  }
}

TUTTI_API int MPI_Testany(int count, MPI_Request* given, int* index, int* flag, MPI_Status* status) {
  Requests requests{span_of(count, given)};
  if (!requests.has_ours()) return TUTTI_BENEATH(MPI_Testany)(count, given, index, flag, status);
  return look_for_any(requests, count, index, flag, status);
}

TUTTI_API int MPI_Waitsome(int count, MPI_Request* given, int* done, int* indices, MPI_Status* statuses) {
  Requests requests{span_of(count, given)};
  if (!requests.has_ours()) return TUTTI_BENEATH(MPI_Waitsome)(count, given, done, indices, statuses);
  for (;; sched_yield()) {
    const int result = look_for_some(requests, count, done, indices, statuses);
    if (*done != 0 || result != MPI_SUCCESS) return result;
  }
}

TUTTI_API int MPI_Testsome(int count, MPI_Request* given, int* done, int* indices, MPI_Status* statuses) {
  Requests requests{span_of(count, given)};
  if (!requests.has_ours()) return TUTTI_BENEATH(MPI_Testsome)(count, given, done, indices, statuses);
  return look_for_some(requests, count, done, indices, statuses);
}

TUTTI_API int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  Pending* const call = tutti::interpose::find_pending(request);
  if (call == nullptr) return TUTTI_BENEATH(MPI_Request_get_status)(request, flag, status);
  call->look();
  MPI_Request none = MPI_REQUEST_NULL;  // the status of all that we serve is the empty one
  const int result = api.Request_get_status(none, flag, status);
  *flag = !call->is_active() || call->is_over() ? 1 : 0;
  return result;
}

/// MPI 4.1, section 6.12: a collective under way may be neither freed nor cancelled.
TUTTI_API int MPI_Request_free(MPI_Request* request) {
  Pending* const call = tutti::interpose::find_pending(*request);
  if (call == nullptr) return TUTTI_BENEATH(MPI_Request_free)(request);
  if (call->is_active()) return call->refuse("MPI_Request_free");
  tutti::interpose::release_pending(*request);
  return TUTTI_BENEATH(MPI_Request_free)(request);
}

TUTTI_API int MPI_Cancel(MPI_Request* request) {
  Pending* const call = tutti::interpose::find_pending(*request);
  return call == nullptr ? TUTTI_BENEATH(MPI_Cancel)(request) : call->refuse("MPI_Cancel");
}

TUTTI_API int MPI_Start(MPI_Request* request) {
  Pending* const call = tutti::interpose::find_pending(*request);
  return call == nullptr ? TUTTI_BENEATH(MPI_Start)(request) : call->start();
}

TUTTI_API int MPI_Startall(int count, MPI_Request* given) {
  const Requests requests{span_of(count, given)};
  if (!requests.has_ours()) return TUTTI_BENEATH(MPI_Startall)(count, given);
  for (int i = 0; i < count; ++i)
    if (const int result = MPI_Start(&given[i]); result != MPI_SUCCESS) return result;
  return MPI_SUCCESS;
}
}
