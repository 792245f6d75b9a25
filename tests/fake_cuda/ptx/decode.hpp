#pragma once

#include <string>

#include "tests/fake_cuda/ptx/instruction.hpp"

namespace fake_cuda::ptx {

/// The instruction of a text as "ld.global.nc.v4.u32", without its operands. Throws Error, which names what the
/// interpreter does not have.
Instruction decoded(const std::string& text);

}  // namespace fake_cuda::ptx
