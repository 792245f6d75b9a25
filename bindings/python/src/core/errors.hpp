#pragma once
// Status codes of Tutti as exceptions of Python.

#include <nanobind/nanobind.h>
#include <tutti.h>

#include <cstdint>
#include <limits>
#include <string>

namespace tutti::python {
namespace nb = nanobind;

/// Raises an exception of tutti/_errors.py, by its name.
[[noreturn]] void raise(const char* kind, const std::string& text);
[[noreturn]] inline void refuse(const std::string& text) { raise("ArgumentError", text); }

/// The exception of a status that is no success, with the text of this thread's last error.
[[nodiscard]] nb::object exception_of(tutti_status status);
/// Raises it. `cause`: what is to stand behind it as its cause, or nothing.
[[noreturn]] void raise_status(tutti_status status, nb::object cause = {});

inline void check(tutti_status status) {
  if (status != TUTTI_SUCCESS) raise_status(status);
}

/// A call of the library without the GIL: the thread that moves operations may hold the library's lock while it waits
/// for the GIL, to run a function of Python.
template <class Function>
void check_unlocked(const Function& function) {
  tutti_status status = TUTTI_SUCCESS;
  {
    const nb::gil_scoped_release released;
    status = function();
  }
  check(status);
}

/// An object in error texts: "'abc'", "a list".
[[nodiscard]] std::string in_words(nb::handle object);

/// What raise() says of this thread, for as long as one of these lives: on which rank.
class OnRank {
 public:
  explicit OnRank(int rank);
  OnRank(const OnRank&) = delete;
  OnRank& operator=(const OnRank&) = delete;
  ~OnRank();

 private:
  int before_;
};

/// An argument that is a number: refused with its name if it is none, or beyond the limits.
[[nodiscard]] int64_t integer_of(nb::handle object, const char* function, const char* name,
                                 int64_t least = std::numeric_limits<int64_t>::min(),
                                 int64_t most = std::numeric_limits<int64_t>::max());
/// An integer that fits an int of C.
[[nodiscard]] inline int int_of(nb::handle object, const char* function, const char* name) {
  using Limits = std::numeric_limits<int>;
  return static_cast<int>(integer_of(object, function, name, Limits::min(), Limits::max()));
}
/// An argument that is a text without NULs, which C would take for its end.
[[nodiscard]] std::string text_of(nb::handle object, const char* function, const char* name);

}  // namespace tutti::python
