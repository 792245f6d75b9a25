#include <cblas.h>

#include "apps/sgd/product.hpp"

namespace tutti::sgd {

namespace {

/// CBLAS counts by int; networks are far smaller.
int narrow(std::size_t count) { return static_cast<int>(count); }

template <class T>
CBLAS_TRANSPOSE order_of(const Matrix<T>& matrix) {
  return matrix.is_transposed ? CblasTrans : CblasNoTrans;
}

}  // namespace

bool has_openblas() { return true; }

void multiply_by_openblas(const Product<float>& product) {
  const auto& [a, b, result, rows, columns, depth, stride] = product;
  cblas_sgemm(CblasRowMajor, order_of(a), order_of(b), narrow(rows), narrow(columns), narrow(depth), 1, a.data,
              narrow(a.stride), b.data, narrow(b.stride), 1, result, narrow(stride));
}

void multiply_by_openblas(const Product<double>& product) {
  const auto& [a, b, result, rows, columns, depth, stride] = product;
  cblas_dgemm(CblasRowMajor, order_of(a), order_of(b), narrow(rows), narrow(columns), narrow(depth), 1, a.data,
              narrow(a.stride), b.data, narrow(b.stride), 1, result, narrow(stride));
}

}  // namespace tutti::sgd
