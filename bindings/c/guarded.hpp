#pragma once
// How exceptions become status codes, and arguments that only C can get wrong become exceptions.

#include <concepts>
#include <string_view>
#include <utility>

#include "tutti/c/status.h"

namespace tutti::c {

/// Keeps the text of the exception that is being handled as this thread's last error.
tutti_status caught() noexcept;

/// Whether it is no number, as MPICH's handles are (0x44000000). A call of the system for addresses that are as low.
[[nodiscard]] bool is_address(const void* handle);

/// The function of C that was called, for error texts.
class Site {
 public:
  explicit Site(std::string_view function) : function_(function) {}
  [[nodiscard]] std::string_view function() const { return function_; }

  /// Throws ArgumentError, which names the rank in MPI_COMM_WORLD if MPI runs.
  [[noreturn]] void refuse(std::string_view argument, std::string_view given, std::string_view allowed) const;

  /// What a pointer or a handle points to, which must not be NULL.
  template <class T>
  T& pointed(std::string_view argument, T* pointer, std::string_view allowed = "a valid pointer") const {
    if (pointer == nullptr) refuse(argument, "NULL", allowed);
    return *pointer;
  }
  /// A buffer. One that is marked as not contiguous is refused if it is used, else NULL.
  template <class Pointer>
  Pointer buffer(std::string_view argument, Pointer given, bool is_used = true) const {
    if (!is_marked_not_contiguous(given)) return given;
    if (is_used) refuse(argument, "not contiguous", "contiguous memory: a copy of the section");
    return nullptr;
  }
  /// A structure that may grow, or NULL.
  template <class Sized>
  const Sized* sized(std::string_view argument, const Sized* structure, std::string_view initialiser) const {
    if (structure != nullptr && structure->size != sizeof(Sized)) refuse_size(argument, structure->size, initialiser);
    return structure;
  }

 private:
  static bool is_marked_not_contiguous(const void* given);
  [[noreturn]] void refuse_size(std::string_view argument, std::size_t size, std::string_view initialiser) const;
  std::string_view function_;
};

/// Runs the body of a function of C.
template <std::invocable<const Site&> Body>
tutti_status guarded(const Body& body, const char* function = __builtin_FUNCTION()) noexcept {
  try {
    body(Site{function});
    return TUTTI_SUCCESS;
  } catch (...) {
    return caught();
  }
}

}  // namespace tutti::c
