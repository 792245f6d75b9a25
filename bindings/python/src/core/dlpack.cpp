#include "dlpack.hpp"

#include <nanobind/stl/string.h>

#include <string>

#include "buffer.hpp"
#include "numpy.hpp"

namespace tutti::python {
namespace {

/// A capsule of the newest version that the library makes. Libraries from before DLPack 1 know no max_version.
nb::object exported(nb::handle object, bool is_on_device, std::intptr_t stream) {
  const nb::object dlpack = object.attr("__dlpack__");
  nb::dict named;
  if (is_on_device) named["stream"] = stream;
  nb::dict newest = nb::borrow<nb::dict>(named.attr("copy")());
  newest["max_version"] = nb::make_tuple(dlpack_version.major, dlpack_version.minor);
  try {
    return dlpack(**newest);
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
  }
  return dlpack(**named);
}

bool is_contiguous(const DLTensor& tensor) {
  if (tensor.strides == nullptr) return true;
  int64_t expected = 1;
  for (int i = tensor.ndim; i-- > 0;) {
    if (tensor.shape[i] == 0) return true;
    if (tensor.shape[i] != 1 && tensor.strides[i] != expected) return false;
    expected *= tensor.shape[i];
  }
  return true;
}

/// Elements of a shape. Libraries may be wrong; -1: there is no such shape.
int64_t count_of(const int64_t* shape, int64_t axes) {
  if (axes < 0 || (axes > 0 && shape == nullptr)) return -1;
  int64_t count = 1;
  for (int64_t i = 0; i < axes; ++i)
    if (shape[i] < 0 || __builtin_mul_overflow(count, shape[i], &count)) return -1;
  return count;
}

[[noreturn]] void refuse_shape(const Argument& argument, const char* by) {
  refuse(std::string{argument.function} + ": " + argument.name + " has by " + by +
         " a shape or address that no array has");
}

/// A contiguous copy, made by the array's own library.
nb::object contiguous_copy(nb::handle object, const Argument& argument) {
  if (nb::hasattr(object, "contiguous")) return object.attr("contiguous")();
  if (nb::hasattr(object, "copy")) return object.attr("copy")();
  refuse_output(argument, "is not contiguous, and has neither contiguous() nor copy()");
}

struct Capsule {
  const DLTensor* tensor;
  bool is_read_only;
};

Capsule opened(nb::handle capsule, const Argument& argument) {
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned") != 0) {
    auto* managed = static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    if (managed->version.major != dlpack_version.major)
      refuse(std::string{argument.function} + ": " + argument.name + " comes by version " +
             std::to_string(managed->version.major) + " of DLPack; Tutti knows version 1");
    return {&managed->dl_tensor, (managed->flags & dlpack_read_only) != 0};
  }
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor") != 0)
    return {&static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"))->dl_tensor, false};
  raise("TypeArgumentError", std::string{argument.function} + ": __dlpack__ of " + argument.name + " gives " +
                                 in_words(capsule) + ", and no capsule of DLPack");
}

}  // namespace

/// The capsule is kept unconsumed: its own destructor frees the tensor.
Buffer take_dlpack(nb::handle object, const Argument& argument, bool is_copy) {
  const nb::object device = object.attr("__dlpack_device__")();
  if (!nb::isinstance<nb::tuple>(device) || nb::len(device) != 2)
    raise("TypeArgumentError", std::string{argument.function} + ": __dlpack_device__ of " + argument.name + " gives " +
                                   in_words(device) + ", and no pair of device type and number");
  const int kind = int_of(device[0], argument.function, (argument.name + std::string{"'s type of device"}).c_str());
  const bool is_on_device = kind == kDLCUDA || kind == kDLCUDAManaged;
  if (!is_on_device && kind != kDLCPU && kind != kDLCUDAHost)
    refuse(std::string{argument.function} + ": " + argument.name + " is on a device of DLPack's type " +
           std::to_string(kind) + "; Tutti knows memory of the host and of CUDA");
  Buffer buffer;
  buffer.hold = std::make_unique<Hold>();
  buffer.hold->other = exported(object, is_on_device, argument.stream);
  buffer.array = nb::borrow(object);
  buffer.is_on_device = is_on_device;
  const Capsule capsule = opened(buffer.hold->other, argument);
  const DLTensor& tensor = *capsule.tensor;
  buffer.type = type_of_dlpack(tensor.dtype);
  if (buffer.type == no_type)
    refuse_type(argument.function, argument.name,
                "DLPack's code " + std::to_string(tensor.dtype.code) + " with " + std::to_string(tensor.dtype.bits) +
                    " bits and " + std::to_string(tensor.dtype.lanes) + " lanes");
  buffer.count = count_of(tensor.shape, tensor.ndim);
  if (buffer.count < 0 || (buffer.count > 0 && tensor.data == nullptr)) refuse_shape(argument, "__dlpack__");
  if (argument.writes && capsule.is_read_only) refuse_output(argument, "is read-only");
  if (!is_contiguous(tensor)) {
    if (argument.writes) refuse_output(argument, "is not contiguous: Tutti writes only to contiguous arrays");
    if (!argument.may_copy) refuse_output(argument, "is not contiguous: a plan needs contiguous arrays");
    const nb::object contiguous = contiguous_copy(object, argument);
    if (is_copy) refuse_output(argument, "is not contiguous, and its own library's copy of it is not, either");
    Buffer copy = take_dlpack(contiguous, argument, true);
    copy.array = nb::borrow(object);  // the capsule keeps the copy
    return copy;
  }
  buffer.data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  return buffer;
}

/// Version 3. Its stream is not looked at: as with Options::stream of C++, either the data are there when the call is
/// made, or the program gives the stream.
Buffer take_cuda_array(nb::handle object, const Argument& argument) {
  const nb::object given = object.attr("__cuda_array_interface__");
  const auto name = [&](const char* key) { return argument.name + std::string{".__cuda_array_interface__"} + key; };
  if (!nb::isinstance<nb::dict>(given))
    raise("TypeArgumentError",
          std::string{argument.function} + ": " + name("") + " is " + in_words(given) + ", and no dict");
  const auto fact = [&](const char* key) -> nb::object {
    PyObject* const found = PyDict_GetItemString(given.ptr(), key);
    if (found == nullptr) refuse(std::string{argument.function} + ": " + name("") + " has no '" + key + "'");
    return nb::borrow(found);
  };
  const auto sequence = [&](const char* key) {
    const nb::object value = fact(key);
    if (!nb::isinstance<nb::tuple>(value) && !nb::isinstance<nb::list>(value))
      raise("TypeArgumentError",
            std::string{argument.function} + ": " + name("['") + key + "'] is " + in_words(value) + ", and no tuple");
    return nb::tuple(value);
  };
  const nb::tuple data = sequence("data");
  if (data.size() != 2) refuse(std::string{argument.function} + ": " + name("['data']") + " is no pair");
  const std::string typestr = text_of(fact("typestr"), argument.function, name("['typestr']").c_str());
  Buffer buffer;
  buffer.array = nb::borrow(object);
  buffer.is_on_device = true;
  buffer.type = type_of_typestr(typestr);
  if (buffer.type == no_type) refuse_type(argument.function, argument.name, "typestr '" + typestr + "'");
  if (argument.writes && nb::bool_(data[1])) refuse_output(argument, "is read-only");
  std::vector<int64_t> shape;
  for (const nb::handle length : sequence("shape"))
    shape.push_back(integer_of(length, argument.function, name("['shape']").c_str()));
  buffer.count = count_of(shape.data(), static_cast<int64_t>(shape.size()));
  buffer.data = reinterpret_cast<void*>(static_cast<std::uintptr_t>(
      buffer.count == 0 ? 0 : integer_of(data[0], argument.function, name("['data']").c_str(), 0)));
  if (buffer.count < 0 || (buffer.count > 0 && buffer.data == nullptr))
    refuse_shape(argument, "__cuda_array_interface__");
  PyObject* const found = PyDict_GetItemString(given.ptr(), "strides");
  if (found == nullptr || found == Py_None || buffer.count == 0) return buffer;
  const nb::tuple strides = sequence("strides");
  if (strides.size() != shape.size()) refuse_shape(argument, "__cuda_array_interface__");
  int64_t expected = size_of_type(buffer.type);
  for (std::size_t i = shape.size(); i-- > 0; expected *= shape[i])
    if (shape[i] != 1 && integer_of(strides[i], argument.function, name("['strides']").c_str()) != expected)
      refuse_output(argument, "is not contiguous; give a contiguous copy");
  return buffer;
}

}  // namespace tutti::python
