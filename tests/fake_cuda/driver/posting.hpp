#pragma once
// The way of a call's work into a stream, or into the graph that the stream is captured into.

#include <cuda.h>

#include "tests/fake_cuda/driver/stream.hpp"

namespace fake_cuda {

/// The stream of a handle, for work. Fails if there is no such, and for the legacy stream beside the capture of a
/// stream that it waits for.
CUresult find_stream(Context* context, CUstream handle, StreamPointer& stream);

/// Queues work in a stream, or makes a node of it. With `wait` the host waits for it, and gets the context's error.
CUresult enqueue(Context* context, CUstream handle, Operation operation, bool wait = false);

}  // namespace fake_cuda
