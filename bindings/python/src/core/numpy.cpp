#include "numpy.hpp"

#include <nanobind/stl/string.h>

#include <cstring>

namespace tutti::python {
namespace {

nb::object attribute(nb::handle object, const char* name) { return nb::getattr(object, name); }
std::string text(nb::handle object, const char* name) {
  return nb::cast<std::string>(nb::str(attribute(object, name)));
}

}  // namespace

NumPy& NumPy::get() {
  static NumPy* const numpy = new NumPy;  // never destroyed: the interpreter ends before static objects do
  return *numpy;
}

NumPy::NumPy()
    : module_(nb::module_::import_("numpy")), empty_(module_.attr("empty")), scalar_(module_.attr("generic")) {
  array_ = reinterpret_cast<PyTypeObject*>(nb::object(module_.attr("ndarray")).release().ptr());
  is_known_ = lays_out_as_known();
}

bool NumPy::lays_out_as_known() const {
  const nb::object dtype = module_.attr("dtype")("int16");
  const nb::object whole = module_.attr("zeros")(nb::make_tuple(2, 3), dtype);
  const nb::object part = whole[nb::make_tuple(nb::slice(nb::none(), nb::none(), nb::none()), nb::slice(2))];
  const ArrayFields& a = fields(whole);
  const ArrayFields& b = fields(part);
  const auto address = nb::cast<std::uintptr_t>(whole.attr("__array_interface__")["data"][0]);
  if (reinterpret_cast<std::uintptr_t>(a.data) != address || a.ndim != 2 || a.dtype != dtype.ptr() ||
      b.data != a.data || b.ndim != 2 || a.shape[0] != 2 || a.shape[1] != 3 || b.shape[1] != 2 || b.strides[0] != 6 ||
      b.base != whole.ptr() || !a.is(ArrayFields::contiguous | ArrayFields::aligned | ArrayFields::writeable) ||
      b.is(ArrayFields::contiguous))
    return false;
  part.attr("setflags")(nb::arg("write") = false);
  return !b.is(ArrayFields::writeable) && b.is(ArrayFields::aligned);
}

tutti_type NumPy::type_of(nb::handle dtype, const char* function, const char* argument) {
  for (int i = 0; i < seen_; ++i)
    if (dtypes_[i] == dtype.ptr()) return types_[i];
  const std::string name = text(dtype, "name");
  const std::string order = text(dtype, "byteorder");
  const std::string letter = text(dtype, "char");
  if (letter == "g" || letter == "G") refuse_type(function, argument, "long double (" + name + ")");
  if (order == ">") refuse_type(function, argument, name + " in big-endian byte order");
  const tutti_type type = type_of_name(name);
  if (type == no_type) refuse_type(function, argument, "dtype " + name);
  if (seen_ < most) {
    dtypes_[seen_] = nb::borrow(dtype).release().ptr();
    types_[seen_++] = type;
  }
  return type;
}

tutti_type NumPy::type_given(nb::handle dtype, const char* function, const char* argument) {
  if (PyUnicode_Check(dtype.ptr()))
    if (const tutti_type type = type_of_name(nb::cast<std::string>(dtype)); type != no_type) return type;
  nb::object found;
  try {
    if (!dtype.is_none()) found = module_.attr("dtype")(dtype);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
  }
  if (!found.is_valid()) refuse_type(function, argument, in_words(dtype));
  return type_of(found, function, argument);
}

nb::object NumPy::empty(nb::handle shape, nb::handle dtype) { return empty_(shape, dtype); }

nb::object NumPy::dtype_of(tutti_type type) {
  const std::string name = name_of_type(type);
  if (name != "bfloat16" && name.compare(0, 6, "float8") != 0) return module_.attr("dtype")(name);
  return module_.attr("dtype")(nb::module_::import_("ml_dtypes").attr(name.c_str()));
}

bool NumPy::is_masked(nb::handle array) const {
  return Py_TYPE(array.ptr()) != array_ && nb::hasattr(array, "mask") && nb::hasattr(array, "fill_value");
}

bool NumPy::is_number(nb::handle object) const {
  PyObject* const number = object.ptr();
  return PyLong_Check(number) || PyFloat_Check(number) || PyComplex_Check(number) || nb::isinstance(object, scalar_);
}

}  // namespace tutti::python
