#include "bindings/preload/right_mpi.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "lib/core/transport/mpi/dialect.hpp"

namespace tutti::interpose {
namespace {

using GetVersion = int(char*, int*);
/// Enough for any MPI: MPI_MAX_LIBRARY_VERSION_STRING is 256 in Open MPI, and 8,192 in MPICH.
constexpr std::size_t longest_version = 16'384;

int note_path(dl_phdr_info* object, std::size_t /*size*/, void* paths) {
  static_cast<std::set<std::string>*>(paths)->insert(object->dlpi_name);
  return 0;
}

/// One function for each MPI library of the process: PMPI_Get_library_version, which needs no MPI_Init.
std::set<GetVersion*> loaded_mpis() {
  std::set<std::string> paths;
  ::dl_iterate_phdr(note_path, &paths);
  std::set<GetVersion*> found;
  for (const std::string& path : paths) {
    void* const object = path.empty() ? nullptr : ::dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (object == nullptr) continue;
    if (void* const function = ::dlsym(object, "PMPI_Get_library_version"))
      found.insert(reinterpret_cast<GetVersion*>(function));
    ::dlclose(object);
  }
  return found;
}

std::string path_of(GetVersion* function) {
  Dl_info info{};
  return ::dladdr(reinterpret_cast<void*>(function), &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "?";
}

}  // namespace

bool is_first_rank() {
  for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (const char* const rank = std::getenv(name)) return std::string_view{rank} == "0";
  return true;
}

void require_right_mpi() {
  for (GetVersion* const get_version : loaded_mpis()) {
    std::array<char, longest_version> version{};
    int length = 0;
    get_version(version.data(), &length);
    const std::string path = path_of(get_version);
    const std::string_view abi = mpi::abi_of(version.data(), path);
    if (abi.empty() || abi == mpi::own_abi()) continue;
    if (is_first_rank())
      std::fputs(fmt::format("tutti: this program runs on {}, but the preloaded libtutti_mpi.so was built for {}: "
                             "preload the one that was built for {} ({})\n",
                             mpi::name_in(version.data()), mpi::own_abi(), abi, path)
                     .c_str(),
                 stderr);
    else
      std::this_thread::sleep_for(
          std::chrono::seconds{1});  // launchers end all ranks when one ends: it may print first
    std::_Exit(EXIT_FAILURE);
  }
}

}  // namespace tutti::interpose
