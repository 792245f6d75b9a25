#pragma once
// Status codes of Tutti as exceptions of Python.

#include <nanobind/nanobind.h>
#include <tutti.h>

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

/// For texts: "'abc'", "a list".
[[nodiscard]] std::string in_words(nb::handle object);

}  // namespace tutti::python
