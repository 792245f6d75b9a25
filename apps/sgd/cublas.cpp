#include "apps/sgd/cublas.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>

#include "tutti/error.hpp"

namespace tutti::sgd {

namespace {

// As cublas_api.h declares them; it needs headers of the runtime, which a toolkit may lack.
enum class Status : int { success = 0 };
enum class Form : int { plain = 0, transposed = 1 };
using Handle = void*;
template <class T>
using Gemm = Status (*)(Handle handle, Form a_form, Form b_form, int m, int n, int k, const T* alpha, const T* a,
                        int lda, const T* b, int ldb, const T* beta, T* c, int ldc);

struct Library {
  Status (*create)(Handle* handle) = nullptr;
  Status (*destroy)(Handle handle) = nullptr;
  Status (*set_stream)(Handle handle, CUstream stream) = nullptr;
  Gemm<float> sgemm = nullptr;
  Gemm<double> dgemm = nullptr;
  [[nodiscard]] bool is_whole() const {
    return create != nullptr && destroy != nullptr && set_stream != nullptr && sgemm != nullptr && dgemm != nullptr;
  }
};

Library load() {
  Library library;
  void* opened = nullptr;
  for (const auto* const name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so"}) {
    opened = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (opened != nullptr) break;
  }
  if (opened == nullptr) return library;
  const auto find = [opened](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(opened, name));
  };
  find(library.create, "cublasCreate_v2");
  find(library.destroy, "cublasDestroy_v2");
  find(library.set_stream, "cublasSetStream_v2");
  find(library.sgemm, "cublasSgemm_v2");
  find(library.dgemm, "cublasDgemm_v2");
  return library;
}

const Library& library() {
  static const Library loaded = load();
  return loaded;
}

void check(Status status, const char* function) {
  if (status != Status::success) throw Error(fmt::format("{}: status {}", function, static_cast<int>(status)));
}

/// cuBLAS has matrices column by column: the transposed result is the product of the transposed matrices, b first.
template <class T>
void multiply_by(Gemm<T> gemm, Handle handle, const Product<T>& product, const char* name) {
  const auto form = [](const Matrix<T>& matrix) { return matrix.is_transposed ? Form::transposed : Form::plain; };
  const auto stride = [](const Matrix<T>& matrix) { return static_cast<int>(matrix.stride); };
  const auto& [a, b, result, rows, columns, depth, apart] = product;
  const T one{1};
  const auto n = static_cast<int>(columns), m = static_cast<int>(rows), k = static_cast<int>(depth);
  check(gemm(handle, form(b), form(a), n, m, k, &one, b.data, stride(b), a.data, stride(a), &one, result,
             static_cast<int>(apart)),
        name);
}

}  // namespace

std::string Cublas::open(CUstream stream) {
  if (!library().is_whole()) return "libcublas was not found";
  Status status = library().create(&handle_);
  if (status == Status::success) status = library().set_stream(handle_, stream);
  if (status == Status::success) return "";
  close();
  return fmt::format("cuBLAS cannot be used: status {}", static_cast<int>(status));
}

void Cublas::close() noexcept {
  if (handle_ != nullptr) static_cast<void>(library().destroy(handle_));
  handle_ = nullptr;
}

void Cublas::multiply(const Product<float>& product) const {
  multiply_by(library().sgemm, handle_, product, "cublasSgemm");
}
void Cublas::multiply(const Product<double>& product) const {
  multiply_by(library().dgemm, handle_, product, "cublasDgemm");
}

}  // namespace tutti::sgd
