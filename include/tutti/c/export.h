#pragma once
// The mark of functions that the shared library exports to C.

#if defined(__cplusplus)
#define TUTTI_C_API extern "C" __attribute__((visibility("default")))
#else
#define TUTTI_C_API extern __attribute__((visibility("default")))
#endif
