#include "prepare.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

namespace tutti::python {
namespace {

std::vector<int64_t> shape_of_in(Call& call) { return call.kept().in.shape(); }

void take_same(Call& call, nb::handle x, nb::handle op, nb::handle out, bool zeros = false) {
  tutti_call& arguments = call.arguments();
  arguments.count = call.take_in(x);
  call.take_out(
      out, arguments.count, [&] { return shape_of_in(call); }, zeros);
  if (arguments.count < 0) arguments.count = call.kept().out.count;
  call.take_op(op);
}

constexpr int64_t most = std::numeric_limits<int64_t>::max();

/// No more than there can be: the library says which block is too long.
int64_t sum_of(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? most : sum;
}
int64_t sum_of(const int64_t* numbers, int size) {
  return std::accumulate(numbers, numbers + size, int64_t{0}, [](int64_t a, int64_t b) { return sum_of(a, b); });
}

/// The elements that blocks reach to, with offsets or one after the other.
int64_t extent(Call& call, const int64_t* counts, const int64_t* offsets) {
  if (offsets == nullptr) return sum_of(counts, call.size());
  int64_t end = 0;
  for (int rank = 0; rank < call.size(); ++rank)
    end = std::max(end, sum_of(offsets[rank], counts[rank]));
  return end;
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

/// The bytes that blocks of types of their own reach to, with offsets in bytes.
int64_t extent_in_bytes(Call& call, const int64_t* counts, const int64_t* offsets, const tutti_type* types) {
  int64_t most = 0;
  for (int rank = 0; rank < call.size(); ++rank) {
    int64_t reach = 0;
    if (__builtin_mul_overflow(counts[rank], size_of_type(types[rank]), &reach) ||
        __builtin_add_overflow(reach, offsets[rank], &reach))
      call.refuse_here("a block reaches beyond 2^63 bytes");
    most = std::max(most, reach);
  }
  return most;
}

void require_bytes(Call& call, const char* name, const Buffer& buffer, int64_t needs) {
  const int64_t has = buffer.count * size_of_type(buffer.type);
  if (has < needs)
    call.refuse_here(std::string{name} + " has " + std::to_string(has) + " bytes, and the blocks reach to " +
                     std::to_string(needs));
}

/// An output for blocks: a new flat array, or one that is long enough.
void take_blocks_out(Call& call, nb::handle out, const int64_t* counts, const int64_t* offsets) {
  const int64_t needed = extent(call, counts, offsets);
  call.take_out(out, -1, [&] { return std::vector<int64_t>{needed}; });
  if (!out.is_none()) require_extent(call, "out", call.kept().out.count, needed);
}

}  // namespace

void barrier(Call& call) {
  call.arguments().collective = TUTTI_BARRIER;
  call.kept().returned = nb::none();
}

void broadcast(Call& call, nb::handle x, nb::handle root, nb::handle out) {
  tutti_call& arguments = call.arguments();
  arguments.collective = TUTTI_BROADCAST;
  const bool is_root = call.rank() == call.take_root(root);
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

void reduce(Call& call, nb::handle x, nb::handle op, nb::handle root, nb::handle out) {
  tutti_call& arguments = call.arguments();
  arguments.collective = TUTTI_REDUCE;
  if (call.rank() == call.take_root(root)) return take_same(call, x, op, out);
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
  if (arguments.count >= 0)
    return call.take_out(out, arguments.count * call.size(), [&] { return call.joined_shape(); });
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

void gather(Call& call, nb::handle x, nb::handle root, nb::handle out) {
  tutti_call& arguments = call.arguments();
  arguments.collective = TUTTI_GATHER;
  if (call.rank() == call.take_root(root)) {
    allgather(call, x, out);
    arguments.collective = TUTTI_GATHER;
    return;
  }
  arguments.count = call.take_in(x);
  if (arguments.count < 0) call.refuse_here("only the root's x can be IN_PLACE");
  call.kept().returned = nb::none();
}

void gatherv(Call& call, nb::handle x, nb::handle counts, nb::handle offsets, nb::handle root, nb::handle out) {
  tutti_call& arguments = call.arguments();
  const bool is_root = call.rank() == call.take_root(root);
  if (is_root) {
    allgatherv(call, x, counts, offsets, out);
    arguments.count = arguments.out_counts[call.rank()];
  } else {
    arguments.count = call.take_in(x);
    if (arguments.count < 0) call.refuse_here("only the root's x can be IN_PLACE");
    call.kept().returned = nb::none();
  }
  arguments.collective = TUTTI_GATHER;
  arguments.blocks = TUTTI_BLOCKS_UNEVEN;
}

/// Ranks other than the root need an output, as nothing tells them its type and length.
void scatter(Call& call, nb::handle x, nb::handle root, nb::handle out) {
  tutti_call& arguments = call.arguments();
  arguments.collective = TUTTI_SCATTER;
  if (call.rank() != call.take_root(root)) {
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

void scatterv(Call& call, nb::handle x, nb::handle counts, nb::handle offsets, nb::handle root, nb::handle out) {
  tutti_call& arguments = call.arguments();
  if (call.rank() != call.take_root(root)) {
    scatter(call, x, root, out);
  } else {
    if (x.is_none()) call.refuse_here("this rank is the root, and needs x");
    arguments.in_counts = required_list(call, counts, "counts");
    arguments.in_offsets = call.take_list(offsets, "offsets");
    require_extent(call, "x", call.take_in(x), extent(call, arguments.in_counts, arguments.in_offsets));
    arguments.count = arguments.in_counts[call.rank()];
    if (call.is_in_place(out)) {
      arguments.out = TUTTI_IN_PLACE;
      call.kept().returned = nb::none();
    } else {
      call.take_out(out, arguments.count, [&] { return std::vector<int64_t>{arguments.count}; });
    }
  }
  arguments.collective = TUTTI_SCATTER;
  arguments.blocks = TUTTI_BLOCKS_UNEVEN;
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

void alltoallw(Call& call, nb::handle x, nb::handle in_counts, nb::handle out_counts, nb::handle in_offsets,
               nb::handle out_offsets, nb::handle in_types, nb::handle out_types, nb::handle out) {
  tutti_call& arguments = call.arguments();
  arguments.collective = TUTTI_ALLTOALL;
  arguments.blocks = TUTTI_BLOCKS_TYPED;
  call.take_out(out, -1, [] { return std::vector<int64_t>{}; });  // before x, whose type may be another
  arguments.out_counts = required_list(call, out_counts, "out_counts");
  arguments.out_offsets = required_list(call, out_offsets, "out_offsets");
  arguments.out_types = call.take_types(out_types, "out_types");
  require_bytes(call, "out", call.kept().out,
                extent_in_bytes(call, arguments.out_counts, arguments.out_offsets, arguments.out_types));
  if (call.take_in(x) < 0) return;
  arguments.in_counts = required_list(call, in_counts, "in_counts");
  arguments.in_offsets = required_list(call, in_offsets, "in_offsets");
  arguments.in_types = call.take_types(in_types, "in_types");
  require_bytes(call, "x", call.kept().in,
                extent_in_bytes(call, arguments.in_counts, arguments.in_offsets, arguments.in_types));
}

}  // namespace tutti::python
