#pragma once

#include <mpi.h>

#include <vector>

#include "lib/core/memory/unique_handle.hpp"

namespace tutti::mpi {

struct CommTraits {
  using Handle = MPI_Comm;
  static Handle null() { return MPI_COMM_NULL; }
  static void destroy(Handle& comm) noexcept;
};
struct GroupTraits {
  using Handle = MPI_Group;
  static Handle null() { return MPI_GROUP_NULL; }
  static void destroy(Handle& group) noexcept;
};
struct TypeTraits {
  using Handle = MPI_Datatype;
  static Handle null() { return MPI_DATATYPE_NULL; }
  static void destroy(Handle& type) noexcept;
};
using UniqueComm = UniqueHandle<CommTraits>;
using UniqueGroup = UniqueHandle<GroupTraits>;
using UniqueType = UniqueHandle<TypeTraits>;

/// Collective: a communicator of the same ranks, in which the program has no messages. MPI_Comm_dup would also copy
/// attributes and hints that the program has attached, and run its functions for that.
[[nodiscard]] UniqueComm with_same_ranks(MPI_Comm comm);
/// The rank in `other` of each rank of `comm`; MPI_UNDEFINED where it has none. Local.
[[nodiscard]] std::vector<int> translated_ranks(MPI_Comm comm, MPI_Comm other);

}  // namespace tutti::mpi
