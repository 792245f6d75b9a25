#include "lib/device/driver/check.hpp"

#include <fmt/format.h>

#include <string_view>

#include "lib/device/driver/device_error.hpp"
#include "lib/device/driver/driver.hpp"

namespace tutti::cuda {
namespace {

/// What people can do about an error; empty: its name says enough.
std::string_view remedy_for(CUresult result) {
  switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return " (free memory of the device, or communicate less at a time)";
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
      return " (has the program destroyed the context of its memory?)";
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
      return " (an earlier kernel or copy failed, and this process has lost the device: it must end; compute-sanitizer "
             "finds the kernel)";
    default:
      return "";
  }
}

}  // namespace

void check(CUresult result, const char* function) {
  if (result == CUDA_SUCCESS) return;
  const char* name = nullptr;
  if (const Driver* const table = driver(); table == nullptr || table->GetErrorName(result, &name) != CUDA_SUCCESS)
    name = nullptr;
  throw DeviceError(fmt::format("{}: {}{}", function,
                                name == nullptr ? fmt::format("CUDA error {}", static_cast<int>(result)) : name,
                                remedy_for(result)));
}

}  // namespace tutti::cuda
