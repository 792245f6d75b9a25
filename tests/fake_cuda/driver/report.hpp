#pragma once
// Faults of the program, caught by name, and the log.

#include <cstdarg>
#include <cstdint>
#include <string>

namespace fake_cuda {

/// Formatted as printf does.
[[gnu::format(printf, 1, 2)]] std::string text(const char* format, ...);

/// Written to stderr if FAKE_CUDA_LOG is at least `level`.
[[gnu::format(printf, 2, 3)]] void log(int level, const char* format, ...);

/// A fault of the program: "fake_cuda[PID]: NAME: why" on stderr. With FAKE_CUDA_ABORT=1 the program ends.
void caught(const char* name, const std::string& why);
/// So many were caught of a name; of all if it is null.
std::uint64_t faults(const char* name);

/// Thrown by an operation that runs on a device: its context is lost.
struct DeviceFault {
  const char* name;
  std::string why;
};

}  // namespace fake_cuda
