#pragma once
// Runs a kernel: block after block; each thread runs until it ends or meets a barrier.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "tests/fake_cuda/ptx/module.hpp"

namespace fake_cuda::ptx {

struct Size {
  unsigned x = 1, y = 1, z = 1;
  [[nodiscard]] std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

/// Gives the bytes behind [address, address + bytes), or throws.
using Resolve = std::function<std::byte*(std::uint64_t address, std::size_t bytes, bool writes)>;

/// Throws Error, and whatever `resolve` throws.
void run(const Kernel& kernel, Size grid, Size block, std::size_t dynamic_shared_bytes,
         std::span<const std::byte> parameters, const Resolve& resolve);

}  // namespace fake_cuda::ptx
