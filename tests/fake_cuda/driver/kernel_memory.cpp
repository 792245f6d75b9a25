#include "tests/fake_cuda/driver/kernel_memory.hpp"

#include "tests/fake_cuda/driver/access.hpp"
#include "tests/fake_cuda/driver/call.hpp"
#include "tests/fake_cuda/driver/report.hpp"
#include "tests/fake_cuda/driver/settings.hpp"
#include "tests/fake_cuda/driver/stream.hpp"

namespace fake_cuda {

KernelMemory::~KernelMemory() {
  totals().bytes_read += read_;
  totals().bytes_written += written_;
  running->bytes += read_ + written_;
}

std::byte* KernelMemory::at(std::uint64_t address, std::size_t size, bool writes) {
  (writes ? written_ : read_) += size;
  Touched& region = region_of(address, size, writes);
  if (address % size != 0) throw DeviceFault{"misaligned", said(address, size, writes, "misaligned")};
  if (settings().finds_races) (writes ? region.written : region.read).add(address, address + size);
  return resolve(*region.region, address, size, writes ? "kernel, write" : "kernel, read");
}

void KernelMemory::note_all() {
  for (const Touched& each : touched_) {
    for (const auto& [begin, end] : each.read.all())
      note(*each.region, begin, end, Use::read);
    for (const auto& [begin, end] : each.written.all())
      note(*each.region, begin, end, Use::write);
  }
}

std::string KernelMemory::said(std::uint64_t address, std::size_t size, bool writes, const char* what) const {
  return text("kernel %s: %s of %zu bytes at 0x%lx: %s", kernel_.name.c_str(), writes ? "write" : "read", size, address,
              what);
}

KernelMemory::Touched& KernelMemory::region_of(std::uint64_t address, std::size_t size, bool writes) {
  for (Touched& each : touched_)
    if (address - each.region->base < each.region->size) return each;
  if (RegionPointer region = Memory::get().find_for_device(address)) {
    if (!reaches(context_, *region))
      throw DeviceFault{
          "no-peer-access",
          said(address, size, writes,
               text("memory of device %d, which device %d may not access", region->device, context_.device).c_str())};
    return touched_.emplace_back(Touched{std::move(region)});
  }
  const bool is_freed = Memory::get().is_hole(address);
  throw DeviceFault{is_freed ? "use-after-free" : "unknown-address",
                    said(address, size, writes, is_freed ? "freed device memory" : "no memory of the device")};
}

}  // namespace fake_cuda
