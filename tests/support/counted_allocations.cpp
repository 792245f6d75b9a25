#include "tests/support/counted_allocations.hpp"

#include <cstdlib>
#include <new>

namespace tutti::test {

std::atomic<bool> AllocationCount::is_on{false};
std::atomic<long> AllocationCount::count{0};
int (*AllocationCount::is_foreign)() = nullptr;

}  // namespace tutti::test

namespace {

using tutti::test::AllocationCount;

void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
  if (AllocationCount::is_on.load(std::memory_order_relaxed) &&
      (AllocationCount::is_foreign == nullptr || AllocationCount::is_foreign() == 0))
    AllocationCount::count.fetch_add(1, std::memory_order_relaxed);
  const std::size_t whole = (bytes + alignment - 1) / alignment * alignment;
  return std::aligned_alloc(alignment, whole == 0 ? alignment : whole);
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment) {
  void* const memory = allocate(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc{};
  return memory;
}

constexpr std::size_t usual = __STDCPP_DEFAULT_NEW_ALIGNMENT__;
constexpr std::size_t bytes_of(std::align_val_t alignment) { return static_cast<std::size_t>(alignment); }

/// Not inlined: the compiler would see free() undo its own operator new, and warn.
[[gnu::noinline]] void give_back(void* memory) noexcept { std::free(memory); }

}  // namespace

void* operator new(std::size_t bytes) { return allocate_or_throw(bytes, usual); }
void* operator new[](std::size_t bytes) { return allocate_or_throw(bytes, usual); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, usual); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes, usual); }
void* operator new(std::size_t bytes, std::align_val_t to) { return allocate_or_throw(bytes, bytes_of(to)); }
void* operator new[](std::size_t bytes, std::align_val_t to) { return allocate_or_throw(bytes, bytes_of(to)); }
void* operator new(std::size_t bytes, std::align_val_t to, const std::nothrow_t&) noexcept {
  return allocate(bytes, bytes_of(to));
}
void* operator new[](std::size_t bytes, std::align_val_t to, const std::nothrow_t&) noexcept {
  return allocate(bytes, bytes_of(to));
}
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete[](void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { give_back(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept { give_back(memory); }
void operator delete[](void* memory, std::align_val_t, const std::nothrow_t&) noexcept { give_back(memory); }
