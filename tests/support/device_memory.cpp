#include "tests/support/device_memory.hpp"

#include <dlfcn.h>

#include <stdexcept>
#include <vector>

#include "tests/fake_cuda/fake_cuda.h"

namespace tutti::test {
namespace {

constexpr unsigned attach_global = 1;  // as cuda.h has it

void require(int result, const char* function) {
  if (result != 0) throw std::runtime_error(std::string{function} + " gave " + std::to_string(result));
}

}  // namespace

struct TestDevices::Driver {
  using Address = unsigned long long;
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW);
  template <class Function>
  [[nodiscard]] Function* find(const char* name) const {
    return library == nullptr ? nullptr : reinterpret_cast<Function*>(::dlsym(library, name));
  }
  template <class... Arguments>
  void call(const char* name, Arguments... arguments) const {
    require(find<int(Arguments...)>(name)(arguments...), name);
  }
  std::vector<void*> contexts{};
};

TestDevices& TestDevices::get() {
  static TestDevices& devices = *new TestDevices;  // the driver's threads outlive static objects
  return devices;
}

TestDevices::TestDevices() {
  const auto driver = std::make_shared<Driver>();
  driver_ = driver;
  auto* const init = driver->find<int(unsigned)>("cuInit");
  if (init == nullptr || init(0) != 0) return;
  driver->call("cuDeviceGetCount", &count_);
  for (int device = 0; device < count_; ++device)
    driver->call("cuDevicePrimaryCtxRetain", &driver->contexts.emplace_back(), device);
}

void TestDevices::use(int device) const {
  driver_->call("cuCtxSetCurrent", driver_->contexts[static_cast<std::size_t>(device)]);
}

std::byte* TestDevices::allocate(std::size_t bytes, Kind kind) const {
  Driver::Address address = 0;
  void* pinned = nullptr;
  switch (kind) {
    case Kind::device:
      driver_->call("cuMemAlloc_v2", &address, bytes);
      break;
    case Kind::pool:
      driver_->call("cuMemAllocAsync", &address, bytes, static_cast<void*>(nullptr));
      driver_->call("cuStreamSynchronize", static_cast<void*>(nullptr));
      break;
    case Kind::managed:
      driver_->call("cuMemAllocManaged", &address, bytes, attach_global);
      break;
    case Kind::pinned:
      driver_->call("cuMemHostAlloc", &pinned, bytes, 0U);
      return static_cast<std::byte*>(pinned);
  }
  return reinterpret_cast<std::byte*>(address);
}

void TestDevices::free(std::byte* data, Kind kind) const {
  const auto address = reinterpret_cast<Driver::Address>(data);
  if (kind == Kind::pinned) return driver_->call("cuMemFreeHost", static_cast<void*>(data));
  if (kind == Kind::pool) return driver_->call("cuMemFreeAsync", address, static_cast<void*>(nullptr));
  driver_->call("cuMemFree_v2", address);
}

void TestDevices::copy(void* to, const void* from, std::size_t bytes) const {
  driver_->call("cuMemcpy", reinterpret_cast<Driver::Address>(to), reinterpret_cast<Driver::Address>(from), bytes);
  driver_->call("cuStreamSynchronize", static_cast<void*>(nullptr));
}

std::uint64_t TestDevices::calls(const std::string& name) const {
  auto* const ask = driver_->find<decltype(fake_cuda_calls)>("fake_cuda_calls");
  return ask == nullptr ? 0 : ask(name.c_str());
}

std::uint64_t TestDevices::faults() const {
  auto* const ask = driver_->find<decltype(fake_cuda_faults)>("fake_cuda_faults");
  return ask == nullptr ? 0 : ask(nullptr);
}

}  // namespace tutti::test
