// Reductions of distributed arrays, in C.
#include <cstring>

#include "bindings/c/handles.hpp"
#include "tutti/array_reduction.hpp"

namespace {

using namespace tutti::c;
using tutti::Count;
using tutti::Type;
using tutti::detail::ArrayBlock;

ArrayBlock block_of(const Site& site, const void* x, int64_t count, const int64_t* offset) {
  ArrayBlock block{.x = site.buffer("x", x), .count = Count{count}};
  if (offset != nullptr) block.offset = Count{*offset};
  return block;
}

Type real_type_of(const Site& site, tutti_type given) {
  const Type type = type_of(site, "type", given);
  if (type != Type::fp32 && type != Type::fp64) site.refuse("type", to_string(type), "fp32, fp64");
  return type;
}

void reduce(std::string_view function, const ArrayBlock& block, Type type, const tutti::Op& op, void* result,
            const tutti::Communicator& comm) {
  if (!tutti::detail::reduce_array(function, block, type, op, result, comm))
    std::memset(result, 0, static_cast<std::size_t>(size_of(type).value()));
}

}  // namespace

tutti_status tutti_sum(const void* x, int64_t count, const int64_t* offset, tutti_type type, void* result,
                       tutti_comm comm) {
  return guarded([&](const Site& site) {
    const tutti::Communicator& its = communicator(site, comm);
    if (result == nullptr) site.refuse("result", "NULL", "memory of one element");
    reduce("sum", block_of(site, x, count, offset), type_of(site, "type", type), tutti::Op::sum, result, its);
  });
}

tutti_status tutti_dot(const void* x, const void* y, int64_t count, const int64_t* offset, tutti_type type,
                       void* result, tutti_comm comm) {
  return guarded([&](const Site& site) {
    const tutti::Communicator& its = communicator(site, comm);
    if (result == nullptr) site.refuse("result", "NULL", "memory of one element");
    ArrayBlock block = block_of(site, x, count, offset);
    block.y = site.buffer("y", y);
    if (count > 0 && y == nullptr) site.refuse("y", "NULL", "memory of count elements");
    reduce("dot", block, real_type_of(site, type), tutti::Op::sum, result, its);
  });
}

tutti_status tutti_norm2(const void* x, int64_t count, const int64_t* offset, tutti_type type, void* result,
                         tutti_comm comm) {
  return guarded([&](const Site& site) {
    const tutti::Communicator& its = communicator(site, comm);
    if (result == nullptr) site.refuse("result", "NULL", "memory of one element");
    const Type real = real_type_of(site, type);
    const double norm = tutti::detail::norm2(block_of(site, x, count, offset), real, its);
    const auto narrow = static_cast<float>(norm);
    real == Type::fp32 ? std::memcpy(result, &narrow, sizeof narrow) : std::memcpy(result, &norm, sizeof norm);
  });
}

tutti_status tutti_reduce_array(const void* x, int64_t count, const int64_t* offset, tutti_type type, tutti_op op,
                                void* result, tutti_comm comm) {
  return guarded([&](const Site& site) {
    const tutti::Communicator& its = communicator(site, comm);
    if (result == nullptr) site.refuse("result", "NULL", "memory of one element");
    reduce("reduce_array", block_of(site, x, count, offset), type_of(site, "type", type), op_of(site, op), result, its);
  });
}
