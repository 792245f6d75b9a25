#include "lib/cuda/check.hpp"

#include <fmt/format.h>

#include "lib/cuda/driver.hpp"
#include "tutti/error.hpp"

namespace tutti::cuda {

void check(CUresult result, const char* function) {
  if (result == CUDA_SUCCESS) return;
  const char* name = nullptr;
  if (const Driver* const table = driver(); table == nullptr || table->GetErrorName(result, &name) != CUDA_SUCCESS)
    name = nullptr;
  throw Error(fmt::format("tutti: {}: {}", function,
                          name == nullptr ? fmt::format("CUDA error {}", static_cast<int>(result)) : name));
}

}  // namespace tutti::cuda
