#pragma once
// Operations that combine elements.

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tutti/datatype.hpp"
#include "tutti/export.hpp"

namespace tutti {

/// A user's operation: into[i] = lhs[i] (+) rhs[i] for i < count, where `lhs` comes from lower ranks than `rhs`. `into`
/// may be `lhs` or `rhs`. The operation must be associative, and the same on all ranks.
///
/// It must neither throw nor call Tutti, except for functions that only ask a communicator, as Communicator::rank()
/// does. If it does either, the operation that runs it fails, as after a failed message: wait, test or the blocking
/// call throws Error on this rank, and the communicator is unusable from then on (every later call on it throws Error;
/// other communicators work on). Other ranks may wait for this one's part.
/// - If it throws a std::exception, the Error has that text.
/// - If it starts a collective, a message or a plan, waits, tests, or makes a communicator, that inner call does
///   nothing but throw StateError into the function, and the operation fails even if the function catches it. If it
///   destroys a request or a communicator, that object stays as it is, with a warning on stderr.
/// An exception must be able to leave the function: if the function is noexcept, or its language knows no exceptions,
/// the program ends with std::terminate.
using UserFunction = void (*)(const void* lhs, const void* rhs, void* into, Count count, void* context);

enum class Commutative : bool { no, yes };

/// How a sum in a wider type becomes a number of the elements' type: the nearest one, ties to even; or one of its two
/// neighbours, the nearer one more often, so that the error is 0 on average (docs/reproducibility.md).
enum class Rounding : std::uint8_t { nearest, stochastic };
inline constexpr std::array<std::string_view, 2> rounding_names{"nearest", "stochastic"};  ///< By Rounding.

class Op;
namespace detail {
/// The operation whose operands are added in a wider type: what Options::accumulate asks for.
[[nodiscard]] constexpr Op accumulating(Op op, Type wide, Rounding rounding);
}  // namespace detail

/// A kernel of CUDA that does the same for elements on a device:
///
///     extern "C" __global__ void combine(const T* lhs, const T* rhs, T* into, unsigned long long count)
///
/// launched with any number of blocks of 256 threads in one dimension, so that a thread goes on at the element that is
/// as many further as there are threads. `into` may be `lhs` or `rhs`. `handle` is a CUkernel (cuLibraryGetKernel), or
/// a CUfunction (cuModuleGetFunction) if all buffers belong to its context; a function of the runtime API has one, too
/// (cudaGetKernel, cudaGetFuncBySymbol). Its bits must be those of the host's function: some ranks may use one, and
/// some the other.
struct DeviceKernel {
  void* handle = nullptr;
};

/// The computation of a collective on the elements of all ranks. A small value; compare with ==.
///
/// Rounding: one per combination; fp8, fp16 and bf16 are combined in float and rounded once per combination, so a sum
/// over p ranks is off by at most (p-1) half units in the last place of the partial sums. Integers wrap around.
/// The division of avg and the factor of scaled_sum add one more rounding; both are done in float for types of up to 32
/// bits. Overflow gives infinity, but in fp8 the largest value (Float8E4M3); avg divides the sum, so that saturates
/// too. min and max of floating-point numbers: if either operand is NaN, the result is NaN; -0 is less than +0. Complex
/// products are (ac - bd, ad + bc), without C's recovery of infinities. Which NaN results (its sign and payload) is
/// specified for exact sums alone. Logical results are 0 or 1; one rank alone combines nothing, its
/// input is the result. Logical and bitwise operations are for integers and bool; min and
/// max not for complex; avg and scaled_sum not for bool.
class Op {
 public:
  enum class Kind : std::uint8_t {
    sum,
    prod,
    min,
    max,
    avg,
    land,
    lor,
    lxor,
    band,
    bor,
    bxor,
    exact_sum,
    scaled_sum,
    user
  };

