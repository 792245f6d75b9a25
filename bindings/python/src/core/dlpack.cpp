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

/// A contiguous copy, made by the array's own library.
nb::object contiguous(nb::handle object, const Argument& argument) {
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
Buffer take_dlpack(nb::handle object, const Argument& argument) {
  const nb::object device = object.attr("__dlpack_device__")();
  const int kind = nb::cast<int>(nb::int_(nb::object(device[0])));
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
  if (argument.writes && capsule.is_read_only) refuse_output(argument, "is read-only");
  if (!is_contiguous(tensor)) {
    if (argument.writes) refuse_output(argument, "is not contiguous: Tutti writes only to contiguous arrays");
    if (!argument.may_copy) refuse_output(argument, "is not contiguous: a plan needs contiguous arrays");
    Buffer copy = take_dlpack(contiguous(object, argument), argument);
    copy.array = nb::borrow(object);  // the capsule keeps the copy
    return copy;
  }
  buffer.data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  buffer.count = 1;
  for (int i = 0; i < tensor.ndim; ++i)
    buffer.count *= tensor.shape[i];
  return buffer;
}

/// Version 3. Its stream is not looked at: as with Options::stream of C++, either the data are there when the call is
/// made, or the program gives the stream.
Buffer take_cuda_array(nb::handle object, const Argument& argument) {
  const nb::dict facts = nb::cast<nb::dict>(object.attr("__cuda_array_interface__"));
  const nb::object data = facts["data"];
  const auto typestr = nb::cast<std::string>(facts["typestr"]);
  Buffer buffer;
  buffer.array = nb::borrow(object);
  buffer.is_on_device = true;
  buffer.type = type_of_typestr(typestr);
  if (buffer.type == no_type) refuse_type(argument.function, argument.name, "typestr '" + typestr + "'");
  if (argument.writes && nb::cast<bool>(data[1])) refuse_output(argument, "is read-only");
  buffer.data = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(data[0]));
  buffer.count = 1;
  std::vector<int64_t> shape;
  for (const nb::handle length : nb::object(facts["shape"]))
    shape.push_back(nb::cast<int64_t>(length));
  for (const int64_t length : shape)
    buffer.count *= length;
  const nb::object strides = facts.attr("get")("strides");
  if (strides.is_none() || buffer.count == 0) return buffer;
  int64_t expected = size_of_type(buffer.type);
  for (std::size_t i = shape.size(); i-- > 0; expected *= shape[i])
    if (shape[i] != 1 && nb::cast<int64_t>(strides[i]) != expected)
      refuse_output(argument, "is not contiguous; give a contiguous copy");
  return buffer;
}

}  // namespace tutti::python
