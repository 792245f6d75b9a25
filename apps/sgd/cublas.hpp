#pragma once
// Products of matrices on a GPU by cuBLAS, which is found when the program runs.

#include <cuda.h>

#include <string>

#include "apps/sgd/product.hpp"

namespace tutti::sgd {

class Cublas {
 public:
  Cublas() = default;
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;
  ~Cublas() { close(); }

  /// Loads libcublas and makes a handle in the current context, whose products go into the stream. Why that cannot be
  /// done; empty: it is.
  [[nodiscard]] std::string open(CUstream stream);
  void close() noexcept;
  /// Queues a product, once open() was. Throws Error if cuBLAS refuses.
  void multiply(const Product<float>& product) const;
  void multiply(const Product<double>& product) const;

 private:
  void* handle_ = nullptr;
};

}  // namespace tutti::sgd
