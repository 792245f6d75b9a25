#include <cuda_runtime_api.h>

#include "lib/memory/memory_kind.hpp"

namespace tutti {
namespace {

bool find_device() {
  int devices = 0;  // left alone by a runtime without a driver
  return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
}

}  // namespace

Memory memory_of(const void* data) {
  static const bool has_device = find_device();
  if (!has_device || data == nullptr) return {};
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, data) != cudaSuccess) {
    cudaGetLastError();  // an unknown pointer is not an error of ours
    return {};
  }
  switch (attributes.type) {
    case cudaMemoryTypeHost:
      return {MemoryKind::pinned};
    case cudaMemoryTypeManaged:
      return {MemoryKind::managed};
    case cudaMemoryTypeDevice:
      return {MemoryKind::device, attributes.device};
    default:
      return {};
  }
}

}  // namespace tutti
