#include "tests/fake_cuda/driver/posting.hpp"

#include <utility>

#include "tests/fake_cuda/driver/capture.hpp"

namespace fake_cuda {

CUresult find_stream(Context* context, CUstream handle, StreamPointer& stream) {
  stream = Streams::get().find(context, handle);
  if (stream == nullptr) return context == nullptr ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_HANDLE;
  return is_legacy(handle) ? Captures::get().refuse_legacy(stream->context) : CUDA_SUCCESS;
}

CUresult enqueue(Context* context, CUstream handle, Operation operation, bool wait) {
  StreamPointer stream;
  if (const CUresult bad = find_stream(context, handle, stream); bad != CUDA_SUCCESS) return bad;
  if (const auto captured = Captures::get().take(stream, operation)) return *captured;
  if (operation.count) operation.count();
  const Point point = Streams::get().push(stream, std::move(operation));
  if (!wait) return CUDA_SUCCESS;
  Streams::get().wait(point);
  return stream->context->lost;
}

}  // namespace fake_cuda
