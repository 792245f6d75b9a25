// The collectives that move elements from or to every rank, and the barrier, in C.
#include "bindings/c/call.hpp"

namespace {

using namespace tutti::c;

Description barrier_call() { return Description{TUTTI_BARRIER, nullptr, nullptr, 0, TUTTI_UINT8}; }

Description broadcast_call(void* data, int64_t count, tutti_type type, int root) {
  return Description{TUTTI_BROADCAST, data, data, count, type}.rooted_at(root);
}

Description allgather_call(const void* in, void* out, int64_t count, tutti_type type) {
  return Description{TUTTI_ALLGATHER, in, out, count, type};
}

Description allgatherv_call(const void* in, void* out, const int64_t* counts, const int64_t* offsets, tutti_type type) {
  return Description{TUTTI_ALLGATHER, in, out, 0, type}.to_blocks(counts, offsets);
}

Description gather_call(const void* in, void* out, int64_t count, tutti_type type, int root) {
  return Description{TUTTI_GATHER, in, out, count, type}.rooted_at(root);
}

Description gatherv_call(const void* in, int64_t count, void* out, const int64_t* counts, const int64_t* offsets,
                         tutti_type type, int root) {
  return Description{TUTTI_GATHER, in, out, count, type}.rooted_at(root).to_blocks(counts, offsets);
}

Description scatter_call(const void* in, void* out, int64_t count, tutti_type type, int root) {
  return Description{TUTTI_SCATTER, in, out, count, type}.rooted_at(root);
}

Description scatterv_call(const void* in, const int64_t* counts, const int64_t* offsets, void* out, int64_t count,
                          tutti_type type, int root) {
  return Description{TUTTI_SCATTER, in, out, count, type}.rooted_at(root).from_blocks(counts, offsets);
}

}  // namespace

tutti_status tutti_barrier(tutti_comm comm, const tutti_options* options) { return run(barrier_call(), comm, options); }
tutti_status tutti_barrier_async(tutti_comm comm, const tutti_options* options, tutti_request* request) {
  return start(barrier_call(), comm, options, request);
}
tutti_status tutti_plan_barrier(tutti_comm comm, const tutti_options* options, tutti_plan* plan) {
  return prepare(barrier_call(), comm, options, plan);
}

tutti_status tutti_broadcast(void* data, int64_t count, tutti_type type, int root, tutti_comm comm,
                             const tutti_options* options) {
  return run(broadcast_call(data, count, type, root), comm, options);
}
tutti_status tutti_broadcast_async(void* data, int64_t count, tutti_type type, int root, tutti_comm comm,
                                   const tutti_options* options, tutti_request* request) {
  return start(broadcast_call(data, count, type, root), comm, options, request);
}
tutti_status tutti_plan_broadcast(void* data, int64_t count, tutti_type type, int root, tutti_comm comm,
                                  const tutti_options* options, tutti_plan* plan) {
  return prepare(broadcast_call(data, count, type, root), comm, options, plan);
}

tutti_status tutti_allgather(const void* in, void* out, int64_t count, tutti_type type, tutti_comm comm,
                             const tutti_options* options) {
  return run(allgather_call(in, out, count, type), comm, options);
}
tutti_status tutti_allgather_async(const void* in, void* out, int64_t count, tutti_type type, tutti_comm comm,
                                   const tutti_options* options, tutti_request* request) {
  return start(allgather_call(in, out, count, type), comm, options, request);
}
tutti_status tutti_plan_allgather(const void* in, void* out, int64_t count, tutti_type type, tutti_comm comm,
                                  const tutti_options* options, tutti_plan* plan) {
  return prepare(allgather_call(in, out, count, type), comm, options, plan);
}

