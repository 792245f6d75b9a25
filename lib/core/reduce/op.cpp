#include "tutti/op.hpp"

#include <array>

#include "lib/core/reduce/kernels.hpp"
#include "lib/core/reduce/wide_type.hpp"
#include "tutti/error.hpp"

namespace tutti {
namespace {

void require_kind(Op::Kind kind, const char* function) {
  if (kind > Op::Kind::user)
    throw ArgumentError(std::string{"tutti::"} + function + ": argument 'kind' is " +
                        std::to_string(static_cast<int>(kind)) +
                        ", which is no Op::Kind; allowed: a value of enum Op::Kind");
}

}  // namespace

Op Op::scaled_sum(double scale) {
  Op op{Kind::scaled_sum};
  op.scale_ = scale;
  return op;
}

Op Op::user(UserFunction function, Commutative commutative, void* context, DeviceKernel kernel) {
  Op op{Kind::user};
  op.commutative_ = commutative;
  op.function_ = function;
  op.context_ = context;
  op.kernel_ = kernel.handle;
  return op;
}

std::string_view to_string(Op::Kind kind) {
  require_kind(kind, "to_string");
  // In the order of Op::Kind.
  constexpr std::array<std::string_view, built_in_kinds + 1> names{"sum",  "prod",      "min",        "max",  "avg",
                                                                   "land", "lor",       "lxor",       "band", "bor",
                                                                   "bxor", "exact_sum", "scaled_sum", "user"};
  return names[static_cast<std::size_t>(kind)];
}

bool accumulates(Type type, Type wide) {
  for (const Type each : {type, wide})
    if (!is_type(each))
      throw ArgumentError("tutti::accumulates: argument 'type' is " + std::to_string(static_cast<int>(each)) +
                          ", which is no Type; allowed: a value of enum Type");
  return reduce_kernel(detail::accumulating(Op::sum, wide, Rounding::nearest), type) != nullptr;
}

std::string_view to_string(Rounding rounding) {
  if (rounding > Rounding::stochastic)
    throw ArgumentError("tutti::to_string: argument 'rounding' is " + std::to_string(static_cast<int>(rounding)) +
                        "; allowed: a value of enum Rounding");
  return rounding_names[static_cast<std::size_t>(rounding)];
}

bool supports(Op::Kind kind, Type type) {
  require_kind(kind, "supports");
  if (type == detail::wide_type) return kind == Op::Kind::user;
  if (!is_type(type))
    throw ArgumentError("tutti::supports: argument 'type' is " + std::to_string(static_cast<int>(type)) +
                        ", which is no Type; allowed: a value of enum Type");
  return kind == Op::Kind::user || kernels_baseline.reduce[static_cast<int>(kind)][static_cast<int>(type)] != nullptr;
}

std::string supported_types(Op::Kind kind) {
  require_kind(kind, "supported_types");
  std::string list;
  for (int index = 0; index < type_count; ++index) {
    const Type type = static_cast<Type>(index);
    if (!supports(kind, type)) continue;
    if (!list.empty()) list += ", ";
    list += to_string(type);
  }
  return list;
}

}  // namespace tutti
