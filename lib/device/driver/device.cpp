#include "lib/device/driver/device.hpp"

#include <array>
#include <utility>

#include "lib/device/driver/check.hpp"
#include "lib/device/driver/driver.hpp"

namespace tutti::cuda {

namespace {

/// The number that the driver gives to the allocation at an address; 0: there is none.
CUresult ask_for_number(CUdeviceptr address, unsigned long long& id) noexcept {
  std::array which{CU_POINTER_ATTRIBUTE_BUFFER_ID};
  std::array<void*, which.size()> values{&id};
  return driver()->PointerGetAttributes(which.size(), which.data(), values.data(), address);
}

}  // namespace

Device::Device(CUcontext context) : context_(context) {
  const ScopedContext scope{context_};
  try {
    constexpr std::size_t mark_bytes = 4;
    check(driver()->MemAlloc(&mark_, mark_bytes), "cuMemAlloc");
    check(ask_for_number(mark_, mark_id_), "cuPointerGetAttributes");
    kernels_.emplace();
    int least = 0, greatest = 0;
    check(driver()->CtxGetStreamPriorityRange(&least, &greatest), "cuCtxGetStreamPriorityRange");
    for (CUstream& stream : streams_)
      check(driver()->StreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, greatest),
            "cuStreamCreateWithPriority");
  } catch (...) {
    release();
    throw;
  }
}

Device::~Device() {
  if (is_there()) {
    if (const ScopedContext scope{context_, std::nothrow}; scope.is_current()) release();
  }
  if (kernels_) kernels_->forget();
}

bool Device::is_there() const noexcept {
  unsigned long long id = 0;
  return ask_for_number(mark_, id) == CUDA_SUCCESS && id == mark_id_;
}

/// To be called in the context.
void Device::release() noexcept {
  for (auto* const stream : streams_) {
    if (stream == nullptr) continue;
    static_cast<void>(driver()->StreamSynchronize(stream));
    static_cast<void>(driver()->StreamDestroy(stream));
  }
  for (auto* const event : events_)
    static_cast<void>(driver()->EventDestroy(event));
  kernels_.reset();
  if (mark_ != 0) static_cast<void>(driver()->MemFree(mark_));
}

CUstream Device::next_stream() {
  turn_ = 1 - turn_;
  return streams_[turn_];
}

void Device::prepare_events(std::size_t most) {
  if (events_.size() >= most) return;
  const ScopedContext scope{context_};
  while (events_.size() < most)
    events_.push_back(new_event());
}

CUevent Device::take_event() {
  if (events_.empty()) return new_event();
  auto* const event = events_.back();
  events_.pop_back();
  return event;
}

CUevent Device::new_event() {
  CUevent event = nullptr;
  check(driver()->EventCreate(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  return event;
}

DeviceBuffer::DeviceBuffer(const Device& device, std::int64_t bytes) : context_(device.context()) {
  if (bytes == 0) return;
  const ScopedContext scope{context_};
  check(driver()->MemAlloc(&address_, static_cast<std::size_t>(bytes)), "cuMemAlloc");
}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept
    : context_(other.context_), address_(std::exchange(other.address_, 0)) {}

DeviceBuffer::~DeviceBuffer() {
  if (address_ == 0) return;
  if (const ScopedContext scope{context_, std::nothrow}; scope.is_current())
    static_cast<void>(driver()->MemFree(address_));
}

}  // namespace tutti::cuda
