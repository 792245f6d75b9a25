#include "bindings/preload/fortran/sentinels.hpp"

#include <dlfcn.h>

#include <string>

namespace tutti::interpose::fortran {
namespace {

/// The address of the common block `lower`, under the name that Open MPI's Fortran compiler gave it. Looked up when it
/// is first needed: the library does not link Open MPI's Fortran, and a program may load it late.
const void* common_block(const std::string& lower, const char* upper) {
  for (const std::string& name : {lower + "_", lower, lower + "__", std::string{upper}})
    if (const void* const found = ::dlsym(RTLD_DEFAULT, name.c_str())) return found;
  static const char nowhere = 0;
  return &nowhere;  // which nobody passes
}

}  // namespace

bool is_in_place(const void* buffer) noexcept {
  static const void* const in_place = common_block("mpi_fortran_in_place", "MPI_FORTRAN_IN_PLACE");
  return buffer == in_place;
}

bool is_bottom(const void* buffer) noexcept {
  static const void* const bottom = common_block("mpi_fortran_bottom", "MPI_FORTRAN_BOTTOM");
  return buffer == bottom;
}

bool is_status_ignore(const void* status) noexcept {
  static const void* const one = common_block("mpi_fortran_status_ignore", "MPI_FORTRAN_STATUS_IGNORE");
  static const void* const many = common_block("mpi_fortran_statuses_ignore", "MPI_FORTRAN_STATUSES_IGNORE");
  return status == one || status == many;
}

}  // namespace tutti::interpose::fortran
