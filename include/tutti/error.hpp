#pragma once
// What Tutti throws. Arguments are checked before any message is posted: after an ArgumentError nothing has
// happened on this rank, and the communicator stays usable.

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tutti {

/// Base of all errors.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A call that cannot be carried out as given. The text names call, argument, value, what is allowed, and the rank.
class ArgumentError : public Error {
 public:
  using Error::Error;
};

/// A handle used where it must not be: moved-from, closed, after MPI_Finalize, already started.
class StateError : public Error {
 public:
  using Error::Error;
};

/// An MPI call failed; `code` is what it returned.
class MpiError : public Error {
 public:
  MpiError(int code, std::string_view call, std::source_location where = std::source_location::current());
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  int code_;
};

}  // namespace tutti
