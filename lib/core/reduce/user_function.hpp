#pragma once
// Whether this thread is inside a user's operation, from where Tutti must not be called: the operation that runs the
// function is in the middle of a step.

#include <cstdint>

namespace tutti {

/// Stands for one run of a user's function, on the thread that made it.
class UserFunctionRun {
 public:
  UserFunctionRun() { state = State::inside; }
  UserFunctionRun(const UserFunctionRun&) = delete;
  UserFunctionRun& operator=(const UserFunctionRun&) = delete;
  ~UserFunctionRun() { state = State::outside; }

  /// Call at every entry into the library. Throws StateError inside a user's function.
  static void require_outside() {
    if (state != State::outside) refuse();
  }
  /// Call after the function has returned. Throws StateError if it has tried to enter the library, even if it caught
  /// the error: its result cannot be relied on.
  static void require_kept_out() {
    if (state == State::has_called) refuse();
  }

 private:
  enum class State : std::uint8_t { outside, inside, has_called };
  [[noreturn]] static void refuse();
  static inline constinit thread_local State state = State::outside;
};

}  // namespace tutti
