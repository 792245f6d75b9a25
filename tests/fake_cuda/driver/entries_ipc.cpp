// Entry points: handles of memory and of events for other processes.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "tests/fake_cuda/driver/call.hpp"
#include "tests/fake_cuda/driver/capture.hpp"
#include "tests/fake_cuda/driver/event.hpp"
#include "tests/fake_cuda/driver/region.hpp"
#include "tests/fake_cuda/driver/report.hpp"
#include "tests/fake_cuda/driver/settings.hpp"
#include "tests/fake_cuda/driver/stream.hpp"

using namespace fake_cuda;

namespace {

constexpr std::uint64_t of_memory = 0xfa4ecda3, of_event = 0xfa4ecda4;

/// The content of a handle.
struct Ticket {
  std::uint64_t magic;
  int owner, file, device, unused;
  std::uint64_t bytes, base, id;
};
static_assert(sizeof(Ticket) <= sizeof(CUipcMemHandle));

template <class Handle>
void write(Handle* handle, const Ticket& ticket) {
  std::memset(handle, 0, sizeof *handle);
  std::memcpy(handle, &ticket, sizeof ticket);
}
template <class Handle>
Ticket read(const Handle& handle) {
  Ticket ticket;
  std::memcpy(&ticket, &handle, sizeof ticket);
  return ticket;
}

/// The owner's file, of a user and a PID namespace that are the same; -1: it is not there.
int open_file(const Ticket& ticket) {
  const std::string path = "/proc/" + std::to_string(ticket.owner) + "/fd/" + std::to_string(ticket.file);
  return ::open(path.c_str(), O_RDWR | O_CLOEXEC);
}

/// In its own process a handle cannot be opened.
bool is_own(const Ticket& ticket, const char* name) {
  if (ticket.owner != ::getpid()) return false;
  caught("ipc-own-handle", text("%s of a handle that this process made", name));
  return true;
}

/// The mapping that is there already; nullptr: none.
RegionPointer opened_before(const Ticket& ticket, const Context* context) {
  const auto found = Memory::get().all([&](const Region& region) {
    return region.kind == Kind::ipc && region.header->owner == ticket.owner && region.header->id == ticket.id &&
           region.context == context;
  });
  return found.empty() ? nullptr : found.front();
}

RegionPointer map(const Ticket& ticket) {
  const int file = open_file(ticket);
  struct stat status {};
  const std::size_t whole = rounded(ticket.bytes, page);
  if (file < 0 || ::fstat(file, &status) != 0 || static_cast<std::size_t>(status.st_size) != header_bytes + whole) {
    if (file >= 0) ::close(file);
    return nullptr;
  }
  RegionPointer region = map_file(file, Memory::get().reserve_addresses(whole), whole, ticket.bytes, Kind::ipc);
  if (region == nullptr || region->header->magic != Header::right_magic || region->header->id != ticket.id ||
      region->header->is_freed != 0)
    return nullptr;
  return region;
}

}  // namespace

FAKE_CUDA_EXPORT CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr pointer) {
  FAKE_CUDA_CONTEXT_CALL("cuIpcGetMemHandle");
  const RegionPointer region = Memory::get().find(pointer);
  FAKE_CUDA_REQUIRE(handle != nullptr && region != nullptr);
  if (region->kind != Kind::device) {
    caught("ipc-of-other-memory", text("cuIpcGetMemHandle of 0x%llx, which is no memory of cuMemAlloc", pointer));
    return CUDA_ERROR_INVALID_VALUE;
  }
  region->header->is_exported = 1;
  write(handle,
        {of_memory, ::getpid(), region->file, region->device, 0, region->size, region->base, region->header->id});
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuIpcOpenMemHandle(CUdeviceptr* pointer, CUipcMemHandle handle, unsigned flags) {
  FAKE_CUDA_CONTEXT_CALL("cuIpcOpenMemHandle");
  FAKE_CUDA_UNSAFE_IN_CAPTURE();
  const Ticket ticket = read(handle);
  FAKE_CUDA_REQUIRE(pointer != nullptr && ticket.magic == of_memory && flags == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
  if (is_own(ticket, "cuIpcOpenMemHandle")) return CUDA_ERROR_INVALID_CONTEXT;
  if (const RegionPointer region = opened_before(ticket, context)) {
    ++region->opened;
    *pointer = region->base;
    return CUDA_SUCCESS;
  }
  if (!settings().has_peers && ticket.device != context->device) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
  const RegionPointer region = map(ticket);
  if (region == nullptr) {
    log(1, "the memory of an IPC handle was freed");
    return CUDA_ERROR_INVALID_VALUE;
  }
  region->device = context->device;
  region->context = context;
  region->tracks().history.learn(static_cast<std::uint64_t>(::getpid()), Streams::get().host_clock(), false);
  region->header->importers.add();
  Memory::get().add(region);
  *pointer = region->base;
  log(1, "opened 0x%lx of process %d as 0x%lx + %lu", ticket.base, ticket.owner, region->base, region->size);
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuIpcCloseMemHandle(CUdeviceptr pointer) {
  FAKE_CUDA_CONTEXT_CALL("cuIpcCloseMemHandle");
  FAKE_CUDA_UNSAFE_IN_CAPTURE();
  const RegionPointer region = Memory::get().find(pointer);
  FAKE_CUDA_REQUIRE(region != nullptr && region->kind == Kind::ipc && region->base == pointer);
  if (--region->opened > 0) return CUDA_SUCCESS;
  may_synchronise("cuIpcCloseMemHandle", region->context);
  Streams::get().drain(region->context);
  log(1, "closed 0x%lx", region->base);
  region->header->importers.remove();
  Memory::get().remove(region);
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuIpcGetEventHandle(CUipcEventHandle* handle, CUevent event_handle) {
  FAKE_CUDA_CONTEXT_CALL("cuIpcGetEventHandle");
  const EventPointer event = find_event(event_handle);
  if (event == nullptr || event->shared == nullptr || event->is_imported) return CUDA_ERROR_INVALID_HANDLE;
  write(handle, {of_event, ::getpid(), event->file, 0, 0, 0, 0, 0});
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuIpcOpenEventHandle(CUevent* event_handle, CUipcEventHandle handle) {
  FAKE_CUDA_CONTEXT_CALL("cuIpcOpenEventHandle");
  const Ticket ticket = read(handle);
  FAKE_CUDA_REQUIRE(event_handle != nullptr && ticket.magic == of_event);
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
