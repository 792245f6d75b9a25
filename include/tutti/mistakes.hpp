#pragma once
// What programs write by mistake where they call Tutti: the compiler says it in a sentence, in place of a list of the
// overloads that do not fit. Included by the headers of the calls.

#include <concepts>
#include <cstddef>
#include <cstdlib>
#include <ranges>
#include <type_traits>

#include "tutti/call.hpp"

namespace tutti::detail {

enum class Mistake { none, bits, byte, long_double, object, other_type, rank, count, mpi_op, mpi_comm };

template <class T>
constexpr Mistake mistake_of_type() {
  if (Element<T>) return Mistake::none;
  if (std::same_as<T, std::byte>) return Mistake::byte;
  if (std::same_as<T, long double>) return Mistake::long_double;
  if (std::is_class_v<T>) return std::is_trivially_copyable_v<T> ? Mistake::object : Mistake::none;
  return std::is_scalar_v<T> ? Mistake::other_type : Mistake::none;
}

/// The mistake in what is given as the first buffer. A pointer may point to anything.
template <class B>
constexpr Mistake mistake_of_buffer() {
  using V = std::remove_cvref_t<B>;
  if constexpr (std::is_pointer_v<V> || std::is_null_pointer_v<V> || DeviceElements<V>) {
    return Mistake::none;
  } else if constexpr (std::ranges::range<V>) {
    using T = std::ranges::range_value_t<V>;
    if (!std::ranges::contiguous_range<V>) return std::same_as<T, bool> ? Mistake::bits : Mistake::none;
    return mistake_of_type<T>();
  } else {
    return mistake_of_type<V>();
  }
}

/// The arguments that a function has last, in this order; and whether a rank comes second.
struct Form {
  bool op = false, rank = false, comm = true, rank_second = false;
};
inline constexpr Form form_of_batches{.rank = true, .comm = false};

/// The first mistake in the arguments of a call. With one, no function of the library takes them.
template <Form form, class First, class... Rest>
constexpr Mistake mistake_in() {
  constexpr std::size_t count = 1 + sizeof...(Rest);
  constexpr bool is_number[] = {std::integral<std::remove_cvref_t<First>>, std::integral<std::remove_cvref_t<Rest>>...};
  constexpr bool is_pointer[] = {std::is_pointer_v<std::decay_t<First>>, std::is_pointer_v<std::decay_t<Rest>>...};
  constexpr bool is_comm[] = {std::same_as<std::remove_cvref_t<First>, MPI_Comm>,
                              std::same_as<std::remove_cvref_t<Rest>, MPI_Comm>...};
  constexpr bool is_op[] = {std::same_as<std::remove_cvref_t<First>, MPI_Op>,
                            std::same_as<std::remove_cvref_t<Rest>, MPI_Op>...};
  constexpr bool is_options[] = {std::same_as<std::remove_cvref_t<First>, Options>,
                                 std::same_as<std::remove_cvref_t<Rest>, Options>...};
  std::size_t rest = count - (is_options[count - 1] ? 1 : 0);  // arguments that were not looked at
  if (form.comm && rest > 0 && is_comm[--rest]) return Mistake::mpi_comm;
  if (form.rank && rest > 1 && is_number[--rest]) return Mistake::rank;
  if (form.op && rest > 1 && is_op[--rest]) return Mistake::mpi_op;
  if (form.rank_second && rest > 1 && !is_pointer[0] && is_number[1]) return Mistake::rank;
  if (rest > 1 && is_pointer[0] && is_number[1]) return Mistake::count;
  if (rest > 2 && is_pointer[0] && is_pointer[1] && is_number[2]) return Mistake::count;
  return rest > 0 ? mistake_of_buffer<First>() : Mistake::none;
}
template <Form form, class... Arguments>
concept Mistaken = sizeof...(Arguments) > 0 && mistake_in<form, Arguments...>() != Mistake::none;

/// Does not compile.
template <Mistake its>
[[noreturn]] void explain() {
  using enum Mistake;
  static_assert(its != bits, "tutti: a std::vector<bool> has bits, no elements in memory: use an array of bool");
  static_assert(its != byte, "tutti: std::byte is no element type: use std::uint8_t");
  static_assert(its != long_double, "tutti: long double is no element type: use double");
  static_assert(its != object,
                "tutti: a struct is no element type: to move its bytes, pass a pointer, Count{bytes} and Type::uint8");
  static_assert(its != other_type,
                "tutti: this is no element type: tutti::Element in tutti/datatype.hpp says which are");
  static_assert(its != rank, "tutti: a rank is written tutti::Rank{0}, not 0");
  static_assert(its != count, "tutti: a count is written tutti::Count{4}, not 4");
  static_assert(its != mpi_op, "tutti: an operation is a tutti::Op, as tutti::Op::sum, not an MPI_Op, as MPI_SUM");
  static_assert(
      its != mpi_comm,
      "tutti: a call takes a tutti::Communicator, not an MPI_Comm: make one, tutti::Communicator comm{mpi_comm}");
  std::abort();
}

}  // namespace tutti::detail

namespace tutti {

#define TUTTI_EXPLAIN_ONE(result, name, ...)                                                                     \
  template <class... Arguments>                                                                                  \
  requires detail::Mistaken<detail::Form{__VA_ARGS__}, Arguments...> result name(Arguments&&... /*arguments*/) { \
    detail::explain<detail::mistake_in<detail::Form{__VA_ARGS__}, Arguments...>()>();                            \
  }
#define TUTTI_EXPLAIN(name, ...)                        \
  TUTTI_EXPLAIN_ONE(void, name, __VA_ARGS__)            \
  TUTTI_EXPLAIN_ONE(Request, name##_async, __VA_ARGS__) \
  TUTTI_EXPLAIN_ONE(Plan, plan_##name, __VA_ARGS__)

TUTTI_EXPLAIN(barrier, .comm = true)
TUTTI_EXPLAIN(allgather, .comm = true)
TUTTI_EXPLAIN(allgatherv, .comm = true)
TUTTI_EXPLAIN(alltoall, .comm = true)
TUTTI_EXPLAIN(alltoallv, .comm = true)
TUTTI_EXPLAIN(broadcast, .rank = true)
TUTTI_EXPLAIN(gather, .rank = true)
TUTTI_EXPLAIN(gatherv, .rank = true)
TUTTI_EXPLAIN(scatter, .rank = true)
TUTTI_EXPLAIN(scatterv, .rank = true)
TUTTI_EXPLAIN(allreduce, .op = true)
TUTTI_EXPLAIN(reduce_scatter, .op = true)
TUTTI_EXPLAIN(scan, .op = true)
TUTTI_EXPLAIN(exscan, .op = true)
TUTTI_EXPLAIN(reduce, .op = true, .rank = true)
TUTTI_EXPLAIN(send, .rank = true)
TUTTI_EXPLAIN(recv, .rank = true)
TUTTI_EXPLAIN(sendrecv, .rank = true, .rank_second = true)

#undef TUTTI_EXPLAIN
#undef TUTTI_EXPLAIN_ONE

}  // namespace tutti
