#include "bindings/preload/fortran/sentinels.hpp"

namespace tutti::interpose::fortran {

bool is_status_ignore(const void* status) noexcept {
  return status == MPI_F08_STATUS_IGNORE || status == MPI_F08_STATUSES_IGNORE;
}

}  // namespace tutti::interpose::fortran
