#include <cuda_runtime_api.h>

#include "lib/memory/device_memory.hpp"

namespace tutti {
namespace {

bool find_device() {
  int devices = 0;  // left alone by a runtime without a driver
  return cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
}

}  // namespace

bool is_device_memory(const void* data) {
  static const bool has_device = find_device();
  if (!has_device || data == nullptr) return false;
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, data) != cudaSuccess) {
    cudaGetLastError();  // an unknown pointer is not an error of ours
    return false;
  }
  return attributes.type == cudaMemoryTypeDevice;
}

}  // namespace tutti
