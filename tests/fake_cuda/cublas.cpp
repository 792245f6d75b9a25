// Stands in for cuBLAS, over the fake driver: products of matrices in the order of a stream. Takes the place of
// libcublas.so.13. With FAKE_CUBLAS_STATUS=N no handle is made, for that reason; with FAKE_CUBLAS_LOG=1 a handle tells
// at its end how many products it has made.
#include <cuda.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#define FAKE_CUBLAS_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

// As cublas_api.h has them.
enum Status : int { success = 0, not_initialized = 1, alloc_failed = 3, invalid_value = 7, execution_failed = 13 };

/// Memory of the host through which all products of a handle pass: they are made one after the other.
constexpr std::size_t workspace_bytes = std::size_t{16} << 20;

struct Handle {
  CUstream stream = nullptr;
  std::byte* workspace = nullptr;
  int products = 0;
};

/// A matrix column by column, of which `apart` elements lie between the beginnings of columns.
template <class T>
struct Columns {
  T* data;
  int rows, columns, apart;
  [[nodiscard]] bool is_valid() const { return rows >= 0 && columns >= 0 && apart >= std::max(1, rows); }
  [[nodiscard]] std::size_t elements() const {
    if (rows == 0 || columns == 0) return 0;
    return static_cast<std::size_t>(columns - 1) * static_cast<std::size_t>(apart) + static_cast<std::size_t>(rows);
  }
  [[nodiscard]] T& at(int row, int column) const { return data[static_cast<std::ptrdiff_t>(column) * apart + row]; }
};

/// c = alpha a b + beta c in the workspace, where a and b may be transposed.
template <class T>
struct Work {
  Columns<T> a, b, c;
  bool transposes_a, transposes_b;
  int depth;
  T alpha, beta;

  void run() const {
    for (int column = 0; column < c.columns; ++column)
      for (int row = 0; row < c.rows; ++row) {
        long double sum = 0;
        for (int k = 0; k < depth; ++k)
          sum += static_cast<long double>(transposes_a ? a.at(k, row) : a.at(row, k)) *
                 (transposes_b ? b.at(column, k) : b.at(k, column));
        T& result = c.at(row, column);
        result = static_cast<T>(alpha * sum + beta * static_cast<long double>(result));
      }
  }
};

template <class T>
void run_work(void* data) {
  auto* const work = static_cast<Work<T>*>(data);
  work->run();
  delete work;
}

CUdeviceptr address(const void* data) { return reinterpret_cast<CUdeviceptr>(data); }

template <class T>
int gemm(void* opened, int a_form, int b_form, int m, int n, int k, const T* alpha, const T* a, int lda, const T* b,
         int ldb, const T* beta, T* c, int ldc) {
  auto* const handle = static_cast<Handle*>(opened);
  if (handle == nullptr) return not_initialized;
  const bool transposes_a = a_form == 1, transposes_b = b_form == 1;
  if (k < 0 || a_form < 0 || a_form > 1 || b_form < 0 || b_form > 1) return invalid_value;
  const Columns<const T> from_a{a, transposes_a ? k : m, transposes_a ? m : k, lda},
      from_b{b, transposes_b ? n : k, transposes_b ? k : n, ldb};
  const Columns<T> from_c{c, m, n, ldc};
  if (!from_a.is_valid() || !from_b.is_valid() || !from_c.is_valid()) return invalid_value;
  auto* const copies = reinterpret_cast<T*>(handle->workspace);
  T* const copy_a = copies;
  T* const copy_b = copy_a + from_a.elements();
  T* const copy_c = copy_b + from_b.elements();
  if (static_cast<std::size_t>(copy_c + from_c.elements() - copies) * sizeof(T) > workspace_bytes) return alloc_failed;
  auto* const work = new Work<T>{{copy_a, from_a.rows, from_a.columns, lda},
                                 {copy_b, from_b.rows, from_b.columns, ldb},
                                 {copy_c, m, n, ldc},
                                 transposes_a,
                                 transposes_b,
                                 k,
                                 *alpha,
                                 *beta};
  const auto fetch = [&](T* into, const T* from, std::size_t elements) {
    return elements == 0 ? CUDA_SUCCESS : cuMemcpyDtoHAsync(into, address(from), elements * sizeof(T), handle->stream);
  };
  const bool is_queued = fetch(copy_a, a, from_a.elements()) == CUDA_SUCCESS &&
                         fetch(copy_b, b, from_b.elements()) == CUDA_SUCCESS &&
                         fetch(copy_c, c, from_c.elements()) == CUDA_SUCCESS &&
                         cuLaunchHostFunc(handle->stream, run_work<T>, work) == CUDA_SUCCESS;
  if (!is_queued) {
    delete work;
    return execution_failed;
  }
  // Column by column: what lies between them is not the product's.
  for (int column = 0; column < n && m > 0; ++column) {
    const std::size_t at = static_cast<std::size_t>(column) * static_cast<std::size_t>(ldc);
    if (cuMemcpyHtoDAsync(address(c + at), copy_c + at, static_cast<std::size_t>(m) * sizeof(T), handle->stream) !=
        CUDA_SUCCESS)
      return execution_failed;
  }
  ++handle->products;
  return success;
}

}  // namespace

FAKE_CUBLAS_EXPORT int cublasCreate_v2(void** opened) {
  if (const char* const status = std::getenv("FAKE_CUBLAS_STATUS")) return std::atoi(status);
  auto* const handle = new Handle;
  void* workspace = nullptr;
  if (cuMemHostAlloc(&workspace, workspace_bytes, 0) != CUDA_SUCCESS) {
    delete handle;
    return alloc_failed;
  }
  handle->workspace = static_cast<std::byte*>(workspace);
  *opened = handle;
  return success;
}

FAKE_CUBLAS_EXPORT int cublasDestroy_v2(void* opened) {
  auto* const handle = static_cast<Handle*>(opened);
  if (handle == nullptr) return not_initialized;
  if (std::getenv("FAKE_CUBLAS_LOG") != nullptr) std::fprintf(stderr, "fake cuBLAS: %d products\n", handle->products);
  static_cast<void>(cuStreamSynchronize(handle->stream));
  static_cast<void>(cuMemFreeHost(handle->workspace));
  delete handle;
  return success;
}

FAKE_CUBLAS_EXPORT int cublasSetStream_v2(void* opened, CUstream stream) {
  if (opened == nullptr) return not_initialized;
  static_cast<Handle*>(opened)->stream = stream;
  return success;
}

FAKE_CUBLAS_EXPORT int cublasSgemm_v2(void* handle, int a_form, int b_form, int m, int n, int k, const float* alpha,
                                      const float* a, int lda, const float* b, int ldb, const float* beta, float* c,
                                      int ldc) {
  return gemm(handle, a_form, b_form, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
FAKE_CUBLAS_EXPORT int cublasDgemm_v2(void* handle, int a_form, int b_form, int m, int n, int k, const double* alpha,
                                      const double* a, int lda, const double* b, int ldb, const double* beta, double* c,
                                      int ldc) {
  return gemm(handle, a_form, b_form, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
