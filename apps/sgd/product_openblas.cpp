#include <cblas.h>

#include "apps/sgd/product.hpp"

namespace tutti::sgd {

namespace {

/// CBLAS counts by int; networks are far smaller.
int narrow(std::size_t count) { return static_cast<int>(count); }

/// Whether a matrix lies column by column, and how far apart these, or its rows, are.
template <class T>
CBLAS_TRANSPOSE order_of(const Matrix<T>& matrix) {
  return matrix.right == 1 ? CblasNoTrans : CblasTrans;
}
template <class T>
int stride_of(const Matrix<T>& matrix) {
  return narrow(matrix.right == 1 ? matrix.down : matrix.right);
}

}  // namespace

bool has_openblas() { return true; }

void multiply_by_openblas(const Product<float>& product) {
  const auto& [a, b, result, rows, columns, depth] = product;
  cblas_sgemm(CblasRowMajor, order_of(a), order_of(b), narrow(rows), narrow(columns), narrow(depth), 1, a.data,
              stride_of(a), b.data, stride_of(b), 1, result, narrow(columns));
}

void multiply_by_openblas(const Product<double>& product) {
  const auto& [a, b, result, rows, columns, depth] = product;
  cblas_dgemm(CblasRowMajor, order_of(a), order_of(b), narrow(rows), narrow(columns), narrow(depth), 1, a.data,
              stride_of(a), b.data, stride_of(b), 1, result, narrow(columns));
}

}  // namespace tutti::sgd
