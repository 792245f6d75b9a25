#include "lib/core/memory/memory_kind.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <exception>
#include <fstream>
#include <string>

namespace tutti {

namespace {

/// [begin, end); empty: not known.
struct Addresses {
  std::uintptr_t begin = 0, end = 0;
  [[nodiscard]] bool have(std::uintptr_t address) const { return address - begin < end - begin; }
};

Addresses own_stack() noexcept {
  ::pthread_attr_t attributes;
  void* begin = nullptr;
  std::size_t bytes = 0;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return {};
  const bool is_known = ::pthread_attr_getstack(&attributes, &begin, &bytes) == 0;
  ::pthread_attr_destroy(&attributes);
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  return is_known ? Addresses{first, first + bytes} : Addresses{};
}

/// Where the heap begins, which ends at sbrk(0); 0: it is not known.
std::uintptr_t begin_of_heap() noexcept try {
  std::ifstream maps{"/proc/self/maps"};
  for (std::string line; std::getline(maps, line);)
    if (line.ends_with("[heap]")) return std::stoull(line, nullptr, 16);
  return 0;
} catch (const std::exception&) {
  return 0;
}

}  // namespace

bool is_on_stack_or_heap(const void* data) noexcept {
  static thread_local const Addresses stack = own_stack();
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  // The main thread's stack grows, and what is below it may be other memory's.
  const auto used = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  if (stack.have(address) && address >= used) return true;
  static const std::uintptr_t heap = begin_of_heap();
  return heap != 0 && Addresses{heap, reinterpret_cast<std::uintptr_t>(::sbrk(0))}.have(address);
}

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
