#include "result.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "numpy.hpp"

namespace tutti::python {
namespace {

nb::object tuple_of(const std::vector<int64_t>& shape) { return nb::tuple(nb::cast(shape)); }

nb::object numpy_array(const Buffer& like, const std::vector<int64_t>& shape) {
  NumPy& numpy = NumPy::get();
  if (numpy.is_array(like.array)) return numpy.empty(tuple_of(shape), NumPy::fields(like.array).dtype);
  return numpy.empty(tuple_of(shape), numpy.dtype_of(like.type));
}

/// The module whose function `empty` makes such arrays.
nb::object namespace_of(nb::handle array) {
  if (nb::hasattr(array, "__array_namespace__")) return array.attr("__array_namespace__")();
  const auto name = nb::cast<std::string>(array.type().attr("__module__"));
  return nb::module_::import_(name.substr(0, name.find('.')).c_str());
}

}  // namespace

nb::object Result::finished() const {
  return namespace_of_immutable.is_valid() ? namespace_of_immutable.attr("from_dlpack")(array) : array;
}

Result make_result(const Buffer& like, const std::vector<int64_t>& shape, const Argument& argument, bool zeros) {
  Result result;
  const nb::handle array = like.array;
  if (NumPy::get().is_array(array) || (!nb::hasattr(array, "__dlpack__") && PyObject_CheckBuffer(array.ptr()) != 0)) {
    result.array = numpy_array(like, shape);
  } else if (is_jax(array)) {
    if (like.is_on_device)
      refuse(std::string{argument.function} + ": arrays of JAX on devices need out=, of another library");
    if (!argument.may_copy)
      refuse(std::string{argument.function} + ": a plan on arrays of JAX needs out=, of another library");
    result.array = numpy_array(like, shape);
    result.namespace_of_immutable = namespace_of(array);
  } else if (nb::hasattr(array, "new_empty")) {  // PyTorch
    result.array = array.attr("new_empty")(tuple_of(shape));
  } else if (nb::hasattr(array, "dtype") && nb::hasattr(array, "__dlpack__")) {
    result.array = namespace_of(array).attr("empty")(tuple_of(shape), nb::arg("dtype") = array.attr("dtype"));
  } else {
    refuse(std::string{argument.function} + ": no array like " + in_words(array) + " can be made; give out=");
  }
  result.buffer = take(result.array, argument);
  if (!zeros) return result;
  if (like.is_on_device)
    result.array.attr("__setitem__")(nb::ellipsis(), nb::int_(0));
  else
    std::memset(result.buffer.data, 0,
                static_cast<std::size_t>(result.buffer.count * size_of_type(result.buffer.type)));
  return result;
}

}  // namespace tutti::python
