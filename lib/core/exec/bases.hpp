#pragma once
// The buffers that a run of a plan is bound to.

#include <array>
#include <cstddef>
#include <cstdint>

#include "lib/core/plan/compiled_plan.hpp"

namespace tutti {

/// The operands and the result of a reduction. If it is part of a receive, the message lands in one of the operands.
struct Operands {
  std::byte *lhs = nullptr, *rhs = nullptr, *into = nullptr;
};

/// The beginning of each buffer.
class Bases {
 public:
  explicit Bases(std::byte* scratch) : begins_{nullptr, nullptr, scratch, nullptr} {}

  void bind(const void* input, void* output) {
    // Steps never write the input; the cast only lets the three buffers share one table.
    begins_[0] = static_cast<std::byte*>(const_cast<void*>(input));
    begins_[1] = static_cast<std::byte*>(output);
  }
  /// Memory that the run has until it is over.
  void lend(Buffer buffer, std::byte* memory) { begins_[static_cast<std::size_t>(buffer)] = memory; }
  [[nodiscard]] std::byte* at(Buffer buffer, std::int64_t offset) const {
    return begins_[static_cast<std::size_t>(buffer)] + offset;
  }
  [[nodiscard]] Operands operands(const CompiledStep& step) const {
    return {at(step.lhs, step.lhs_at), at(step.rhs, step.rhs_at), at(step.into, step.into_at)};
  }
  /// The operand where a message lands that is reduced once it is there.
  [[nodiscard]] std::byte* landing(const CompiledStep& step) const {
    return step.lands_left ? at(step.lhs, step.lhs_at) : at(step.rhs, step.rhs_at);
  }

 private:
  std::array<std::byte*, 4> begins_;  ///< By Buffer; the last is the staging buffer.
};

}  // namespace tutti