  static const Op sum, prod, min, max;
  static const Op avg;  ///< The sum, divided by the number of ranks once at the end (integers: towards zero).
  static const Op land, lor, lxor, band, bor, bxor;
  /// The sum, multiplied once at the end by `scale`, which is the same on all ranks. Floating-point and complex only.
  TUTTI_API static Op scaled_sum(double scale);
  /// The exact sum, rounded once to the nearest number of the type, ties to even: the same bits whatever the order, the
  /// number of ranks and the size. fp16, bf16, fp32, fp64 and complex numbers of these. Infinities, NaN and zeros count
  /// as in one addition: infinities of both signs make NaN (the same one everywhere), and only a sum of nothing but -0
  /// is -0. A sum that is too large on its way is none the less exact. It needs an algorithm that brings all operands
  /// of an element together (Algorithm::gathers); its costs are in docs/reproducibility.md.
  static const Op exact_sum;
  /// `context` is handed to every call of `function`. All must live as long as any plan that uses them. Without a
  /// kernel, data of devices are combined on the host.
  TUTTI_API static Op user(UserFunction function, Commutative commutative, void* context = nullptr,
                           DeviceKernel kernel = {});

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool commutative() const { return commutative_ == Commutative::yes; }
  [[nodiscard]] double scale() const { return scale_; }
  [[nodiscard]] UserFunction function() const { return function_; }
  [[nodiscard]] void* context() const { return context_; }
  [[nodiscard]] DeviceKernel kernel() const { return {kernel_}; }
  /// The type that operands are added in, if it is another one than theirs, and how the sum is rounded.
  [[nodiscard]] constexpr std::optional<Type> accumulate() const { return accumulate_; }
  [[nodiscard]] constexpr Rounding rounding() const { return rounding_; }
  /// Equal to the bit: a scale of -0.0 differs from one of 0.0.
  friend bool operator==(const Op& a, const Op& b) {
    return a.kind_ == b.kind_ && a.commutative_ == b.commutative_ && a.function_ == b.function_ &&
           a.context_ == b.context_ && a.kernel_ == b.kernel_ && a.accumulate_ == b.accumulate_ &&
           a.rounding_ == b.rounding_ &&
           std::bit_cast<std::uint64_t>(a.scale_) == std::bit_cast<std::uint64_t>(b.scale_);
  }

 private:
  friend constexpr Op detail::accumulating(Op op, Type wide, Rounding rounding);
  constexpr explicit Op(Kind kind) : kind_(kind) {}
  Kind kind_;
  Commutative commutative_ = Commutative::yes;
  double scale_ = 1.0;
  UserFunction function_ = nullptr;
  void* context_ = nullptr;
  void* kernel_ = nullptr;
  std::optional<Type> accumulate_ = {};
  Rounding rounding_ = Rounding::nearest;
};

inline constexpr Op Op::sum{Op::Kind::sum};
inline constexpr Op Op::prod{Op::Kind::prod};
inline constexpr Op Op::min{Op::Kind::min};
inline constexpr Op Op::max{Op::Kind::max};
inline constexpr Op Op::avg{Op::Kind::avg};
inline constexpr Op Op::land{Op::Kind::land};
inline constexpr Op Op::lor{Op::Kind::lor};
inline constexpr Op Op::lxor{Op::Kind::lxor};
inline constexpr Op Op::band{Op::Kind::band};
inline constexpr Op Op::bor{Op::Kind::bor};
inline constexpr Op Op::bxor{Op::Kind::bxor};
inline constexpr Op Op::exact_sum{Op::Kind::exact_sum};

namespace detail {

constexpr Op accumulating(Op op, Type wide, Rounding rounding) {
  op.accumulate_ = wide;
  op.rounding_ = rounding;
  return op;
}

/// The logical operation of bytes that combines elements of bool; nothing where the operation is not for them.
[[nodiscard]] constexpr std::optional<Op::Kind> of_booleans(Op::Kind kind) {
  switch (kind) {
    case Op::Kind::sum:
    case Op::Kind::max:
    case Op::Kind::lor:
    case Op::Kind::bor:
      return Op::Kind::lor;
    case Op::Kind::prod:
    case Op::Kind::min:
    case Op::Kind::land:
    case Op::Kind::band:
      return Op::Kind::land;
    case Op::Kind::lxor:
    case Op::Kind::bxor:
      return Op::Kind::lxor;
    default:
      return std::nullopt;
  }
}

}  // namespace detail

// Each function throws ArgumentError if an argument is not one of the values of its enum.

/// "sum", "band", "user", ...
[[nodiscard]] TUTTI_API std::string_view to_string(Op::Kind kind);
/// Whether the operation is defined for the type (a user's function: for every type).
[[nodiscard]] TUTTI_API bool supports(Op::Kind kind, Type type);
/// "int8, int16, ...": the types that an operation is defined for.
[[nodiscard]] TUTTI_API std::string supported_types(Op::Kind kind);
/// Whether elements of a type can be added in that wider one (Options::accumulate): fp8, fp16 and bf16 in fp32 and
/// fp64, fp32 in fp64.
[[nodiscard]] TUTTI_API bool accumulates(Type type, Type wide);
/// "nearest" or "stochastic".
[[nodiscard]] TUTTI_API std::string_view to_string(Rounding rounding);

}  // namespace tutti
