#pragma once
// Every MPI function that the library calls, bound to the PMPI_ names: an interposer that exports the MPI_ names and
// hands the calls to Tutti (bindings/preload/) does not meet itself, and a profiler sees the program's calls alone.

#include <mpi.h>

// NOLINTNEXTLINE(bugprone-macro-parentheses): the name of a member
#define TUTTI_MPI_FUNCTION(name) decltype(&PMPI_##name) name = PMPI_##name

namespace tutti::mpi {
namespace {

/// Constant pointers to known functions, so that a call through them is a direct one.
struct Api {
  TUTTI_MPI_FUNCTION(Abort);
  TUTTI_MPI_FUNCTION(Add_error_code);
  TUTTI_MPI_FUNCTION(Add_error_string);
  TUTTI_MPI_FUNCTION(Allgather);
  TUTTI_MPI_FUNCTION(Allreduce);
  TUTTI_MPI_FUNCTION(Barrier);
  TUTTI_MPI_FUNCTION(Bcast);
  TUTTI_MPI_FUNCTION(Cancel);
  TUTTI_MPI_FUNCTION(Comm_call_errhandler);
  TUTTI_MPI_FUNCTION(Comm_compare);
  TUTTI_MPI_FUNCTION(Comm_create);
  TUTTI_MPI_FUNCTION(Comm_create_keyval);
  TUTTI_MPI_FUNCTION(Comm_free);
  TUTTI_MPI_FUNCTION(Comm_free_keyval);
  TUTTI_MPI_FUNCTION(Comm_get_attr);
  TUTTI_MPI_FUNCTION(Comm_get_errhandler);
  TUTTI_MPI_FUNCTION(Comm_get_info);
  TUTTI_MPI_FUNCTION(Comm_get_name);
  TUTTI_MPI_FUNCTION(Comm_group);
  TUTTI_MPI_FUNCTION(Comm_rank);
  TUTTI_MPI_FUNCTION(Comm_set_attr);
  TUTTI_MPI_FUNCTION(Comm_set_errhandler);
  TUTTI_MPI_FUNCTION(Comm_size);
  TUTTI_MPI_FUNCTION(Comm_split);
  TUTTI_MPI_FUNCTION(Comm_split_type);
  TUTTI_MPI_FUNCTION(Comm_test_inter);
  TUTTI_MPI_FUNCTION(Errhandler_free);
  TUTTI_MPI_FUNCTION(Error_class);
  TUTTI_MPI_FUNCTION(Error_string);
  TUTTI_MPI_FUNCTION(Finalized);
  TUTTI_MPI_FUNCTION(Get_count);
  TUTTI_MPI_FUNCTION(Get_library_version);
  TUTTI_MPI_FUNCTION(Grequest_complete);
  TUTTI_MPI_FUNCTION(Grequest_start);
  TUTTI_MPI_FUNCTION(Group_free);
  TUTTI_MPI_FUNCTION(Group_translate_ranks);
  TUTTI_MPI_FUNCTION(Iallreduce);
  TUTTI_MPI_FUNCTION(Ibarrier);
  TUTTI_MPI_FUNCTION(Info_free);
  TUTTI_MPI_FUNCTION(Initialized);
  TUTTI_MPI_FUNCTION(Iprobe);
  TUTTI_MPI_FUNCTION(Irecv);
  TUTTI_MPI_FUNCTION(Is_thread_main);
  TUTTI_MPI_FUNCTION(Isend);
  TUTTI_MPI_FUNCTION(Op_commutative);
  TUTTI_MPI_FUNCTION(Pack);
  TUTTI_MPI_FUNCTION(Query_thread);
  TUTTI_MPI_FUNCTION(Reduce);
  TUTTI_MPI_FUNCTION(Reduce_local);
  TUTTI_MPI_FUNCTION(Request_free);
  TUTTI_MPI_FUNCTION(Request_get_status);
  TUTTI_MPI_FUNCTION(Send_init);
  TUTTI_MPI_FUNCTION(Sendrecv);
  TUTTI_MPI_FUNCTION(Start);
  TUTTI_MPI_FUNCTION(Status_set_cancelled);
  TUTTI_MPI_FUNCTION(Status_set_elements);
  TUTTI_MPI_FUNCTION(Test);
  TUTTI_MPI_FUNCTION(Testall);
  TUTTI_MPI_FUNCTION(Testany);
  TUTTI_MPI_FUNCTION(Testsome);
  TUTTI_MPI_FUNCTION(Type_commit);
  TUTTI_MPI_FUNCTION(Type_contiguous);
  TUTTI_MPI_FUNCTION(Type_create_hindexed);
  TUTTI_MPI_FUNCTION(Type_create_keyval);
  TUTTI_MPI_FUNCTION(Type_create_struct);
  TUTTI_MPI_FUNCTION(Type_free);
  TUTTI_MPI_FUNCTION(Type_free_keyval);
  TUTTI_MPI_FUNCTION(Type_get_attr);
  TUTTI_MPI_FUNCTION(Type_get_contents);
  TUTTI_MPI_FUNCTION(Type_get_envelope);
  TUTTI_MPI_FUNCTION(Type_get_extent);
  TUTTI_MPI_FUNCTION(Type_get_name);
  TUTTI_MPI_FUNCTION(Type_get_true_extent);
  TUTTI_MPI_FUNCTION(Type_set_attr);
  TUTTI_MPI_FUNCTION(Type_size_x);
  TUTTI_MPI_FUNCTION(Unpack);
  TUTTI_MPI_FUNCTION(Wait);
  TUTTI_MPI_FUNCTION(Waitall);
};
constexpr Api api;

}  // namespace
}  // namespace tutti::mpi

#undef TUTTI_MPI_FUNCTION
