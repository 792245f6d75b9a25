#pragma once

#include <mpi.h>

#include <utility>

#include "bindings/preload/fortran/alltoallw_types.hpp"
#include "bindings/preload/fortran/forward.hpp"

namespace tutti::interpose::fortran {

/// Forward for MPI_Alltoallw, MPI_Ialltoallw and MPI_Alltoallw_init: they take arrays of types, as many as `comm`
/// has ranks. `Rest` is what follows `comm`.
template <class... Rest>
class ForwardAlltoallw {
 public:
  using Function = int(const void*, const int*, const int*, const MPI_Datatype*, void*, const int*, const int*,
                       const MPI_Datatype*, MPI_Comm, Rest...);

  constexpr explicit ForwardAlltoallw(Function* function) noexcept : function_{function} {}

  template <class... Addresses>
  int operator()(void* in, const int* send_counts, const int* send_places, const MPI_Fint* send_types, void* out,
                 const int* receive_counts, const int* receive_places, const MPI_Fint* receive_types,
                 const MPI_Fint* comm_place, Addresses... rest) const {
    const Argument<MPI_Comm> comm{comm_place};
    AlltoallwTypes types;
    if (const int code = convert(in, send_types, receive_types, comm.value(), types); code != MPI_SUCCESS) return code;
    const int code = function_(buffer(in), send_counts, send_places, types.send.data(), buffer(out), receive_counts,
                               receive_places, types.receive.data(), comm.value(), Argument<Rest>{rest}.value()...);
    if constexpr (sizeof...(rest) > 0) keep(request_in(rest...), std::move(types));
    return code;
  }

 private:
  /// The request comes last.
  template <class First, class... More>
  static MPI_Request request_in(First first, More... more) {
    if constexpr (sizeof...(more) > 0)
      return request_in(more...);
    else
      return to_c<MPI_Request>(*static_cast<const MPI_Fint*>(first));
  }

  Function* function_;
};

}  // namespace tutti::interpose::fortran
