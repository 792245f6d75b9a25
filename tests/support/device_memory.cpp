#include "tests/support/device_memory.hpp"

#include <dlfcn.h>

#include <stdexcept>
#include <type_traits>

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
  /// The answer of a function that real drivers do not have.
  template <class Function, class... Arguments>
  auto ask(const char* name, Arguments... arguments) const {
    using Result = decltype((*static_cast<Function*>(nullptr))(arguments...));
    auto* const function = find<Function>(name);
    if constexpr (std::is_void_v<Result>) {
      if (function != nullptr) function(arguments...);
    } else {
      return function == nullptr ? Result{} : function(arguments...);
    }
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
  driver->contexts.resize(static_cast<std::size_t>(count_));
}

void TestDevices::use(int device) const {
  void*& context = driver_->contexts[static_cast<std::size_t>(device)];
  if (context == nullptr) driver_->call("cuDevicePrimaryCtxRetain", &context, device);
  driver_->call("cuCtxSetCurrent", context);
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

void* TestDevices::kernel(const char* text, const char* name) const {
  void *module = nullptr, *function = nullptr;
  driver_->call("cuModuleLoadData", &module, static_cast<const void*>(text));
  driver_->call("cuModuleGetFunction", &function, module, name);
  return function;
}

bool TestDevices::is_fake() const {
  return driver_->find<decltype(fake_cuda_counters)>("fake_cuda_counters") != nullptr;
}

FakeCudaCounters TestDevices::counters() const {
  FakeCudaCounters counters{};
  driver_->ask<decltype(fake_cuda_counters)>("fake_cuda_counters", &counters);
  return counters;
}

std::uint64_t TestDevices::calls(const std::string& name) const {
  return driver_->ask<decltype(fake_cuda_calls)>("fake_cuda_calls", name.c_str());
}

std::uint64_t TestDevices::faults() const {
  return driver_->ask<decltype(fake_cuda_faults)>("fake_cuda_faults", static_cast<const char*>(nullptr));
}

void TestDevices::fail(const std::string& failures) const {
  driver_->ask<decltype(fake_cuda_fail)>("fake_cuda_fail", failures.c_str());
}

void TestDevices::clear_timeline() const {
  driver_->ask<decltype(fake_cuda_timeline_clear)>("fake_cuda_timeline_clear");
}

std::vector<FakeCudaOperation> TestDevices::timeline() const {
  std::vector<FakeCudaOperation> operations(10'000);
  operations.resize(driver_->ask<decltype(fake_cuda_timeline)>("fake_cuda_timeline", operations.data(),
                                                               std::uint64_t{operations.size()}));
  return operations;
}

}  // namespace tutti::test
