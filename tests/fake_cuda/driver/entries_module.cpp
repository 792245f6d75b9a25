// Entry points: modules and kernels.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "tests/fake_cuda/driver/access.hpp"
#include "tests/fake_cuda/driver/byte_ranges.hpp"
#include "tests/fake_cuda/driver/call.hpp"
#include "tests/fake_cuda/driver/report.hpp"
#include "tests/fake_cuda/driver/settings.hpp"
#include "tests/fake_cuda/driver/stream.hpp"
#include "tests/fake_cuda/ptx/machine.hpp"

using namespace fake_cuda;

namespace {

struct Modules {
  std::mutex mutex;
  std::map<CUmodule, std::shared_ptr<ptx::Module>> by_handle;
  std::uint64_t next = 0x50000;
};
Modules& modules() {
  static Modules* const all = new Modules;
  return *all;
}

CUresult load(Context* context, CUmodule* handle, const void* image) {
  FAKE_CUDA_REQUIRE(handle != nullptr && image != nullptr);
  may_synchronise("loading a module", context);
  try {
    auto module = ptx::load(image);
    const std::lock_guard lock{modules().mutex};
    modules().next += 16;
    *handle = reinterpret_cast<CUmodule>(modules().next);
    modules().by_handle[*handle] = std::move(module);
    ++totals().live_modules;
    return CUDA_SUCCESS;
  } catch (const ptx::Error& error) {
    caught("module", error.what());
    return CUDA_ERROR_INVALID_PTX;
  }
}

CUresult unload(Context* context, CUmodule handle) {
  may_synchronise("unloading a module", context);
  Streams::get().drain(context);
  const std::lock_guard lock{modules().mutex};
  if (modules().by_handle.erase(handle) == 0) return CUDA_ERROR_INVALID_HANDLE;
  --totals().live_modules;
  return CUDA_SUCCESS;
}

CUresult function_of(CUmodule handle, const char* name, CUfunction* function) {
  const std::lock_guard lock{modules().mutex};
  const auto found = modules().by_handle.find(handle);
  if (found == modules().by_handle.end()) return CUDA_ERROR_INVALID_HANDLE;
  for (ptx::Kernel& kernel : found->second->kernels)
    if (kernel.name == name) {
      if (!kernel.error.empty()) {
        caught("kernel", text("%s cannot run: %s", name, kernel.error.c_str()));
        return CUDA_ERROR_INVALID_PTX;
      }
      *function = reinterpret_cast<CUfunction>(&kernel);
      return CUDA_SUCCESS;
    }
  return CUDA_ERROR_NOT_FOUND;
}

/// The memory of one launch: checks each access, and adds up the ranges that it touched.
class KernelMemory {
 public:
  explicit KernelMemory(const ptx::Kernel& kernel) : kernel_(kernel) {}
  ~KernelMemory() {
    totals().bytes_read += read_;
    totals().bytes_written += written_;
  }
  KernelMemory(const KernelMemory&) = delete;
  KernelMemory& operator=(const KernelMemory&) = delete;

  std::byte* at(std::uint64_t address, std::size_t size, bool writes) {
    (writes ? written_ : read_) += size;
    Touched& region = region_of(address, size, writes);
    if (address % size != 0) throw DeviceFault{"misaligned", said(address, size, writes, "misaligned")};
    if (settings().finds_races) (writes ? region.written : region.read).add(address, address + size);
    return resolve(*region.region, address, size, writes ? "kernel, write" : "kernel, read");
  }
  /// The accesses of the whole kernel.
  void note_all() {
    for (const Touched& each : touched_) {
      for (const auto& [begin, end] : each.read.all())
        note(*each.region, begin, end, Use::read);
      for (const auto& [begin, end] : each.written.all())
        note(*each.region, begin, end, Use::write);
    }
  }

 private:
  struct Touched {
    RegionPointer region;
    ByteRanges read{}, written{};
  };
  [[nodiscard]] std::string said(std::uint64_t address, std::size_t size, bool writes, const char* what) const {
    return text("kernel %s: %s of %zu bytes at 0x%lx: %s", kernel_.name.c_str(), writes ? "write" : "read", size,
                address, what);
  }
  Touched& region_of(std::uint64_t address, std::size_t size, bool writes) {
    for (Touched& each : touched_)
      if (address - each.region->base < each.region->size) return each;
    if (RegionPointer region = Memory::get().find(address)) return touched_.emplace_back(Touched{std::move(region)});
    const bool is_freed = Memory::get().is_hole(address);
    throw DeviceFault{is_freed ? "use-after-free" : "unknown-address",
                      said(address, size, writes, is_freed ? "freed device memory" : "no memory of the device")};
  }

  const ptx::Kernel& kernel_;
  std::vector<Touched> touched_;
  std::uint64_t read_ = 0, written_ = 0;
};

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

CUresult launch(Context* context, CUfunction function, ptx::Size grid, ptx::Size block, unsigned shared_bytes,
                CUstream stream, void** arguments, void** extra) {
  const auto* const kernel = reinterpret_cast<const ptx::Kernel*>(function);
  FAKE_CUDA_REQUIRE(kernel != nullptr && grid.count() > 0 && block.count() > 0 && block.count() <= 1024);
  FAKE_CUDA_REQUIRE(grid.y < 65536 && grid.z < 65536 && block.z <= 64);
  std::vector<std::byte> parameters;
  FAKE_CUDA_REQUIRE(gather(*kernel, arguments, extra, parameters));
  ++totals().kernels;
  return enqueue(context, stream, {.work = [=] {
                   KernelMemory memory{*kernel};
                   ptx::run(*kernel, grid, block, shared_bytes, parameters,
                            [&](std::uint64_t address, std::size_t size, bool writes) {
                              return memory.at(address, size, writes);
                            });
                   memory.note_all();
                 }});
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
  *mode = CU_MODULE_EAGER_LOADING;
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  FAKE_CUDA_CONTEXT_CALL("cuModuleGetFunction");
  return function_of(module, name, function);
}
FAKE_CUDA_EXPORT CUresult cuFuncGetAttribute(int* value, CUfunction_attribute which, CUfunction function) {
  FAKE_CUDA_CONTEXT_CALL("cuFuncGetAttribute");
  const auto* const kernel = reinterpret_cast<const ptx::Kernel*>(function);
  *value = which == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024
           : which == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES   ? static_cast<int>(kernel->shared_bytes)
           : which == CU_FUNC_ATTRIBUTE_NUM_REGS            ? 32
                                                            : 0;
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) {
  FAKE_CUDA_CONTEXT_CALL("cuFuncSetAttribute");
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
