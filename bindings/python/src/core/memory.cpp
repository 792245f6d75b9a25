// Tutti memory and memory of devices, as arrays.

#include <dlfcn.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>

#include "call.hpp"
#include "numpy.hpp"
#include "process.hpp"

namespace tutti::python {
namespace {

/// The device whose context is current. The driver is there, as memory was allocated on it.
int current_device() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
  int device = 0;
  if (driver == nullptr) return device;
  using Get = int (*)(int*);
  if (const auto get = reinterpret_cast<Get>(dlsym(driver, "cuCtxGetDevice")); get != nullptr) get(&device);
  dlclose(driver);
  return device;
}

class Memory {
 public:
  Memory(std::vector<int64_t> shape, tutti_type type, bool is_on_device)
      : shape_(std::move(shape)), type_(type), is_on_device_(is_on_device) {
    int64_t bytes = size_of_type(type);
    for (const int64_t length : shape_) {
      if (length < 0) refuse("empty: a length is " + std::to_string(length));
      if (__builtin_mul_overflow(bytes, length, &bytes)) refuse("empty: the shape has too many elements");
    }
    check(is_on_device ? tutti_allocate_device(bytes, &data_) : tutti_allocate(bytes, &data_));
    if (is_on_device) device_ = current_device();
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    if (is_child_of_fork()) return;
    is_on_device_ ? tutti_deallocate_device(data_) : tutti_deallocate(data_);
  }

  [[nodiscard]] nb::tuple shape() const { return nb::tuple(nb::cast(shape_)); }
  [[nodiscard]] std::string dtype() const { return name_of_type(type_); }
  [[nodiscard]] int64_t bytes() const {
    int64_t product = size_of_type(type_);
    for (const int64_t length : shape_)
      product *= length;
    return product;
  }
  [[nodiscard]] bool is_on_device() const { return is_on_device_; }

  /// The value of __array_interface__ and __cuda_array_interface__.
  [[nodiscard]] nb::dict interface() const {
    nb::dict facts;
    facts["version"] = 3;
    facts["typestr"] = typestr_of_type(type_);
    facts["shape"] = shape();
    facts["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(data_), false);
    if (is_on_device_) facts["strides"] = nb::none();
    return facts;
  }
  [[nodiscard]] nb::tuple device() const {
    return nb::make_tuple(static_cast<int>(is_on_device_ ? kDLCUDA : kDLCPU), device_);
  }

  /// A capsule of version 1 if the other side takes it, else one of the older form.
  [[nodiscard]] static nb::object dlpack(nb::handle self, nb::handle max_version, nb::handle copy);

 private:
  template <class Managed>
  static nb::object capsule(nb::handle self, const char* name);

  std::vector<int64_t> shape_;
  tutti_type type_;
  bool is_on_device_;
  int device_ = 0;
  void* data_ = nullptr;
};

template <class Managed>
void end_of(Managed* managed) {
  const nb::gil_scoped_acquire acquired;
  Py_DECREF(static_cast<PyObject*>(managed->manager_ctx));
  delete managed;
}

template <class Managed>
nb::object Memory::capsule(nb::handle self, const char* name) {
  auto& memory = nb::cast<Memory&>(self);
  auto* const managed = new Managed{};
  managed->dl_tensor = {memory.data_,
                        {memory.is_on_device_ ? kDLCUDA : kDLCPU, memory.device_},
                        static_cast<std::int32_t>(memory.shape_.size()),
                        dlpack_of_type(memory.type_),
                        memory.shape_.data(),
                        nullptr,
                        0};
  managed->manager_ctx = nb::borrow(self).release().ptr();
  managed->deleter = end_of<Managed>;
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) managed->version = dlpack_version;
  const auto unused = [](PyObject* capsule) {  // whoever uses it gives it another name, and frees the tensor itself
    constexpr bool is_new = std::is_same_v<Managed, DLManagedTensorVersioned>;
    const char* const unused_name = is_new ? "dltensor_versioned" : "dltensor";
    if (PyCapsule_IsValid(capsule, unused_name) == 0) return;
    auto* const tensor = static_cast<Managed*>(PyCapsule_GetPointer(capsule, unused_name));
    tensor->deleter(tensor);
  };
  return nb::steal(PyCapsule_New(managed, name, unused));
}

nb::object Memory::dlpack(nb::handle self, nb::handle max_version, nb::handle copy) {
  if (!copy.is_none() && nb::cast<bool>(copy)) {
    PyErr_SetString(PyExc_BufferError, "tutti: __dlpack__ makes no copies");
    throw nb::python_error();
  }
  const bool is_new = !max_version.is_none() && nb::cast<int>(nb::object(max_version[0])) >= 1;
  return is_new ? capsule<DLManagedTensorVersioned>(self, "dltensor_versioned")
                : capsule<DLManagedTensor>(self, "dltensor");
}

std::vector<int64_t> shape_of(nb::handle shape, const char* function) {
  std::vector<int64_t> lengths;
  if (PySequence_Check(shape.ptr()) == 0 || PyUnicode_Check(shape.ptr())) return {integer_of(shape, function, "shape")};
  for (const nb::handle length : shape)
    lengths.push_back(integer_of(length, function, "a length of the shape"));
  return lengths;
}

nb::object memory_of(nb::handle shape, nb::handle dtype, bool is_on_device) {
  const char* const function = is_on_device ? "empty_device" : "empty";
  require_same_process(function);
  const tutti_type type = NumPy::get().type_given(dtype, function, "dtype");
  return nb::cast(new Memory(shape_of(shape, function), type, is_on_device), nb::rv_policy::take_ownership);
}

nb::object empty(nb::handle shape, nb::handle dtype) {
  NumPy& numpy = NumPy::get();
  const nb::object memory = memory_of(shape, dtype, false);
  const nb::object array = numpy.module().attr("asarray")(memory);
  return array.attr("view")(numpy.dtype_of(numpy.type_given(dtype, "empty", "dtype")));
}

}  // namespace

