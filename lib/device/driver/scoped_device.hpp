#pragma once
// The context of a device, for libraries that move its data in this process. Needs no header of CUDA.

namespace tutti::cuda {

namespace detail {
/// False: it is current already, or there is no such context any more.
[[nodiscard]] bool enter_context_of(int device) noexcept;
void leave_context() noexcept;
}  // namespace detail

/// Makes the context of a device (its number in Devices) current in this thread until it is destroyed. Never makes a
/// context: does nothing for -1, and where the context is gone.
class ScopedDevice {
 public:
  explicit ScopedDevice(int device) noexcept : is_current_(device >= 0 && detail::enter_context_of(device)) {}
  ScopedDevice(const ScopedDevice&) = delete;
  ScopedDevice& operator=(const ScopedDevice&) = delete;
  ~ScopedDevice() {
    if (is_current_) detail::leave_context();
  }

 private:
  bool is_current_;
};

/// The messages under way that a network or the MPI carries and whose data are on a device. Their libraries work on
/// such data in any call that moves messages, whoever makes it and for whatever reason, and take the context that is
/// current in the thread. All members need an Entry (lib/core/run/progress.hpp).
class FarData {
 public:
  static void begin(int device) noexcept {
    ++under_way;
    latest = device;
  }
  static void end() noexcept { --under_way; }
  /// The device for a call that moves messages: that of its own message, else of the latest; -1: none is under way.
  [[nodiscard]] static int device(int own = -1) noexcept { return own >= 0 || under_way == 0 ? own : latest; }

 private:
  static inline int under_way = 0, latest = -1;
};

}  // namespace tutti::cuda
