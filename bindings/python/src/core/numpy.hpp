#pragma once
// NumPy's arrays, seen as NumPy's C headers define them: a call then looks at memory alone. Whether this NumPy still
// lays arrays out so is tried once; if not, arrays are taken by the buffer protocol, which costs some hundred
// nanoseconds.

#include "types.hpp"

namespace tutti::python {

/// The beginning of PyArrayObject, which has been so since NumPy 1.0.
struct ArrayFields {
  PyObject head;
  void* data;
  int ndim;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  PyObject* base;
  PyObject* dtype;
  int flags;

  static constexpr int contiguous = 1, aligned = 0x100, writeable = 0x400;
  [[nodiscard]] bool is(int mask) const { return (flags & mask) == mask; }
  [[nodiscard]] int64_t count() const {
    int64_t product = 1;
    for (int i = 0; i < ndim; ++i)
      product *= shape[i];
    return product;
  }
};

class NumPy {
 public:
  static NumPy& get();

  /// Whether it is an array or of a class derived from arrays, and its fields can be read.
  [[nodiscard]] bool is_array(nb::handle object) const {
    return is_known_ && (Py_TYPE(object.ptr()) == array_ || PyType_IsSubtype(Py_TYPE(object.ptr()), array_));
  }
  [[nodiscard]] static const ArrayFields& fields(nb::handle array) {
    return *reinterpret_cast<const ArrayFields*>(array.ptr());
  }
  /// The type of the elements; those seen before are found by the address of their dtype.
  [[nodiscard]] tutti_type type_of(nb::handle dtype, const char* function, const char* argument);
  /// The type that a name of Tutti's types means ("bfloat16"), or anything that NumPy takes for a dtype.
  [[nodiscard]] tutti_type type_given(nb::handle dtype, const char* function, const char* argument);
  /// A new array. `dtype`: a dtype of NumPy.
  [[nodiscard]] nb::object empty(nb::handle shape, nb::handle dtype);
  [[nodiscard]] nb::object dtype_of(tutti_type type);
  [[nodiscard]] nb::handle module() const { return module_; }
  [[nodiscard]] bool is_masked(nb::handle array) const;
  /// Numbers of Python and of NumPy.
  [[nodiscard]] bool is_number(nb::handle object) const;

 private:
  NumPy();
  [[nodiscard]] bool lays_out_as_known() const;

  nb::object module_, empty_, scalar_;
  PyTypeObject* array_ = nullptr;
  bool is_known_ = false;
  static constexpr int most = 32;
  PyObject* dtypes_[most]{};  // with a reference each, so that no other takes the address
  tutti_type types_[most]{};
  int seen_ = 0;
};

}  // namespace tutti::python
