#pragma once
// The result that a call must give, computed here from all ranks' inputs, without the library's code or the MPI.

#include <optional>

#include "values.hpp"

namespace tutti::differential {

/// All elements of the output of `rank`, block after block. Nothing: the output is left alone.
[[nodiscard]] std::optional<ByteVector> reference_result(const Call& call, int repetition, int rank);

}  // namespace tutti::differential
