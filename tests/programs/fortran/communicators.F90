#include "handles.h"
! Communicators between groups, made and freed, and errors that come back.
module communicators
  use checks
  implicit none
contains
  ! The ranks below half of the world, and the others.
  subroutine calls_between_groups()
    COMM_HANDLE :: half, between
    type(Place) :: p
    integer :: mine, sums, others, first, ierr, root
    integer, allocatable :: all_of_them(:)
    p = place_of(MPI_COMM_WORLD, "world")
    first = merge(0, p%ranks / 2, p%me < p%ranks / 2)
    others = merge(p%ranks / 2, 0, first == 0)
    call MPI_Comm_split(MPI_COMM_WORLD, first, p%me, half, ierr)
    call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, others, 11, between, ierr)
    p = place_of(between, "inter-communicator")
    mine = first + p%me
    call MPI_Comm_remote_size(between, others, ierr)
    call MPI_Barrier(between, ierr)
    call MPI_Allreduce(mine, sums, 1, MPI_INTEGER, MPI_SUM, between, ierr)
    call expect(p, "allreduce", sums == sum(remote_ranks()))
    allocate(all_of_them(others))
    call MPI_Allgather(mine, 1, MPI_INTEGER, all_of_them, 1, MPI_INTEGER, between, ierr)
    call expect(p, "allgather", all(all_of_them == remote_ranks()))
    root = merge(merge(MPI_ROOT, MPI_PROC_NULL, p%me == 0), 0, first == 0)
    call MPI_Bcast(mine, 1, MPI_INTEGER, root, between, ierr)
    call expect(p, "bcast", mine == merge(p%me, 0, first == 0))
    call MPI_Comm_free(between, ierr)
    call MPI_Comm_free(half, ierr)
  contains
    function remote_ranks() result(list)
      integer :: list(others), i
      list = [(i, i = 0, others - 1)] + merge(p%ranks, 0, first == 0)
    end function
  end subroutine

  subroutine made_and_freed()
    COMM_HANDLE :: comm
    integer :: round, sums, ierr
    type(Place) :: p
    logical :: right
    p = place_of(MPI_COMM_WORLD, "world")
    right = .true.
    do round = 1, 50
      if (mod(round, 2) == 0) call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
      if (mod(round, 2) == 1) call MPI_Comm_split(MPI_COMM_WORLD, 0, -p%me, comm, ierr)
      call MPI_Allreduce(round, sums, 1, MPI_INTEGER, MPI_SUM, comm, ierr)
      right = right .and. sums == p%ranks * round
      call MPI_Comm_free(comm, ierr)
      right = right .and. comm == MPI_COMM_NULL
    end do
    call expect(p, "50 communicators made and freed", right)
  end subroutine

  subroutine errors_come_back()
    COMM_HANDLE :: comm
    integer :: data, code, class, ierr
    type(Place) :: p
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    call MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN, ierr)
    p = place_of(comm, "a duplicate")
    call MPI_Bcast(data, 1, MPI_INTEGER, p%ranks, comm, code)
    call MPI_Error_class(code, class, ierr)
    call expect(p, "bcast with a root that is no rank", class == MPI_ERR_ROOT)
    call MPI_Bcast(data, -1, MPI_INTEGER, 0, comm, code)
    call MPI_Error_class(code, class, ierr)
    call expect(p, "bcast of a negative count", class == MPI_ERR_COUNT)
    call MPI_Allreduce(1, data, 1, MPI_INTEGER, MPI_SUM, comm, code)
    call expect(p, "allreduce after errors", code == MPI_SUCCESS .and. data == p%ranks)
    call MPI_Comm_free(comm, ierr)
  end subroutine
end module
