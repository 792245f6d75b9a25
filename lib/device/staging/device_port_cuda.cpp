#include <sys/mman.h>

#include <array>
#include <bit>
#include <chrono>
#include <map>
#include <vector>

#include "lib/device/driver/device_error.hpp"
#include "lib/device/driver/devices.hpp"
#include "lib/device/driver/pending_work.hpp"
#include "lib/device/driver/relaxed_capture.hpp"
#include "lib/device/staging/device_port.hpp"
#include "lib/device/staging/tuning.hpp"

namespace tutti::device {
namespace {

using cuda::Device;
using cuda::Devices;
using cuda::driver;

using cuda::address;

class CudaPort final : public TransportPort {
 public:
  CudaPort(const CompiledPlan& plan, Counters& counters)
      : plan_(&plan), counters_(&counters), work_(plan.steps.size()) {
    completed_.reserve(plan.steps.size());
    std::map<int, std::size_t> copies;
    for (const CompiledStep& step : plan.steps)
      if (step.is_message() && step.transport == Transport::device) ++copies[step.peer];
    for (const auto& [device, most] : copies)
      Devices::get().at(device).prepare_events(most);
  }

  void begin(const RunNumber& /*run*/) override {}
  void bind(const Bases& bases) override { bases_ = &bases; }
  Posted post_recv(int index, const CompiledStep& step, std::byte* into) override {
    const std::byte* const from = bases_->at(step.lhs, step.lhs_at);
    Device& device = Devices::get().at(step.peer);
    auto* const stream = device.stream_to_host();
    work_.post(index, device, stream, [&] { copy(from, into, step.bytes, stream); });
    ++counters_->fetched;
    counters_->fetched_bytes += static_cast<std::uint64_t>(step.bytes);
    return Posted::pending;
  }
  Posted post_send(int index, const CompiledStep& step, const std::byte* data) override {
    std::byte* const into = bases_->at(step.into, step.into_at);
    Device& device = Devices::get().at(step.peer);
    auto* const stream = device.stream_from_host();
    work_.post(index, device, stream, [&] {
      copy(data, into, step.bytes, stream);
      if (const Op& op = plan_->staging.finish; needs_finish(op))
        device.kernels().finish(op, plan_->type, address(into), Count{step.bytes >> plan_->element_shift}, plan_->ranks,
                                stream);
    });
    ++counters_->stored;
    counters_->stored_bytes += static_cast<std::uint64_t>(step.bytes);
    return Posted::pending;
  }
  /// The device is no rank: what waits for it says so.
  [[nodiscard]] int unfinished() const override { return -1; }
  /// Waits for all copies.
  bool abandon() noexcept override {
    work_.abandon();
    return true;
  }

 private:
  int look() override {
    work_.poll([this](int index) { completed_.push_back(index); });
    return static_cast<int>(completed_.size());
  }
  static void copy(const std::byte* from, std::byte* into, std::int64_t bytes, CUstream stream) {
    cuda::check(driver()->MemcpyAsync(address(into), address(from), static_cast<std::size_t>(bytes), stream),
                "cuMemcpyAsync");
  }

