// Operations of the program: commutative or not, on types of MPI's and on derived ones, and what their function is
// given.
#include <array>
#include <memory>
#include <string>

#include "tests/interpose/verdicts/collectives.hpp"

namespace tutti::test {
namespace {

/// Affine maps x -> a x + b modulo 2^32, as pairs: associative, and not commutative.
void compose(const unsigned* left, unsigned* right) {
  const std::array<unsigned, 2> made{right[0] * left[0], right[0] * left[1] + right[1]};
  right[0] = made[0];
  right[1] = made[1];
}

void compose_pairs(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  for (int i = 0; i < *count; ++i)
    compose(static_cast<unsigned*>(in) + 2 * i, static_cast<unsigned*>(inout) + 2 * i);
}

/// By the extent of the type that it is given, each element has one pair at its beginning.
void compose_by_extent(void* in, void* inout, int* count, MPI_Datatype* type) {
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_get_extent(*type, &lower, &extent);
  for (int i = 0; i < *count; ++i)
    compose(reinterpret_cast<unsigned*>(static_cast<std::byte*>(in) + i * extent),
            reinterpret_cast<unsigned*>(static_cast<std::byte*>(inout) + i * extent));
}

void compose_longs(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  static_assert(sizeof(long) == 8);
  compose_pairs(in, inout, count, nullptr);
}

void add_up(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  for (int i = 0; i < *count; ++i)
    static_cast<unsigned*>(inout)[i] += static_cast<unsigned*>(in)[i];
}

/// What the function was given last.
struct Given {
  int size = 0;
  MPI_Aint lower = 0, extent = 0;
  int named = 0;
  bool is_the_same_handle = true;
  MPI_Datatype expected = MPI_DATATYPE_NULL;
} given;

void note_type(void* in, void* inout, int* count, MPI_Datatype* type) {
  MPI_Type_size(*type, &given.size);
  MPI_Type_get_extent(*type, &given.lower, &given.extent);
  int integers = 0, addresses = 0, types = 0;
  MPI_Type_get_envelope(*type, &integers, &addresses, &types, &given.named);
  given.is_the_same_handle = given.is_the_same_handle && *type == given.expected;
  compose_by_extent(in, inout, count, type);
}

MPI_Datatype pair() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_UNSIGNED, &type);
  MPI_Type_commit(&type);
  return type;
}
MPI_Datatype pair_with_gap() {
  MPI_Datatype type = MPI_DATATYPE_NULL, plain = pair();
  MPI_Type_create_resized(plain, 0, 12, &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&plain);
  return type;
}
MPI_Datatype pair_with_lower_bound() {
  MPI_Datatype type = MPI_DATATYPE_NULL, plain = pair();
  MPI_Type_create_resized(plain, -4, 16, &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&plain);
  return type;
}
MPI_Datatype pair_in_struct() {
  const std::array<int, 2> lengths{1, 1};
  const std::array<MPI_Aint, 2> places{0, 4};
  const std::array<MPI_Datatype, 2> types{MPI_UNSIGNED, MPI_UNSIGNED};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(2, lengths.data(), places.data(), types.data(), &type);
  MPI_Type_commit(&type);
  return type;
}
MPI_Datatype duplicate_of_long() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_dup(MPI_LONG, &type);
  return type;
}

struct OperandKind {
  const char* name;
  MPI_User_function* function;
  MPI_Datatype (*make)();  // null: MPI_LONG, whose 8 bytes are a pair
};
const std::array kinds{OperandKind{"long", compose_longs, nullptr},
                       OperandKind{"duplicate", compose_longs, duplicate_of_long},
                       OperandKind{"pair", compose_pairs, pair},
                       OperandKind{"struct", compose_pairs, pair_in_struct},
                       OperandKind{"gap", compose_by_extent, pair_with_gap},
                       OperandKind{"lower_bound", compose_by_extent, pair_with_lower_bound}};

void reduce(Check& check, Collective which, const OperandKind& kind, int root) {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(kind.function, 0, &op);
  MPI_Datatype type = kind.make == nullptr ? MPI_LONG : kind.make();
  for (const bool is_waited : {false, true}) {
    const auto a = std::make_unique<Arguments>(check.comm);
    a->op = op;
    a->in_type = type;
    a->root = root;
    check.result(is_waited ? "nonblocking" : "blocking", is_waited ? waited(which, *a) : blocking(which, *a),
                 a->received);
  }
  if (kind.make != nullptr) MPI_Type_free(&type);
  MPI_Op_free(&op);
}

