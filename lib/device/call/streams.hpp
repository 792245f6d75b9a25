#pragma once
// What a communicator has for calls in the order of CUDA streams.

#include <mpi.h>

#include <memory>
#include <string>

#include "lib/core/communicator/members.hpp"
#include "lib/core/communicator/paths.hpp"
#include "lib/core/communicator/settings.hpp"
#include "lib/device/stream/gate.hpp"
#include "lib/device/stream/launcher.hpp"

namespace tutti::detail {

class Streams {
 public:
  /// Collective over `comm`: makes memory for programs if algorithms are chosen for devices and all messages stay
  /// inside a node. All of it has to outlive this object.
  Streams(mpi::Carrier& carrier, const Members& members, const Paths& paths, const Settings& settings, int context,
          MPI_Comm comm, stream::Counters& counters);

  /// nullptr: the host has to move calls in streams. The same on all ranks.
  [[nodiscard]] stream::Launcher* launcher() const { return launcher_.get(); }
  /// Why there is none: "the ranks are on several nodes".
  [[nodiscard]] const std::string& why_no_launcher() const { return why_no_launcher_; }
  /// Throws Error if the library was built without CUDA.
  [[nodiscard]] stream::Gates& gates() {
    if (gates_ == nullptr) gates_ = stream::make_gates();
    return *gates_;
  }

  /// Operations that the host moves for streams.
  void begin_gated() { ++gated_; }
  void end_gated() { --gated_; }
  /// Whether any call in a stream is under way. Throws Error if the device was lost.
  [[nodiscard]] bool is_busy() const {
    return gated_ > 0 || (gates_ != nullptr && gates_->is_busy()) || (launcher_ != nullptr && launcher_->is_busy());
  }
  [[nodiscard]] int gated() const { return gated_; }
  /// The communicator is closed: memory is given back. Of a stream that may wait for ever, all stays as it is.
  void close() noexcept {
    if (launcher_ != nullptr && is_stuck()) static_cast<void>(launcher_.release());
    launcher_.reset();
    gates_.reset();
  }

 private:
  [[nodiscard]] bool is_stuck() const noexcept {
    try {
      return launcher_->is_busy();
    } catch (const Error&) {  // the device is lost, and nothing waits any more
      return false;
    }
  }

  std::unique_ptr<stream::Launcher> launcher_;
  std::unique_ptr<stream::Gates> gates_;
  std::string why_no_launcher_;
  int gated_ = 0;
};

}  // namespace tutti::detail
