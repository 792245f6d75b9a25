#pragma once
// New arrays for results, of the kind of the input.

#include "buffer.hpp"

namespace tutti::python {

struct Result {
  Buffer buffer;
  /// What the call returns: the array, or for arrays that nobody can write to (JAX's) nothing until it is over.
  nb::object array;
  nb::object namespace_of_immutable;  ///< The module whose from_dlpack makes the result then.

  /// The array that the call returns when it is over.
  [[nodiscard]] nb::object finished() const;
};

/// An array of this shape, with elements as those of `like`. `zeros`: where the call may leave it as it is.
[[nodiscard]] Result make_result(const Buffer& like, const std::vector<int64_t>& shape, const Argument& argument,
                                 bool zeros = false);

}  // namespace tutti::python
