#pragma once
// What to do between two looks at memory that another core writes.

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
