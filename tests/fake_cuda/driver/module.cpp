#include "tests/fake_cuda/driver/module.hpp"

#include <cstdlib>

namespace fake_cuda {

Modules& Modules::get() {
  static Modules* const modules = new Modules;  // used by the destructors of libraries, too
  return *modules;
}

CUmodule Modules::add(Context* context, std::shared_ptr<const ptx::Module> module) {
  const std::lock_guard lock{mutex_};
  next_ += 16;
  const auto handle = reinterpret_cast<CUmodule>(next_);
  modules_.emplace(handle, Entry{context, std::move(module)});
  return handle;
}

void Modules::remove(CUmodule handle) {
  const std::lock_guard lock{mutex_};
  const auto found = modules_.find(handle);
  if (found == modules_.end()) return;
  for (const auto& [kernel, function] : found->second.functions)
    functions_.erase(function);
  modules_.erase(found);
}

Context* Modules::context_of(CUmodule handle) {
  const std::lock_guard lock{mutex_};
  const auto found = modules_.find(handle);
  return found == modules_.end() ? nullptr : found->second.context;
}

CUfunction Modules::function(CUmodule handle, std::string_view name) {
  const std::lock_guard lock{mutex_};
  Entry& entry = modules_.at(handle);
  for (const ptx::Kernel& kernel : entry.module->kernels) {
    if (kernel.name != name) continue;
    CUfunction& function = entry.functions[&kernel];
    if (function == nullptr) {
      next_ += 16;
      function = reinterpret_cast<CUfunction>(next_);
      functions_[function] =
          std::shared_ptr<Function>(new Function{entry.module, &kernel, entry.context, loads_eagerly()});
    }
    return function;
  }
  return nullptr;
}

FunctionPointer Modules::find(CUfunction handle) {
  const std::lock_guard lock{mutex_};
  const auto found = functions_.find(handle);
  return found == functions_.end() ? nullptr : found->second;
}

bool loads_eagerly() {
  static const char* const mode = std::getenv("CUDA_MODULE_LOADING");
  static const bool is_eager = mode != nullptr && std::string_view{mode} == "EAGER";
  return is_eager;
}

}  // namespace fake_cuda
