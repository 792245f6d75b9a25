#include <sys/mman.h>

#include <bit>
#include <map>
#include <vector>

#include "lib/cuda/device_error.hpp"
#include "lib/cuda/devices.hpp"
#include "lib/cuda/pending_work.hpp"
#include "lib/transport/device/device_port.hpp"

namespace tutti::device {
namespace {

using cuda::Device;
using cuda::Devices;
using cuda::driver;

using cuda::address;

class CudaPort final : public DevicePort {
 public:
  explicit CudaPort(const CompiledPlan& plan) : plan_(&plan), work_(plan.steps.size()) {
    completed_.reserve(plan.steps.size());
    std::map<int, std::size_t> copies;
    for (const CompiledStep& step : plan.steps)
      if (step.is_message() && step.transport == Transport::device) ++copies[step.peer];
    for (const auto& [device, most] : copies)
      Devices::get().at(device).prepare_events(most);
  }

  void fetch(int index, const CompiledStep& step, const std::byte* from, std::byte* into) override {
    Device& device = Devices::get().at(step.peer);
    auto* const stream = device.stream_to_host();
    work_.post(index, device, stream, [&] { copy(from, into, step.bytes, stream); });
  }
  void store(int index, const CompiledStep& step, const std::byte* from, std::byte* into) override {
    Device& device = Devices::get().at(step.peer);
    auto* const stream = device.stream_from_host();
    work_.post(index, device, stream, [&] {
      copy(from, into, step.bytes, stream);
      if (const Op& op = plan_->staging.finish; needs_finish(op))
        device.kernels().finish(op, plan_->type, address(into), Count{step.bytes >> plan_->element_shift}, plan_->ranks,
                                stream);
    });
  }
  std::span<const int> poll() override {
    completed_.clear();
    work_.poll([this](int index) { completed_.push_back(index); });
    return completed_;
  }
  void abandon() noexcept override { work_.abandon(); }

 private:
  static void copy(const std::byte* from, std::byte* into, std::int64_t bytes, CUstream stream) {
    cuda::check(driver()->MemcpyAsync(address(into), address(from), static_cast<std::size_t>(bytes), stream),
                "cuMemcpyAsync");
  }

  const CompiledPlan* plan_;
  cuda::PendingWork work_;
  std::vector<int> completed_;
};

std::byte* map(std::int64_t bytes) {
  void* const data =
      ::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return nullptr;
  // A child of a fork would share its pages, and the host's next write would go to a copy, which no device reads.
  ::madvise(data, static_cast<std::size_t>(bytes), MADV_DONTFORK);
  return static_cast<std::byte*>(data);
}

}  // namespace

int device_of(const Allocation& allocation) {
  if (is_readable_by_host(allocation.memory)) return -1;
  return Devices::get().number_of(static_cast<CUcontext>(allocation.context), allocation.memory.device);
}

int current_device() {
  CUcontext context = nullptr;
  if (driver() == nullptr) throw DeviceError(cuda::why_no_driver());
  cuda::check(driver()->CtxGetCurrent(&context), "cuCtxGetCurrent");
  if (context == nullptr)
    throw DeviceError("no CUDA context is current in this thread: choose a device and use it first (cudaSetDevice)");
  return Devices::get().number_of(context, 0);
}

std::unique_ptr<DevicePort> device_port(const CompiledPlan& plan) { return std::make_unique<CudaPort>(plan); }

// Ordinary memory that is registered, other than memory of the driver, can be read by other processes of the node.

std::byte* allocate_pinned(int device, std::int64_t bytes) {
  const cuda::ScopedContext scope{Devices::get().at(device).context()};
  std::byte* const data = map(bytes);
  if (data == nullptr) return nullptr;
  const CUresult result = driver()->MemHostRegister(data, static_cast<std::size_t>(bytes), CU_MEMHOSTREGISTER_PORTABLE);
  if (result == CUDA_SUCCESS) return data;
  ::munmap(data, static_cast<std::size_t>(bytes));
  if (result == CUDA_ERROR_OUT_OF_MEMORY) return nullptr;
  cuda::check(result, "cuMemHostRegister");
  return nullptr;
}

void free_pinned(int device, std::byte* data, std::int64_t bytes) noexcept {
  // Where this fails, the driver may know the addresses still: nothing else may get them.
  const Device* const its = Devices::get().find(device);
  if (its == nullptr) return;
  const cuda::ScopedContext scope{its->context(), std::nothrow};
  if (!scope.is_current() || driver()->MemHostUnregister(data) != CUDA_SUCCESS) return;
  ::munmap(data, static_cast<std::size_t>(bytes));
}

std::byte* allocate_on(int device, std::int64_t bytes) {
  const cuda::ScopedContext scope{Devices::get().at(device).context()};
  CUdeviceptr data = 0;
  const CUresult result = driver()->MemAlloc(&data, static_cast<std::size_t>(bytes));
  if (result == CUDA_ERROR_OUT_OF_MEMORY) return nullptr;
  cuda::check(result, "cuMemAlloc");
  return std::bit_cast<std::byte*>(data);
}

void free_on(int device, std::byte* data) noexcept {
  if (const Device* const its = Devices::get().find(device); its != nullptr)
    if (const cuda::ScopedContext scope{its->context(), std::nothrow}; scope.is_current())
      static_cast<void>(driver()->MemFree(address(data)));
}

std::byte* allocate_in_order(int device, std::int64_t bytes) {
  if (driver()->MemAllocAsync == nullptr) return nullptr;
  Device& its = Devices::get().at(device);
  const cuda::ScopedContext scope{its.context()};
  auto* const stream = its.stream_to_host();
  CUdeviceptr data = 0;
  const CUresult result = driver()->MemAllocAsync(&data, static_cast<std::size_t>(bytes), stream);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) return nullptr;
  cuda::check(result, "cuMemAllocAsync");
  cuda::check(driver()->StreamSynchronize(stream), "cuStreamSynchronize");  // of Tutti's own, in which nothing waits
  return std::bit_cast<std::byte*>(data);
}

void free_in_order(int device, std::byte* data) noexcept {
  if (Device* const its = Devices::get().find(device); its != nullptr)
    if (const cuda::ScopedContext scope{its->context(), std::nothrow}; scope.is_current())
      static_cast<void>(driver()->MemFreeAsync(address(data), its->stream_to_host()));
}

void release_devices() noexcept { Devices::get().release(); }

}  // namespace tutti::device
