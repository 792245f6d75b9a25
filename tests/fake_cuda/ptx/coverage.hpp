#pragma once
// The instructions that kernels executed, by their text without operands ("add.rn.f32"): the coverage of the
// interpreter.

#include <atomic>
#include <string>
#include <vector>

namespace fake_cuda::ptx {

/// Whether an instruction of that text was executed: the same place for the same text, for ever.
std::atomic<bool>& executed(const std::string& text);
/// All texts so far, sorted; with `executed_only` those that were executed.
std::vector<std::string> spellings(bool executed_only);

}  // namespace fake_cuda::ptx
