#include "apps/sgd/gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "apps/sgd/tasks.hpp"
#include "lib/device/driver/check.hpp"
#include "lib/device/driver/driver.hpp"
#include "tutti/error.hpp"

namespace tutti::sgd {

namespace {

constexpr unsigned threads = 256;

const cuda::Driver& table() { return *cuda::driver(); }

/// Retained once, which keeps it as long as the program.
CUcontext primary_context(int ordinal) {
  CUcontext context = nullptr;
  cuda::check(table().DevicePrimaryCtxRetain(&context, ordinal), "cuDevicePrimaryCtxRetain");
  return context;
}

int device_count() {
  if (cuda::driver() == nullptr) throw Error(cuda::why_no_driver());
  int devices = 0;
  cuda::check(table().DeviceGetCount(&devices), "cuDeviceGetCount");
  return devices;
}

CUdeviceptr address(const void* memory) { return reinterpret_cast<CUdeviceptr>(memory); }

}  // namespace

GpuStream::GpuStream() {
  // It does not wait for the legacy stream.
  cuda::check(table().StreamCreateWithPriority(&stream_, CU_STREAM_NON_BLOCKING, 0), "cuStreamCreateWithPriority");
  cuda::check(table().EventCreate(&mark_, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
}

GpuStream::~GpuStream() {
  static_cast<void>(table().StreamSynchronize(stream_));
  static_cast<void>(table().StreamDestroy(stream_));
  if (mark_ != nullptr) static_cast<void>(table().EventDestroy(mark_));
}

void GpuStream::wait_for(const GpuStream& other) const {
  cuda::check(table().EventRecord(other.mark_, other.stream_), "cuEventRecord");
  cuda::check(table().StreamWaitEvent(stream_, other.mark_, 0), "cuStreamWaitEvent");
}

void GpuStream::wait() const { cuda::check(table().StreamSynchronize(stream_), "cuStreamSynchronize"); }

Gpu::Gpu(int ordinal) : scope_(primary_context(ordinal)) {
  try {
    load();
    stream_.emplace();
    second_.emplace();
  } catch (...) {
    close();
    throw;
  }
}

/// Ahead of any use, as loading may wait for the device.
void Gpu::load() {
  cuda::check(table().ModuleLoadData(&module_, device_image()), "cuModuleLoadData");
  for (const char* const task : task_names)
    for (const char* const type : {"float", "double"}) {
      CUfunction& function = functions_[{task, type}];
      const std::string name = fmt::format("sgd_{}_{}", task, type);
      cuda::check(table().ModuleGetFunction(&function, module_, name.c_str()), "cuModuleGetFunction");
      if (table().FuncLoad != nullptr) cuda::check(table().FuncLoad(function), "cuFuncLoad");
    }
}

Gpu::~Gpu() { close(); }

void Gpu::close() noexcept {
  cublas_.close();
  second_.reset();
  stream_.reset();
  if (module_ != nullptr) static_cast<void>(table().ModuleUnload(module_));
}

void* Gpu::allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  CUdeviceptr memory = 0;
  cuda::check(table().MemAlloc(&memory, bytes), "cuMemAlloc");
  const std::vector<std::byte> zeros(std::min(bytes, std::size_t{1} << 20));
  for (std::size_t done = 0; done < bytes; done += zeros.size())
    copy(zeros.data(), reinterpret_cast<std::byte*>(memory) + done, std::min(zeros.size(), bytes - done));
  wait();
  return reinterpret_cast<void*>(memory);
}

void Gpu::release(void* memory) noexcept {
  if (memory != nullptr) static_cast<void>(table().MemFree(address(memory)));
}

void Gpu::copy(const void* from, void* to, std::size_t bytes) {
  if (bytes == 0) return;
  cuda::check(table().MemcpyAsync(address(to), address(from), bytes, stream_->get()), "cuMemcpyAsync");
}

void Gpu::launch(const char* task, const char* type, std::uint64_t elements, const void* arguments) {
  CUfunction function = functions_.find(std::pair{std::string_view{task}, std::string_view{type}})->second;
  const auto blocks = static_cast<unsigned>((elements + threads - 1) / threads);
  void* parameters[] = {&elements, const_cast<void*>(arguments)};  // which the driver only reads
  cuda::check(table().LaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream_->get(), parameters, nullptr),
              "cuLaunchKernel");
}

std::string why_no_device() { return cuda::driver() != nullptr ? "" : "--device: " + cuda::why_no_driver(); }

void use_device(int local_rank) {
  cuda::check(table().CtxPushCurrent(primary_context(local_rank % device_count())), "cuCtxPushCurrent");
}

std::unique_ptr<Device> open_device(int local_rank) { return std::make_unique<Gpu>(local_rank % device_count()); }

}  // namespace tutti::sgd
