// The collectives, each as x(...), x_async(...) and plan_x(...).

#include <nanobind/stl/string.h>

#include <deque>
#include <string>

#include "prepare.hpp"

namespace tutti::python {
namespace {

/// Texts that nanobind keeps by address.
const char* keep(std::string text) {
  static std::deque<std::string> kept;
  return kept.emplace_back(std::move(text)).c_str();
}

/// Adds the three forms: add(form, name, text).
template <class Add>
void add_forms(const char* name, const char* doc, const Add& add) {
  add(Form::blocking, name, doc);
  const std::string plain = name;
  add(Form::nonblocking, keep(plain + "_async"),
      keep("Starts " + plain + "(), and returns a Request, whose wait() returns the result. It takes no stream."));
  add(Form::persistent, keep("plan_" + plain),
      keep("Prepares " + plain + "() on these arrays, which must be contiguous, and returns a Plan."));
}

template <class... Arguments, class... Extra>
void define(CommunicatorClass& communicator, const char* name, void (*prepare)(Call&, Arguments...), const char* doc,
            const Extra&... extra) {
  add_forms(name, doc, [&](Form form, const char* called, const char* text) {
    communicator.def(
        called,
        [prepare, name, form](Communicator& self, Arguments... arguments, nb::handle algorithm, nb::handle stream,
                              nb::handle bits) {
          Call call{self, name, form};
          if (!algorithm.is_none() || !stream.is_none() || !bits.is_none()) call.set_options(algorithm, stream, bits);
          prepare(call, arguments...);
          return call.run();
        },
        extra..., nb::arg("algorithm") = nb::none(), nb::arg("stream") = nb::none(), nb::arg("bits") = nb::none(),
        text);
  });
}

/// The same for reductions, which have two options more.
template <class... Arguments, class... Extra>
void define_reduction(CommunicatorClass& communicator, const char* name, void (*prepare)(Call&, Arguments...),
                      const char* doc, const Extra&... extra) {
  add_forms(name, doc, [&](Form form, const char* called, const char* text) {
    communicator.def(
        called,
        [prepare, name, form](Communicator& self, Arguments... arguments, nb::handle algorithm, nb::handle stream,
                              nb::handle bits, nb::handle accumulate, nb::handle rounding) {
          Call call{self, name, form};
          if (!algorithm.is_none() || !stream.is_none() || !bits.is_none()) call.set_options(algorithm, stream, bits);
          if (!accumulate.is_none() || !rounding.is_none()) call.set_sum(accumulate, rounding);
          prepare(call, arguments...);
          return call.run();
        },
        extra..., nb::arg("algorithm") = nb::none(), nb::arg("stream") = nb::none(), nb::arg("bits") = nb::none(),
        nb::arg("accumulate") = nb::none(), nb::arg("rounding") = nb::none(), text);
  });
}

}  // namespace

void bind_collectives(CommunicatorClass& communicator) {
  const auto x = nb::arg("x").none();
  const auto op = nb::arg("op").none() = nb::steal(PyUnicode_InternFromString("sum"));
  const auto out = nb::arg("out") = nb::none();
  const auto root = nb::arg("root").none() = 0;
  const auto offsets = nb::arg("offsets") = nb::none();
  define(communicator, "barrier", barrier, "No rank returns before all ranks have called.");
  define(
      communicator, "broadcast", broadcast,
      "The root's x goes to all ranks: into x, which is returned; or into out, and then x is read on the root only. "
      "All have the\nsame number of elements and type. For arrays of JAX, which never change, a new array is returned "
      "on the other ranks.",
      x, root, out);
  define_reduction(
      communicator, "reduce", reduce,
      "On the root, x of rank 0 (+) x of rank 1 (+) ..., element by element, in an array shaped as x; None on the "
      "other ranks.",
      x, op, root, out);
  define_reduction(
      communicator, "allreduce", allreduce,
      "x of rank 0 (+) x of rank 1 (+) ..., element by element, on all ranks: an array shaped as x. out=x: in "
      "place.\n\n"
      "op: \"sum\", \"prod\", \"min\", \"max\", \"avg\", \"land\", \"lor\", \"lxor\", \"band\", \"bor\", \"bxor\", "
      "\"exact_sum\", or a "
      "tutti.Op. accumulate: \"fp32\" or \"fp64\", a wider type in which a \"sum\" or an \"avg\" is added, to be "
      "rounded once; rounding:\n\"nearest\", or \"stochastic\" for such sums. Raises ArgumentError\n(also a "
      "ValueError) for arguments that do not fit, TypeArgumentError (also a "
      "TypeError) for what is no array of Tutti's\ntypes, FailedError if another rank called with other arguments. "
      "Cost: "
      "see docs/performance.md; a call of Python adds\nless than half a microsecond where out is given and all arrays "
      "are contiguous arrays of NumPy.",
      x, op, out);
  define_reduction(
      communicator, "reduce_scatter", reduce_scatter,
      "As allreduce, but each rank gets its own share of the result only: the blocks of the first axis of x, whose "
      "length the\nnumber of ranks divides. From shape (p * n, ...) to (n, ...).",
      x, op, out);
  define_reduction(
      communicator, "reduce_scatterv", reduce_scatterv,
      "The same with counts[r] elements for rank r, the same on all ranks: a flat array of counts[rank] elements.", x,
      nb::arg("counts").none(), op, out);
  define(communicator, "allgather", allgather,
         "The arrays of all ranks, one behind the other along the first axis, on all ranks: from shape (n, ...) to (p "
         "* n, "
         "...);\nof a number (p,).",
         x, out);
  define(communicator, "allgatherv", allgatherv,
         "The same where rank r gives counts[r] elements, at offsets[r] of the result; both are the same on all ranks. "
         "The "
         "result\nis flat.",
         x, nb::arg("counts").none(), offsets, out);
  define(communicator, "gather", gather, "As allgather, on the root; None on the other ranks.", x, root, out);
  define(communicator, "gatherv", gatherv,
         "As allgatherv, on the root; None on the other ranks. The lists are used on the root only.", x,
         nb::arg("counts") = nb::none(), offsets, root, out);
  define(communicator, "scatter", scatter,
         "Each rank gets its block of the first axis of the root's x: from shape (p * n, ...) to (n, ...). Ranks other "
         "than "
         "the\nroot give out, and x=None.",
         nb::arg("x").none() = nb::none(), root, out);
  define(communicator, "scatterv", scatterv,
         "The same with counts[r] elements from offsets[r] of x for rank r; the lists are used on the root only.",
         nb::arg("x").none() = nb::none(), nb::arg("counts") = nb::none(), offsets, root, out);
  define(communicator, "alltoall", alltoall,
         "Block r of x goes to rank r, which gets it as the block of this rank. Blocks are equal shares of the "
         "elements; the "
         "result\nis shaped as x.",
         x, out);
  define(
      communicator, "alltoallv", alltoallv,
      "The same where in_counts[r] elements, from in_offsets[r] of x, go to rank r, and out_counts[r] come from it, to "
      "out_offsets[r]\nof the result, which is flat.",
      x, nb::arg("in_counts").none(), nb::arg("out_counts").none(), nb::arg("in_offsets") = nb::none(),
      nb::arg("out_offsets") = nb::none(), out);
  define(
      communicator, "alltoallw", alltoallw,
      "The same where each block has a type of its own: in_types and out_types have a dtype for each rank, offsets are "
      "in bytes,\nand all lists are needed, as is out. x and out are memory for the blocks, whatever their own types.",
      x, nb::arg("in_counts").none(), nb::arg("out_counts").none(), nb::arg("in_offsets").none(),
      nb::arg("out_offsets").none(), nb::arg("in_types").none(), nb::arg("out_types").none(), nb::arg("out").none());
  define_reduction(communicator, "scan", scan, "x of rank 0 (+) ... (+) x of this rank: an array shaped as x.", x, op,
                   out);
  define_reduction(communicator, "exscan", exscan,
                   "The same without this rank's x. Rank 0's out stays as it is; a new array is zeros there.", x, op,
                   out);
  const auto xs = nb::arg("xs").none();
  define_reduction(
      communicator, "allreduce_list", allreduce_list,
      "An allreduce of each array of a list, all of one type, in one call: short arrays share their messages. Returns "
      "the list of\nresults. out: a list of arrays; out=xs: in place.",
      xs, op, out);
  define(communicator, "broadcast_list", broadcast_list,
         "The root's arrays go into those of all ranks, as many and as long. Returns them as a list.", xs, root);
  define(communicator, "allgather_list", allgather_list, "As allgather, of each array of a list.", xs, out);
  define_reduction(communicator, "reduce_scatter_list", reduce_scatter_list,
                   "As reduce_scatter, of each array of a list.", xs, op, out);
}

}  // namespace tutti::python
