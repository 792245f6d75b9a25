#pragma once
// Memory of GPUs for tests, over the fake driver or a real one. Needs no header of CUDA, so that every build has it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/fake_cuda/fake_cuda.h"

namespace tutti::test {

/// Devices of this process; there may be none. Only those that are used have a context, the primary one.
class TestDevices {
 public:
  /// Loads the driver at first.
  static TestDevices& get();

  [[nodiscard]] int count() const { return count_; }
  /// Makes the primary context of a device current in this thread.
  void use(int device) const;
  enum class Kind : std::uint8_t { device, pool, managed, pinned };
  [[nodiscard]] std::byte* allocate(std::size_t bytes, Kind kind = Kind::device) const;
  void free(std::byte* data, Kind kind = Kind::device) const;
  /// Between any two kinds of memory; over when it returns.
  void copy(void* to, const void* from, std::size_t bytes) const;

  /// A function of PTX text, in the current context; never unloaded. A CUfunction.
  [[nodiscard]] void* kernel(const char* text, const char* name) const;

  // Answers of the fake driver (tests/fake_cuda/fake_cuda.h); zeros and nothing on another one.
  [[nodiscard]] bool is_fake() const;
  [[nodiscard]] FakeCudaCounters counters() const;
  /// Calls of one function of the driver API, as "cuMemAlloc".
  [[nodiscard]] std::uint64_t calls(const std::string& name) const;
  [[nodiscard]] std::uint64_t faults() const;
  /// Calls to fail from here on, as "cuMemAlloc:2:2".
  void fail(const std::string& failures) const;
  void clear_timeline() const;
  [[nodiscard]] std::vector<FakeCudaOperation> timeline() const;

 private:
  struct Driver;
  TestDevices();
  std::shared_ptr<Driver> driver_;
  int count_ = 0;
};

/// Memory of a kind.
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t bytes, TestDevices::Kind kind = TestDevices::Kind::device)
      : kind_(kind), data_(TestDevices::get().allocate(bytes, kind)) {}
  DeviceArray(DeviceArray&& other) noexcept : kind_(other.kind_), data_(other.data_) { other.data_ = nullptr; }
  DeviceArray& operator=(DeviceArray&&) = delete;
  ~DeviceArray() {
    if (data_ != nullptr) TestDevices::get().free(data_, kind_);
  }
  [[nodiscard]] std::byte* data() const { return data_; }

 private:
  TestDevices::Kind kind_;
  std::byte* data_;
};

}  // namespace tutti::test
