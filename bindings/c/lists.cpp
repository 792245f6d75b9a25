// Collectives of lists of buffers in C.
#include "tutti/lists.hpp"

#include <cstddef>
#include <type_traits>

#include "bindings/c/call.hpp"

namespace {

using namespace tutti::c;
using tutti::Collective;
using tutti::ListedBuffer;

// A list of C is read as one of C++.
static_assert(sizeof(ListedBuffer) == sizeof(tutti_listed_buffer) && std::is_standard_layout_v<ListedBuffer> &&
              offsetof(ListedBuffer, in) == offsetof(tutti_listed_buffer, in) &&
              offsetof(ListedBuffer, out) == offsetof(tutti_listed_buffer, out) &&
              offsetof(ListedBuffer, count) == offsetof(tutti_listed_buffer, count));

/// The arguments of a call, as C gives them.
struct ListDescription {
  std::string_view name;
  Collective collective;
  const tutti_listed_buffer* buffers;
  int64_t size;
  tutti_type type;
  tutti_op op = nullptr;
  int root = 0;
};

tutti::detail::ListCall converted(const Site& site, const ListDescription& given) {
  if (given.size < 0) site.refuse("size", std::to_string(given.size), "0 or more");
  if (given.size > 0) static_cast<void>(site.pointed("buffers", given.buffers, "a list of 'size' buffers"));
  tutti::detail::ListCall call{.function = given.name, .collective = given.collective};
  if (given.size > 0)
    call.buffers = {reinterpret_cast<const ListedBuffer*>(given.buffers), static_cast<std::size_t>(given.size)};
  call.type = type_of(site, "type", given.type);
  if (tutti::reduces(given.collective)) call.op = op_of(site, given.op);
  call.root = tutti::Rank{given.root};
  return call;
}

tutti_status run(const ListDescription& call, tutti_comm comm, const tutti_options* options,
                 const char* function = __builtin_FUNCTION()) {
  return guarded(
      [&](const Site& site) {
        tutti::detail::run(converted(site, call), communicator(site, comm), call_options(site, options));
      },
      function);
}

tutti_status start(const ListDescription& call, tutti_comm comm, const tutti_options* options, tutti_request* request,
                   const char* function = __builtin_FUNCTION()) {
  return stored_request(
      request,
      [&](const Site& site) {
        return tutti::detail::start(converted(site, call), communicator(site, comm), call_options(site, options));
      },
      function);
}

tutti_status prepare(const ListDescription& call, tutti_comm comm, const tutti_options* options, tutti_plan* plan,
                     const char* function = __builtin_FUNCTION()) {
  return stored_plan(
      plan,
      [&](const Site& site) {
        return tutti::detail::prepare(converted(site, call), communicator(site, comm), call_options(site, options));
      },
      function);
}

using Buffers = const tutti_listed_buffer*;

ListDescription allreduce_list(Buffers buffers, int64_t size, tutti_type type, tutti_op op) {
  return {"allreduce_list", Collective::allreduce, buffers, size, type, op};
}
ListDescription broadcast_list(Buffers buffers, int64_t size, tutti_type type, int root) {
  return {"broadcast_list", Collective::broadcast, buffers, size, type, nullptr, root};
}
ListDescription allgather_list(Buffers buffers, int64_t size, tutti_type type) {
  return {"allgather_list", Collective::allgather, buffers, size, type};
}
ListDescription reduce_scatter_list(Buffers buffers, int64_t size, tutti_type type, tutti_op op) {
  return {"reduce_scatter_list", Collective::reduce_scatter, buffers, size, type, op};
}

}  // namespace

tutti_status tutti_allreduce_list(const tutti_listed_buffer* buffers, int64_t size, tutti_type type, tutti_op op,
                                  tutti_comm comm, const tutti_options* options) {
  return run(allreduce_list(buffers, size, type, op), comm, options);
}
tutti_status tutti_allreduce_list_async(const tutti_listed_buffer* buffers, int64_t size, tutti_type type, tutti_op op,
                                        tutti_comm comm, const tutti_options* options, tutti_request* request) {
  return start(allreduce_list(buffers, size, type, op), comm, options, request);
}
tutti_status tutti_plan_allreduce_list(const tutti_listed_buffer* buffers, int64_t size, tutti_type type, tutti_op op,
                                       tutti_comm comm, const tutti_options* options, tutti_plan* plan) {
  return prepare(allreduce_list(buffers, size, type, op), comm, options, plan);
}

tutti_status tutti_broadcast_list(const tutti_listed_buffer* buffers, int64_t size, tutti_type type, int root,
                                  tutti_comm comm, const tutti_options* options) {
  return run(broadcast_list(buffers, size, type, root), comm, options);
}
tutti_status tutti_broadcast_list_async(const tutti_listed_buffer* buffers, int64_t size, tutti_type type, int root,
                                        tutti_comm comm, const tutti_options* options, tutti_request* request) {
  return start(broadcast_list(buffers, size, type, root), comm, options, request);
}
tutti_status tutti_plan_broadcast_list(const tutti_listed_buffer* buffers, int64_t size, tutti_type type, int root,
                                       tutti_comm comm, const tutti_options* options, tutti_plan* plan) {
  return prepare(broadcast_list(buffers, size, type, root), comm, options, plan);
}

tutti_status tutti_allgather_list(const tutti_listed_buffer* buffers, int64_t size, tutti_type type, tutti_comm comm,
                                  const tutti_options* options) {
  return run(allgather_list(buffers, size, type), comm, options);
}
tutti_status tutti_allgather_list_async(const tutti_listed_buffer* buffers, int64_t size, tutti_type type,
                                        tutti_comm comm, const tutti_options* options, tutti_request* request) {
  return start(allgather_list(buffers, size, type), comm, options, request);
}
tutti_status tutti_plan_allgather_list(const tutti_listed_buffer* buffers, int64_t size, tutti_type type,
                                       tutti_comm comm, const tutti_options* options, tutti_plan* plan) {
  return prepare(allgather_list(buffers, size, type), comm, options, plan);
}

tutti_status tutti_reduce_scatter_list(const tutti_listed_buffer* buffers, int64_t size, tutti_type type, tutti_op op,
                                       tutti_comm comm, const tutti_options* options) {
  return run(reduce_scatter_list(buffers, size, type, op), comm, options);
}
tutti_status tutti_reduce_scatter_list_async(const tutti_listed_buffer* buffers, int64_t size, tutti_type type,
                                             tutti_op op, tutti_comm comm, const tutti_options* options,
                                             tutti_request* request) {
  return start(reduce_scatter_list(buffers, size, type, op), comm, options, request);
}
tutti_status tutti_plan_reduce_scatter_list(const tutti_listed_buffer* buffers, int64_t size, tutti_type type,
                                            tutti_op op, tutti_comm comm, const tutti_options* options,
                                            tutti_plan* plan) {
  return prepare(reduce_scatter_list(buffers, size, type, op), comm, options, plan);
}
