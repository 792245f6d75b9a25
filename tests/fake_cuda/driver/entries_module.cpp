// Entry points: modules and kernels.
#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/fake_cuda/driver/access.hpp"
#include "tests/fake_cuda/driver/call.hpp"
#include "tests/fake_cuda/driver/capture.hpp"
#include "tests/fake_cuda/driver/kernel_memory.hpp"
#include "tests/fake_cuda/driver/module.hpp"
#include "tests/fake_cuda/driver/posting.hpp"
#include "tests/fake_cuda/driver/report.hpp"
#include "tests/fake_cuda/ptx/machine.hpp"

using namespace fake_cuda;

namespace {

/// The function of a handle, which belongs to the current context; or the end of the entry point.
#define FAKE_CUDA_FUNCTION(handle)                              \
  const FunctionPointer function = Modules::get().find(handle); \
  if (function == nullptr || function->context != context) return CUDA_ERROR_INVALID_HANDLE

CUresult load(Context* context, CUmodule* handle, const void* image) {
  FAKE_CUDA_REQUIRE(handle != nullptr && image != nullptr);
  FAKE_CUDA_UNSAFE_IN_CAPTURE();
  may_synchronise("loading a module", context);
  try {
    *handle = Modules::get().add(context, ptx::load(image));
    ++totals().live_modules;
    return CUDA_SUCCESS;
  } catch (const ptx::Error& error) {
    caught("module", error.what());
    return CUDA_ERROR_INVALID_PTX;
  }
}

CUresult unload(Context* context, CUmodule handle) {
  if (Modules::get().context_of(handle) != context) return CUDA_ERROR_INVALID_HANDLE;
  FAKE_CUDA_UNSAFE_IN_CAPTURE();
  may_synchronise("unloading a module", context);
  Streams::get().drain(context);
  Modules::get().remove(handle);
  --totals().live_modules;
  return CUDA_SUCCESS;
}

CUresult function_of(Context* context, CUmodule module, const char* name, CUfunction* handle) {
  FAKE_CUDA_REQUIRE(name != nullptr && handle != nullptr);
  if (Modules::get().context_of(module) != context) return CUDA_ERROR_INVALID_HANDLE;
  const CUfunction found = Modules::get().function(module, name);
  if (found == nullptr) return CUDA_ERROR_NOT_FOUND;
  if (const FunctionPointer function = Modules::get().find(found); !function->kernel->error.empty()) {
    caught("kernel", text("%s cannot run: %s", name, function->kernel->error.c_str()));
    return CUDA_ERROR_INVALID_PTX;
  }
  *handle = found;
  return CUDA_SUCCESS;
}

/// The parameters as the kernel finds them; empty and not as long as they should be: not given.
bool gather(const ptx::Kernel& kernel, void** arguments, void** extra, std::vector<std::byte>& parameters) {
  parameters.resize(kernel.parameter_bytes);
  if (arguments != nullptr) {
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
      std::memcpy(parameters.data() + kernel.parameters[i].offset, arguments[i], kernel.parameters[i].bytes);
    return true;
  }
  if (extra == nullptr) return kernel.parameters.empty();
  const void* buffer = nullptr;
  std::size_t bytes = 0;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = extra[1];
    if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) bytes = *static_cast<std::size_t*>(extra[1]);
  }
  std::memcpy(parameters.data(), buffer, std::min(bytes, parameters.size()));
  return true;
}

