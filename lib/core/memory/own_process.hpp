#pragma once
// Whether an object belongs to this process, or is the copy that a child has of its parent's.

#include <unistd.h>

namespace tutti {

/// Notes which process made an object. A child that was forked off has a copy of the object, but shares memory,
/// messages and connections with its parent: destructors, and other code that runs when a process ends, leave these
/// alone there. is_this() is a system call: for destructors and code that is as rare, not for calls that move data.
class OwnProcess {
 public:
  [[nodiscard]] bool is_this() const noexcept { return ::getpid() == id_; }

 private:
  ::pid_t id_ = ::getpid();
};

}  // namespace tutti
