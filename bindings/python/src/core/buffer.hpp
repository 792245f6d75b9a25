#pragma once
// The memory of an array of any library, for the time of a call.

#include <memory>
#include <vector>

#include "cycles.hpp"
#include "types.hpp"

namespace tutti::python {

/// What a call takes an argument for; the names are for texts.
struct Argument {
  const char* function;
  const char* name;
  bool writes = false;   ///< The call writes to it.
  bool may_copy = true;  ///< An input that is not contiguous is copied. Not in plans, which read it again and again.
  std::intptr_t stream = -1;  ///< What the producer of a DLPack capsule is told: -1, or the stream of the call.
};

/// What keeps memory alive and in place beside the array itself: an export of the buffer protocol, a capsule of DLPack.
struct Hold {
  Py_buffer view{};
  bool has_view = false;
  nb::object other;  ///< A copy, or a capsule, whose tensor is freed with it.
  Hold() = default;
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  ~Hold() {
    if (has_view) PyBuffer_Release(&view);
  }
};

struct Buffer {
  void* data = nullptr;
  int64_t count = 0;
  tutti_type type = TUTTI_UINT8;
  bool is_on_device = false;
  nb::object array;  ///< As it was given.
  std::unique_ptr<Hold> hold;

  [[nodiscard]] std::vector<int64_t> shape() const;
  /// Visits its objects, for the collector of cycles.
  int visit(visitproc visit, void* arg) const {
    Py_VISIT(array.ptr());
    if (hold != nullptr) Py_VISIT(hold->other.ptr());
    return 0;
  }
};

/// Takes an array. Raises ArgumentError or TypeArgumentError, with a text that names function and argument.
[[nodiscard]] Buffer take(nb::handle object, const Argument& argument);

// Ways of take(), each for one kind of arrays.
[[nodiscard]] Buffer take_dlpack(nb::handle object, const Argument& argument, bool is_copy = false);
[[nodiscard]] Buffer take_cuda_array(nb::handle object, const Argument& argument);
[[noreturn]] void refuse_output(const Argument& argument, const char* why);

/// Whether the object is of that class of that module. False if the module has not been imported.
[[nodiscard]] bool is_of(nb::handle object, const char* module, const char* name);
[[nodiscard]] bool is_jax(nb::handle object);

}  // namespace tutti::python
