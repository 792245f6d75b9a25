#pragma once
// The memory that one launch of a kernel touches.

#include <string>
#include <vector>

#include "tests/fake_cuda/driver/byte_ranges.hpp"
#include "tests/fake_cuda/driver/region.hpp"
#include "tests/fake_cuda/ptx/module.hpp"

namespace fake_cuda {

/// Checks each access, and adds up the ranges that they touched.
class KernelMemory {
 public:
  KernelMemory(const ptx::Kernel& kernel, Context& context) : kernel_(kernel), context_(context) {}
  ~KernelMemory();
  KernelMemory(const KernelMemory&) = delete;
  KernelMemory& operator=(const KernelMemory&) = delete;

  /// Throws DeviceFault.
  std::byte* at(std::uint64_t address, std::size_t size, bool writes);
  /// Notes the accesses of the whole kernel.
  void note_all();

 private:
  struct Touched {
    RegionPointer region;
    ByteRanges read{}, written{};
  };
  [[nodiscard]] std::string said(std::uint64_t address, std::size_t size, bool writes, const char* what) const;
  Touched& region_of(std::uint64_t address, std::size_t size, bool writes);

  const ptx::Kernel& kernel_;
  Context& context_;
  std::vector<Touched> touched_{};
  std::uint64_t read_ = 0, written_ = 0;
};

}  // namespace fake_cuda
