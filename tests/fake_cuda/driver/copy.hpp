#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

#include "tests/fake_cuda/driver/context.hpp"

namespace fake_cuda {

/// The plain calls return early where both sides are device memory; the asynchronous ones where no side is pageable.
enum class Blocking : std::uint8_t { no, yes };

CUresult copy(Context* context, std::uint64_t to, std::uint64_t from, std::size_t bytes, CUstream stream,
              Blocking blocking);
/// `count` elements of `element` bytes each, all with the value.
CUresult fill(Context* context, std::uint64_t to, const void* value, std::size_t element, std::size_t count,
              CUstream stream, Blocking blocking);

}  // namespace fake_cuda
