#pragma once
// What a call must give, computed here from what every rank gives, without the library's code and without the MPI.

#include <optional>

#include "values.hpp"

namespace tutti::differential {

/// All elements of the output of `rank`, block after block. Nothing: the output is left alone.
[[nodiscard]] std::optional<ByteVector> reference_result(const Call& call, int repetition, int rank);

}  // namespace tutti::differential
