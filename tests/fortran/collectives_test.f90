! Every collective of the module tutti against the MPI's own, with the element type and the shape of the buffers varied.
program collectives_test
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use tutti_f08
  implicit none
  integer, parameter :: n = 37
  type(tutti_comm) :: comm
  integer :: rank, ranks, ierr, failures, all_failures, i
  integer, allocatable :: in(:), out(:), wanted(:)

  call MPI_Init(ierr)
  call tutti_comm_create(MPI_COMM_WORLD, comm)
  call tutti_comm_rank(comm, rank)
  call tutti_comm_size(comm, ranks)
  failures = 0
  allocate(in(n * ranks), out(n * ranks), wanted(n * ranks))

  call test_reductions()
  call test_movements()
  call test_lists()
  call test_typed_lists()
  call test_shapes()

  call tutti_comm_free(comm)
  call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
  if (all_failures > 0) error stop 1

contains

  subroutine fill()
    in = [(mod(rank * 101 + i * 7, 50), i=1, size(in))]
    out = -1
    wanted = -1
  end subroutine

  subroutine check(is_right, what)
    logical, intent(in) :: is_right
    character(*), intent(in) :: what
    if (is_right) return
    failures = failures + 1
    print *, 'rank', rank, ': ', what, ' is wrong'
  end subroutine

  subroutine test_reductions()
    call fill()
    call MPI_Allreduce(in, wanted, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call tutti_allreduce(in(:n), out(:n), tutti_int32, tutti_sum, comm)
    call check(all(out == wanted), 'allreduce')
    out(:n) = in(:n)
    call tutti_allreduce(tutti_in_place, out(:n), tutti_int32, tutti_sum, comm)
    call check(all(out == wanted), 'allreduce in place')
    call fill()
    call MPI_Reduce(in, wanted, n, MPI_INTEGER, MPI_MAX, ranks - 1, MPI_COMM_WORLD, ierr)
    call tutti_reduce(in(:n), out(:n), tutti_int32, tutti_max, comm=comm, root=ranks - 1)
    if (rank == ranks - 1) call check(all(out == wanted), 'reduce')
    call fill()
    call MPI_Reduce_scatter_block(in, wanted, n, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD, ierr)
    call tutti_reduce_scatter(in, out(:n), tutti_int32, tutti_min, comm)
    call check(all(out == wanted), 'reduce_scatter')
    call fill()
    call MPI_Scan(in, wanted, n, MPI_INTEGER, MPI_BXOR, MPI_COMM_WORLD, ierr)
    call tutti_scan(in(:n), out(:n), tutti_int32, tutti_bxor, comm)
    call check(all(out == wanted), 'scan')
    call fill()
    call MPI_Exscan(in, wanted, n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call tutti_exscan(in(:n), out(:n), tutti_int32, tutti_sum, comm)
    if (rank > 0) call check(all(out == wanted), 'exscan')
  end subroutine

  subroutine test_movements()
    call fill()
    wanted = in
    call MPI_Bcast(wanted, n, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    call tutti_broadcast(in(:n), tutti_int32, 0, comm)
    call check(all(in == wanted), 'broadcast')
    call fill()
    call MPI_Allgather(in, n, MPI_INTEGER, wanted, n, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call tutti_allgather(in(:n), out, tutti_int32, comm)
    call check(all(out == wanted), 'allgather')
    call tutti_allgather(tutti_in_place, out, tutti_int32, comm)
    call check(all(out == wanted), 'allgather in place')
    call fill()
    call MPI_Gather(in, n, MPI_INTEGER, wanted, n, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    call tutti_gather(in(:n), out(:merge(n * ranks, 0, rank == 0)), tutti_int32, 0, comm)
    call check(all(out == wanted), 'gather')
    call fill()
    call MPI_Scatter(in, n, MPI_INTEGER, wanted, n, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    call tutti_scatter(in(:merge(n * ranks, 0, rank == 0)), out(:n), tutti_int32, 0, comm)
    call check(all(out == wanted), 'scatter')
    call fill()
    call MPI_Alltoall(in, n, MPI_INTEGER, wanted, n, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call tutti_alltoall(in, out, tutti_int32, comm)
    call check(all(out == wanted), 'alltoall')
    call tutti_barrier(comm)
  end subroutine

  !> Rank r has r + 1 elements; with offsets there is a gap behind each block.
  subroutine test_lists()
    integer(c_int64_t) :: counts(ranks), offsets(ranks), ones(ranks)
    integer :: mpi_counts(ranks), mpi_offsets(ranks), mine, status
    mine = rank + 1
    counts = [(i, i=1, ranks)]
    offsets = [(i * (i + 1) / 2 - i + 2 * (i - 1), i=1, ranks)]
    ones = 1
    mpi_counts = int(counts)
    mpi_offsets = int(offsets)
    call fill()
    call MPI_Allgatherv(in, mine, MPI_INTEGER, wanted, mpi_counts, mpi_offsets, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call tutti_allgatherv(in(:mine), out, counts, tutti_int32, comm, offsets)
    call check(all(out == wanted), 'allgatherv')
    call tutti_allgatherv(in(:mine), out, counts, tutti_int32, comm, offsets(2:), ierror=status)
    call check(status == tutti_error_argument, 'offsets of another length')
    call fill()
    call MPI_Gatherv(in, mine, MPI_INTEGER, wanted, mpi_counts, mpi_offsets, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    call tutti_gatherv(in(:mine), out, counts, tutti_int32, 0, comm, offsets)
    call check(all(out == wanted), 'gatherv')
    call fill()
    call MPI_Scatterv(in, mpi_counts, mpi_offsets, MPI_INTEGER, wanted, mine, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    call tutti_scatterv(in, out(:mine), counts, tutti_int32, 0, comm, offsets)
    call check(all(out == wanted), 'scatterv')
    call fill()
    call MPI_Reduce_scatter(in, wanted, mpi_counts, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call tutti_reduce_scatterv(in, out(:mine), counts, tutti_int32, tutti_sum, comm)
    call check(all(out == wanted), 'reduce_scatterv')
    call fill()
    call MPI_Alltoall(in, 1, MPI_INTEGER, wanted, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call tutti_alltoallv(in, ones, out, ones, tutti_int32, comm)
    call check(all(out == wanted), 'alltoallv')
  end subroutine

  subroutine test_typed_lists()
    integer(c_int64_t) :: counts(ranks), offsets(ranks)
    integer :: types(ranks)
    counts = 4
    offsets = [(4 * (i - 1), i=1, ranks)]
    types = tutti_uint8
    call fill()
    call MPI_Alltoall(in, 1, MPI_INTEGER, wanted, 1, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call tutti_alltoallw(in, counts, offsets, types, out, counts, offsets, types, comm)
    call check(all(out == wanted), 'alltoallw')
  end subroutine

  !> Scalars, arrays of more ranks, other types; and a section that is not contiguous, which is refused.
  subroutine test_shapes()
    real(c_double) :: matrix(5, 7), whole, parts(ranks)
    complex(c_float) :: z(3)
    integer :: status
    matrix = 0.5d0
    call tutti_allreduce(tutti_in_place, matrix, tutti_fp64, tutti_sum, comm)
    call check(all(matrix == 0.5d0 * ranks), 'a matrix')
    call tutti_allreduce(real(rank + 1, c_double), whole, tutti_fp64, tutti_sum, comm)
    call check(whole == ranks * (ranks + 1) / 2, 'a scalar')
    z = (1.0, 2.0)
    call tutti_allreduce(tutti_in_place, z, tutti_complex_fp32, tutti_sum, comm)
    call check(all(z == cmplx(ranks, 2 * ranks)), 'complex numbers')
    call tutti_allreduce(tutti_in_place, matrix(1, :), tutti_fp64, tutti_sum, comm, ierror=status)
    call check(status == tutti_error_argument .and. index(tutti_last_error(), "'out' is not contiguous") > 0, 'a row')
    call tutti_allreduce(matrix(1, :), matrix(1:5, 2), tutti_fp64, tutti_sum, comm, ierror=status)
    call check(status == tutti_error_argument .and. index(tutti_last_error(), "'in' is not contiguous") > 0, 'a row as input')
    call tutti_allreduce(matrix(::2, 1), matrix(1:3, 2), tutti_fp64, tutti_sum, comm, ierror=status)
    call check(status == tutti_error_argument .and. index(tutti_last_error(), "'in' is not contiguous") > 0, 'every second element')
    ! Only the root uses the output of a gather.
    if (rank == 0) then
      call tutti_gather(matrix(1:1, 1), parts, tutti_fp64, 0, comm, ierror=status)
    else
      call tutti_gather(matrix(1:1, 1), matrix(1, :), tutti_fp64, 0, comm, ierror=status)
    end if
    call check(status == tutti_success, 'a row that is not used')
    call tutti_allreduce(matrix(:, 1:2), matrix(:, 3), tutti_fp64, tutti_sum, comm, ierror=status)
    call check(status == tutti_error_argument .and. index(tutti_last_error(), "'count' is -1") > 0, 'a short output')
  end subroutine

end program
