#include "tests/fake_cuda/driver/report.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "tests/fake_cuda/driver/settings.hpp"
#include "tests/fake_cuda/fake_cuda.h"

namespace fake_cuda {
namespace {

struct Faults {
  std::mutex mutex;
  std::map<std::string, std::uint64_t> counts;
};
Faults& all() {
  static Faults* const faults = new Faults;
  return *faults;
}

std::string formatted(const char* format, std::va_list arguments) {
  char line[700];
  std::vsnprintf(line, sizeof line, format, arguments);
  return line;
}

}  // namespace

std::string text(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  std::string line = formatted(format, arguments);
  va_end(arguments);
  return line;
}

void log(int level, const char* format, ...) {
  if (level > settings().log_level) return;
  std::va_list arguments;
  va_start(arguments, format);
  std::fprintf(stderr, "fake_cuda[%d]: %s\n", static_cast<int>(getpid()), formatted(format, arguments).c_str());
  va_end(arguments);
}

void caught(const char* name, const std::string& why) {
  {
    const std::lock_guard lock{all().mutex};
    ++all().counts[name];
  }
  std::fprintf(stderr, "fake_cuda[%d]: %s: %s\n", static_cast<int>(getpid()), name, why.c_str());
  if (settings().aborts) std::abort();
}

std::uint64_t faults(const char* name) {
  const std::lock_guard lock{all().mutex};
  std::uint64_t sum = 0;
  for (const auto& [each, count] : all().counts)
    if (name == nullptr || each == name) sum += count;
  return sum;
}

}  // namespace fake_cuda

extern "C" [[gnu::visibility("default")]] uint64_t fake_cuda_faults(const char* name) {
  return fake_cuda::faults(name);
}
