#pragma once
// Modules and their functions, by handle.

#include <cuda.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

#include "tests/fake_cuda/driver/context.hpp"
#include "tests/fake_cuda/ptx/module.hpp"

namespace fake_cuda {

struct Function {
  std::shared_ptr<const ptx::Module> module;  ///< For operations that run it yet.
  const ptx::Kernel* kernel;
  Context* context;
  std::atomic<bool> is_loaded;  ///< Into the device: by cuFuncLoad, by the first launch, or with its module.
};
using FunctionPointer = std::shared_ptr<Function>;

class Modules {
 public:
  static Modules& get();

  CUmodule add(Context* context, std::shared_ptr<const ptx::Module> module);
  void remove(CUmodule handle);
  /// nullptr: there is no such.
  [[nodiscard]] Context* context_of(CUmodule handle);
  /// nullptr: the module has no kernel of the name.
  CUfunction function(CUmodule handle, std::string_view name);
  /// nullptr: there is no such.
  [[nodiscard]] FunctionPointer find(CUfunction handle);

 private:
  struct Entry {
    Context* context;
    std::shared_ptr<const ptx::Module> module;
    std::map<const ptx::Kernel*, CUfunction> functions{};
  };
  std::mutex mutex_;
  std::map<CUmodule, Entry> modules_;
  std::map<CUfunction, FunctionPointer> functions_;
  std::uint64_t next_ = 0x50000;
};

/// CUDA_MODULE_LOADING=EAGER: modules are loaded as a whole.
[[nodiscard]] bool loads_eagerly();

}  // namespace fake_cuda
