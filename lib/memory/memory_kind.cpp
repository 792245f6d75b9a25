#include "lib/memory/memory_kind.hpp"

#include <fmt/format.h>

namespace tutti {

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
