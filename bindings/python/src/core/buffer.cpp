#include "buffer.hpp"

#include <nanobind/stl/string.h>

#include <utility>

#include "numpy.hpp"

namespace tutti::python {
namespace {

Buffer take_array(nb::handle array, const Argument& argument) {
  NumPy& numpy = NumPy::get();
  const ArrayFields& fields = NumPy::fields(array);
  Buffer buffer;
  buffer.type = numpy.type_of(fields.dtype, argument.function, argument.name);
  if (numpy.is_masked(array))
    raise("TypeArgumentError", std::string{argument.function} + ": " + argument.name +
                                   " is a masked array, whose mask Tutti does not know; give its .data");
  if (!fields.is(ArrayFields::contiguous | ArrayFields::aligned)) {
    if (argument.writes)
      refuse_output(argument, "is not contiguous (or not aligned): Tutti writes only to contiguous arrays");
    if (!argument.may_copy)
      refuse_output(argument, "is not contiguous (or not aligned): a plan needs contiguous arrays");
    // A copy in any case, also where only the alignment is wrong.
    const nb::object copy = numpy.module().attr("array")(array, nb::arg("order") = "C", nb::arg("copy") = true);
    Buffer taken = take_array(copy, argument);
    taken.hold = std::make_unique<Hold>();
    taken.hold->other = copy;
    taken.array = nb::borrow(array);
    return taken;
  }
  if (argument.writes && !fields.is(ArrayFields::writeable)) refuse_output(argument, "is read-only");
  buffer.data = fields.data;
  buffer.count = fields.count();
  buffer.array = nb::borrow(array);
  return buffer;
}

Buffer take_number(nb::handle number, const Argument& argument) {
  if (argument.writes) refuse_output(argument, "is a number, and no array");
  const nb::object array = NumPy::get().module().attr("asarray")(number);
  Buffer buffer = take_array(array, argument);
  buffer.hold = std::make_unique<Hold>();
  buffer.hold->other = array;
  buffer.array = array;
  return buffer;
}

/// bytes, bytearray, array.array, memoryview, mmap.
Buffer take_buffer(nb::handle object, const Argument& argument) {
  Buffer buffer;
  buffer.hold = std::make_unique<Hold>();
  Py_buffer& view = buffer.hold->view;
  if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_FULL_RO) != 0) throw nb::python_error();
  buffer.hold->has_view = true;
  if (argument.writes && view.readonly != 0) refuse_output(argument, "is read-only");
  buffer.type = type_of_format(view.format, view.itemsize);
  if (buffer.type == no_type)
    refuse_type(argument.function, argument.name, "format '" + std::string{view.format} + "' of the buffer protocol");
  buffer.array = nb::borrow(object);
  if (PyBuffer_IsContiguous(&view, 'C') == 0) {
    if (argument.writes) refuse_output(argument, "is not contiguous: Tutti writes only to contiguous arrays");
    if (!argument.may_copy) refuse_output(argument, "is not contiguous: a plan needs contiguous arrays");
    Buffer copy = take_array(NumPy::get().module().attr("ascontiguousarray")(object), argument);
    copy.hold = std::make_unique<Hold>();
    copy.hold->other = std::exchange(copy.array, nb::borrow(object));
    return copy;
  }
  buffer.data = view.buf;
  buffer.count = view.itemsize == 0 ? 0 : view.len / view.itemsize;
  return buffer;
}

/// Refuses tensors of PyTorch whose memory does not hold their values.
void look_at_tensor(nb::handle tensor, const Argument& argument) {
  if (nb::cast<bool>(tensor.attr("is_conj")()))
    refuse_output(argument, "is a tensor with the conjugate bit; give .resolve_conj()");
  if (nb::cast<bool>(tensor.attr("is_neg")()))
    refuse_output(argument, "is a tensor with the negative bit; give .resolve_neg()");
  if (argument.writes && nb::cast<bool>(tensor.attr("requires_grad")))
    refuse_output(argument, "is a tensor that requires grad, whose history a write would bypass; give .detach()");
}

}  // namespace

void refuse_output(const Argument& argument, const char* why) {
  refuse(std::string{argument.function} + ": " + argument.name + " " + why);
}

bool is_of(nb::handle object, const char* module, const char* name) {
  const nb::handle modules = PyImport_GetModuleDict();  // borrowed
  PyObject* const found = PyDict_GetItemString(modules.ptr(), module);
  if (found == nullptr) return false;
  const nb::object type = nb::getattr(found, name, nb::none());
  return PyType_Check(type.ptr()) && nb::isinstance(object, type);
}

bool is_jax(nb::handle object) { return is_of(object, "jax", "Array"); }

std::vector<int64_t> Buffer::shape() const {
  std::vector<int64_t> shape;
  if (NumPy::get().is_array(array)) {
    const ArrayFields& fields = NumPy::fields(array);
    return {fields.shape, fields.shape + fields.ndim};
  }
  if (!nb::hasattr(array, "shape")) return {count};
  for (const nb::handle length : nb::object(array.attr("shape")))
    shape.push_back(nb::cast<int64_t>(length));
  return shape;
}

Buffer take(nb::handle object, const Argument& argument) {
  NumPy& numpy = NumPy::get();
  if (numpy.is_array(object)) return take_array(object, argument);
  if (numpy.is_number(object)) return take_number(object, argument);
  if (is_of(object, "torch", "Tensor")) {
    look_at_tensor(object, argument);
    Buffer buffer = take_dlpack(
        nb::cast<bool>(object.attr("requires_grad")) ? object.attr("detach")() : nb::borrow(object), argument);
    buffer.array = nb::borrow(object);
    return buffer;
  }
  if (PyType_Check(object.ptr()))
    raise("TypeArgumentError",
          std::string{argument.function} + ": " + argument.name + " is a class, and no array of it");
  if (is_jax(object) && argument.writes) refuse_output(argument, "is an array of JAX, which never changes");
  if (nb::hasattr(object, "__dlpack__")) return take_dlpack(object, argument);
  if (nb::hasattr(object, "__cuda_array_interface__")) return take_cuda_array(object, argument);
  if (PyObject_CheckBuffer(object.ptr()) != 0) return take_buffer(object, argument);
  raise("TypeArgumentError", std::string{argument.function} + ": " + argument.name + " is " + in_words(object) +
                                 "; Tutti takes arrays: of NumPy, or with __dlpack__, __cuda_array_interface__ or the "
                                 "buffer protocol");
}

}  // namespace tutti::python
