#include "list_calls.hpp"

#include <cstdint>

namespace tutti::python {

tutti_status run_call(const tutti_call& call, const ListedBuffers& list, tutti_comm comm,
                      const tutti_options* options) {
  if (!list) return tutti_run(&call, comm, options);
  const auto size = static_cast<int64_t>(list->size());
  switch (call.collective) {
    case TUTTI_ALLREDUCE:
      return tutti_allreduce_list(list->data(), size, call.type, call.op, comm, options);
    case TUTTI_BROADCAST:
      return tutti_broadcast_list(list->data(), size, call.type, call.root, comm, options);
    case TUTTI_ALLGATHER:
      return tutti_allgather_list(list->data(), size, call.type, comm, options);
    default:
      return tutti_reduce_scatter_list(list->data(), size, call.type, call.op, comm, options);
  }
}

tutti_status start_call(const tutti_call& call, const ListedBuffers& list, tutti_comm comm,
                        const tutti_options* options, tutti_request* request) {
  if (!list) return tutti_start(&call, comm, options, request);
  const auto size = static_cast<int64_t>(list->size());
  switch (call.collective) {
    case TUTTI_ALLREDUCE:
      return tutti_allreduce_list_async(list->data(), size, call.type, call.op, comm, options, request);
    case TUTTI_BROADCAST:
      return tutti_broadcast_list_async(list->data(), size, call.type, call.root, comm, options, request);
    case TUTTI_ALLGATHER:
      return tutti_allgather_list_async(list->data(), size, call.type, comm, options, request);
    default:
      return tutti_reduce_scatter_list_async(list->data(), size, call.type, call.op, comm, options, request);
  }
}

tutti_status prepare_call(const tutti_call& call, const ListedBuffers& list, tutti_comm comm,
                          const tutti_options* options, tutti_plan* plan) {
  if (!list) return tutti_prepare(&call, comm, options, plan);
  const auto size = static_cast<int64_t>(list->size());
  switch (call.collective) {
    case TUTTI_ALLREDUCE:
      return tutti_plan_allreduce_list(list->data(), size, call.type, call.op, comm, options, plan);
    case TUTTI_BROADCAST:
      return tutti_plan_broadcast_list(list->data(), size, call.type, call.root, comm, options, plan);
    case TUTTI_ALLGATHER:
      return tutti_plan_allgather_list(list->data(), size, call.type, comm, options, plan);
    default:
      return tutti_plan_reduce_scatter_list(list->data(), size, call.type, call.op, comm, options, plan);
  }
}

}  // namespace tutti::python
