// Operations in C.
#include <array>
#include <cstdint>
#include <memory>

#include "bindings/c/handles.hpp"

namespace tutti::c {
namespace {

// The operations by number, from 1 on, so that NULL is none of them.
constexpr std::array by_number{Op::sum, Op::prod, Op::min,  Op::max, Op::avg,  Op::land,
                               Op::lor, Op::lxor, Op::band, Op::bor, Op::bxor, Op::exact_sum};
constexpr int number_of(Op::Kind kind) { return static_cast<int>(kind) + 1; }
static_assert(TUTTI_OP_SUM == number_of(Op::Kind::sum) && TUTTI_OP_PROD == number_of(Op::Kind::prod));
static_assert(TUTTI_OP_MIN == number_of(Op::Kind::min) && TUTTI_OP_MAX == number_of(Op::Kind::max));
static_assert(TUTTI_OP_AVG == number_of(Op::Kind::avg) && TUTTI_OP_LAND == number_of(Op::Kind::land));
static_assert(TUTTI_OP_LOR == number_of(Op::Kind::lor) && TUTTI_OP_LXOR == number_of(Op::Kind::lxor));
static_assert(TUTTI_OP_BAND == number_of(Op::Kind::band) && TUTTI_OP_BOR == number_of(Op::Kind::bor));
static_assert(TUTTI_OP_BXOR == number_of(Op::Kind::bxor) && TUTTI_OP_EXACT_SUM == number_of(Op::Kind::exact_sum));
static_assert(TUTTI_OP_EXACT_SUM == by_number.size());

bool is_created(tutti_op op) { return reinterpret_cast<std::uintptr_t>(op) > by_number.size(); }

void combine(const void* lhs, const void* rhs, void* into, Count count, void* context) {
  auto* const op = static_cast<tutti_op_object*>(context);
  op->function(lhs, rhs, into, count.value(), op->context);
}

}  // namespace

Op op_of(const Site& site, tutti_op op) {
  constexpr std::string_view allowed = "TUTTI_SUM and the like, or an operation that was created";
  if (is_created(op)) return object_of(site, "op", op, allowed).op;
  if (op == nullptr) site.refuse("op", "NULL", allowed);
  return by_number[reinterpret_cast<std::uintptr_t>(op) - 1];
}

}  // namespace tutti::c

using namespace tutti::c;

tutti_status tutti_op_create_scaled_sum(double scale, tutti_op* op) {
  return stored("op", op, [&](const Site&) { return new tutti_op_object{{}, tutti::Op::scaled_sum(scale)}; });
}

tutti_status tutti_op_create_user(tutti_user_function function, int is_commutative, void* context, void* device_kernel,
                                  tutti_op* op) {
  return stored("op", op, [&](const Site& site) {
    if (function == nullptr) site.refuse("function", "NULL", "a function");
    if (is_commutative != 0 && is_commutative != 1)
      site.refuse("is_commutative", std::to_string(is_commutative), "0 or 1");
    auto made = std::make_unique<tutti_op_object>(tutti_op_object{{}, tutti::Op::sum, function, context});
    made->op = tutti::Op::user(combine, static_cast<tutti::Commutative>(is_commutative), made.get(), {device_kernel});
    return made.release();
  });
}

tutti_status tutti_op_free(tutti_op* op) {
  return guarded([&](const Site& site) {
    tutti_op& its = site.pointed("op", op);
    if (is_created(its)) delete &object_of(site, "op", its, "an operation that was created, or one of Tutti's own");
    its = nullptr;
  });
}

tutti_status tutti_op_name(tutti_op op, const char** name) {
  return guarded([&](const Site& site) { site.pointed("name", name) = to_string(op_of(site, op).kind()).data(); });
}

tutti_status tutti_op_supports(tutti_op op, tutti_type type, int* is_supported) {
  return guarded([&](const Site& site) {
    int& place = site.pointed("is_supported", is_supported);
    place = supports(op_of(site, op).kind(), type_of(site, "type", type)) ? 1 : 0;
  });
}
