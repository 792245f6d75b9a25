#include "apps/sgd/gpu.hpp"

#include <fmt/format.h>

#include <array>

#include "apps/sgd/device_arguments.hpp"
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

GpuEvent::GpuEvent() { cuda::check(cuda::driver()->EventCreate(&event_, CU_EVENT_DISABLE_TIMING), "cuEventCreate"); }

GpuEvent::~GpuEvent() {
  if (event_ != nullptr) static_cast<void>(cuda::driver()->EventDestroy(event_));
}

GpuStream::GpuStream() {
  // It does not wait for the legacy stream.
  cuda::check(cuda::driver()->StreamCreateWithPriority(&stream_, CU_STREAM_NON_BLOCKING, 0),
              "cuStreamCreateWithPriority");
}

GpuStream::~GpuStream() {
  static_cast<void>(cuda::driver()->StreamSynchronize(stream_));
  static_cast<void>(cuda::driver()->StreamDestroy(stream_));
}

void GpuStream::record(const GpuEvent& event) const {
  cuda::check(cuda::driver()->EventRecord(event.get(), stream_), "cuEventRecord");
}

void GpuStream::wait_for(const GpuEvent& event) const {
  cuda::check(cuda::driver()->StreamWaitEvent(stream_, event.get(), 0), "cuStreamWaitEvent");
}

void GpuStream::wait() const { cuda::check(cuda::driver()->StreamSynchronize(stream_), "cuStreamSynchronize"); }

int Gpu::count() {
  if (cuda::driver() == nullptr) throw Error(cuda::why_no_driver());
  int devices = 0;
  cuda::check(cuda::driver()->DeviceGetCount(&devices), "cuDeviceGetCount");
  return devices;
}

void Gpu::use(int ordinal) {
  cuda::check(cuda::driver()->CtxPushCurrent(primary_context(ordinal)), "cuCtxPushCurrent");
}

Gpu::Gpu(int ordinal, const std::string& type) : scope_(primary_context(ordinal)) {
  try {
    load(type);
    stream_.emplace();
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
  stream_.reset();
  if (module_ != nullptr) static_cast<void>(cuda::driver()->ModuleUnload(module_));
}

void Gpu::launch(CUfunction function, std::uint64_t elements, void* arguments) const {
  const auto blocks = static_cast<unsigned>((elements + threads - 1) / threads);
  void* parameters[] = {arguments};
  cuda::check(
      cuda::driver()->LaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream_->get(), parameters, nullptr),
      "cuLaunchKernel");
}

void Gpu::copy(const void* from, void* to, std::size_t bytes) const {
  if (bytes == 0) return;
  cuda::check(cuda::driver()->MemcpyAsync(reinterpret_cast<CUdeviceptr>(to), reinterpret_cast<CUdeviceptr>(from), bytes,
                                          stream_->get()),
              "cuMemcpyAsync");
}

}  // namespace tutti::sgd
