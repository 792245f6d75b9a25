// Every operation of MPI's on every type of MPI's: which are allowed, and what comes out.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "tests/interpose/verdicts/collectives.hpp"

namespace tutti::test {
namespace {

// NOLINTBEGIN(bugprone-macro-parentheses): names
// clang-format off
#define TUTTI_VERDICT_TYPES(X)                                                                                         \
  X(MPI_CHAR) X(MPI_SIGNED_CHAR) X(MPI_UNSIGNED_CHAR) X(MPI_WCHAR) X(MPI_SHORT) X(MPI_UNSIGNED_SHORT) X(MPI_INT)       \
  X(MPI_UNSIGNED) X(MPI_LONG) X(MPI_UNSIGNED_LONG) X(MPI_LONG_LONG) X(MPI_UNSIGNED_LONG_LONG) X(MPI_INT8_T)            \
  X(MPI_INT16_T) X(MPI_INT32_T) X(MPI_INT64_T) X(MPI_UINT8_T) X(MPI_UINT16_T) X(MPI_UINT32_T) X(MPI_UINT64_T)          \
  X(MPI_FLOAT) X(MPI_DOUBLE) X(MPI_LONG_DOUBLE) X(MPI_C_FLOAT_COMPLEX) X(MPI_C_DOUBLE_COMPLEX)                         \
  X(MPI_C_LONG_DOUBLE_COMPLEX) X(MPI_CXX_FLOAT_COMPLEX) X(MPI_CXX_DOUBLE_COMPLEX) X(MPI_CXX_LONG_DOUBLE_COMPLEX)       \
  X(MPI_C_BOOL) X(MPI_CXX_BOOL) X(MPI_BYTE) X(MPI_PACKED) X(MPI_AINT) X(MPI_OFFSET) X(MPI_COUNT) X(MPI_INTEGER)        \
  X(MPI_INTEGER1) X(MPI_INTEGER2) X(MPI_INTEGER4) X(MPI_INTEGER8) X(MPI_REAL) X(MPI_REAL4) X(MPI_REAL8)                \
  X(MPI_DOUBLE_PRECISION) X(MPI_COMPLEX) X(MPI_COMPLEX8) X(MPI_COMPLEX16) X(MPI_DOUBLE_COMPLEX) X(MPI_LOGICAL)         \
  X(MPI_CHARACTER) X(MPI_FLOAT_INT) X(MPI_DOUBLE_INT) X(MPI_LONG_INT) X(MPI_2INT) X(MPI_SHORT_INT)                     \
  X(MPI_LONG_DOUBLE_INT) X(MPI_2REAL) X(MPI_2DOUBLE_PRECISION) X(MPI_2INTEGER)
#define TUTTI_VERDICT_OPERATIONS(X)                                                                                    \
  X(MPI_SUM) X(MPI_PROD) X(MPI_MIN) X(MPI_MAX) X(MPI_LAND) X(MPI_LOR) X(MPI_LXOR) X(MPI_BAND) X(MPI_BOR) X(MPI_BXOR)   \
  X(MPI_MINLOC) X(MPI_MAXLOC) X(MPI_REPLACE) X(MPI_NO_OP)
// clang-format on

struct Named {
  const char* name;
  MPI_Datatype type;
};
struct NamedOperation {
  const char* name;
  MPI_Op op;
};

std::vector<Named> types() {
#define TUTTI_VERDICT_ONE(name) {#name, name},
  return {TUTTI_VERDICT_TYPES(TUTTI_VERDICT_ONE)};
}
std::vector<NamedOperation> operations() { return {TUTTI_VERDICT_OPERATIONS(TUTTI_VERDICT_ONE)}; }
#undef TUTTI_VERDICT_ONE
// NOLINTEND(bugprone-macro-parentheses)

constexpr int elements = 5;

/// The bytes of a value that count: 10 of a long double.
template <class T>
constexpr std::size_t used_bytes = std::is_same_v<T, long double> ? 10 : sizeof(T);

/// Small whole numbers, of which all sums and products are exact.
template <class T>
void write_numbers(void* data, int rank, int count) {
  for (int i = 0; i < count; ++i) {
    const T value = static_cast<T>(1 + (rank + i) % 3);
    std::memcpy(static_cast<std::byte*>(data) + static_cast<std::size_t>(i) * sizeof(T), &value, used_bytes<T>);
  }
}

/// A pair's value and place, as that many bytes apart; rank's own place.
template <class Value, class Place>
void write_pairs(void* data, int rank, std::size_t place_at, std::size_t extent) {
  for (int i = 0; i < elements; ++i) {
    auto* const at = static_cast<std::byte*>(data) + static_cast<std::size_t>(i) * extent;
    const Value value = static_cast<Value>((rank * 2 + i) % 3);  // the same on some ranks
    const Place place = static_cast<Place>(rank + 10);
    std::memcpy(at, &value, used_bytes<Value>);
    std::memcpy(at + place_at, &place, sizeof place);
  }
}

bool is_one_of(MPI_Datatype type, std::initializer_list<MPI_Datatype> all) {
  return std::ranges::find(all, type) != all.end();
}

/// What the type's elements hold on this rank.
void write(void* data, MPI_Datatype type, int rank) {
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_get_extent(type, &lower, &extent);
  const auto bytes = static_cast<std::size_t>(extent);
  if (is_one_of(type, {MPI_FLOAT, MPI_REAL, MPI_REAL4})) return write_numbers<float>(data, rank, elements);
  if (is_one_of(type, {MPI_DOUBLE, MPI_REAL8, MPI_DOUBLE_PRECISION}))
    return write_numbers<double>(data, rank, elements);
  if (is_one_of(type, {MPI_C_FLOAT_COMPLEX, MPI_CXX_FLOAT_COMPLEX, MPI_COMPLEX, MPI_COMPLEX8}))
    return write_numbers<float>(data, rank, 2 * elements);
  if (is_one_of(type, {MPI_C_DOUBLE_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_COMPLEX16, MPI_DOUBLE_COMPLEX}))
    return write_numbers<double>(data, rank, 2 * elements);
  if (type == MPI_LONG_DOUBLE) return write_numbers<long double>(data, rank, elements);
  if (is_one_of(type, {MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX}))
    return write_numbers<long double>(data, rank, 2 * elements);
  if (type == MPI_FLOAT_INT) return write_pairs<float, int>(data, rank, 4, bytes);
  if (type == MPI_DOUBLE_INT) return write_pairs<double, int>(data, rank, 8, bytes);
  if (type == MPI_LONG_INT) return write_pairs<long, int>(data, rank, 8, bytes);
  if (type == MPI_SHORT_INT) return write_pairs<short, int>(data, rank, 4, bytes);
  if (type == MPI_LONG_DOUBLE_INT) return write_pairs<long double, int>(data, rank, 16, bytes);
  if (is_one_of(type, {MPI_2INT, MPI_2INTEGER})) return write_pairs<int, int>(data, rank, 4, bytes);
  if (type == MPI_2REAL) return write_pairs<float, float>(data, rank, 4, bytes);
  if (type == MPI_2DOUBLE_PRECISION) return write_pairs<double, double>(data, rank, 8, bytes);
  if (is_one_of(type, {MPI_C_BOOL, MPI_CXX_BOOL})) {
    for (int i = 0; i < elements; ++i)
      static_cast<std::byte*>(data)[i] = static_cast<std::byte>((rank + i) % 2);
    return;
  }
  if (type == MPI_LOGICAL) {
    for (int i = 0; i < elements; ++i)
      static_cast<int*>(data)[i] = (rank + i) % 2;
    return;
  }
  if (extent == 1) return write_numbers<std::int8_t>(data, rank, elements);
  if (extent == 2) return write_numbers<std::int16_t>(data, rank, elements);
  if (extent == 4) return write_numbers<std::int32_t>(data, rank, elements);
  write_numbers<std::int64_t>(data, rank, elements);
}

void clear(Room& room) { std::fill_n(room.at(), 2048, std::byte{}); }

/// Bytes of the result that hold no part of a number may be anything: they are cleared.
void clear_gaps(Room& room, MPI_Datatype type) {
  std::size_t extent = 0, from = 0, to = 0;
  if (is_one_of(type, {MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX})) {
    extent = 16, from = 10, to = 16;
  } else if (is_one_of(type, {MPI_DOUBLE_INT, MPI_LONG_INT})) {
    extent = 16, from = 12, to = 16;
  } else if (type == MPI_SHORT_INT) {
    extent = 8, from = 2, to = 4;
  } else if (type == MPI_LONG_DOUBLE_INT) {
    extent = 32, from = 10, to = 16;
  }
  for (std::size_t at = 0; extent > 0 && at < 2048; at += extent) {
    std::fill_n(room.at(static_cast<std::ptrdiff_t>(at + from)), to - from, std::byte{});
    if (extent == 32) std::fill_n(room.at(static_cast<std::ptrdiff_t>(at + 20)), 12, std::byte{});
  }
}

void reduce(Check& check, Collective which, MPI_Op op, MPI_Datatype type) {
  for (const bool is_waited : {false, true}) {
    const auto a = std::make_unique<Arguments>(check.comm);
    clear(a->sent);
    clear(a->received);
    a->in_type = type;
    a->op = op;
    a->in_count = elements;
    if (which == Collective::Reduce_scatter || which == Collective::Reduce_scatter_block) {
      a->in_count = 1;
      for (int& count : a->out_counts)
        count = 1;
    }
    write(a->sent.at(), type, check.rank);
    const int code = is_waited ? waited(which, *a) : blocking(which, *a);
    const std::string name = (is_waited ? "I" : "") + std::string{name_of(which)};
    clear_gaps(a->received, type);
    if (code == MPI_SUCCESS)
      check.result(name, code, a->received);
    else
      check.code(name, code);
  }
}

}  // namespace

void add_operations(Checks& checks) {
  for (const NamedOperation& operation : operations())
    for (const Named& type : types()) {
      if (type.type == MPI_DATATYPE_NULL) continue;
      checks.add(std::string{operation.name} + "." + type.name, [operation, type](Check& check) {
        for_all_collectives([&](Collective which) {
          if (is_reduction(which)) reduce(check, which, operation.op, type.type);
        });
      });
    }
}

}  // namespace tutti::test
