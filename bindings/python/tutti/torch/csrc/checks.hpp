#pragma once
// What calls of torch.distributed must fulfil, told by name. All are ValueErrors.

#include "call.hpp"

namespace tutti_torch {

inline void require_some(const std::vector<at::Tensor>& tensors, const char* name) {
  TORCH_CHECK_VALUE(!tensors.empty(), "tutti: ", name, ": requires a tensor, got none");
}

template <class Length, class Expected>
void require_length(Length length, Expected expected, const char* what, const char* name) {
  TORCH_CHECK_VALUE(static_cast<int64_t>(length) == static_cast<int64_t>(expected), "tutti: ", name, ": ", length, " ",
                    what, " where there must be ", expected);
}

inline void require_rank(int64_t rank, int size, const char* what, const char* name) {
  TORCH_CHECK_VALUE(rank >= 0 && rank < size, "tutti: ", name, ": ", what, " ", rank,
                    " is not a rank of the group, 0 to ", size - 1);
}

inline void require_count(int64_t expected, int64_t count, const char* what, const char* name) {
  TORCH_CHECK_VALUE(count == expected, "tutti: ", name, ": the ", what, " has ", count,
                    " elements where there must be ", expected);
}

inline void require_same_type(const Buffer& in, const Buffer& out, const char* name) {
  TORCH_CHECK_TYPE(in.first().scalar_type() == out.first().scalar_type(), "tutti: ", name, ": the input is of type ",
                   in.first().scalar_type(), ", the output of type ", out.first().scalar_type());
  TORCH_CHECK_VALUE(in.first().device() == out.first().device(), "tutti: ", name, ": the input is on ",
                    in.first().device(), ", the output on ", out.first().device());
}

inline void require_divisible(const at::Tensor& tensor, int size, const char* name) {
  TORCH_CHECK_VALUE(tensor.numel() == 0 || tensor.size(0) % size == 0, "tutti: ", name, ": ", tensor.size(0),
                    " rows cannot be divided evenly among ", size, " ranks");
}

inline bool is_even(const std::vector<at::Tensor>& tensors) {
  return std::all_of(tensors.begin(), tensors.end(),
                     [&](const auto& tensor) { return tensor.numel() == tensors[0].numel(); });
}

/// Elements for each rank, from rows for each; no splits are the same for all.
inline std::vector<int64_t> split_counts(const at::Tensor& tensor, const std::vector<int64_t>& splits, int size,
                                         const char* name) {
  const int64_t rows = tensor.dim() == 0 ? tensor.numel() : tensor.size(0);
  const int64_t row = rows == 0 ? 0 : tensor.numel() / rows;
  if (splits.empty()) {
    require_divisible(tensor, size, name);
    return std::vector<int64_t>(size, rows / size * row);
  }
  require_length(splits.size(), size, "split sizes", name);
  int64_t total = 0;
  std::vector<int64_t> counts;
  for (const int64_t split : splits) {
    TORCH_CHECK_VALUE(split >= 0, "tutti: ", name, ": split size ", split, " is negative");
    total += split;
    counts.push_back(split * row);
  }
  TORCH_CHECK_VALUE(total == rows, "tutti: ", name, ": split sizes add up to ", total, " rows of a tensor that has ",
                    rows);
  return counts;
}

}  // namespace tutti_torch
