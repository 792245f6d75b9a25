#pragma once
// Products of matrices on the host.

#include <cstddef>
#include <functional>

namespace tutti::sgd {

/// A matrix in an array: its rows, or, transposed, its columns lie one behind the other.
template <class T>
struct Matrix {
  const T* data;
  std::size_t stride;  ///< From a row, or column, to the next.
  bool is_transposed = false;
  [[nodiscard]] std::size_t down() const { return is_transposed ? 1 : stride; }
  [[nodiscard]] std::size_t right() const { return is_transposed ? stride : 1; }
  [[nodiscard]] Matrix transposed() const { return {data, stride, !is_transposed}; }
  [[nodiscard]] Matrix from(std::size_t row, std::size_t column) const {
    return {data + row * down() + column * right(), stride, is_transposed};
  }
};

/// result += a * b, where `result` has so many rows and columns, and `a` so many columns.
template <class T>
struct Product {
  Matrix<T> a, b;
  T* result;
  std::size_t rows, columns, depth;
  std::size_t stride = columns;  ///< From a row of the result to the next.
};

/// Each element adds its products in order, one rounding each: the bits of a GPU's kernel.
template <class T>
void multiply_in_order(const Product<T>& product);

/// By OpenBLAS; false: this build has none.
[[nodiscard]] bool has_openblas();
void multiply_by_openblas(const Product<float>& product);
void multiply_by_openblas(const Product<double>& product);

}  // namespace tutti::sgd
