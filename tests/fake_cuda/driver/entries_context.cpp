// Entry points: the current context of a thread, and what a context tells.
#include "tests/fake_cuda/driver/call.hpp"
#include "tests/fake_cuda/driver/capture.hpp"
#include "tests/fake_cuda/driver/report.hpp"
#include "tests/fake_cuda/driver/settings.hpp"
#include "tests/fake_cuda/driver/stream.hpp"

using namespace fake_cuda;

namespace {

/// Whether the handle is of a context that was destroyed, which a driver may take for another or crash on.
bool is_of_destroyed(CUcontext handle, const char* name) {
  if (handle == nullptr || context_of(handle)->retained > 0 || !settings().forgets_contexts) return false;
  caught("destroyed-context", text("%s of a context that was destroyed", name));
  return true;
}

}  // namespace

FAKE_CUDA_EXPORT CUresult cuCtxGetCurrent(CUcontext* context) {
  FAKE_CUDA_CALL("cuCtxGetCurrent");
  *context = handle_of(current_contexts.top());
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuCtxSetCurrent(CUcontext context) {
  FAKE_CUDA_CALL("cuCtxSetCurrent");
  if (is_of_destroyed(context, "cuCtxSetCurrent")) return CUDA_ERROR_INVALID_CONTEXT;
  if (current_contexts.top() != nullptr) current_contexts.pop();
  if (context != nullptr) current_contexts.push(context_of(context));
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuCtxPushCurrent(CUcontext context) {
  FAKE_CUDA_CALL("cuCtxPushCurrent");
  if (context == nullptr || is_of_destroyed(context, "cuCtxPushCurrent")) return CUDA_ERROR_INVALID_CONTEXT;
  current_contexts.push(context_of(context));
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuCtxPopCurrent(CUcontext* context) {
  FAKE_CUDA_CALL("cuCtxPopCurrent");
  if (current_contexts.top() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (context != nullptr) *context = handle_of(current_contexts.top());
  current_contexts.pop();
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuCtxGetDevice(CUdevice* device) {
  FAKE_CUDA_CONTEXT_CALL("cuCtxGetDevice");
  *device = context->device;
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
  FAKE_CUDA_CALL("cuCtxGetId");
  Context* const context = handle == nullptr ? current_contexts.top() : context_of(handle);
  if (context == nullptr || is_of_destroyed(handle, "cuCtxGetId")) return CUDA_ERROR_INVALID_CONTEXT;
  if (context->retained == 0) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  *id = context->id;
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuCtxGetFlags(unsigned* flags) {
  FAKE_CUDA_CONTEXT_CALL("cuCtxGetFlags");
  *flags = context->flags;
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuCtxSetFlags(unsigned flags) {
  FAKE_CUDA_CONTEXT_CALL("cuCtxSetFlags");
  context->flags = flags;
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuCtxGetApiVersion(CUcontext, unsigned* version) {
  FAKE_CUDA_CALL("cuCtxGetApiVersion");
  *version = 3020;
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  FAKE_CUDA_CONTEXT_CALL("cuCtxGetStreamPriorityRange");
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuCtxGetLimit(std::size_t* value, CUlimit) {
  FAKE_CUDA_CONTEXT_CALL("cuCtxGetLimit");
  *value = std::size_t{1} << 20;
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuCtxSetLimit(CUlimit, std::size_t) {
  FAKE_CUDA_CONTEXT_CALL("cuCtxSetLimit");
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuCtxSynchronize() {
  FAKE_CUDA_CONTEXT_CALL("cuCtxSynchronize");
  if (const CUresult bad = Captures::get().refuse_all_of(context); bad != CUDA_SUCCESS) return bad;
  ++totals().synchronisations;
  Streams::get().drain(context);
  return context->lost;
}
FAKE_CUDA_EXPORT CUresult cuCtxEnablePeerAccess(CUcontext handle, unsigned flags) {
  FAKE_CUDA_CONTEXT_CALL("cuCtxEnablePeerAccess");
  FAKE_CUDA_REQUIRE(flags == 0);
  const Context* const peer = context_of(handle);
  if (peer == nullptr || peer == context) return CUDA_ERROR_INVALID_CONTEXT;
  if (!settings().has_peers || peer->device == context->device) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
  const std::lock_guard lock{context->peers_mutex};
  return context->peers.insert(peer).second ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}
FAKE_CUDA_EXPORT CUresult cuCtxDisablePeerAccess(CUcontext handle) {
  FAKE_CUDA_CONTEXT_CALL("cuCtxDisablePeerAccess");
  if (handle == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const std::lock_guard lock{context->peers_mutex};
  return context->peers.erase(context_of(handle)) > 0 ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}