void reduce_in_place(Check& check) {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(compose_longs, 0, &op);
  const Arguments a{check.comm}, b{check.comm}, c{check.comm};
  check.result("allreduce", MPI_Allreduce(MPI_IN_PLACE, a.out, 3, MPI_LONG, op, check.comm), a.received);
  const bool is_root = check.rank == check.ranks - 1;
  check.result("reduce", MPI_Reduce(is_root ? MPI_IN_PLACE : b.in, b.out, 3, MPI_LONG, op, check.ranks - 1, check.comm),
               b.received);
  check.result("exscan", MPI_Exscan(MPI_IN_PLACE, c.out, 3, MPI_LONG, op, check.comm), c.received);
  MPI_Op_free(&op);
}

void what_it_is_given(Check& check, MPI_Datatype (*make)()) {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(note_type, 0, &op);
  MPI_Datatype type = make();
  given = {};
  given.expected = type;
  const Arguments a{check.comm};
  check.code("code", MPI_Allreduce(a.in, a.out, 3, type, op, check.comm));
  check.number("size", given.size);
  check.number("lower", given.lower);
  check.number("extent", given.extent);
  check.number("combiner", given.named);
  check.number("same handle", given.is_the_same_handle ? 1 : 0);
  MPI_Type_free(&type);
  MPI_Op_free(&op);
}

void predefined_as_given(Check& check) {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(note_type, 0, &op);
  given = {};
  given.expected = MPI_LONG;
  const Arguments a{check.comm};
  check.code("code", MPI_Allreduce(a.in, a.out, 3, MPI_LONG, op, check.comm));
  check.number("same handle", given.is_the_same_handle ? 1 : 0);
  MPI_Op_free(&op);
}

void commutes(Check& check) {
  for (const int commutative : {0, 1}) {
    MPI_Op op = MPI_OP_NULL;
    int found = -1;
    MPI_Op_create(add_up, commutative, &op);
    MPI_Op_commutative(op, &found);
    check.number("commutative", found);
    const Arguments a{check.comm}, b{check.comm};
    check.result("allreduce", MPI_Allreduce(a.in, a.out, 3, MPI_UNSIGNED, op, check.comm), a.received);
    check.result("local", MPI_Reduce_local(b.in, b.out, 3, MPI_UNSIGNED, op), b.received);
    MPI_Op_free(&op);
  }
}

/// New operations get the handles of freed ones.
void handles_used_again(Check& check) {
  for (const bool adds : {true, false, true, false}) {
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(adds ? add_up : compose_longs, adds ? 1 : 0, &op);
    const Arguments a{check.comm};
    check.result("allreduce", MPI_Allreduce(a.in, a.out, 3, adds ? MPI_UNSIGNED : MPI_LONG, op, check.comm),
                 a.received);
    MPI_Op_free(&op);
  }
}

/// A function may call MPI itself, where no messages are concerned.
void call_mpi(void* in, void* inout, int* count, MPI_Datatype* type) {
  MPI_Reduce_local(in, inout, *count, *type, MPI_SUM);
}
void calls_mpi(Check& check) {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(call_mpi, 1, &op);
  const Arguments a{check.comm};
  check.result("allreduce", MPI_Allreduce(a.in, a.out, 3, MPI_INT, op, check.comm), a.received);
  MPI_Op_free(&op);
}

}  // namespace

void add_user_operations(Checks& checks) {
  for (const OperandKind& kind : kinds)
    for_all_collectives([&](Collective which) {
      if (!is_reduction(which)) return;
      const std::string name = std::string{name_of(which)} + "." + kind.name;
      checks.add(name, [which, &kind](Check& check) { reduce(check, which, kind, 0); });
      if (which == Collective::Reduce)
        checks.add(name + ".to_last", [which, &kind](Check& check) { reduce(check, which, kind, check.ranks - 1); });
    });
  checks.add("in_place", reduce_in_place);
  checks.add(
      "given.pair", [](Check& check) { what_it_is_given(check, pair); }, 2);
  checks.add(
      "given.gap", [](Check& check) { what_it_is_given(check, pair_with_gap); }, 2);
  checks.add("given.predefined", predefined_as_given, 2);
  checks.add("commutes", commutes);
  checks.add("handles_used_again", handles_used_again);
  checks.add("calls_mpi", calls_mpi);
}

}  // namespace tutti::test
