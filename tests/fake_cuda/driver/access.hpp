#pragma once
// Accesses of operations to memory: checked, and compared with those of other operations.

#include <cstddef>
#include <cstdint>

#include "tests/fake_cuda/driver/region.hpp"

namespace fake_cuda {

enum class Use : std::uint8_t { read, write };

/// The bytes behind a range that a device touches, and what keeps them mapped; nothing for pageable memory.
struct Bytes {
  std::byte* data = nullptr;
  RegionPointer region{};
};

/// Whether kernels of the context may access the region. Copies may in any case: the driver stages them.
bool reaches(Context& context, const Region& region);

/// The bytes of `size` at `address` of a region. Throws DeviceFault: past its end, freed by its owner, without access.
std::byte* resolve(const Region& region, std::uint64_t address, std::size_t size, const char* what);

/// The bytes at any address, noted as an access of the running operation. `queued`: the region that the address had
/// when the operation was queued; nullptr: pageable host memory, which is taken as it is. Throws DeviceFault.
Bytes touch(std::uint64_t address, const RegionPointer& queued, std::size_t size, Use use, const char* what);

/// Notes an access of the running operation to [begin, end) of a region's addresses. A race is a fault.
void note(Region& region, std::uint64_t begin, std::uint64_t end, Use use);

/// The host hears of a dereference of device memory, by a signal: says where, and ends as it would have.
void watch_for_host_access();

}  // namespace fake_cuda
