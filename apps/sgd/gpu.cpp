#include "apps/sgd/gpu.hpp"

#include <fmt/format.h>

#include <array>

#include "apps/sgd/device_arguments.hpp"
#include "apps/sgd/device_image.hpp"
#include "tutti/error.hpp"

namespace tutti::sgd {

namespace {

constexpr unsigned threads = 256;

/// Retained once, which keeps it as long as the program.
CUcontext primary_context(int ordinal) {
  CUcontext context = nullptr;
  cuda::check(cuda::driver()->DevicePrimaryCtxRetain(&context, ordinal), "cuDevicePrimaryCtxRetain");
  return context;
}

}  // namespace

int Gpu::count() {
  if (cuda::driver() == nullptr) throw Error(cuda::why_no_driver());
  int devices = 0;
  cuda::check(cuda::driver()->DeviceGetCount(&devices), "cuDeviceGetCount");
  return devices;
}

Gpu::Gpu(int ordinal, const std::string& type) : scope_(primary_context(ordinal)) {
  try {
    load(type);
    // It does not wait for the legacy stream.
    cuda::check(cuda::driver()->StreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  } catch (...) {
    release();
    throw;
  }
}

Gpu::~Gpu() { release(); }

void Gpu::load(const std::string& type) {
  const cuda::Driver& table = *cuda::driver();
  cuda::check(table.ModuleLoadData(&module_, device_image()), "cuModuleLoadData");
  constexpr std::array names{LoadImages<float>::name, Forward<float>::name,     Squash<float>::name,
                             Judge<float>::name,      AddOutcomes<float>::name, AddGradient<float>::name,
                             Transpose<float>::name,  Backward<float>::name,    Update<float>::name};
  for (const std::string name : names) {
    CUfunction& function = functions_[name];
    const std::string full_name = fmt::format("sgd_{}_{}", name, type);
    cuda::check(table.ModuleGetFunction(&function, module_, full_name.c_str()), "cuModuleGetFunction");
    if (table.FuncLoad != nullptr) cuda::check(table.FuncLoad(function), "cuFuncLoad");
  }
}

void Gpu::release() noexcept {
  if (stream_ != nullptr) {
    static_cast<void>(cuda::driver()->StreamSynchronize(stream_));
    static_cast<void>(cuda::driver()->StreamDestroy(stream_));
  }
  if (module_ != nullptr) static_cast<void>(cuda::driver()->ModuleUnload(module_));
}

void Gpu::launch(CUfunction function, std::uint64_t elements, void* arguments) const {
  const auto blocks = static_cast<unsigned>((elements + threads - 1) / threads);
  void* parameters[] = {arguments};
  cuda::check(cuda::driver()->LaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream_, parameters, nullptr),
              "cuLaunchKernel");
}

void Gpu::copy(const void* from, void* to, std::size_t bytes) const {
  if (bytes == 0) return;
  cuda::check(cuda::driver()->MemcpyAsync(reinterpret_cast<CUdeviceptr>(to), reinterpret_cast<CUdeviceptr>(from), bytes,
                                          stream_),
              "cuMemcpyAsync");
}

void Gpu::wait() const { cuda::check(cuda::driver()->StreamSynchronize(stream_), "cuStreamSynchronize"); }

}  // namespace tutti::sgd
