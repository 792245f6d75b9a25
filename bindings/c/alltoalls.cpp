// The collectives in which every rank sends to every rank, in C.
#include "bindings/c/call.hpp"

namespace {

using namespace tutti::c;

Description alltoall_call(const void* in, void* out, int64_t count, tutti_type type) {
  return Description{TUTTI_ALLTOALL, in, out, count, type};
}

Description alltoallv_call(const void* in, const int64_t* in_counts, const int64_t* in_offsets, void* out,
                           const int64_t* out_counts, const int64_t* out_offsets, tutti_type type) {
  return Description{TUTTI_ALLTOALL, in, out, 0, type}
      .from_blocks(in_counts, in_offsets)
      .to_blocks(out_counts, out_offsets);
}

Description alltoallw_call(const void* in, const int64_t* in_counts, const int64_t* in_offsets,
                           const tutti_type* in_types, void* out, const int64_t* out_counts, const int64_t* out_offsets,
                           const tutti_type* out_types) {
  return Description{TUTTI_ALLTOALL, in, out, 0, TUTTI_UINT8}
      .from_blocks(in_counts, in_offsets)
      .to_blocks(out_counts, out_offsets)
      .of_types(in_types, out_types);
}

}  // namespace

tutti_status tutti_alltoall(const void* in, void* out, int64_t count, tutti_type type, tutti_comm comm,
                            const tutti_options* options) {
  return run(alltoall_call(in, out, count, type), comm, options);
}
tutti_status tutti_alltoall_async(const void* in, void* out, int64_t count, tutti_type type, tutti_comm comm,
                                  const tutti_options* options, tutti_request* request) {
  return start(alltoall_call(in, out, count, type), comm, options, request);
}
tutti_status tutti_plan_alltoall(const void* in, void* out, int64_t count, tutti_type type, tutti_comm comm,
                                 const tutti_options* options, tutti_plan* plan) {
  return prepare(alltoall_call(in, out, count, type), comm, options, plan);
}

tutti_status tutti_alltoallv(const void* in, const int64_t* in_counts, const int64_t* in_offsets, void* out,
                             const int64_t* out_counts, const int64_t* out_offsets, tutti_type type, tutti_comm comm,
                             const tutti_options* options) {
  return run(alltoallv_call(in, in_counts, in_offsets, out, out_counts, out_offsets, type), comm, options);
}
tutti_status tutti_alltoallv_async(const void* in, const int64_t* in_counts, const int64_t* in_offsets, void* out,
                                   const int64_t* out_counts, const int64_t* out_offsets, tutti_type type,
                                   tutti_comm comm, const tutti_options* options, tutti_request* request) {
  return start(alltoallv_call(in, in_counts, in_offsets, out, out_counts, out_offsets, type), comm, options, request);
}
tutti_status tutti_plan_alltoallv(const void* in, const int64_t* in_counts, const int64_t* in_offsets, void* out,
                                  const int64_t* out_counts, const int64_t* out_offsets, tutti_type type,
                                  tutti_comm comm, const tutti_options* options, tutti_plan* plan) {
  return prepare(alltoallv_call(in, in_counts, in_offsets, out, out_counts, out_offsets, type), comm, options, plan);
}

tutti_status tutti_alltoallw(const void* in, const int64_t* in_counts, const int64_t* in_offsets,
                             const tutti_type* in_types, void* out, const int64_t* out_counts,
                             const int64_t* out_offsets, const tutti_type* out_types, tutti_comm comm,
                             const tutti_options* options) {
  return run(alltoallw_call(in, in_counts, in_offsets, in_types, out, out_counts, out_offsets, out_types), comm,
             options);
}
tutti_status tutti_alltoallw_async(const void* in, const int64_t* in_counts, const int64_t* in_offsets,
                                   const tutti_type* in_types, void* out, const int64_t* out_counts,
                                   const int64_t* out_offsets, const tutti_type* out_types, tutti_comm comm,
                                   const tutti_options* options, tutti_request* request) {
  return start(alltoallw_call(in, in_counts, in_offsets, in_types, out, out_counts, out_offsets, out_types), comm,
               options, request);
}
tutti_status tutti_plan_alltoallw(const void* in, const int64_t* in_counts, const int64_t* in_offsets,
                                  const tutti_type* in_types, void* out, const int64_t* out_counts,
                                  const int64_t* out_offsets, const tutti_type* out_types, tutti_comm comm,
                                  const tutti_options* options, tutti_plan* plan) {
  return prepare(alltoallw_call(in, in_counts, in_offsets, in_types, out, out_counts, out_offsets, out_types), comm,
                 options, plan);
}
