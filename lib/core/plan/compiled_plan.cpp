#include "lib/core/plan/compiled_plan.hpp"

#include <cstring>

#include "lib/core/reduce/user_function.hpp"

namespace tutti {

std::string CompiledPlan::name() const {
  if (choice.algorithm == nullptr) return "point-to-point";
  return std::string{to_string(problem.collective)} + " (" + to_text(choice) + ")";
}

void CompiledPlan::combine_by_user(const void* lhs, const void* rhs, void* into, Count count) const {
  const UserFunctionRun running;
  op.function()(lhs, rhs, into, count, op.context());
  UserFunctionRun::require_kept_out();
}

void CompiledPlan::combine(const void* lhs, const void* rhs, void* into, void* also, std::int64_t bytes) const {
  const auto elements = static_cast<std::size_t>(bytes >> element_shift);
  if (reduce_many != nullptr) {
    const void* const operands[] = {lhs, rhs};
    return reduce_many(operands, 2, into, also, elements);
  }
  combine(lhs, rhs, into, bytes);
  std::memcpy(also, into, static_cast<std::size_t>(bytes));
}

}  // namespace tutti
