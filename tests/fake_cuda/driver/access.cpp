#include "tests/fake_cuda/driver/access.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "tests/fake_cuda/driver/pool.hpp"
#include "tests/fake_cuda/driver/report.hpp"
#include "tests/fake_cuda/driver/settings.hpp"
#include "tests/fake_cuda/driver/stream.hpp"

namespace fake_cuda {

bool reaches(Context& context, const Region& region) {
  if (!region.is_on_device()) return true;
  if (region.kind == RegionKind::vmm) return region.devices.contains(context.device);
  if (region.device == context.device) return true;
  if (region.kind == RegionKind::pool) return Pools::get().has_access(*region.pool, context.device);
  const std::lock_guard lock{context.peers_mutex};
  return context.peers.contains(region.context);
}

std::byte* resolve(const Region& region, std::uint64_t address, std::size_t size, const char* what) {
  if (address + size > region.base + region.size)
    throw DeviceFault{"out-of-bounds", text("%s of %zu bytes at 0x%lx runs past the end of 0x%lx + %lu", what, size,
                                            address, region.base, region.size)};
  if (region.header != nullptr && region.header->is_freed != 0)
    throw DeviceFault{region.is_imported ? "stale-ipc-mapping" : "use-after-free",
                      text("%s of %zu bytes at 0x%lx: its owner (process %d) has freed the memory", what, size, address,
                           region.header->owner)};
  if (region.is_closing)
    throw DeviceFault{"early-close", text("%s of %zu bytes at 0x%lx: the mapping was closed before the operation ran",
                                          what, size, address)};
  if (region.kind == RegionKind::vmm && region.devices.empty())
    throw DeviceFault{"no-access", text("%s at 0x%lx: mapped without cuMemSetAccess", what, address)};
  return region.bytes + (address - region.base);
}

void note(Region& region, std::uint64_t begin, std::uint64_t end, Use use) {
  if (!settings().finds_races || running == nullptr) return;
  const Access access{running->stream,   running->sequence, begin - region.base,
                      end - region.base, use == Use::write, {}};
  const auto other = region.tracks().history.add(access, running->clock);
  if (!other) return;
  const auto name = [](bool writes) { return writes ? "write" : "read"; };
  caught("race", text("%s by operation %lu of stream %lu and %s by operation %lu of stream %lu, on 0x%lx + %lu: "
                      "nothing orders them",
                      name(other->writes), other->sequence, other->stream, name(access.writes), access.sequence,
                      access.stream, region.base + std::max(access.begin, other->begin),
                      std::min(access.end, other->end) - std::max(access.begin, other->begin)));
}

Bytes touch(std::uint64_t address, const RegionPointer& queued, std::size_t size, Use use, const char* what) {
  RegionPointer region = Memory::get().find(address);
  if (queued != nullptr && region != queued)
    throw DeviceFault{"use-after-free",
                      text("%s of %zu bytes at 0x%lx: memory that was freed before the operation ran%s", what, size,
                           address, region == nullptr ? "" : ", and given out again")};
  if (region != nullptr) {
    std::byte* const data = resolve(*region, address, size, what);
    note(*region, address, address + size, use);
    return {data, std::move(region)};
  }
  if (Memory::get().is_hole(address))
    throw DeviceFault{"use-after-free", text("%s of %zu bytes at 0x%lx: freed device memory", what, size, address)};
  return {reinterpret_cast<std::byte*>(address), nullptr};
}

namespace {

struct sigaction before;

void on_segmentation_fault(int signal, siginfo_t* information, void*) {
  const auto address = reinterpret_cast<std::uint64_t>(information->si_addr);
  // Not safe in a signal handler if the fault came from inside the fake; it would end all the same.
  const RegionPointer region = Memory::get().find(address);
  if (region != nullptr && region->is_on_device())
    caught("host-access",
           text("the host dereferences 0x%lx, device memory 0x%lx + %lu", address, region->base, region->size));
  else if (Memory::get().is_hole(address))
    caught("host-access", text("the host dereferences 0x%lx, freed device memory", address));
  ::sigaction(signal, &before, nullptr);  // the instruction runs again
}

}  // namespace

void watch_for_host_access() {
  struct sigaction action {};
  action.sa_sigaction = on_segmentation_fault;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSEGV, &action, &before);
}

}  // namespace fake_cuda
