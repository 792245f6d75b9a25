#pragma once
// The values that instructions compute from values.

#include <cstdint>

#include "tests/fake_cuda/ptx/instruction.hpp"

namespace fake_cuda::ptx {

/// The result of an instruction with up to three sources; two lanes at a time where the type has two.
std::uint64_t computed(const Instruction& instruction, std::uint64_t a, std::uint64_t b, std::uint64_t c);
/// cvt from `instruction.from` to `instruction.type`, one lane.
std::uint64_t converted(const Instruction& instruction, std::uint64_t value);
bool compared(const Instruction& instruction, Type type, std::uint64_t a, std::uint64_t b);

}  // namespace fake_cuda::ptx
