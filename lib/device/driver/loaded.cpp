#include "lib/device/driver/loaded.hpp"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <string_view>

namespace tutti::cuda {
namespace {

/// How many libraries had been loaded, ever, when they were searched last.
std::atomic<unsigned long long> searched{0};

struct Search {
  bool has_begun = false, found = false;
  unsigned long long loaded = 0;  ///< Ever, by now.
};

int visit(dl_phdr_info* library, std::size_t /*size*/, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (!search.has_begun) {
    search.has_begun = true;
    search.loaded = library->dlpi_adds;
    if (searched.load(std::memory_order_acquire) == search.loaded) return 1;
  }
  const std::string_view path = library->dlpi_name;
  search.found = path.substr(path.rfind('/') + 1).starts_with("libcuda.so");
  return search.found ? 1 : 0;
}

}  // namespace

void* loaded_library() noexcept {
  static std::atomic<void*> library{nullptr};
  if (void* const known = library.load(std::memory_order_acquire); known != nullptr) return known;
  Search search;
  ::dl_iterate_phdr(visit, &search);
  if (search.found) library.store(::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), std::memory_order_release);
  searched.store(search.loaded, std::memory_order_release);  // behind the library, for other threads
  return library.load(std::memory_order_acquire);
}

}  // namespace tutti::cuda
