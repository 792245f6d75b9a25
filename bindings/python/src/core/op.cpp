#include "op.hpp"

#include <nanobind/stl/string.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <utility>

#include "numpy.hpp"
#include "process.hpp"

namespace tutti::python {
namespace {

constexpr std::array<const char*, 12> names{"sum", "prod", "min",  "max", "avg",  "land",
                                            "lor", "lxor", "band", "bor", "bxor", "exact_sum"};

/// The interned names: programs that write them have these very objects, so addresses are compared first.
PyObject* const* interned() {
  static PyObject* strings[names.size()] = {};
  if (strings[0] == nullptr)
    for (std::size_t i = 0; i < names.size(); ++i)
      strings[i] = PyUnicode_InternFromString(names[i]);
  return strings;
}

nb::object view(const void* data, int64_t count, tutti_type type, nb::handle dtype, int flags) {
  const Py_ssize_t bytes = count * size_of_type(type);
  const nb::object memory =
      nb::steal(PyMemoryView_FromMemory(static_cast<char*>(const_cast<void*>(data)), bytes, flags));
  return NumPy::get().module().attr("frombuffer")(memory, dtype);
}

/// The text of an exception, which may fail, or have no form in UTF-8.
std::string text_of_exception(nb::handle exception) {
  const auto name = nb::cast<std::string>(exception.type().attr("__name__"));
  const nb::object text = nb::steal(PyObject_Str(exception.ptr()));
  const char* const letters = text.is_valid() ? PyUnicode_AsUTF8AndSize(text.ptr(), nullptr) : nullptr;
  if (letters == nullptr) PyErr_Clear();
  return letters == nullptr ? name : name + ": " + letters;
}

/// Python collects no garbage meanwhile: requests and plans in it would wait, which they cannot inside an operation.
class NoCollector {
 public:
  NoCollector() : was_enabled_(PyGC_Disable()) {}
  NoCollector(const NoCollector&) = delete;
  NoCollector& operator=(const NoCollector&) = delete;
  ~NoCollector() {
    if (was_enabled_ != 0) PyGC_Enable();
  }

 private:
  int was_enabled_;
};

}  // namespace

Op::Op(nb::object function, bool is_commutative)
    : is_function_(true), function_(std::move(function)), is_commutative_(is_commutative) {
  if (PyCallable_Check(function_.ptr()) == 0)
    raise("TypeArgumentError", "Op: function is " + tutti::python::in_words(function_) + ", which cannot be called");
  is_ufunc_ = nb::isinstance(function_, NumPy::get().module().attr("ufunc"));
}

Op::Op(double scale) : scale_(scale) {}

Op::~Op() {
  for (const std::unique_ptr<OfType>& made : made_)
    tutti_op_free(&made->handle);
}

tutti_op Op::of(tutti_type type) {
  for (const std::unique_ptr<OfType>& made : made_)
    if (made->type == type) return made->handle;
  auto made = std::make_unique<OfType>(OfType{this, type, NumPy::get().dtype_of(type), nullptr});
  if (is_function_)
    check(tutti_op_create_user(&Op::combine, is_commutative_ ? 1 : 0, made.get(), nullptr, &made->handle));
  else
    check(tutti_op_create_scaled_sum(scale_, &made->handle));
  made_.push_back(std::move(made));
  return made_.back()->handle;
}

nb::object Op::take_exception() { return std::exchange(exception_, nb::object{}); }

std::string Op::in_words() const {
  if (!is_function_) return "tutti.Op.scaled_sum(" + nb::cast<std::string>(nb::repr(nb::float_(scale_))) + ")";
  return "tutti.Op(" + nb::cast<std::string>(nb::repr(function_)) + (is_commutative_ ? ")" : ", commutative=False)");
}

/// The calling thread has released the GIL, or is one of Tutti's. An exception fails the operation on all ranks.
void Op::combine(const void* lhs, const void* rhs, void* into, int64_t count, void* context) {
  const auto& of_type = *static_cast<const OfType*>(context);
  std::string why;
  {
    const nb::gil_scoped_acquire acquired;
    const NoCollector none;
    try {
      of_type.op->call(of_type, lhs, rhs, into, count);
      return;
    } catch (nb::python_error& error) {
      why = text_of_exception(error.value());
      if (!of_type.op->exception_.is_valid()) of_type.op->exception_ = nb::borrow(error.value());
    }
  }
  throw std::runtime_error(why);
}

void Op::call(const OfType& of_type, const void* lhs, const void* rhs, void* into, int64_t count) {
  const auto shown = [&](const void* data, int flags) { return view(data, count, of_type.type, of_type.dtype, flags); };
  const nb::object result = shown(into, PyBUF_WRITE);
  if (is_ufunc_)
    function_(shown(lhs, PyBUF_READ), shown(rhs, PyBUF_READ), nb::arg("out") = result);
  else
    function_(shown(lhs, PyBUF_READ), shown(rhs, PyBUF_READ), result);
}

tutti_op op_of(nb::handle object, tutti_type type, const char* function, Op** made) {
  PyObject* const* const known = interned();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (object.ptr() == known[i]) return reinterpret_cast<tutti_op>(static_cast<intptr_t>(i + 1));
  if (nb::isinstance<Op>(object)) {
    *made = nb::cast<Op*>(object);
    return (*made)->of(type);
  }
  if (PyUnicode_Check(object.ptr()))
    for (std::size_t i = 0; i < names.size(); ++i)
      if (PyUnicode_CompareWithASCIIString(object.ptr(), names[i]) == 0)
        return reinterpret_cast<tutti_op>(static_cast<intptr_t>(i + 1));
  std::string allowed;
  for (const char* name : names)
    allowed += std::string{name} + ", ";
  raise(PyUnicode_Check(object.ptr()) ? "ArgumentError" : "TypeArgumentError",
        std::string{function} + ": op is " + in_words(object) + "; allowed are " + allowed + "or a tutti.Op");
}

void bind_op(nb::module_& module) {
  nb::class_<Op>(
      module, "Op",
      "An operation that combines elements: a function of Python, or a sum with a factor.\n\n"
      "function(lhs, rhs, into) writes into[i] = lhs[i] (+) rhs[i] for all i, on NumPy's views of the "
      "elements, where lhs\ncomes from lower ranks than rhs; into may be lhs or rhs. So ufuncs of NumPy fit: "
      "tutti.Op(numpy.logaddexp). It must be\nassociative and the same on all ranks, must not call Tutti, "
      "and must not keep the views. An exception in it fails\nthe call, with a FailedError on every rank; the "
      "communicator is unusable then.\n\nCost: two microseconds for each combination, and the function.",
      in_cycles<Op>())
      .def(nb::init<nb::object, bool>(), nb::arg("function"), nb::arg("commutative") = true)
      .def_static(
          "scaled_sum", [](double scale) { return new Op(scale); }, nb::arg("scale"),
          "The sum, multiplied once at the end by scale, the same on all ranks. Floating-point and complex elements "
          "only.")
      .def("__repr__", &Op::in_words);
}

}  // namespace tutti::python
