#pragma once
// Allreduces to try: elements that every rank can compute for every other, the expected results, and the ways to call.

#include <algorithm>
#include <complex>
#include <optional>
#include <type_traits>
#include <utility>

#include "tests/support/mpi_support.hpp"

namespace tutti::test {

template <class... T>
struct Types {};
using AllTypes = Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                       std::uint32_t, std::uint64_t, Float8E4M3, Float8E5M2, Half, BFloat16, float, double,
                       std::complex<float>, std::complex<double>>;

/// Calls visit.operator()<T>() for each type.
template <class... T, class Visit>
void for_each_type(Types<T...> /*list*/, Visit visit) {
  (visit.template operator()<T>(), ...);
}

/// A whole number, complex if `im` is not 0. Large enough for the results of the operands below, which every element
/// type holds exactly, so that results do not depend on the order of operands.
struct Whole {
  std::int64_t re = 0, im = 0;
};

template <class T>
constexpr bool is_fp8 = std::is_same_v<T, Float8E4M3> || std::is_same_v<T, Float8E5M2>;

template <class T>
T element(double re, double im) {
  if constexpr (is_complex(type_of<T>)) {
    using Part = typename T::value_type;
    return {static_cast<Part>(re), static_cast<Part>(im)};
  } else if constexpr (is_integer(type_of<T>)) {
    return static_cast<T>(static_cast<std::int64_t>(re));
  } else {
    return static_cast<T>(static_cast<float>(re));
  }
}
template <>
inline double element<double>(double re, double /*im*/) {
  return re;
}

template <class T>
bool same_value(const T& a, const T& b) {
  if constexpr (is_fp8<T> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return static_cast<float>(a) == static_cast<float>(b);
  else
    return a == b;
}

constexpr bool is_logical(Op::Kind kind) { return kind >= Op::Kind::land && kind <= Op::Kind::lxor; }
constexpr bool is_bitwise(Op::Kind kind) { return kind >= Op::Kind::band && kind <= Op::Kind::bxor; }

/// A rank's operand, small: partial results of eight ranks fit int8.
inline std::int64_t real_operand(Op::Kind kind, bool negative_too, int rank, std::int64_t i) {
  const std::int64_t mix = i + rank;
  if (kind == Op::Kind::prod) {
    if ((i + 3 * rank) % 5 == 0) return 2;
    return negative_too && mix % 3 == 0 ? -1 : 1;
  }
  // Every fourth element is the same on all ranks, else few conjunctions were true. Alone, a rank gives 0 or 1.
  if (is_logical(kind)) return (i * 7 + rank * (i % 4)) % (world_size() == 1 ? 2 : 3);
  if (is_bitwise(kind)) return i % 2 == 0 ? std::int64_t{1} << (mix % 7) : 0x7f ^ (std::int64_t{1} << (mix % 7));
  return (i * 5 + rank * 3) % 9 - (negative_too ? 4 : 0);
}

template <class T>
Whole operand(Op::Kind kind, int rank, std::int64_t i) {
  constexpr Type type = type_of<T>;
  const bool negative_too = !std::is_unsigned_v<T>;
  const bool is_sum = kind == Op::Kind::sum || kind == Op::Kind::avg || kind == Op::Kind::scaled_sum;
  // fp8_e5m2 holds whole numbers up to 8.
  if (is_fp8<T> && is_sum) return {(i * 5 + rank * 3 + i * rank) % 3 - 1, 0};
  if (!is_complex(type)) return {real_operand(kind, negative_too, rank, i), 0};
  if (kind == Op::Kind::prod) {
    constexpr Whole units[] = {{1, 0}, {0, 1}, {-1, 0}, {1, 1}};
    return units[(i + 2 * rank) % 4];
  }
  return {real_operand(kind, true, rank, i), real_operand(kind, true, rank, i + 4)};
}

inline Whole combine(Op::Kind kind, Whole a, Whole b) {
  switch (kind) {
    case Op::Kind::prod:
      return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    case Op::Kind::min:
      return {std::min(a.re, b.re), 0};
    case Op::Kind::max:
      return {std::max(a.re, b.re), 0};
    case Op::Kind::land:
      return {a.re != 0 && b.re != 0 ? 1 : 0, 0};
    case Op::Kind::lor:
      return {a.re != 0 || b.re != 0 ? 1 : 0, 0};
    case Op::Kind::lxor:
      return {(a.re != 0) != (b.re != 0) ? 1 : 0, 0};
    case Op::Kind::band:
      return {a.re & b.re, 0};
    case Op::Kind::bor:
      return {a.re | b.re, 0};
    case Op::Kind::bxor:
      return {a.re ^ b.re, 0};
    default:
      return {a.re + b.re, a.im + b.im};
  }
}

template <class T>
std::vector<T> inputs(const Op& op, int rank, std::int64_t count) {
  std::vector<T> data;
  for (std::int64_t i = 0; i < count; ++i) {
    const Whole whole = operand<T>(op.kind(), rank, i);
    data.push_back(element<T>(static_cast<double>(whole.re), static_cast<double>(whole.im)));
  }
  return data;
}

/// The result, computed here from the operands of all ranks.
template <class T>
std::vector<T> local_reference(const Op& op, std::int64_t count) {
  const int size = world_size();
  std::vector<T> data;
  for (std::int64_t i = 0; i < count; ++i) {
    Whole all = operand<T>(op.kind(), 0, i);
    for (int rank = 1; rank < size; ++rank)
      all = combine(op.kind(), all, operand<T>(op.kind(), rank, i));
    double factor = op.kind() == Op::Kind::scaled_sum ? op.scale() : 1;
    double divisor = op.kind() == Op::Kind::avg ? size : 1;
    data.push_back(
        element<T>(static_cast<double>(all.re) * factor / divisor, static_cast<double>(all.im) * factor / divisor));
  }
  return data;
}

template <class T>
MPI_Datatype mpi_type() {
  // In the order of Type; no MPI has fp8, fp16 and bf16.
  static const MPI_Datatype none = MPI_DATATYPE_NULL;
  static const MPI_Datatype types[] = {MPI_INT8_T,
                                       MPI_INT16_T,
                                       MPI_INT32_T,
                                       MPI_INT64_T,
                                       MPI_UINT8_T,
                                       MPI_UINT16_T,
                                       MPI_UINT32_T,
                                       MPI_UINT64_T,
                                       none,
                                       none,
                                       none,
                                       none,
                                       MPI_FLOAT,
                                       MPI_DOUBLE,
                                       MPI_C_FLOAT_COMPLEX,
                                       MPI_C_DOUBLE_COMPLEX,
                                       MPI_C_BOOL};
  static_assert(std::size(types) == type_count);
  return types[static_cast<std::size_t>(type_of<T>)];
}

inline MPI_Op mpi_op(Op::Kind kind) {
  static const MPI_Op ops[] = {MPI_SUM,  MPI_PROD, MPI_MIN, MPI_MAX,  MPI_OP_NULL, MPI_LAND,   MPI_LOR,
                               MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_OP_NULL, MPI_OP_NULL};
  return ops[static_cast<std::size_t>(kind)];
}

/// The MPI's result for the same operands; nothing if it lacks the type or the operation.
template <class T>
std::optional<std::vector<T>> mpi_reference(const Op& op, std::vector<T> data) {
  if (mpi_type<T>() == MPI_DATATYPE_NULL || mpi_op(op.kind()) == MPI_OP_NULL) return std::nullopt;
  MPI_Allreduce(MPI_IN_PLACE, data.data(), static_cast<int>(data.size()), mpi_type<T>(), mpi_op(op.kind()),
                MPI_COMM_WORLD);
  return data;
}

enum class Way : std::uint8_t { blocking, async, plan };
enum class BufferUse : std::uint8_t { separate, in_place, mpi_in_place };
inline constexpr int ways = 3, buffer_uses = 3;

struct Call {
  std::string_view algorithm;
  Way way = Way::blocking;
  BufferUse buffers = BufferUse::separate;
};

inline void run(const Call& call, const void* in, void* out, Count count, Type type, const Op& op,
                const Communicator& comm) {
  const Options options{.algorithm = call.algorithm};
  if (call.way == Way::blocking) return allreduce(in, out, count, type, op, comm, options);
  if (call.way == Way::async) return allreduce_async(in, out, count, type, op, comm, options).wait();
  Plan plan = plan_allreduce(in, out, count, type, op, comm, options);
  EXPECT_EQ(plan.algorithm(), call.algorithm.empty() ? plan.algorithm() : call.algorithm);
  plan.start();
  plan.wait();
}

/// Allreduces `input` and returns the result. A separate input, and the memory after the output, must not change.
template <class T>
std::vector<T> result_of(const Call& call, const std::vector<T>& input, const Op& op, const Communicator& comm) {
  const std::vector<T> guard(4, element<T>(85, 0));
  std::vector<T> in = input, out(input.size());
  if (call.buffers != BufferUse::separate) out = input;
  out.insert(out.end(), guard.begin(), guard.end());
  const void* from = in.data();
  if (call.buffers == BufferUse::in_place) from = out.data();
  if (call.buffers == BufferUse::mpi_in_place) from = MPI_IN_PLACE;
  run(call, from, out.data(), Count{input.size()}, type_of<T>, op, comm);
  const std::size_t bytes = input.size() * sizeof(T);
  EXPECT_TRUE(bytes == 0 || std::memcmp(in.data(), input.data(), bytes) == 0) << "the input was written";
  EXPECT_EQ(std::memcmp(out.data() + input.size(), guard.data(), guard.size() * sizeof(T)), 0)
      << "written past the end";
  out.resize(input.size());
  return out;
}

/// One allreduce of `count` elements, compared with the MPI's if it has one, else with the result computed here.
template <class T>
void expect_right(const Call& call, std::int64_t count, const Op& op, const Communicator& comm) {
  const std::vector<T> input = inputs<T>(op, world_rank(), count);
  const std::vector<T> result = result_of(call, input, op, comm);
  const auto theirs = mpi_reference(op, input);
  const std::vector<T> expected = theirs ? *theirs : local_reference<T>(op, count);
  for (std::size_t i = 0; i < input.size(); ++i)
    if (!same_value(result[i], expected[i])) {
      ADD_FAILURE() << to_string(op.kind()) << " of " << count << " " << to_string(type_of<T>) << ", algorithm '"
                    << call.algorithm << "', way " << static_cast<int>(call.way) << ", buffers "
                    << static_cast<int>(call.buffers) << ": element " << i << " is wrong";
      return;
    }
}

}  // namespace tutti::test
