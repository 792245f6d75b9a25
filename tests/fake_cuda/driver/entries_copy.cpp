// Entry points: copies and fills.
#include "tests/fake_cuda/driver/call.hpp"
#include "tests/fake_cuda/driver/copy.hpp"

using namespace fake_cuda;

namespace {

std::uint64_t address_of(const void* data) { return reinterpret_cast<std::uint64_t>(data); }

}  // namespace

// With a name, its parameters, and what is copied where. The plain ones use the legacy stream.
#define FAKE_CUDA_COPY(name, parameters, to, from)                 \
  FAKE_CUDA_EXPORT CUresult name parameters {                      \
    FAKE_CUDA_CONTEXT_CALL(#name);                                 \
    return copy(context, to, from, bytes, nullptr, Blocking::yes); \
  }
#define FAKE_CUDA_COPY_ASYNC(name, parameters, to, from)         \
  FAKE_CUDA_EXPORT CUresult name parameters {                    \
    FAKE_CUDA_CONTEXT_CALL(#name);                               \
    return copy(context, to, from, bytes, stream, Blocking::no); \
  }
#define FAKE_CUDA_FILL(name, type)                                                 \
  FAKE_CUDA_EXPORT CUresult name(CUdeviceptr to, type value, std::size_t count) {  \
    FAKE_CUDA_CONTEXT_CALL(#name);                                                 \
    return fill(context, to, &value, sizeof value, count, nullptr, Blocking::yes); \
  }
#define FAKE_CUDA_FILL_ASYNC(name, type)                                                           \
  FAKE_CUDA_EXPORT CUresult name(CUdeviceptr to, type value, std::size_t count, CUstream stream) { \
    FAKE_CUDA_CONTEXT_CALL(#name);                                                                 \
    return fill(context, to, &value, sizeof value, count, stream, Blocking::no);                   \
  }

FAKE_CUDA_COPY(cuMemcpy, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes), to, from)
FAKE_CUDA_COPY(cuMemcpyHtoD, (CUdeviceptr to, const void* from, std::size_t bytes), to, address_of(from))
FAKE_CUDA_COPY(cuMemcpyDtoH, (void* to, CUdeviceptr from, std::size_t bytes), address_of(to), from)
FAKE_CUDA_COPY(cuMemcpyDtoD, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes), to, from)
FAKE_CUDA_COPY(cuMemcpyPeer, (CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, std::size_t bytes), to, from)
FAKE_CUDA_COPY_ASYNC(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream), to, from)
FAKE_CUDA_COPY_ASYNC(cuMemcpyHtoDAsync, (CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream), to,
                     address_of(from))
FAKE_CUDA_COPY_ASYNC(cuMemcpyDtoHAsync, (void* to, CUdeviceptr from, std::size_t bytes, CUstream stream),
                     address_of(to), from)
FAKE_CUDA_COPY_ASYNC(cuMemcpyDtoDAsync, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream), to,
                     from)
FAKE_CUDA_COPY_ASYNC(cuMemcpyPeerAsync,
                     (CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, std::size_t bytes, CUstream stream), to,
                     from)
FAKE_CUDA_FILL(cuMemsetD8, unsigned char)
FAKE_CUDA_FILL(cuMemsetD16, unsigned short)
FAKE_CUDA_FILL(cuMemsetD32, unsigned)
FAKE_CUDA_FILL_ASYNC(cuMemsetD8Async, unsigned char)
FAKE_CUDA_FILL_ASYNC(cuMemsetD16Async, unsigned short)
FAKE_CUDA_FILL_ASYNC(cuMemsetD32Async, unsigned)

FAKE_CUDA_EXPORT CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* shape, CUstream stream) {
  FAKE_CUDA_CONTEXT_CALL("cuMemcpy2DAsync");
  const std::uint64_t to = shape->dstMemoryType == CU_MEMORYTYPE_HOST ? address_of(shape->dstHost) : shape->dstDevice;
  const std::uint64_t from = shape->srcMemoryType == CU_MEMORYTYPE_HOST ? address_of(shape->srcHost) : shape->srcDevice;
  for (std::size_t y = 0; y < shape->Height; ++y) {
    const CUresult result = copy(context, to + (shape->dstY + y) * shape->dstPitch + shape->dstXInBytes,
                                 from + (shape->srcY + y) * shape->srcPitch + shape->srcXInBytes, shape->WidthInBytes,
                                 stream, Blocking::no);
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}
