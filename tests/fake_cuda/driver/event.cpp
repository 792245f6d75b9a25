#include "tests/fake_cuda/driver/event.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <mutex>

#include "tests/fake_cuda/driver/call.hpp"

namespace fake_cuda {
namespace {

struct Events {
  std::mutex mutex;
  std::map<CUevent, EventPointer> by_handle;
  std::uint64_t next = 1;
};
Events& events() {
  static Events* const all = new Events;
  return *all;
}

}  // namespace

Event::~Event() {
  if (shared != nullptr) ::munmap(shared, sizeof *shared);
  if (file >= 0) ::close(file);
}

CUevent add_event(EventPointer event) {
  const std::lock_guard lock{events().mutex};
  const auto handle = reinterpret_cast<CUevent>(0x20000 + 16 * events().next++);
  events().by_handle[handle] = std::move(event);
  ++totals().live_events;
  return handle;
}

EventPointer find_event(CUevent handle) {
  const std::lock_guard lock{events().mutex};
  const auto found = events().by_handle.find(handle);
  return found == events().by_handle.end() ? nullptr : found->second;
}

bool remove_event(CUevent handle) {
  const std::lock_guard lock{events().mutex};
  if (events().by_handle.erase(handle) == 0) return false;
  --totals().live_events;
  return true;
}

bool map_shared(Event& event) {
  void* const mapped = event.file < 0
                           ? MAP_FAILED
                           : ::mmap(nullptr, sizeof *event.shared, PROT_READ | PROT_WRITE, MAP_SHARED, event.file, 0);
  if (mapped == MAP_FAILED) return false;
  event.shared = static_cast<Event::Shared*>(mapped);
  return true;
}

}  // namespace fake_cuda