tutti_status tutti_allgatherv(const void* in, void* out, const int64_t* counts, const int64_t* offsets, tutti_type type,
                              tutti_comm comm, const tutti_options* options) {
  return run(allgatherv_call(in, out, counts, offsets, type), comm, options);
}
tutti_status tutti_allgatherv_async(const void* in, void* out, const int64_t* counts, const int64_t* offsets,
                                    tutti_type type, tutti_comm comm, const tutti_options* options,
                                    tutti_request* request) {
  return start(allgatherv_call(in, out, counts, offsets, type), comm, options, request);
}
tutti_status tutti_plan_allgatherv(const void* in, void* out, const int64_t* counts, const int64_t* offsets,
                                   tutti_type type, tutti_comm comm, const tutti_options* options, tutti_plan* plan) {
  return prepare(allgatherv_call(in, out, counts, offsets, type), comm, options, plan);
}

tutti_status tutti_gather(const void* in, void* out, int64_t count, tutti_type type, int root, tutti_comm comm,
                          const tutti_options* options) {
  return run(gather_call(in, out, count, type, root), comm, options);
}
tutti_status tutti_gather_async(const void* in, void* out, int64_t count, tutti_type type, int root, tutti_comm comm,
                                const tutti_options* options, tutti_request* request) {
  return start(gather_call(in, out, count, type, root), comm, options, request);
}
tutti_status tutti_plan_gather(const void* in, void* out, int64_t count, tutti_type type, int root, tutti_comm comm,
                               const tutti_options* options, tutti_plan* plan) {
  return prepare(gather_call(in, out, count, type, root), comm, options, plan);
}

tutti_status tutti_gatherv(const void* in, int64_t count, void* out, const int64_t* counts, const int64_t* offsets,
                           tutti_type type, int root, tutti_comm comm, const tutti_options* options) {
  return run(gatherv_call(in, count, out, counts, offsets, type, root), comm, options);
}
tutti_status tutti_gatherv_async(const void* in, int64_t count, void* out, const int64_t* counts,
                                 const int64_t* offsets, tutti_type type, int root, tutti_comm comm,
                                 const tutti_options* options, tutti_request* request) {
  return start(gatherv_call(in, count, out, counts, offsets, type, root), comm, options, request);
}
tutti_status tutti_plan_gatherv(const void* in, int64_t count, void* out, const int64_t* counts, const int64_t* offsets,
                                tutti_type type, int root, tutti_comm comm, const tutti_options* options,
                                tutti_plan* plan) {
  return prepare(gatherv_call(in, count, out, counts, offsets, type, root), comm, options, plan);
}

tutti_status tutti_scatter(const void* in, void* out, int64_t count, tutti_type type, int root, tutti_comm comm,
                           const tutti_options* options) {
  return run(scatter_call(in, out, count, type, root), comm, options);
}
tutti_status tutti_scatter_async(const void* in, void* out, int64_t count, tutti_type type, int root, tutti_comm comm,
                                 const tutti_options* options, tutti_request* request) {
  return start(scatter_call(in, out, count, type, root), comm, options, request);
}
tutti_status tutti_plan_scatter(const void* in, void* out, int64_t count, tutti_type type, int root, tutti_comm comm,
                                const tutti_options* options, tutti_plan* plan) {
  return prepare(scatter_call(in, out, count, type, root), comm, options, plan);
}

tutti_status tutti_scatterv(const void* in, const int64_t* counts, const int64_t* offsets, void* out, int64_t count,
                            tutti_type type, int root, tutti_comm comm, const tutti_options* options) {
  return run(scatterv_call(in, counts, offsets, out, count, type, root), comm, options);
}
tutti_status tutti_scatterv_async(const void* in, const int64_t* counts, const int64_t* offsets, void* out,
                                  int64_t count, tutti_type type, int root, tutti_comm comm,
                                  const tutti_options* options, tutti_request* request) {
  return start(scatterv_call(in, counts, offsets, out, count, type, root), comm, options, request);
}
tutti_status tutti_plan_scatterv(const void* in, const int64_t* counts, const int64_t* offsets, void* out,
                                 int64_t count, tutti_type type, int root, tutti_comm comm,
                                 const tutti_options* options, tutti_plan* plan) {
  return prepare(scatterv_call(in, counts, offsets, out, count, type, root), comm, options, plan);
}
