#pragma once

#include <mpi.h>

#include "lib/memory/unique_handle.hpp"

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

}  // namespace tutti::mpi