CUresult launch(Context* context, CUfunction handle, ptx::Size grid, ptx::Size block, unsigned shared_bytes,
                CUstream stream, void** arguments, void** extra) {
  FAKE_CUDA_FUNCTION(handle);
  StreamPointer into;
  if (const CUresult bad = find_stream(context, stream, into); bad != CUDA_SUCCESS) return bad;
  if (into->context != context) return CUDA_ERROR_INVALID_HANDLE;
  FAKE_CUDA_REQUIRE(grid.count() > 0 && block.count() > 0 && block.count() <= 1024);
  FAKE_CUDA_REQUIRE(grid.y < 65536 && grid.z < 65536 && block.z <= 64);
  std::vector<std::byte> parameters;
  FAKE_CUDA_REQUIRE(gather(*function->kernel, arguments, extra, parameters));
  if (!function->is_loaded.exchange(true)) may_block("the first launch of a function, which loads it", context);
  return enqueue(context, stream,
                 {.work =
                      [=] {
                        KernelMemory memory{*function->kernel, *function->context};
                        ptx::run(*function->kernel, grid, block, shared_bytes, parameters,
                                 [&](std::uint64_t address, std::size_t size, bool writes) {
                                   return memory.at(address, size, writes);
                                 });
                        memory.note_all();
                      },
                  .what = {"kernel", 0, function->kernel->name},
                  .count = [] { ++totals().kernels; }});
}

}  // namespace

FAKE_CUDA_EXPORT CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  FAKE_CUDA_CONTEXT_CALL("cuModuleLoadData");
  return load(context, module, image);
}
FAKE_CUDA_EXPORT CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned, CUjit_option*, void**) {
  return cuModuleLoadData(module, image);
}
FAKE_CUDA_EXPORT CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return cuModuleLoadData(module, image);
}
FAKE_CUDA_EXPORT CUresult cuModuleUnload(CUmodule module) {
  FAKE_CUDA_CONTEXT_CALL("cuModuleUnload");
  return unload(context, module);
}
FAKE_CUDA_EXPORT CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  FAKE_CUDA_CALL("cuModuleGetLoadingMode");
  *mode = loads_eagerly() ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING;
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  FAKE_CUDA_CONTEXT_CALL("cuModuleGetFunction");
  return function_of(context, module, name, function);
}
FAKE_CUDA_EXPORT CUresult cuFuncLoad(CUfunction handle) {
  FAKE_CUDA_CONTEXT_CALL("cuFuncLoad");
  FAKE_CUDA_FUNCTION(handle);
  if (!function->is_loaded.exchange(true)) may_block("cuFuncLoad", context);
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction handle) {
  FAKE_CUDA_CONTEXT_CALL("cuFuncIsLoaded");
  FAKE_CUDA_FUNCTION(handle);
  *state = function->is_loaded ? CU_FUNCTION_LOADING_STATE_LOADED : CU_FUNCTION_LOADING_STATE_UNLOADED;
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuFuncGetAttribute(int* value, CUfunction_attribute which, CUfunction handle) {
  FAKE_CUDA_CONTEXT_CALL("cuFuncGetAttribute");
  FAKE_CUDA_FUNCTION(handle);
  const ptx::Kernel* const kernel = function->kernel;
  *value = which == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024
           : which == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES   ? static_cast<int>(kernel->shared_bytes)
           : which == CU_FUNC_ATTRIBUTE_NUM_REGS            ? 32
                                                            : 0;
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute, int) {
  FAKE_CUDA_CONTEXT_CALL("cuFuncSetAttribute");
  FAKE_CUDA_FUNCTION(handle);
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction, int threads,
                                                                      std::size_t) {
  FAKE_CUDA_CONTEXT_CALL("cuOccupancyMaxActiveBlocksPerMultiprocessor");
  *blocks = std::max(1, 2048 / std::max(1, threads));
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                         unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                         CUstream stream, void** arguments, void** extra) {
  FAKE_CUDA_CONTEXT_CALL("cuLaunchKernel");
  return launch(context, function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, stream,
                arguments, extra);
}
FAKE_CUDA_EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** arguments,
                                           void** extra) {
  FAKE_CUDA_CONTEXT_CALL("cuLaunchKernelEx");
  return launch(context, function, {config->gridDimX, config->gridDimY, config->gridDimZ},
                {config->blockDimX, config->blockDimY, config->blockDimZ}, config->sharedMemBytes, config->hStream,
                arguments, extra);
}
