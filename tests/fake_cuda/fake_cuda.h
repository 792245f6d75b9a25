/* Questions that a test may ask the fake CUDA driver. Look the functions up by dlsym(): NVIDIA's driver has none of
 * them. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of this process, since it began. "live": made and not yet freed. */
struct FakeCudaCounters {
  uint64_t calls;            /* of the driver, but for look-ups of entry points and names of errors */
  uint64_t kernels;          /* launched */
  uint64_t copies;           /* queued, fills included */
  uint64_t synchronisations; /* calls in which the host may wait for a device */
  uint64_t contexts;         /* made: primary contexts retained for the first time, and others */
  uint64_t bytes_to_device, bytes_to_host, bytes_within_devices; /* moved by copies */
  uint64_t bytes_read, bytes_written;                            /* by kernels */
  uint64_t live_device, live_pinned, live_imported; /* allocations, registered memory included; IPC mappings */
  uint64_t live_streams, live_events, live_modules;
  uint64_t faults; /* caught */
};

void fake_cuda_counters(struct FakeCudaCounters* counters);
/* Calls of one entry point, as "cuMemAlloc". */
uint64_t fake_cuda_calls(const char* name);
/* Faults caught of one name, as "race"; of all names if it is null. */
uint64_t fake_cuda_faults(const char* name);

#ifdef __cplusplus
}
#endif
