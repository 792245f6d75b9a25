#include "tests/gpu/work.hpp"

#include <algorithm>
#include <bit>

namespace tutti::gpu {

CUdeviceptr device_memory(std::int64_t bytes) {
  CUdeviceptr address = 0;
  check(functions().MemAlloc(&address, static_cast<std::size_t>(bytes)), "cuMemAlloc");
  return address;
}

CUdeviceptr pinned_memory(std::int64_t bytes) {
  void* data = nullptr;
  check(functions().MemHostAlloc(&data, static_cast<std::size_t>(bytes), 0), "cuMemHostAlloc");
  return std::bit_cast<CUdeviceptr>(data);
}

CUstream new_stream() {
  CUstream stream = nullptr;
  check(functions().StreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  return stream;
}

CUevent new_event(unsigned flags) {
  CUevent event = nullptr;
  check(functions().EventCreate(&event, flags), "cuEventCreate");
  return event;
}

void copy(CUdeviceptr to, CUdeviceptr from, std::int64_t bytes, CUstream stream) {
  check(functions().MemcpyAsync(to, from, static_cast<std::size_t>(bytes), stream), "cuMemcpyAsync");
}

void finish(CUstream stream) { check(functions().StreamSynchronize(stream), "cuStreamSynchronize"); }

void poll(CUevent event, CUstream stream) {
  check(functions().EventRecord(event, stream), "cuEventRecord");
  CUresult result = CUDA_ERROR_NOT_READY;
  while ((result = functions().EventQuery(event)) == CUDA_ERROR_NOT_READY) {
  }
  check(result, "cuEventQuery");
}

CUfunction empty_kernel() {
  constexpr const char* text = ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry empty() {\n  ret;\n}\n";
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  check(functions().ModuleLoadData(&module, text), "cuModuleLoadData");
  check(functions().ModuleGetFunction(&kernel, module, "empty"), "cuModuleGetFunction");
  return kernel;
}

void launch(CUfunction kernel, CUstream stream) {
  check(functions().LaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr), "cuLaunchKernel");
}

std::vector<std::int64_t> sizes(const Effort& effort) {
  std::vector<std::int64_t> found;
  for (std::int64_t bytes = 8; bytes < effort.most_bytes; bytes *= 8)
    found.push_back(bytes);
  found.push_back(effort.most_bytes);
  return found;
}

int repetitions(std::int64_t bytes, const Effort& effort) {
  constexpr std::int64_t bytes_of_round = std::int64_t{1} << 30;
  return static_cast<int>(std::clamp<std::int64_t>(bytes_of_round / bytes, 1, effort.repetitions));
}

}  // namespace tutti::gpu
