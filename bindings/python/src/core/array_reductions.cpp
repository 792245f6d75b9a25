// Reductions of arrays that are distributed over the ranks: tutti.sum, dot, norm2, reduce_array.

#include <nanobind/stl/string.h>

#include <string>

#include "call.hpp"
#include "numpy.hpp"

namespace tutti::python {
namespace {

/// A call under way: the arrays stay as long as it.
class ArrayReduction {
 public:
  ArrayReduction(Communicator& communicator, const char* function, nb::handle offset)
      : use_(communicator), comm_(communicator.handle(function)), function_(function) {
    if (offset.is_none()) return;
    offset_ = integer_of(offset, function, "offset");
    has_offset_ = true;
  }
  Buffer take_block(nb::handle array, const char* name) const {
    return take(array, {.function = function_, .name = name});
  }
  [[nodiscard]] const int64_t* offset() const { return has_offset_ ? &offset_ : nullptr; }
  [[nodiscard]] tutti_comm comm() const { return comm_; }

  /// A number of NumPy, which call(void* result) gives.
  template <class Run>
  nb::object run(const Buffer& like, const Run& call, Op* op = nullptr) const {
    NumPy& numpy = NumPy::get();
    const nb::object array = numpy.empty(nb::tuple(), numpy.dtype_of(like.type));
    const Buffer result = take(array, {.function = function_, .name = "result", .writes = true});
    tutti_status status = TUTTI_SUCCESS;
    {
      const nb::gil_scoped_release released;
      status = call(result.data);
    }
    if (status == TUTTI_SUCCESS) return array[nb::tuple()];
    Kept kept;
    kept.function = op;
    kept.fail(status);
  }

 private:
  Communicator::Use use_;
  tutti_comm comm_;
  const char* function_;
  int64_t offset_ = 0;
  bool has_offset_ = false;
};

nb::object sum(nb::handle x, Communicator& comm, nb::handle offset) {
  const ArrayReduction call{comm, "sum", offset};
  const Buffer data = call.take_block(x, "x");
  return call.run(data,
                  [&](void* r) { return tutti_sum(data.data, data.count, call.offset(), data.type, r, call.comm()); });
}

nb::object dot(nb::handle x, nb::handle y, Communicator& comm, nb::handle offset) {
  const ArrayReduction call{comm, "dot", offset};
  const Buffer left = call.take_block(x, "x"), right = call.take_block(y, "y");
  if (right.type != left.type || right.count != left.count)
    refuse("dot: y has " + std::to_string(right.count) + " elements of " + name_of_type(right.type) + ", and x " +
           std::to_string(left.count) + " of " + name_of_type(left.type));
  return call.run(left, [&](void* r) {
    return tutti_dot(left.data, right.data, left.count, call.offset(), left.type, r, call.comm());
  });
}

nb::object norm2(nb::handle x, Communicator& comm, nb::handle offset) {
  const ArrayReduction call{comm, "norm2", offset};
  const Buffer data = call.take_block(x, "x");
  return call.run(
      data, [&](void* r) { return tutti_norm2(data.data, data.count, call.offset(), data.type, r, call.comm()); });
}

nb::object reduce_array(nb::handle x, nb::handle op, Communicator& comm, nb::handle offset) {
  const ArrayReduction call{comm, "reduce_array", offset};
  const Buffer data = call.take_block(x, "x");
  Op* made = nullptr;
  tutti_op its = op_of(op, data.type, "reduce_array", &made);
  return call.run(
      data,
      [&](void* r) { return tutti_reduce_array(data.data, data.count, call.offset(), data.type, its, r, call.comm()); },
      made);
}

}  // namespace

void bind_array_reductions(nb::module_& module) {
  const auto comm = nb::arg("comm");
  const auto offset = nb::arg("offset") = nb::none();
  module.def("sum", sum, nb::arg("x"), comm, offset,
             "The sum of an array that is distributed over the ranks of comm: x is this rank's block of it. Its first "
             "element is\nnumber `offset` of the array; without offset, on all ranks, blocks follow each other as "
             "ranks do. The bits are the same for\nany number of ranks and any cuts: elements are added by a binary "
             "tree over their numbers. Returns a number of NumPy, of\nx's type, the same on all ranks; 0 if there is "
             "no element. Raises ArgumentError on all ranks if blocks overlap or leave a\ngap.");
  module.def("dot", dot, nb::arg("x"), nb::arg("y"), comm, offset,
             "The sum of x[i] * y[i], as sum(): elements of float32 or float64.");
  module.def("norm2", norm2, nb::arg("x"), comm, offset,
             "The square root of the sum of squares, as sum(), without needless overflow: elements of float32 or "
             "float64.");
  module.def("reduce_array", reduce_array, nb::arg("x"), nb::arg("op"), comm, offset,
             "Element 0 (+) element 1 (+) ..., in this order, in the groups of the tree of sum(). op: a name as for "
             "allreduce, but not\n\"avg\", or a tutti.Op, which need not commute. Raises ArgumentError if there is no "
             "element.");
}

}  // namespace tutti::python
