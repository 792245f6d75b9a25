#pragma once
// The instructions that kernels executed, by their text without operands ("add.rn.f32"): the coverage of the
// interpreter.

#include <cstdint>
#include <string>
#include <vector>

namespace fake_cuda::ptx {

/// A number for a text, the same each time.
std::uint32_t spelling_of(const std::string& text);
/// An instruction of that text was executed.
void cover(std::uint32_t spelling);
/// All texts so far, sorted; with `executed_only` those that were executed.
std::vector<std::string> spellings(bool executed_only);

}  // namespace fake_cuda::ptx
