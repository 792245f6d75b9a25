#include "bindings/preload/fortran/alltoallw_types.hpp"

#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "bindings/preload/fortran/handles.hpp"
#include "bindings/preload/fortran/sentinels.hpp"

namespace tutti::interpose::fortran {
namespace {

/// How many ranks a call on `comm` exchanges data with. MPI_COMM_NULL has none: the call itself will refuse it.
int count_peers(MPI_Comm comm, int& peers) {
  peers = 0;
  if (comm == MPI_COMM_NULL) return MPI_SUCCESS;
  int is_inter = 0;
  if (const int code = MPI_Comm_test_inter(comm, &is_inter); code != MPI_SUCCESS) return code;
  return is_inter != 0 ? MPI_Comm_remote_size(comm, &peers) : MPI_Comm_size(comm, &peers);
}

std::vector<MPI_Datatype> converted(const MPI_Fint* types, int count) {
  std::vector<MPI_Datatype> result(static_cast<std::size_t>(count));
  for (MPI_Datatype& type : result)
    type = to_c<MPI_Datatype>(*types++);
  return result;
}

}  // namespace

int convert(const void* in, const MPI_Fint* send, const MPI_Fint* receive, MPI_Comm comm, AlltoallwTypes& types) {
  int peers = 0;
  if (const int code = count_peers(comm, peers); code != MPI_SUCCESS) return code;
  types.receive = converted(receive, peers);
  types.send = is_in_place(in) ? types.receive : converted(send, peers);
  return MPI_SUCCESS;
}

void keep(MPI_Request request, AlltoallwTypes types) {
  static std::mutex mutex;
  static auto& kept = *new std::unordered_map<MPI_Request, AlltoallwTypes>;  // never destroyed: MPI reads them
  const std::lock_guard lock{mutex};
  kept[request] = std::move(types);
}

}  // namespace tutti::interpose::fortran
