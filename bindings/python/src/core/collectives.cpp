// The collectives, each as x(...), x_async(...) and plan_x(...).

#include <nanobind/stl/string.h>

#include <deque>
#include <numeric>
#include <string>

#include "call.hpp"

namespace tutti::python {
namespace {

/// Texts that nanobind keeps by address.
const char* keep(std::string text) {
  static std::deque<std::string> kept;
  return kept.emplace_back(std::move(text)).c_str();
}

std::vector<int64_t> shape_of_in(Call& call) { return call.kept().in.shape(); }

void barrier(Call& call) {
  call.arguments().collective = TUTTI_BARRIER;
  call.kept().returned = nb::none();
}

void broadcast(Call& call, nb::handle x, int root, nb::handle out) {
  tutti_call& arguments = call.arguments();
  arguments.collective = TUTTI_BROADCAST;
  arguments.root = root;
  const bool is_root = call.rank() == root;
  if (out.is_none() && (is_root || !is_jax(x))) return call.take_data(x, !is_root);
  if (is_root || out.is_none()) {
    arguments.count = call.take_in(x);
    if (arguments.count < 0) call.refuse_here("the root's data are in x, which cannot be IN_PLACE");
    call.take_out(out, arguments.count, [&] { return shape_of_in(call); });
  } else {
    call.take_out(out, -1, [] { return std::vector<int64_t>{}; });
    arguments.in = arguments.out;
    arguments.count = call.kept().out.count;
  }
  if (!is_root) arguments.in = arguments.out;
}

void take_same(Call& call, nb::handle x, nb::handle op, nb::handle out, bool zeros = false) {
  tutti_call& arguments = call.arguments();
  arguments.count = call.take_in(x);
  call.take_out(out, arguments.count, [&] { return shape_of_in(call); }, zeros);
  if (arguments.count < 0) arguments.count = call.kept().out.count;
  call.take_op(op);
}

void allreduce(Call& call, nb::handle x, nb::handle op, nb::handle out) {
  call.arguments().collective = TUTTI_ALLREDUCE;
  take_same(call, x, op, out);
}

void scan(Call& call, nb::handle x, nb::handle op, nb::handle out) {
  call.arguments().collective = TUTTI_SCAN;
  take_same(call, x, op, out);
}

/// A new array is zeros on rank 0, which the collective leaves as it is.
void exscan(Call& call, nb::handle x, nb::handle op, nb::handle out) {
  call.arguments().collective = TUTTI_EXSCAN;
  take_same(call, x, op, out, call.rank() == 0);
}

void reduce(Call& call, nb::handle x, nb::handle op, int root, nb::handle out) {
  tutti_call& arguments = call.arguments();
  arguments.collective = TUTTI_REDUCE;
  arguments.root = root;
  if (call.rank() == root) return take_same(call, x, op, out);
  arguments.count = call.take_in(x);
  if (arguments.count < 0) call.refuse_here("only the root's x can be IN_PLACE");
  call.take_op(op);
  call.kept().returned = nb::none();
}

void reduce_scatter(Call& call, nb::handle x, nb::handle op, nb::handle out) {
  tutti_call& arguments = call.arguments();
  arguments.collective = TUTTI_REDUCE_SCATTER;
  const int64_t whole = call.take_in(x);
  if (whole < 0) {  // out has all blocks, and the result in its first
    call.take_out(out, -1, [] { return std::vector<int64_t>{}; });
    arguments.count = call.share(call.kept().out.count, "the number of elements of out is");
  } else {
    arguments.count = call.share(whole, "the number of elements of x is");
    call.take_out(out, out.ptr() == x.ptr() ? whole : arguments.count, [&] { return call.divided_shape(); });
  }
  call.take_op(op);
}

int64_t sum_of(const int64_t* numbers, int size) { return std::accumulate(numbers, numbers + size, int64_t{0}); }

/// The elements that blocks reach to, with offsets or one after the other.
int64_t extent(Call& call, const int64_t* counts, const int64_t* offsets) {
  if (offsets == nullptr) return sum_of(counts, call.size());
  int64_t most = 0;
  for (int rank = 0; rank < call.size(); ++rank) most = std::max(most, offsets[rank] + counts[rank]);
  return most;
}

const int64_t* required_list(Call& call, nb::handle numbers, const char* name) {
  if (numbers.is_none()) call.refuse_here(std::string{name} + " is None; it has one number for each rank");
  return call.take_list(numbers, name);
}

void require_extent(Call& call, const char* name, int64_t has, int64_t needs) {
  if (has < needs)
    call.refuse_here(std::string{name} + " has " + std::to_string(has) + " elements, and the blocks reach to " +
                     std::to_string(needs));
}

/// An output for blocks: a new flat array, or one that is long enough.
void take_blocks_out(Call& call, nb::handle out, const int64_t* counts, const int64_t* offsets) {
  const int64_t needed = extent(call, counts, offsets);
  call.take_out(out, -1, [&] { return std::vector<int64_t>{needed}; });
  if (!out.is_none()) require_extent(call, "out", call.kept().out.count, needed);
}

void reduce_scatterv(Call& call, nb::handle x, nb::handle counts, nb::handle op, nb::handle out) {
  tutti_call& arguments = call.arguments();
  arguments.collective = TUTTI_REDUCE_SCATTER;
  arguments.blocks = TUTTI_BLOCKS_UNEVEN;
  arguments.in_counts = required_list(call, counts, "counts");
  const int64_t whole = sum_of(arguments.in_counts, call.size());
  const int64_t own = arguments.in_counts[call.rank()];
  const int64_t given = call.take_in(x);
  if (given >= 0 && given != whole)
    call.refuse_here("x has " + std::to_string(given) + " elements, and counts have " + std::to_string(whole));
  const bool is_in_place = given < 0 || out.ptr() == x.ptr();
  call.take_out(out, is_in_place ? whole : own, [&] { return std::vector<int64_t>{own}; });
  call.take_op(op);
}

void allgather(Call& call, nb::handle x, nb::handle out) {
  tutti_call& arguments = call.arguments();
  arguments.collective = TUTTI_ALLGATHER;
  arguments.count = call.take_in(x);
  if (arguments.count >= 0) return call.take_out(out, arguments.count * call.size(), [&] { return call.joined_shape(); });
  call.take_out(out, -1, [] { return std::vector<int64_t>{}; });
  arguments.count = call.share(call.kept().out.count, "the number of elements of out is");
}

void allgatherv(Call& call, nb::handle x, nb::handle counts, nb::handle offsets, nb::handle out) {
  tutti_call& arguments = call.arguments();
  arguments.collective = TUTTI_ALLGATHER;
  arguments.blocks = TUTTI_BLOCKS_UNEVEN;
  arguments.out_counts = required_list(call, counts, "counts");
  arguments.out_offsets = call.take_list(offsets, "offsets");
  const int64_t own = arguments.out_counts[call.rank()];
  const int64_t given = call.take_in(x);
  if (given >= 0 && given != own)
    call.refuse_here("x has " + std::to_string(given) + " elements, and counts say " + std::to_string(own));
  take_blocks_out(call, out, arguments.out_counts, arguments.out_offsets);
}

void gather(Call& call, nb::handle x, int root, nb::handle out) {
  tutti_call& arguments = call.arguments();
  arguments.collective = TUTTI_GATHER;
  arguments.root = root;
  if (call.rank() == root) {
    allgather(call, x, out);
    arguments.collective = TUTTI_GATHER;
    return;
  }
  arguments.count = call.take_in(x);
  if (arguments.count < 0) call.refuse_here("only the root's x can be IN_PLACE");
  call.kept().returned = nb::none();
}

void gatherv(Call& call, nb::handle x, nb::handle counts, nb::handle offsets, int root, nb::handle out) {
  tutti_call& arguments = call.arguments();
  const bool is_root = call.rank() == root;
  if (is_root) {
    allgatherv(call, x, counts, offsets, out);
    arguments.count = arguments.out_counts[root];
  } else {
    arguments.count = call.take_in(x);
    if (arguments.count < 0) call.refuse_here("only the root's x can be IN_PLACE");
    call.kept().returned = nb::none();
  }
  arguments.collective = TUTTI_GATHER;
  arguments.blocks = TUTTI_BLOCKS_UNEVEN;
  arguments.root = root;
}

/// Ranks other than the root need an output, as nothing tells them its type and length.
void scatter(Call& call, nb::handle x, int root, nb::handle out) {
  tutti_call& arguments = call.arguments();
  arguments.collective = TUTTI_SCATTER;
  arguments.root = root;
  if (call.rank() != root) {
    if (out.is_none()) call.refuse_here("this rank is not the root, and needs out=");
    call.take_out(out, -1, [] { return std::vector<int64_t>{}; });
    arguments.count = call.kept().out.count;
    return;
  }
  if (x.is_none()) call.refuse_here("this rank is the root, and needs x");
  arguments.count = call.share(call.take_in(x), "the number of elements of x is");
  if (!call.is_in_place(out)) return call.take_out(out, arguments.count, [&] { return call.divided_shape(); });
  arguments.out = TUTTI_IN_PLACE;
  call.kept().returned = nb::none();
}

void scatterv(Call& call, nb::handle x, nb::handle counts, nb::handle offsets, int root, nb::handle out) {
  tutti_call& arguments = call.arguments();
  if (call.rank() != root) {
    scatter(call, x, root, out);
  } else {
    if (x.is_none()) call.refuse_here("this rank is the root, and needs x");
    arguments.in_counts = required_list(call, counts, "counts");
    arguments.in_offsets = call.take_list(offsets, "offsets");
    require_extent(call, "x", call.take_in(x), extent(call, arguments.in_counts, arguments.in_offsets));
    arguments.count = arguments.in_counts[root];
    if (call.is_in_place(out)) {
      arguments.out = TUTTI_IN_PLACE;
      call.kept().returned = nb::none();
    } else {
      call.take_out(out, arguments.count, [&] { return std::vector<int64_t>{arguments.count}; });
    }
  }
  arguments.collective = TUTTI_SCATTER;
  arguments.blocks = TUTTI_BLOCKS_UNEVEN;
  arguments.root = root;
}

void alltoall(Call& call, nb::handle x, nb::handle out) {
  tutti_call& arguments = call.arguments();
  arguments.collective = TUTTI_ALLTOALL;
  const int64_t whole = call.take_in(x);
  call.take_out(out, whole, [&] { return shape_of_in(call); });
  const bool is_in_place = whole < 0;
  arguments.count = call.share(is_in_place ? call.kept().out.count : whole,
                               is_in_place ? "the number of elements of out is" : "the number of elements of x is");
}

void alltoallv(Call& call, nb::handle x, nb::handle in_counts, nb::handle out_counts, nb::handle in_offsets,
               nb::handle out_offsets, nb::handle out) {
  tutti_call& arguments = call.arguments();
  arguments.collective = TUTTI_ALLTOALL;
  arguments.blocks = TUTTI_BLOCKS_UNEVEN;
  const int64_t given = call.take_in(x);
  if (given >= 0) {
    arguments.in_counts = required_list(call, in_counts, "in_counts");
    arguments.in_offsets = call.take_list(in_offsets, "in_offsets");
    require_extent(call, "x", given, extent(call, arguments.in_counts, arguments.in_offsets));
  }
  arguments.out_counts = required_list(call, out_counts, "out_counts");
  arguments.out_offsets = call.take_list(out_offsets, "out_offsets");
  take_blocks_out(call, out, arguments.out_counts, arguments.out_offsets);
}

template <class... Arguments, class... Extra>
void define(CommunicatorClass& communicator, const char* name, void (*prepare)(Call&, Arguments...), const char* doc,
            const Extra&... extra) {
  const auto add = [&](Form form, const char* called, const char* text) {
    communicator.def(
        called,
        [prepare, name, form](Communicator& self, Arguments... arguments, nb::handle algorithm, nb::handle stream) {
          Call call{self, name, form};
          if (!algorithm.is_none() || !stream.is_none()) call.set_options(algorithm, stream);
          prepare(call, arguments...);
          return call.run();
        },
        extra..., nb::arg("algorithm") = nb::none(), nb::arg("stream") = nb::none(), text);
  };
  add(Form::blocking, name, doc);
  const std::string plain = name;
  add(Form::nonblocking, keep(plain + "_async"),
      keep("Starts " + plain + "(), and returns a Request, whose wait() returns the result. It takes no stream."));
  add(Form::persistent, keep("plan_" + plain),
      keep("Prepares " + plain + "() on these arrays, which must be contiguous, and returns a Plan."));
}

}  // namespace

void bind_collectives(CommunicatorClass& communicator) {
  const auto x = nb::arg("x").none();
  const auto op = nb::arg("op") = nb::steal(PyUnicode_InternFromString("sum"));
  const auto out = nb::arg("out") = nb::none();
  const auto root = nb::arg("root") = 0;
  const auto offsets = nb::arg("offsets") = nb::none();
  define(communicator, "barrier", barrier, "No rank returns before all ranks have called.");
  define(communicator, "broadcast", broadcast,
         "The root's x goes to all ranks: into x, which is returned; or into out, and then x is read on the root only. "
         "All have the\nsame number of elements and type. For arrays of JAX, which never change, a new array is returned "
         "on the other ranks.",
         x, root, out);
  define(communicator, "reduce", reduce,
         "On the root, x of rank 0 (+) x of rank 1 (+) ..., element by element, in an array shaped as x; None on the "
         "other ranks.",
         x, op, root, out);
  define(communicator, "allreduce", allreduce,
         "x of rank 0 (+) x of rank 1 (+) ..., element by element, on all ranks: an array shaped as x. out=x: in place.\n\n"
         "op: \"sum\", \"prod\", \"min\", \"max\", \"avg\", \"land\", \"lor\", \"lxor\", \"band\", \"bor\", \"bxor\", or a "
         "tutti.Op. Raises ArgumentError\n(also a ValueError) for arguments that do not fit, TypeArgumentError (also a "
         "TypeError) for what is no array of Tutti's\ntypes, FailedError if another rank called with other arguments. Cost: "
         "see docs/performance.md; a call of Python adds\nless than half a microsecond where out is given and all arrays "
         "are contiguous arrays of NumPy.",
         x, op, out);
  define(communicator, "reduce_scatter", reduce_scatter,
         "As allreduce, but each rank gets its own share of the result only: the blocks of the first axis of x, whose "
         "length the\nnumber of ranks divides. From shape (p * n, ...) to (n, ...).",
         x, op, out);
  define(communicator, "reduce_scatterv", reduce_scatterv,
         "The same with counts[r] elements for rank r, the same on all ranks: a flat array of counts[rank] elements.", x,
         nb::arg("counts"), op, out);
  define(communicator, "allgather", allgather,
         "The arrays of all ranks, one behind the other along the first axis, on all ranks: from shape (n, ...) to (p * n, "
         "...);\nof a number (p,).",
         x, out);
  define(communicator, "allgatherv", allgatherv,
         "The same where rank r gives counts[r] elements, at offsets[r] of the result; both are the same on all ranks. The "
         "result\nis flat.",
         x, nb::arg("counts"), offsets, out);
  define(communicator, "gather", gather, "As allgather, on the root; None on the other ranks.", x, root, out);
  define(communicator, "gatherv", gatherv,
         "As allgatherv, on the root; None on the other ranks. The lists are used on the root only.", x,
         nb::arg("counts") = nb::none(), offsets, root, out);
  define(communicator, "scatter", scatter,
         "Each rank gets its block of the first axis of the root's x: from shape (p * n, ...) to (n, ...). Ranks other than "
         "the\nroot give out, and x=None.",
         nb::arg("x").none() = nb::none(), root, out);
  define(communicator, "scatterv", scatterv,
         "The same with counts[r] elements from offsets[r] of x for rank r; the lists are used on the root only.",
         nb::arg("x").none() = nb::none(), nb::arg("counts") = nb::none(), offsets, root, out);
  define(communicator, "alltoall", alltoall,
         "Block r of x goes to rank r, which gets it as the block of this rank. Blocks are equal shares of the elements; the "
         "result\nis shaped as x.",
         x, out);
  define(communicator, "alltoallv", alltoallv,
         "The same where in_counts[r] elements, from in_offsets[r] of x, go to rank r, and out_counts[r] come from it, to "
         "out_offsets[r]\nof the result, which is flat.",
         x, nb::arg("in_counts").none(), nb::arg("out_counts"), nb::arg("in_offsets") = nb::none(),
         nb::arg("out_offsets") = nb::none(), out);
  define(communicator, "scan", scan, "x of rank 0 (+) ... (+) x of this rank: an array shaped as x.", x, op, out);
  define(communicator, "exscan", exscan,
         "The same without this rank's x. Rank 0's out stays as it is; a new array is zeros there.", x, op, out);
}

}  // namespace tutti::python
