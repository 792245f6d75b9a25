#include <dlfcn.h>

#include <array>

#include "bindings/preload/fortran/sentinels.hpp"

namespace tutti::interpose::fortran {
namespace {

MPI_Fint value_of_true() noexcept {
  for (const char* name :
       std::array{"pmpi_initialized_", "pmpi_initialized", "pmpi_initialized__", "PMPI_INITIALIZED"}) {
    auto* const initialized = reinterpret_cast<void (*)(MPI_Fint*, MPI_Fint*)>(::dlsym(RTLD_DEFAULT, name));
    if (initialized == nullptr) continue;
    MPI_Fint yes = 0, error = 0;
    initialized(&yes, &error);
    if (error == MPI_SUCCESS && yes != 0) return yes;
  }
  return 1;  // gfortran's, and true to every compiler
}

}  // namespace

MPI_Fint logical(int flag) noexcept {
  static const MPI_Fint yes = value_of_true();
  return flag != 0 ? yes : 0;
}

}  // namespace tutti::interpose::fortran
