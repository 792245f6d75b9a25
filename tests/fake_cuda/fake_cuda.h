/* Questions that a test may ask the fake CUDA driver. Look the functions up by dlsym(): NVIDIA's driver has none of
 * them. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Counts of this process, since it began. "live": made and not yet freed. */
struct FakeCudaCounters {
  uint64_t calls;            /* of the driver, but for look-ups of entry points and names of errors */
  uint64_t kernels;          /* launched: those of a graph whenever it is */
  uint64_t copies;           /* queued, fills included; those of a graph when it is launched */
  uint64_t synchronisations; /* calls in which the host may wait for a device */
  uint64_t contexts;         /* made: primary contexts retained for the first time, and others */
  /* Moved by copies: from the host to a device, from a device to the host, and between memory of devices. */
  uint64_t bytes_to_device, bytes_to_host, bytes_within_devices;
  uint64_t bytes_read, bytes_written;               /* by kernels */
  uint64_t live_device, live_pinned, live_imported; /* allocations, registered memory included; IPC mappings */
  uint64_t bytes_imported;                          /* of the IPC mappings, whether or not their owners have freed */
  uint64_t live_streams, live_events, live_modules;
  uint64_t live_graphs, live_executable_graphs;
  uint64_t faults; /* caught */
};

/* An operation that is over. The times are of a clock that all processes share. */
struct FakeCudaOperation {
  /* "copy-to-device", "copy-to-host", "copy-within-devices", "copy-on-host", "fill", "kernel", "host-function",
   * "wait-value", "write-value", "record-event", "wait-event", "allocate", "free". "begin-graph" and "end-graph" lie in
   * the stream of a launch; the nodes between them in streams of their own, one for each branch. */
  const char* kind;
  char name[48];             /* of a kernel; else empty */
  uint64_t stream, sequence; /* cuStreamGetId; the number in the stream, from 1 on */
  uint64_t bytes;            /* copied or filled; read and written by a kernel */
  uint64_t posted_ns;        /* the call */
  uint64_t started_ns;       /* nothing was before it any more: a delay (FAKE_CUDA_DELAY_US) is a part of it */
  uint64_t ended_ns;
};

/* From here on operations are kept, and those of before are forgotten. */
void fake_cuda_timeline_clear(void);
/* The first `most` of those that are over, in the order of their ends. Returns how many there are. With
 * FAKE_CUDA_TIMELINE they are in its file instead. */
uint64_t fake_cuda_timeline(struct FakeCudaOperation* operations, uint64_t most);

void fake_cuda_counters(struct FakeCudaCounters* counters);
/* Calls of one entry point, as "cuMemAlloc". */
uint64_t fake_cuda_calls(const char* name);
/* Whether this thread runs code of the driver, as in an operator new that the driver calls. The driver's own threads
 * do, but for functions of the host. */
int fake_cuda_is_inside(void);
/* Calls to fail from here on, as FAKE_CUDA_FAIL has them; "" for none. Calls are counted from here on, too. */
void fake_cuda_fail(const char* failures);
/* Faults caught of one name, as "race"; of all names if it is null. */
uint64_t fake_cuda_faults(const char* name);

#ifdef __cplusplus
}
#endif
