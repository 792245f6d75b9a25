#include "lib/memory/memory_kind.hpp"

#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

namespace tutti {

bool is_readable(const void* data) noexcept {
  std::byte copy{};
  const ::iovec into{&copy, 1}, from{const_cast<void*>(data), 1};
  return ::process_vm_readv(::getpid(), &into, 1, &from, 1, 0) == 1 || errno != EFAULT;
}

std::string_view to_string(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::host:
      return "host";
    case MemoryKind::pinned:
      return "pinned";
    case MemoryKind::managed:
      return "managed";
    case MemoryKind::device:
      return "device";
  }
  return "unknown";
}

std::string to_string(const Memory& memory) {
  if (memory.kind == MemoryKind::host) return "host memory";
  if (memory.kind == MemoryKind::device) return fmt::format("CUDA device memory (device {})", memory.device);
  return fmt::format("CUDA {} memory", to_string(memory.kind));
}

}  // namespace tutti
