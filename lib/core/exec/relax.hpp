#pragma once
// A pause between two polls of memory that another core writes.

namespace tutti {

/// Tells the processor that this is a loop that waits.
#if defined(__x86_64__)
inline void relax() { __builtin_ia32_pause(); }
#elif defined(__aarch64__)
inline void relax() { asm volatile("isb" ::: "memory"); }
#else
inline void relax() {}
#endif

}  // namespace tutti