nb::object device_memory(nb::handle shape, nb::handle dtype) { return memory_of(shape, dtype, true); }

void bind_memory(nb::module_& module) {
  nb::class_<Memory>(
      module, "Memory",
      "Memory that Tutti allocated, of a shape and type: what empty_device() returns. Array libraries take it "
      "by\n__dlpack__ or __cuda_array_interface__, as torch.from_dlpack(memory) or cupy.asarray(memory).")
      .def_prop_ro("shape", &Memory::shape)
      .def_prop_ro("dtype", &Memory::dtype, "NumPy's name of the type.")
      .def_prop_ro("nbytes", &Memory::bytes)
      .def("__dlpack_device__", &Memory::device)
      .def(
          "__dlpack__",
          [](nb::handle self, nb::handle, nb::handle max_version, nb::handle, nb::handle copy) {
            return Memory::dlpack(self, max_version, copy);
          },
          nb::kw_only(), nb::arg("stream") = nb::none(), nb::arg("max_version") = nb::none(),
          nb::arg("dl_device") = nb::none(), nb::arg("copy") = nb::none())
      .def("__getattr__", [](nb::handle self, const std::string& name) -> nb::object {
        const auto& memory = nb::cast<const Memory&>(self);
        if (name == (memory.is_on_device() ? "__cuda_array_interface__" : "__array_interface__"))
          return memory.interface();
        throw nb::attribute_error(("'tutti.Memory' object has no attribute '" + name + "'").c_str());
      });
  module.def(
      "empty", &empty, nb::arg("shape").none(), nb::arg("dtype").none() = "float64",
      "An array of NumPy in Tutti memory: the other ranks of the node read and write it in place, and calls need no "
      "copies\nthrough shared memory. It holds zeros. A communicator over all ranks must have been made before. Whole "
      "pages are taken\nof the node's shared memory; they are given back with the last array on them.");
  module.def(
      "empty_device", device_memory, nb::arg("shape").none(), nb::arg("dtype").none() = "float32",
      "Memory on the CUDA device whose context is current, of undefined contents, from which other ranks' devices "
      "read.");
}

}  // namespace tutti::python
