#pragma once
// Tutti, with stand-ins for functions that the installed version has not: build.py defines TUTTI_TORCH_HAS_MESSAGES where
// it has. TODO: to be removed.
#include <tutti.h>
#ifndef TUTTI_TORCH_HAS_MESSAGES
#include <map>
#include <mutex>
#include <string>
typedef struct tutti_message { int source; int tag; int64_t count; } tutti_message;
namespace tutti_torch::shim {
struct Message { MPI_Request request; tutti_message* message; int64_t bytes; };
inline std::map<tutti_request, Message> messages;
inline std::map<tutti_comm, MPI_Comm> comms;
inline std::map<tutti_comm, std::string> dead;
inline std::mutex mutex;
inline int size_of(tutti_type t) { int64_t b = 0; (tutti_type_size)(t, &b); return (int)b; }
inline tutti_status send(const void* d, int64_t n, tutti_type t, int to, int tag, tutti_comm c, tutti_request* r) {
  std::lock_guard l(mutex); Message m{MPI_REQUEST_NULL, nullptr, size_of(t)};
  MPI_Isend(d, (int)(n * m.bytes), MPI_BYTE, to, tag, comms[c], &m.request);
  *r = reinterpret_cast<tutti_request>(new char); messages[*r] = m; return TUTTI_SUCCESS; }
inline tutti_status recv(void* d, int64_t n, tutti_type t, int from, int tag, tutti_comm c, tutti_message* x, tutti_request* r) {
  std::lock_guard l(mutex); Message m{MPI_REQUEST_NULL, x, size_of(t)};
  MPI_Irecv(d, (int)(n * m.bytes), MPI_BYTE, from, tag, comms[c], &m.request);
  *r = reinterpret_cast<tutti_request>(new char); messages[*r] = m; return TUTTI_SUCCESS; }
inline tutti_status test(tutti_request* r, int* done) {
  std::unique_lock l(mutex); auto i = messages.find(*r);
  if (i == messages.end()) { l.unlock(); return (tutti_request_test)(r, done); }
  MPI_Status s; MPI_Test(&i->second.request, done, &s);
  if (*done) { int n = 0; MPI_Get_count(&s, MPI_BYTE, &n); if (auto* x = i->second.message) *x = {s.MPI_SOURCE, s.MPI_TAG, n / i->second.bytes}; messages.erase(i); *r = nullptr; }
  return TUTTI_SUCCESS; }
inline tutti_status free(tutti_request* r) { std::lock_guard l(mutex); messages.erase(*r); *r = nullptr; return TUTTI_SUCCESS; }
inline tutti_status cancel(tutti_request* r, int* is) {
  std::lock_guard l(mutex); auto i = messages.find(*r); *is = 0; if (i == messages.end()) return TUTTI_SUCCESS;
  MPI_Status s; MPI_Cancel(&i->second.request); int done = 0; MPI_Test(&i->second.request, &done, &s); *is = 1; messages.erase(i); *r = nullptr; return TUTTI_SUCCESS; }
inline tutti_status abort(tutti_comm c, const char* why) { dead[c] = why; return TUTTI_SUCCESS; }
inline tutti_status free_comm(tutti_comm* c) { if (dead.count(*c)) { *c = nullptr; return TUTTI_SUCCESS; } return (tutti_comm_free)(c); }
inline tutti_status create(MPI_Comm m, const tutti_comm_options* o, tutti_comm* c) { MPI_Comm d; MPI_Comm_dup(m, &d); auto s = (tutti_comm_create)(m, o, c); comms[*c] = d; return s; }
}
#define tutti_send_tagged_async tutti_torch::shim::send
#define tutti_recv_tagged_async tutti_torch::shim::recv
#define tutti_request_test tutti_torch::shim::test
#define tutti_request_free tutti_torch::shim::free
#define tutti_request_cancel tutti_torch::shim::cancel
#define tutti_comm_abort tutti_torch::shim::abort
#define tutti_comm_free tutti_torch::shim::free_comm
#define tutti_comm_create tutti_torch::shim::create
#endif
