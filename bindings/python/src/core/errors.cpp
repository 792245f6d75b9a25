#include "errors.hpp"

#include <nanobind/stl/string.h>

namespace tutti::python {
namespace {

nb::object kinds(const char* name) { return nb::module_::import_("tutti._errors").attr(name); }

[[noreturn]] void raise_object(const nb::object& exception) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

}  // namespace

void raise(const char* kind, const std::string& text) { raise_object(kinds(kind)("tutti: " + text)); }

nb::object exception_of(tutti_status status) {
  const std::string text = tutti_last_error();
  const int code = status == TUTTI_ERROR_MPI ? tutti_last_mpi_code() : 0;
  nb::object exception = kinds("BY_STATUS")[nb::int_(static_cast<int>(status))](text);
  exception.attr("code") = code;
  return exception;
}

void raise_status(tutti_status status, nb::object cause) {
  nb::object exception = exception_of(status);
  if (cause.is_valid()) PyException_SetCause(exception.ptr(), cause.release().ptr());
  raise_object(exception);
}

std::string in_words(nb::handle object) {
  if (PyUnicode_Check(object.ptr()) || PyLong_Check(object.ptr())) return nb::cast<std::string>(nb::repr(object));
  const std::string name = nb::cast<std::string>(object.type().attr("__name__"));
  const bool vowel = std::string{"aeiouAEIOU"}.find(name[0]) != std::string::npos;
  return (vowel ? "an " : "a ") + name;
}

}  // namespace tutti::python
