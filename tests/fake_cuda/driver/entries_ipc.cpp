// Entry points: handles of memory and of events for other processes.
#include <unistd.h>

#include "tests/fake_cuda/driver/call.hpp"
#include "tests/fake_cuda/driver/capture.hpp"
#include "tests/fake_cuda/driver/event.hpp"
#include "tests/fake_cuda/driver/region.hpp"
#include "tests/fake_cuda/driver/report.hpp"
#include "tests/fake_cuda/driver/settings.hpp"
#include "tests/fake_cuda/driver/stream.hpp"
#include "tests/fake_cuda/driver/ticket.hpp"

using namespace fake_cuda;

namespace {

/// In its own process a handle cannot be opened.
bool is_own(const Ticket& ticket, const char* name) {
  if (ticket.owner != ::getpid()) return false;
  caught("ipc-own-handle", text("%s of a handle that this process made", name));
  return true;
}

/// The mapping that is there already; nullptr: none.
RegionPointer opened_before(const Ticket& ticket, const Context* context) {
  const auto found = Memory::get().all([&](const Region& region) {
    return region.kind == RegionKind::ipc && region.header->owner == ticket.owner && region.header->id == ticket.id &&
           region.context == context;
  });
  return found.empty() ? nullptr : found.front();
}

/// Whether other memory of that process, with the same addresses there, is still mapped here: that it was freed since.
bool overlaps_mapping(const Ticket& ticket) {
  const auto overlaps = [&](const Region& region) {
    return region.kind == RegionKind::ipc && region.header->owner == ticket.owner && region.header->id != ticket.id &&
           region.owner_base < ticket.base + ticket.bytes && ticket.base < region.owner_base + region.size;
  };
  return settings().refuses_overlaps && !Memory::get().all(overlaps).empty();
}

/// Where races are looked for: also after operations that are over, if the host does not know it. Accesses by way of a
/// mapping in another context count as well.
void look_for_early_close(Region& region) {
  if (!settings().finds_races) return;
  Clock known = Streams::get().host_clock();
  known.hear(now_ns());
  if (const auto access = region.tracks().history.unknown(static_cast<std::uint64_t>(::getpid()), known))
    caught("early-close", text("cuIpcCloseMemHandle of 0x%lx, and the host does not know whether operation %lu of "
                               "stream %lu, which uses the memory, is over",
                               region.base, access->sequence, access->stream));
}

}  // namespace

FAKE_CUDA_EXPORT CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr pointer) {
  FAKE_CUDA_CONTEXT_CALL("cuIpcGetMemHandle");
  const RegionPointer region = Memory::get().find(pointer);
  FAKE_CUDA_REQUIRE(handle != nullptr && region != nullptr);
  if (region->kind != RegionKind::device) {
    caught("ipc-of-other-memory", text("cuIpcGetMemHandle of 0x%llx, which is no memory of cuMemAlloc", pointer));
    return CUDA_ERROR_INVALID_VALUE;
  }
  region->header->is_exported = 1;
  write(handle, {.magic = Ticket::of_memory,
                 .owner = ::getpid(),
                 .file = region->file,
                 .device = region->device,
                 .bytes = region->size,
                 .base = region->base,
                 .id = region->header->id});
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuIpcOpenMemHandle(CUdeviceptr* pointer, CUipcMemHandle handle, unsigned flags) {
  FAKE_CUDA_CONTEXT_CALL("cuIpcOpenMemHandle");
  FAKE_CUDA_UNSAFE_IN_CAPTURE();
  const Ticket ticket = read(handle);
  FAKE_CUDA_REQUIRE(pointer != nullptr && ticket.magic == Ticket::of_memory &&
                    flags == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
  if (is_own(ticket, "cuIpcOpenMemHandle")) return CUDA_ERROR_INVALID_CONTEXT;
  if (const RegionPointer region = opened_before(ticket, context)) {
    ++region->opened;
    *pointer = region->base;
    return CUDA_SUCCESS;
  }
  if (!settings().has_peers && ticket.device != context->device) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
  if (overlaps_mapping(ticket)) return CUDA_ERROR_ALREADY_MAPPED;
  const RegionPointer region = map_memory(ticket, context, RegionKind::ipc);
  if (region == nullptr) {
    log(1, "the memory of an IPC handle was freed");
    return CUDA_ERROR_INVALID_VALUE;
  }
  region->device = context->device;
  Memory::get().add(region);
  *pointer = region->base;
  log(1, "opened 0x%lx of process %d as 0x%lx + %lu", ticket.base, ticket.owner, region->base, region->size);
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuIpcCloseMemHandle(CUdeviceptr pointer) {
  FAKE_CUDA_CONTEXT_CALL("cuIpcCloseMemHandle");
  FAKE_CUDA_UNSAFE_IN_CAPTURE();
  const RegionPointer region = Memory::get().find(pointer);
  FAKE_CUDA_REQUIRE(region != nullptr && region->kind == RegionKind::ipc && region->base == pointer);
  if (--region->opened > 0) return CUDA_SUCCESS;
  region->is_closing = true;
  look_for_early_close(*region);
  may_synchronise("cuIpcCloseMemHandle", region->context);
  Streams::get().drain(region->context);
  Memory::get().free(region);
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuIpcGetEventHandle(CUipcEventHandle* handle, CUevent event_handle) {
  FAKE_CUDA_CONTEXT_CALL("cuIpcGetEventHandle");
  const EventPointer event = find_event(event_handle);
  if (event == nullptr || event->shared == nullptr || event->is_imported) return CUDA_ERROR_INVALID_HANDLE;
  write(handle, {.magic = Ticket::of_event, .owner = ::getpid(), .file = event->file});
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuIpcOpenEventHandle(CUevent* event_handle, CUipcEventHandle handle) {
  FAKE_CUDA_CONTEXT_CALL("cuIpcOpenEventHandle");
  const Ticket ticket = read(handle);
  FAKE_CUDA_REQUIRE(event_handle != nullptr && ticket.magic == Ticket::of_event);
  if (is_own(ticket, "cuIpcOpenEventHandle")) return CUDA_ERROR_INVALID_CONTEXT;
  auto event = std::make_shared<Event>();
  event->flags = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING;
  event->context = context;
  event->is_imported = true;
  event->file = open_file(ticket);
  if (!map_shared(*event)) return CUDA_ERROR_MAP_FAILED;
  *event_handle = add_event(std::move(event));
  return CUDA_SUCCESS;
}
