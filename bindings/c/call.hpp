#pragma once
// A collective call of C: how it is described, and its three forms.

#include "bindings/c/handles.hpp"

namespace tutti::c {

/// A tutti_call in the making.
struct Description : tutti_call {
  Description(tutti_collective its_collective, const void* from, void* to, int64_t elements, tutti_type its_type)
      : tutti_call(TUTTI_CALL_INIT) {
    collective = its_collective;
    in = from;
    out = to;
    count = elements;
    type = its_type;
  }
  Description& combined_by(tutti_op its_op) {
    op = its_op;
    return *this;
  }
  Description& rooted_at(int its_root) {
    root = its_root;
    return *this;
  }
  Description& from_blocks(const int64_t* counts, const int64_t* offsets) {
    blocks = TUTTI_BLOCKS_UNEVEN;
    in_counts = counts;
    in_offsets = offsets;
    return *this;
  }
  Description& to_blocks(const int64_t* counts, const int64_t* offsets) {
    blocks = TUTTI_BLOCKS_UNEVEN;
    out_counts = counts;
    out_offsets = offsets;
    return *this;
  }
  Description& of_types(const tutti_type* from, const tutti_type* to) {
    blocks = TUTTI_BLOCKS_TYPED;
    in_types = from;
    out_types = to;
    return *this;
  }
};

/// The options of a call; nullptr: none.
[[nodiscard]] Options call_options(const Site& site, const tutti_options* given);

tutti_status run(const tutti_call* call, tutti_comm comm, const tutti_options* options,
                 const char* function = __builtin_FUNCTION()) noexcept;
tutti_status start(const tutti_call* call, tutti_comm comm, const tutti_options* options, tutti_request* request,
                   const char* function = __builtin_FUNCTION()) noexcept;
tutti_status prepare(const tutti_call* call, tutti_comm comm, const tutti_options* options, tutti_plan* plan,
                     const char* function = __builtin_FUNCTION()) noexcept;

inline tutti_status run(const Description& call, tutti_comm comm, const tutti_options* options,
                        const char* function = __builtin_FUNCTION()) noexcept {
  return run(static_cast<const tutti_call*>(&call), comm, options, function);
}
inline tutti_status start(const Description& call, tutti_comm comm, const tutti_options* options,
                          tutti_request* request, const char* function = __builtin_FUNCTION()) noexcept {
  return start(static_cast<const tutti_call*>(&call), comm, options, request, function);
}
inline tutti_status prepare(const Description& call, tutti_comm comm, const tutti_options* options, tutti_plan* plan,
                            const char* function = __builtin_FUNCTION()) noexcept {
  return prepare(static_cast<const tutti_call*>(&call), comm, options, plan, function);
}

}  // namespace tutti::c