  const CompiledPlan* plan_;
  Counters* counters_;
  const Bases* bases_ = nullptr;
  cuda::PendingWork work_;
};

std::byte* map(std::int64_t bytes) {
  void* const data =
      ::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) return nullptr;
  // A child of a fork would share its pages, and the host's next write would go to a copy, which no device reads.
  ::madvise(data, static_cast<std::size_t>(bytes), MADV_DONTFORK);
  return static_cast<std::byte*>(data);
}

/// Whether all that the stream has is over, within a while. It is one of Tutti's own, in which nothing waits; but a
/// stream of the program that waits may be in front of it in a hardware queue.
bool is_over_soon(Device& device, CUstream stream) {
  const auto end = std::chrono::steady_clock::now() + tuning.in_order_patience;
  auto* const event = device.take_event();
  cuda::check(driver()->EventRecord(event, stream), "cuEventRecord");
  CUresult result = CUDA_ERROR_NOT_READY;
  while (result == CUDA_ERROR_NOT_READY && std::chrono::steady_clock::now() < end)
    result = driver()->EventQuery(event);
  device.give_back(event);
  if (result != CUDA_ERROR_NOT_READY) cuda::check(result, "cuEventQuery");
  return result == CUDA_SUCCESS;
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

std::unique_ptr<TransportPort> device_port(const CompiledPlan& plan, Counters& counters) {
  return std::make_unique<CudaPort>(plan, counters);
}

// Ordinary memory that is registered, other than memory of the driver, can be read by other processes of the node.

Pinned allocate_pinned(int device, std::int64_t bytes) {
  const cuda::ScopedContext scope{Devices::get().at(device).context()};
  std::byte* const data = map(bytes);
  if (data == nullptr) return {};
  CUdeviceptr there = 0;
  CUresult result = driver()->MemHostRegister(data, static_cast<std::size_t>(bytes),
                                              CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
  const char* function = "cuMemHostRegister";
  if (result == CUDA_SUCCESS) {
    result = driver()->MemHostGetDevicePointer(&there, data, 0);
    function = "cuMemHostGetDevicePointer";
    if (result == CUDA_SUCCESS) return {data, std::bit_cast<std::byte*>(there)};
    static_cast<void>(driver()->MemHostUnregister(data));
  }
  ::munmap(data, static_cast<std::size_t>(bytes));
  if (result != CUDA_ERROR_OUT_OF_MEMORY) cuda::check(result, function);
  return {};
}

void free_pinned(int device, std::byte* data, std::int64_t bytes) noexcept {
  // Where this fails, the driver may know the addresses still: nothing else may get them.
  const Device* const its = Devices::get().find(device);
  if (its == nullptr) return;
  const cuda::ScopedContext scope{its->context(), std::nothrow};
  if (!scope.is_current() || driver()->MemHostUnregister(data) != CUDA_SUCCESS) return;
  ::munmap(data, static_cast<std::size_t>(bytes));
}

/// Drivers of virtual devices, and some of other systems, have the function and refuse its calls.
bool can_wait_in_streams(int device) {
  Device& its = Devices::get().at(device);
  if (its.can_wait_in_streams) return *its.can_wait_in_streams;
  if (driver()->StreamBatchMemOp == nullptr) return false;
  constexpr std::int64_t page = 4096;
  const Pinned word = allocate_pinned(device, page);
  if (word.data == nullptr) return false;
  std::array<CUstreamBatchMemOpParams, 2> operations{};
  operations[0].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  operations[0].waitValue.address = address(word.on_device);
  operations[0].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;  // new pages are 0
  operations[1].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  operations[1].writeValue.address = operations[0].waitValue.address;
  {
    const cuda::ScopedContext scope{its.context()};
    auto* const stream = its.stream_to_host();
    const CUresult posted = driver()->StreamBatchMemOp(stream, operations.size(), operations.data(), 0);
    its.can_wait_in_streams = posted == CUDA_SUCCESS && driver()->StreamSynchronize(stream) == CUDA_SUCCESS;
  }
  free_pinned(device, word.data, page);
  return *its.can_wait_in_streams;
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

void copy_to_host(int device, const std::byte* from, std::byte* into, std::int64_t bytes) {
  Device& its = Devices::get().at(device);
  const cuda::RelaxedCapture relaxed;
  const cuda::ScopedContext scope{its.context()};
  auto* const stream = its.stream_to_host();
  cuda::check(driver()->MemcpyAsync(address(into), address(from), static_cast<std::size_t>(bytes), stream),
              "cuMemcpyAsync");
  cuda::check(driver()->StreamSynchronize(stream), "cuStreamSynchronize");
}

void copy_pieces(int device, std::span<const PieceCopy> pieces) {
  Device& its = Devices::get().at(device);
  const cuda::RelaxedCapture relaxed;
  const cuda::ScopedContext scope{its.context()};
  auto* const stream = its.next_stream();
  for (const PieceCopy& piece : pieces)
    cuda::check(
        driver()->MemcpyAsync(address(piece.into), address(piece.from), static_cast<std::size_t>(piece.bytes), stream),
        "cuMemcpyAsync");
  cuda::check(driver()->StreamSynchronize(stream), "cuStreamSynchronize");
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
  if (is_over_soon(its, stream)) return std::bit_cast<std::byte*>(data);
  static_cast<void>(driver()->MemFreeAsync(data, stream));
  return nullptr;
}

void free_in_order(int device, std::byte* data) noexcept {
  if (Device* const its = Devices::get().find(device); its != nullptr)
    if (const cuda::ScopedContext scope{its->context(), std::nothrow}; scope.is_current())
      static_cast<void>(driver()->MemFreeAsync(address(data), its->stream_to_host()));
}

void release_devices() noexcept { Devices::get().release(); }

}  // namespace tutti::device
