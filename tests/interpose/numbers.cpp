#include "tests/interpose/numbers.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tutti::test {
namespace {

/// Bytes of a value; the others of a long double are nobody's.
template <class Number>
constexpr std::size_t bytes_of = std::is_same_v<Number, long double> && sizeof(long double) == 16 ? 10 : sizeof(Number);

template <class Number>
void write_number(void* to, int value, int /*second*/) {
  const auto number = static_cast<Number>(value);
  std::memcpy(to, &number, bytes_of<Number>);
}

template <class Number>
void write_complex(void* to, int value, int second) {
  write_number<Number>(to, value, 0);
  write_number<Number>(static_cast<Number*>(to) + 1, second, 0);
}

template <class Number, class Index = int>
void write_pair(void* to, int value, int second) {
  struct Pair {
    Number number;
    Index index;
  };
  write_number<Number>(to, value, 0);
  write_number<Index>(static_cast<std::byte*>(to) + offsetof(Pair, index), second, 0);
}

void write_truth(void* to, int value, int /*second*/) { write_number<std::uint8_t>(to, value % 2, 0); }
/// As .true. and .false. look in most compilers.
void write_logical(void* to, int value, int /*second*/) { write_number<std::int32_t>(to, value % 2, 0); }

void add_integers(std::vector<NumberType>& all) {
#define TUTTI_TEST_NUMBER(name, Number) \
  all.push_back({#name, name, 0, write_number<Number>, std::is_floating_point_v<Number>});
  TUTTI_TEST_NUMBER(MPI_SIGNED_CHAR, signed char)
  TUTTI_TEST_NUMBER(MPI_UNSIGNED_CHAR, unsigned char)
  TUTTI_TEST_NUMBER(MPI_CHAR, char)
  TUTTI_TEST_NUMBER(MPI_BYTE, std::uint8_t)
  TUTTI_TEST_NUMBER(MPI_SHORT, short)
  TUTTI_TEST_NUMBER(MPI_UNSIGNED_SHORT, unsigned short)
  TUTTI_TEST_NUMBER(MPI_INT, int)
  TUTTI_TEST_NUMBER(MPI_UNSIGNED, unsigned)
  TUTTI_TEST_NUMBER(MPI_LONG, long)
  TUTTI_TEST_NUMBER(MPI_UNSIGNED_LONG, unsigned long)
  TUTTI_TEST_NUMBER(MPI_LONG_LONG, long long)
  TUTTI_TEST_NUMBER(MPI_UNSIGNED_LONG_LONG, unsigned long long)
  TUTTI_TEST_NUMBER(MPI_WCHAR, wchar_t)
  TUTTI_TEST_NUMBER(MPI_INT8_T, std::int8_t)
  TUTTI_TEST_NUMBER(MPI_INT16_T, std::int16_t)
  TUTTI_TEST_NUMBER(MPI_INT32_T, std::int32_t)
  TUTTI_TEST_NUMBER(MPI_INT64_T, std::int64_t)
  TUTTI_TEST_NUMBER(MPI_UINT8_T, std::uint8_t)
  TUTTI_TEST_NUMBER(MPI_UINT16_T, std::uint16_t)
  TUTTI_TEST_NUMBER(MPI_UINT32_T, std::uint32_t)
  TUTTI_TEST_NUMBER(MPI_UINT64_T, std::uint64_t)
  TUTTI_TEST_NUMBER(MPI_AINT, MPI_Aint)
  TUTTI_TEST_NUMBER(MPI_OFFSET, MPI_Offset)
  TUTTI_TEST_NUMBER(MPI_COUNT, MPI_Count)
  TUTTI_TEST_NUMBER(MPI_INTEGER, std::int32_t)
  TUTTI_TEST_NUMBER(MPI_INTEGER1, std::int8_t)
  TUTTI_TEST_NUMBER(MPI_INTEGER2, std::int16_t)
  TUTTI_TEST_NUMBER(MPI_INTEGER4, std::int32_t)
  TUTTI_TEST_NUMBER(MPI_INTEGER8, std::int64_t)
  TUTTI_TEST_NUMBER(MPI_CHARACTER, char)
}

void add_others(std::vector<NumberType>& all) {
  TUTTI_TEST_NUMBER(MPI_FLOAT, float)
  TUTTI_TEST_NUMBER(MPI_DOUBLE, double)
  TUTTI_TEST_NUMBER(MPI_LONG_DOUBLE, long double)
  TUTTI_TEST_NUMBER(MPI_REAL, float)
  TUTTI_TEST_NUMBER(MPI_REAL4, float)
  TUTTI_TEST_NUMBER(MPI_REAL8, double)
  TUTTI_TEST_NUMBER(MPI_DOUBLE_PRECISION, double)
#undef TUTTI_TEST_NUMBER
#define TUTTI_TEST_NUMBER(name, ...) all.push_back({#name, name, 0, __VA_ARGS__});
  TUTTI_TEST_NUMBER(MPI_C_BOOL, write_truth)
  TUTTI_TEST_NUMBER(MPI_CXX_BOOL, write_truth)
  TUTTI_TEST_NUMBER(MPI_LOGICAL, write_logical)
  TUTTI_TEST_NUMBER(MPI_C_FLOAT_COMPLEX, write_complex<float>)
  TUTTI_TEST_NUMBER(MPI_C_DOUBLE_COMPLEX, write_complex<double>)
  TUTTI_TEST_NUMBER(MPI_C_LONG_DOUBLE_COMPLEX, write_complex<long double>)
  TUTTI_TEST_NUMBER(MPI_CXX_FLOAT_COMPLEX, write_complex<float>)
  TUTTI_TEST_NUMBER(MPI_CXX_DOUBLE_COMPLEX, write_complex<double>)
  TUTTI_TEST_NUMBER(MPI_CXX_LONG_DOUBLE_COMPLEX, write_complex<long double>)
  TUTTI_TEST_NUMBER(MPI_COMPLEX, write_complex<float>)
  TUTTI_TEST_NUMBER(MPI_COMPLEX8, write_complex<float>)
  TUTTI_TEST_NUMBER(MPI_COMPLEX16, write_complex<double>)
  TUTTI_TEST_NUMBER(MPI_DOUBLE_COMPLEX, write_complex<double>)
  TUTTI_TEST_NUMBER(MPI_2INT, write_pair<int>)
  TUTTI_TEST_NUMBER(MPI_SHORT_INT, write_pair<short>)
  TUTTI_TEST_NUMBER(MPI_LONG_INT, write_pair<long>)
  TUTTI_TEST_NUMBER(MPI_FLOAT_INT, write_pair<float>)
  TUTTI_TEST_NUMBER(MPI_DOUBLE_INT, write_pair<double>)
  TUTTI_TEST_NUMBER(MPI_LONG_DOUBLE_INT, write_pair<long double>)
  TUTTI_TEST_NUMBER(MPI_2REAL, write_pair<float, float>)
  TUTTI_TEST_NUMBER(MPI_2DOUBLE_PRECISION, write_pair<double, double>)
  TUTTI_TEST_NUMBER(MPI_2INTEGER, write_pair<std::int32_t, std::int32_t>)
#undef TUTTI_TEST_NUMBER
}

}  // namespace

std::vector<NumberType> number_types() {
  std::vector<NumberType> all;
  add_integers(all);
  add_others(all);
  std::erase_if(all, [](const NumberType& number) { return number.type == MPI_DATATYPE_NULL; });
  for (NumberType& number : all) {
    MPI_Aint lower = 0, extent = 0;
    MPI_Type_get_extent(number.type, &lower, &extent);
    number.extent = static_cast<std::size_t>(extent);
  }
  return all;
}

Values::Values(const NumberType& type, std::size_t count, int seed) : type_(&type), bytes_(count * type.extent) {
  for (std::size_t i = 0; i < count; ++i) {
    const int at = static_cast<int>(i);
    type.write(bytes_.data() + i * type.extent, 1 + (seed + at) % 3, (seed + 7 * at) % 5);
  }
}

bool Values::equal(const Values& other, std::size_t count) const {
  std::vector<std::byte> zeros(type_->extent, std::byte{0}), ones(type_->extent, std::byte{0xff});
  type_->write(zeros.data(), 1, 1);
  type_->write(ones.data(), 1, 1);
  for (std::size_t i = 0; i < count * type_->extent; ++i) {
    const std::size_t at = i % type_->extent;
    if (zeros[at] == ones[at] && bytes_[i] != other.bytes_[i]) return false;
  }
  return true;
}

}  // namespace tutti::test
