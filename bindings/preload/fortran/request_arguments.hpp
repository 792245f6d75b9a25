#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>

#include "bindings/preload/fortran/handles.hpp"
#include "bindings/preload/fortran/scratch.hpp"
#include "bindings/preload/fortran/sentinels.hpp"

namespace tutti::interpose::fortran {

/// Fortran's requests as C's, during one call. At its end, those that the call changed are written back.
class RequestArguments {
 public:
  RequestArguments(int count, MPI_Fint* place) : place_{place}, before_{count}, now_{count} {
    for (std::size_t i = 0; i < now_.size(); ++i)
      before_[i] = now_[i] = to_c<MPI_Request>(place[i]);
  }
  ~RequestArguments() {
    for (std::size_t i = 0; i < now_.size(); ++i)
      if (now_[i] != before_[i]) place_[i] = to_fortran(now_[i]);
  }
  RequestArguments(const RequestArguments&) = delete;
  RequestArguments& operator=(const RequestArguments&) = delete;

  [[nodiscard]] MPI_Request* data() noexcept { return now_.data(); }

 private:
  MPI_Fint* place_;
  Scratch<MPI_Request> before_, now_;
};

/// Fortran's statuses as C's, during one call. They keep what the call does not set, such as MPI_ERROR.
class StatusArguments {
 public:
  StatusArguments(int count, MPI_Fint* place)
      : place_{place}, are_ignored_{is_status_ignore(place)}, statuses_{are_ignored_ ? 0 : count} {
    for (std::size_t i = 0; i < statuses_.size(); ++i)
      MPI_Status_f2c(place_ + i * length, &statuses_[i]);
  }

  [[nodiscard]] MPI_Status* data() noexcept { return are_ignored_ ? MPI_STATUSES_IGNORE : statuses_.data(); }

  /// The one status of a call that returns one.
  [[nodiscard]] MPI_Status* one() noexcept { return are_ignored_ ? MPI_STATUS_IGNORE : statuses_.data(); }

  /// Writes the first `count` back.
  void store(int count) {
    const std::size_t stored = count > 0 ? std::min(static_cast<std::size_t>(count), statuses_.size()) : 0;
    for (std::size_t i = 0; i < stored; ++i)
      MPI_Status_c2f(&statuses_[i], place_ + i * length);
  }

 private:
  static constexpr std::size_t length =
      sizeof(MPI_Status) / sizeof(MPI_Fint);  // MPI_STATUS_SIZE, and mpi_f08's as well

  MPI_Fint* place_;
  bool are_ignored_;
  Scratch<MPI_Status> statuses_;
};

/// Fortran counts from 1.
[[nodiscard]] inline MPI_Fint from_one(int index) noexcept { return index == MPI_UNDEFINED ? index : index + 1; }

}  // namespace tutti::interpose::fortran
