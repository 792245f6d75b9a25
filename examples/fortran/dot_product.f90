! The dot product of two vectors that the ranks share, and its parts on rank 0. Programs with `use mpi` or mpif.h say
! `use tutti`, and are otherwise the same.
program dot_product_of_vectors
  use mpi_f08
  use tutti_f08
  implicit none
  integer, parameter :: mine = 1000
  real(kind(1d0)) :: x(mine), y(mine), part, total
  real(kind(1d0)), allocatable, asynchronous :: parts(:)
  type(tutti_comm) :: comm
  type(tutti_request) :: request
  integer :: rank, ranks, i, status

  call MPI_Init()
  call tutti_comm_create(MPI_COMM_WORLD, comm)
  call tutti_comm_rank(comm, rank)
  call tutti_comm_size(comm, ranks)
  x = [(real(rank * mine + i), i=1, mine)]
  y = 2
  part = dot_product(x, y)

  call tutti_allreduce(part, total, tutti_fp64, tutti_sum, comm)

  ! Nonblocking, while rank 0 could do something else.
  allocate(parts(merge(ranks, 0, rank == 0)))
  call tutti_gather(part, parts, tutti_fp64, 0, comm, request=request)
  call tutti_wait(request)
  if (rank == 0) print '(a, f0.1, a, f0.1)', 'dot product ', total, ', the sum of its parts ', sum(parts)

  ! Errors end the program with their text, unless it asks for them.
  call tutti_broadcast(total, tutti_fp64, ranks, comm, ierror=status)
  if (status /= tutti_error_argument) error stop 'a root that is no rank is an error'
  if (rank == 0) print '(2a)', 'refused: ', tutti_last_error()

  call tutti_comm_free(comm)
  call MPI_Finalize()
end program
