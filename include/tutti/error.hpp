#pragma once
// The exceptions that Tutti throws. Arguments are checked before any message is posted: after an ArgumentError nothing
// has happened on this rank, and the communicator stays usable.

#include <stdexcept>
#include <string>
#include <string_view>

#include "tutti/export.hpp"

namespace tutti {

/// Base of all errors.
class TUTTI_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A call that cannot be carried out as given. The text names call, argument, value, what is allowed, and the rank.
class TUTTI_API ArgumentError : public Error {
 public:
  using Error::Error;
};

/// A handle used where it must not be: moved-from, closed, after MPI_Finalize, already started.
class TUTTI_API StateError : public Error {
 public:
  using Error::Error;
};

/// Ranks called with different arguments, or different collectives, and a message shows it. The communicator is
/// unusable from then on.
class TUTTI_API MismatchError : public Error {
 public:
  using Error::Error;
};

/// A place in the source (std::source_location, which clang 14 lacks).
struct SourcePlace {
  const char* file;
  int line;
  static constexpr SourcePlace current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

/// An MPI call failed; `code` is the value that it returned.
class TUTTI_API MpiError : public Error {
 public:
  MpiError(int code, std::string_view call, SourcePlace where = SourcePlace::current());
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  int code_;
};

}  // namespace tutti
