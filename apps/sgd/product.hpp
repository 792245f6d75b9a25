#pragma once
// Products of matrices on the host.

#include <cstddef>
#include <functional>

namespace tutti::sgd {

/// A matrix in an array: how far apart elements are that follow each other in a column, and in a row. One of them is 1.
template <class T>
struct Matrix {
  const T* data;
  std::size_t down, right;
  [[nodiscard]] Matrix transposed() const { return {data, right, down}; }
  [[nodiscard]] Matrix from_row(std::size_t row) const { return {data + row * down, down, right}; }
};

/// result += a * b, where `result` has so many rows and columns, one row behind the other, and `a` so many columns.
template <class T>
struct Product {
  Matrix<T> a, b;
  T* result;
  std::size_t rows, columns, depth;
};

/// Each element adds its products in order, one rounding each: the bits of a GPU's kernel.
template <class T>
void multiply_in_order(const Product<T>& product);

/// By OpenBLAS; false: this build has none.
[[nodiscard]] bool has_openblas();
void multiply_by_openblas(const Product<float>& product);
void multiply_by_openblas(const Product<double>& product);

}  // namespace tutti::sgd
