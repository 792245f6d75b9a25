#pragma once
// Functions that the library gains: weak until every library has them.

#include <tutti.h>

#if !defined(TUTTI_HAS_TAGS)
typedef struct tutti_message {
  int source;
  int tag;
  int64_t count;
} tutti_message;
#endif
extern "C" {
__attribute__((weak)) tutti_status tutti_request_wait_for(tutti_request* request, double seconds, int* is_complete);
__attribute__((weak)) tutti_status tutti_plan_wait_for(tutti_plan plan, double seconds, int* is_complete);
__attribute__((weak)) tutti_status tutti_request_cancel(tutti_request* request, int* is_cancelled);
__attribute__((weak)) tutti_status tutti_comm_abort(tutti_comm comm, const char* why);
__attribute__((weak)) tutti_status tutti_send_tagged_async(const void* data, int64_t count, tutti_type type, int to, int tag,
                                                           tutti_comm comm, tutti_request* request);
__attribute__((weak)) tutti_status tutti_recv_tagged_async(void* data, int64_t count, tutti_type type, int from, int tag,
                                                           tutti_comm comm, tutti_message* message,
                                                           tutti_request* request);
__attribute__((weak)) tutti_status tutti_batch_send_tagged(tutti_batch batch, const void* data, int64_t count,
                                                           tutti_type type, int to, int tag);
__attribute__((weak)) tutti_status tutti_batch_recv_tagged(tutti_batch batch, void* data, int64_t count, tutti_type type,
                                                           int from, int tag, tutti_message* message);
}
