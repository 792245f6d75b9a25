#pragma once
// The functions of MPI beneath this library: those of another tool that was preloaded after it, or MPI's own.

#include <dlfcn.h>
#include <mpi.h>

namespace tutti::interpose {

template <class Function>
[[nodiscard]] Function* beneath(const char* name, Function* of_mpi) {
  void* const found = ::dlsym(RTLD_NEXT, name);
  return found == nullptr ? of_mpi : reinterpret_cast<Function*>(found);
}

}  // namespace tutti::interpose

/// MPI_name, found once.
#define TUTTI_BENEATH(name)                                                     \
  ([]() {                                                                       \
    static auto* const function = ::tutti::interpose::beneath(#name, &P##name); \
    return function;                                                            \
  }())
