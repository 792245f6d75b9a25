// Operations of the program, which commute or not, on predefined and on derived types.
#include <array>
#include <cstdint>
#include <cstring>

#include "tests/interpose/reductions.hpp"

namespace tutti::test {
namespace {

constexpr int prime = 251;

/// The map x -> ax + b, as two numbers anywhere in an element: putting two together does not commute.
struct Map {
  int a, b;
};
/// The map "first lhs, then rhs".
Map then(Map lhs, Map rhs) { return {lhs.a * rhs.a % prime, (lhs.b * rhs.a + rhs.b) % prime}; }

/// Where an element has its two numbers: places in bytes.
template <std::size_t a, std::size_t b, class Number>
struct Places {
  static Map read(const std::byte* from) {
    std::array<Number, 2> numbers{};
    std::memcpy(numbers.data(), from + a, sizeof(Number));
    std::memcpy(&numbers[1], from + b, sizeof(Number));
    return {static_cast<int>(numbers[0]), static_cast<int>(numbers[1])};
  }
  static void write(std::byte* to, Map map) {
    const std::array<Number, 2> numbers{static_cast<Number>(map.a), static_cast<Number>(map.b)};
    std::memcpy(to + a, numbers.data(), sizeof(Number));
    std::memcpy(to + b, &numbers[1], sizeof(Number));
  }
  static void write_values(void* to, int value, int second) {
    write(static_cast<std::byte*>(to), {value % prime, (second + prime) % prime});
  }
};

// MPI's own prototypes have no const.
// NOLINTBEGIN(readability-non-const-parameter)

/// Elements follow each other by the extent of the type that MPI hands over.
template <class Where>
void put_together(void* in, void* inout, int* length, MPI_Datatype* type) {
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_get_extent(*type, &lower, &extent);
  for (std::ptrdiff_t i = 0; i < *length; ++i) {
    std::byte* const right = static_cast<std::byte*>(inout) + i * extent;
    Where::write(right, then(Where::read(static_cast<std::byte*>(in) + i * extent), Where::read(right)));
  }
}

template <class Where>
void add_both(void* in, void* inout, int* length, MPI_Datatype* type) {
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_get_extent(*type, &lower, &extent);
  for (std::ptrdiff_t i = 0; i < *length; ++i) {
    const Map lhs = Where::read(static_cast<std::byte*>(in) + i * extent);
    std::byte* const right = static_cast<std::byte*>(inout) + i * extent;
    const Map rhs = Where::read(right);
    Where::write(right, {(lhs.a + rhs.a) % prime, (lhs.b + rhs.b) % prime});
  }
}
// NOLINTEND(readability-non-const-parameter)

template <class Where>
void check(const std::string& name, MPI_Datatype type) {
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_get_extent(type, &lower, &extent);
  const NumberType number{name, type, static_cast<std::size_t>(extent), Where::write_values};
  const ReturningComm comm;
  int size = 0;
  MPI_Type_size(type, &size);
  for (const bool commutes : {true, false}) {
    // The MPI_Reduce_scatter_block of MPICH and its kin overwrites memory there.
    if (!commutes && size < extent && (library_is("MPICH") || library_is("Intel"))) continue;
    MPI_Op op = MPI_OP_NULL;
    MPI_Op_create(commutes ? add_both<Where> : put_together<Where>, commutes ? 1 : 0, &op);
    const ReductionCase reduction{(commutes ? "a sum on " : "maps on ") + name, number, op, comm.get()};
    compare_reductions<false>(reduction);
    compare_reductions<true>(reduction);
    MPI_Op_free(&op);
  }
}

TEST(UserOperations, OnPredefinedTypes) {
  check<Places<0, 2, std::uint16_t>>("MPI_UINT32_T", MPI_UINT32_T);
  check<Places<0, 1, std::uint8_t>>("MPI_SHORT", MPI_SHORT);
  check<Places<0, 4, std::uint32_t>>("MPI_UINT64_T", MPI_UINT64_T);
  check<Places<0, 2, std::uint16_t>>("MPI_INTEGER", MPI_INTEGER);
  check<Places<0, 4, int>>("MPI_2INT", MPI_2INT);
  check<Places<0, 8, double>>("MPI_C_DOUBLE_COMPLEX", MPI_C_DOUBLE_COMPLEX);
  check<Places<0, 4, float>>("MPI_C_FLOAT_COMPLEX", MPI_C_FLOAT_COMPLEX);
}

TEST(UserOperations, OnPairs) {
  check<Places<4, 0, std::uint16_t>>("MPI_SHORT_INT", MPI_SHORT_INT);
  check<Places<0, 8, std::uint32_t>>("MPI_DOUBLE_INT", MPI_DOUBLE_INT);
  check<Places<0, 16, std::uint32_t>>("MPI_LONG_DOUBLE_INT", MPI_LONG_DOUBLE_INT);
}

TEST(UserOperations, OnDerivedTypes) {
  MPI_Datatype two = MPI_DATATYPE_NULL, apart = MPI_DATATYPE_NULL, copy = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_INT, &two);
  MPI_Type_vector(2, 1, 2, MPI_INT, &apart);
  MPI_Type_dup(MPI_UINT64_T, &copy);
  MPI_Type_commit(&two);
  MPI_Type_commit(&apart);
  check<Places<0, 4, int>>("two integers", two);
  check<Places<0, 8, int>>("two integers with a gap", apart);
  check<Places<0, 4, std::uint32_t>>("a duplicate of MPI_UINT64_T", copy);
  for (MPI_Datatype* const type : {&two, &apart, &copy})
    MPI_Type_free(type);
}

/// One after the other, often with the same handle: each must do what it is for.
TEST(UserOperations, MadeUsedAndFreedManyTimes) {
  using Where = Places<0, 2, std::uint16_t>;
  const NumberType number{"MPI_UINT32_T", MPI_UINT32_T, 4, Where::write_values};
  for (int i = 0; i < 200; ++i) {
    MPI_Op op = MPI_OP_NULL;
    const bool commutes = i % 3 == 0;
    MPI_Op_create(i % 2 == 0 ? add_both<Where> : put_together<Where>, commutes && i % 2 == 0 ? 1 : 0, &op);
    const ReductionCase reduction{"operation " + std::to_string(i), number, op, MPI_COMM_WORLD};
    compare_reduction(reduction, "allreduce", {40, 40}, [&](const Calls& calls, void* in, void* out) {
      return calls.Allreduce(in, out, 40, number.type, op, MPI_COMM_WORLD);
    });
    MPI_Op_free(&op);
  }
}

TEST(UserOperations, OnMuchData) {
  using Where = Places<0, 2, std::uint16_t>;
  const NumberType number{"MPI_UINT32_T", MPI_UINT32_T, 4, Where::write_values};
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(put_together<Where>, 0, &op);
  const ReductionCase reduction{"maps", number, op, MPI_COMM_WORLD};
  compare_reduction(reduction, "allreduce", {300'001, 300'001}, [&](const Calls& calls, void* in, void* out) {
    return calls.Allreduce(in, out, 300'001, number.type, op, MPI_COMM_WORLD);
  });
  MPI_Op_free(&op);
}

}  // namespace
}  // namespace tutti::test
