#pragma once
// Operations: names, scaled sums, and functions of Python.

#include <memory>
#include <vector>

#include "cycles.hpp"
#include "types.hpp"

namespace tutti::python {

/// An operation that is no plain name: tutti.Op.
class Op {
 public:
  Op(nb::object function, bool is_commutative);
  explicit Op(double scale);
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;
  ~Op();

  /// The operation as the library knows it, for elements of this type.
  [[nodiscard]] tutti_op of(tutti_type type);
  /// The exception that the function raised last, which it forgets.
  [[nodiscard]] nb::object take_exception();
  [[nodiscard]] std::string in_words() const;
  int visit(visitproc visit, void* arg) const {
    Py_VISIT(function_.ptr());
    Py_VISIT(exception_.ptr());
    return 0;
  }
  void clear() { function_ = exception_ = nb::object{}; }

 private:
  struct OfType {
    Op* op;
    tutti_type type;
    nb::object dtype;
    tutti_op handle;
  };
  static void combine(const void* lhs, const void* rhs, void* into, int64_t count, void* context);
  void call(const OfType& of_type, const void* lhs, const void* rhs, void* into, int64_t count);

  bool is_function_ = false;
  nb::object function_;
  nb::object exception_;
  bool is_commutative_ = true;
  bool is_ufunc_ = false;  ///< It is a ufunc of NumPy, whose third argument has a name.
  double scale_ = 1;
  std::vector<std::unique_ptr<OfType>> made_;
};

/// `object`: a name, or an Op, whose address is stored in `made`.
[[nodiscard]] tutti_op op_of(nb::handle object, tutti_type type, const char* function, Op** made);

void bind_op(nb::module_& module);

}  // namespace tutti::python
