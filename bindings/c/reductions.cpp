// The collectives that combine elements, in C.
#include "bindings/c/call.hpp"

namespace {

using namespace tutti::c;

Description reduce_call(const void* in, void* out, int64_t count, tutti_type type, tutti_op op, int root) {
  return Description{TUTTI_REDUCE, in, out, count, type}.combined_by(op).rooted_at(root);
}

Description allreduce_call(const void* in, void* out, int64_t count, tutti_type type, tutti_op op) {
  return Description{TUTTI_ALLREDUCE, in, out, count, type}.combined_by(op);
}

Description reduce_scatter_call(const void* in, void* out, int64_t count, tutti_type type, tutti_op op) {
  return Description{TUTTI_REDUCE_SCATTER, in, out, count, type}.combined_by(op);
}

Description reduce_scatterv_call(const void* in, void* out, const int64_t* counts, tutti_type type, tutti_op op) {
  return Description{TUTTI_REDUCE_SCATTER, in, out, 0, type}.combined_by(op).from_blocks(counts, nullptr);
}

Description scan_call(const void* in, void* out, int64_t count, tutti_type type, tutti_op op) {
  return Description{TUTTI_SCAN, in, out, count, type}.combined_by(op);
}

Description exscan_call(const void* in, void* out, int64_t count, tutti_type type, tutti_op op) {
  return Description{TUTTI_EXSCAN, in, out, count, type}.combined_by(op);
}

}  // namespace

tutti_status tutti_reduce(const void* in, void* out, int64_t count, tutti_type type, tutti_op op, int root,
                          tutti_comm comm, const tutti_options* options) {
  return run(reduce_call(in, out, count, type, op, root), comm, options);
}
tutti_status tutti_reduce_async(const void* in, void* out, int64_t count, tutti_type type, tutti_op op, int root,
                                tutti_comm comm, const tutti_options* options, tutti_request* request) {
  return start(reduce_call(in, out, count, type, op, root), comm, options, request);
}
tutti_status tutti_plan_reduce(const void* in, void* out, int64_t count, tutti_type type, tutti_op op, int root,
                               tutti_comm comm, const tutti_options* options, tutti_plan* plan) {
  return prepare(reduce_call(in, out, count, type, op, root), comm, options, plan);
}

tutti_status tutti_allreduce(const void* in, void* out, int64_t count, tutti_type type, tutti_op op, tutti_comm comm,
                             const tutti_options* options) {
  return run(allreduce_call(in, out, count, type, op), comm, options);
}
tutti_status tutti_allreduce_async(const void* in, void* out, int64_t count, tutti_type type, tutti_op op,
                                   tutti_comm comm, const tutti_options* options, tutti_request* request) {
  return start(allreduce_call(in, out, count, type, op), comm, options, request);
}
tutti_status tutti_plan_allreduce(const void* in, void* out, int64_t count, tutti_type type, tutti_op op,
                                  tutti_comm comm, const tutti_options* options, tutti_plan* plan) {
  return prepare(allreduce_call(in, out, count, type, op), comm, options, plan);
}

tutti_status tutti_reduce_scatter(const void* in, void* out, int64_t count, tutti_type type, tutti_op op,
                                  tutti_comm comm, const tutti_options* options) {
  return run(reduce_scatter_call(in, out, count, type, op), comm, options);
}
tutti_status tutti_reduce_scatter_async(const void* in, void* out, int64_t count, tutti_type type, tutti_op op,
                                        tutti_comm comm, const tutti_options* options, tutti_request* request) {
  return start(reduce_scatter_call(in, out, count, type, op), comm, options, request);
}
tutti_status tutti_plan_reduce_scatter(const void* in, void* out, int64_t count, tutti_type type, tutti_op op,
                                       tutti_comm comm, const tutti_options* options, tutti_plan* plan) {
  return prepare(reduce_scatter_call(in, out, count, type, op), comm, options, plan);
}

tutti_status tutti_reduce_scatterv(const void* in, void* out, const int64_t* counts, tutti_type type, tutti_op op,
                                   tutti_comm comm, const tutti_options* options) {
  return run(reduce_scatterv_call(in, out, counts, type, op), comm, options);
}
tutti_status tutti_reduce_scatterv_async(const void* in, void* out, const int64_t* counts, tutti_type type, tutti_op op,
                                         tutti_comm comm, const tutti_options* options, tutti_request* request) {
  return start(reduce_scatterv_call(in, out, counts, type, op), comm, options, request);
}
tutti_status tutti_plan_reduce_scatterv(const void* in, void* out, const int64_t* counts, tutti_type type, tutti_op op,
                                        tutti_comm comm, const tutti_options* options, tutti_plan* plan) {
  return prepare(reduce_scatterv_call(in, out, counts, type, op), comm, options, plan);
}

tutti_status tutti_scan(const void* in, void* out, int64_t count, tutti_type type, tutti_op op, tutti_comm comm,
                        const tutti_options* options) {
  return run(scan_call(in, out, count, type, op), comm, options);
}
tutti_status tutti_scan_async(const void* in, void* out, int64_t count, tutti_type type, tutti_op op, tutti_comm comm,
                              const tutti_options* options, tutti_request* request) {
  return start(scan_call(in, out, count, type, op), comm, options, request);
}
tutti_status tutti_plan_scan(const void* in, void* out, int64_t count, tutti_type type, tutti_op op, tutti_comm comm,
                             const tutti_options* options, tutti_plan* plan) {
  return prepare(scan_call(in, out, count, type, op), comm, options, plan);
}

tutti_status tutti_exscan(const void* in, void* out, int64_t count, tutti_type type, tutti_op op, tutti_comm comm,
                          const tutti_options* options) {
  return run(exscan_call(in, out, count, type, op), comm, options);
}
tutti_status tutti_exscan_async(const void* in, void* out, int64_t count, tutti_type type, tutti_op op, tutti_comm comm,
                                const tutti_options* options, tutti_request* request) {
  return start(exscan_call(in, out, count, type, op), comm, options, request);
}
tutti_status tutti_plan_exscan(const void* in, void* out, int64_t count, tutti_type type, tutti_op op, tutti_comm comm,
                               const tutti_options* options, tutti_plan* plan) {
  return prepare(exscan_call(in, out, count, type, op), comm, options, plan);
}
