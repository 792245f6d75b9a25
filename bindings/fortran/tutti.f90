! Tutti in Fortran. docs/c-api.md is the guide, and include/tutti.h the reference: names and rules are the same.
!
!     use tutti
!     type(tutti_comm) :: comm
!     call tutti_comm_create(MPI_COMM_WORLD, comm)
!     call tutti_allreduce(mine, total, tutti_fp64, tutti_sum, comm)
!     call tutti_comm_free(comm)
!
! - Buffers are scalars and contiguous arrays of any type and rank. Their sizes say how many elements are meant, so that
!   calls have no counts: pass a(1:n) for fewer. tutti_in_place takes the place of an input, or of scatter's output.
! - Collectives have three forms. Plain calls are blocking; with request=r the call is nonblocking, and tutti_wait(r)
!   completes it; with plan=p it is prepared only, to be run by tutti_start(p) and tutti_wait(p). The buffers of the last
!   two stay in use until the operation is over: give them the attribute asynchronous or target.
! - Without ierror, the last argument of every subroutine, an error ends the program with its text. With it, it is
!   tutti_success or the status of tutti.h, and tutti_last_error() is the text.
! - Ranks and roots count from 0, as in MPI. Lists of counts and offsets, in elements, are of kind c_int64_t.
module tutti
  use tutti_bindings
  use tutti_handles
  use tutti_calls
  use tutti_collectives
  implicit none
  private

  public :: tutti_success, tutti_error_argument, tutti_error_state, tutti_error_mpi, tutti_error_memory, &
            tutti_error_failed, tutti_error_other
  public :: tutti_int8, tutti_int16, tutti_int32, tutti_int64, tutti_uint8, tutti_uint16, tutti_uint32, tutti_uint64, &
            tutti_fp8_e4m3, tutti_fp8_e5m2, tutti_fp16, tutti_bf16, tutti_fp32, tutti_fp64, tutti_complex_fp32, &
            tutti_complex_fp64, tutti_bool
  public :: tutti_op, tutti_sum, tutti_prod, tutti_min, tutti_max, tutti_avg, tutti_land, tutti_lor, tutti_lxor, &
            tutti_band, tutti_bor, tutti_bxor, tutti_exact_sum, tutti_user_function

  public :: tutti_comm_create, tutti_comm_free, tutti_comm_close, tutti_comm_rank, tutti_comm_size, &
            tutti_comm_node_count, tutti_comm_node_of, tutti_comm_status
  public :: tutti_op_create_user, tutti_op_create_scaled_sum, tutti_op_free
  public :: tutti_wait, tutti_test, tutti_start, tutti_free, tutti_explain
  public :: tutti_batch_create, tutti_batch_send, tutti_batch_recv, tutti_batch_run
  public :: tutti_last_error, tutti_version
  public :: tutti_comm, tutti_request, tutti_plan, tutti_batch, tutti_in_place
  public :: tutti_barrier, tutti_broadcast, tutti_reduce, tutti_allreduce, tutti_reduce_scatter, tutti_scan, &
            tutti_exscan, tutti_allgather, tutti_gather, tutti_scatter, tutti_alltoall, tutti_reduce_scatterv, &
            tutti_allgatherv, tutti_gatherv, tutti_scatterv, tutti_alltoallv, tutti_alltoallw

end module
