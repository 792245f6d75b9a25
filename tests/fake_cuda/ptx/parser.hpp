#pragma once

#include <string>

#include "tests/fake_cuda/ptx/module.hpp"

namespace fake_cuda::ptx {

/// The kernels of PTX text. One with an instruction that the interpreter does not have says so in Kernel::error.
/// Throws Error if the text cannot be read.
Module parsed(const std::string& text);

}  // namespace fake_cuda::ptx
