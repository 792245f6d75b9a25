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

/// For texts: "'abc'", "a list".
[[nodiscard]] std::string in_words(nb::handle object);

}  // namespace tutti::python
