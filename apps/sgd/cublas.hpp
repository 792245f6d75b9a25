#pragma once
// Products of matrices on a GPU by cuBLAS, which is found when the program runs.

#include <cuda.h>

#include "apps/sgd/product.hpp"

namespace tutti::sgd {

class Cublas {
 public:
  Cublas() = default;
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;
  ~Cublas() { close(); }

  /// Loads libcublas and makes a handle in the current context, whose products go into the stream. Without the library
  /// nothing happens. Throws Error if cuBLAS does.
  void open(CUstream stream);
  void close() noexcept;
  /// Queues a product; false: there is no cuBLAS.
  [[nodiscard]] bool multiply(const Product<float>& product) const;
  [[nodiscard]] bool multiply(const Product<double>& product) const;

 private:
  void* handle_ = nullptr;
};

}  // namespace tutti::sgd
