#include "errors.hpp"

#include <nanobind/stl/string.h>

#include <string_view>
#include <utility>

namespace tutti::python {
namespace {

thread_local int this_rank = -1;

nb::object kinds(const char* name) { return nb::module_::import_("tutti._errors").attr(name); }

[[noreturn]] void raise_object(const nb::object& exception) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

}  // namespace

OnRank::OnRank(int rank) : before_(std::exchange(this_rank, rank)) {}
OnRank::~OnRank() { this_rank = before_; }

void raise(const char* kind, const std::string& text) {
  const std::string place = this_rank < 0 ? "" : " (on rank " + std::to_string(this_rank) + ")";
  raise_object(kinds(kind)("tutti: " + text + place));
}

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
  if (PyUnicode_Check(object.ptr()) || PyLong_Check(object.ptr()) || PyFloat_Check(object.ptr())) {
    const nb::object text = nb::steal(PyObject_Repr(object.ptr()));
    if (text.is_valid()) return nb::cast<std::string>(text);
    PyErr_Clear();  // Python writes no integers of thousands of figures
  }
  const std::string name = nb::cast<std::string>(object.type().attr("__name__"));
  const bool vowel = std::string{"aeiouAEIOU"}.find(name[0]) != std::string::npos;
  return (vowel ? "an " : "a ") + name;
}

int64_t integer_of(nb::handle object, const char* function, const char* name, int64_t least, int64_t most) {
  const auto place = [&] { return std::string{function} + ": " + name + " is "; };
  const nb::object number = nb::steal(PyNumber_Index(object.ptr()));
  if (!number.is_valid()) {
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw nb::python_error();
    PyErr_Clear();
    raise("TypeArgumentError", place() + in_words(object) + ", and no integer");
  }
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0 || value < least || value > most)
    refuse(place() + in_words(number) + "; allowed: " + std::to_string(least) + " to " + std::to_string(most));
  return value;
}

std::string text_of(nb::handle object, const char* function, const char* name) {
  const auto place = [&] { return std::string{function} + ": " + name + " is " + in_words(object); };
  if (PyUnicode_Check(object.ptr()) == 0) raise("TypeArgumentError", place() + ", and no text");
  Py_ssize_t length = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(object.ptr(), &length);
  if (text == nullptr) PyErr_Clear();
  if (text == nullptr || std::string_view{text, static_cast<std::size_t>(length)}.find('\0') != std::string_view::npos)
    refuse(place() + ", which has characters that no name has");
  return text;
}

}  // namespace tutti::python
