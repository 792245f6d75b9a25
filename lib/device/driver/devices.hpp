#pragma once
// The contexts in which this process has memory that it communicates, each with a Device, by number.

#include <cuda.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "lib/device/driver/device.hpp"

namespace tutti::cuda {

/// Filled as memory is met: a device that the program does not use gets no context.
class Devices {
 public:
  static Devices& get();

  /// The number of a context; makes its Device at first. `context` is that of the memory; nullptr: it belongs to none,
  /// and the primary context of the device `ordinal` serves, if the program has made that. Throws Error.
  [[nodiscard]] int number_of(CUcontext context, int ordinal);
  [[nodiscard]] Device& at(int number) {
    const std::scoped_lock lock{mutex_};
    return *known_[static_cast<std::size_t>(number)].device;
  }
  /// nullptr: it was released, or its context is gone.
  [[nodiscard]] Device* find(int number) noexcept {
    const std::scoped_lock lock{mutex_};
    Device* const device = known_[static_cast<std::size_t>(number)].device.get();
    return device != nullptr && device->is_there() ? device : nullptr;
  }
  /// nullptr: the device was released. It may be gone: see find().
  [[nodiscard]] CUcontext context_of(int number) noexcept {
    const std::scoped_lock lock{mutex_};
    const Known& known = known_[static_cast<std::size_t>(number)];
    return known.device == nullptr ? nullptr : known.context;
  }

  /// MPI_Finalize: no operation is under way.
  void release() noexcept {
    for (Known& known : known_)
      known.device.reset();
  }

 private:
  struct Known {
    CUcontext context;
    unsigned long long id;  ///< Another context may get the same address.
    std::unique_ptr<Device> device;
  };
  struct Primary {
    CUcontext context;
    unsigned long long id;
  };
  /// The primary context of a device; retained once, which keeps it as long as the program: other memory of the device
  /// may come.
  [[nodiscard]] CUcontext primary_context(int ordinal);

  std::mutex mutex_;
  std::deque<Known> known_;  ///< References stay valid.
  std::map<int, Primary> primaries_{};
};

}  // namespace tutti::cuda
