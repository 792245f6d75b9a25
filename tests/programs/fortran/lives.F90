#include "handles.h"
! What Fortran's own forms of calls have to keep: how requests live, statuses, LOGICALs, special addresses.
module lives
  use checks
  implicit none
  integer, asynchronous :: here, there, news(3)
contains
  subroutine lives_of_requests(p)
    type(Place), intent(in) :: p
    call persistent_messages(p)
    call cancelled_receive(p)
    call freed_send(p)
    call logicals(p)
    call many_alltoallw(p)
  end subroutine

  subroutine forms_of_calls(p)
    type(Place), intent(in) :: p
    call absolute_addresses(p)
    call reduce_scatter_of_blocks(p)
    call disconnected(p)
    call without_error_code(p)
  end subroutine

  integer function left(p)
    type(Place), intent(in) :: p
    left = mod(p%me + p%ranks - 1, p%ranks)
  end function

  subroutine persistent_messages(p)
    type(Place), intent(in) :: p
    REQUEST_HANDLE :: both(2)
    STATUS_LIST(2) :: statuses
    integer :: round, ierr
    call MPI_Recv_init(here, 1, MPI_INTEGER, left(p), 11, p%comm, both(1), ierr)
    call MPI_Send_init(there, 1, MPI_INTEGER, mod(p%me + 1, p%ranks), 11, p%comm, both(2), ierr)
    do round = 1, 4
      there = value(p%me, round)
      here = -1
      if (mod(round, 2) == 0) then
        call MPI_Startall(2, both, ierr)
      else
        call MPI_Start(both(1), ierr)
        call MPI_Start(both(2), ierr)
      end if
      call MPI_Waitall(2, both, statuses, ierr)
      call expect(p, "a started message", here == value(left(p), round) .and. SOURCE_OF(statuses, 1) == left(p))
      call expect(p, "a persistent request stays", both(1) /= MPI_REQUEST_NULL .and. both(2) /= MPI_REQUEST_NULL)
    end do
    call MPI_Request_free(both(1), ierr)
    call MPI_Request_free(both(2), ierr)
    call expect(p, "a freed request", both(1) == MPI_REQUEST_NULL .and. both(2) == MPI_REQUEST_NULL)
  end subroutine

  subroutine cancelled_receive(p)
    type(Place), intent(in) :: p
    REQUEST_HANDLE :: request
    STATUS_LIST(1) :: statuses
    logical :: flag
    integer :: ierr
    call MPI_Irecv(here, 1, MPI_INTEGER, left(p), 12, p%comm, request, ierr)
    call MPI_Cancel(request, ierr)
    call expect(p, "a cancelled request stays", request /= MPI_REQUEST_NULL)
    call MPI_Wait(request, STATUS_AT(statuses, 1), ierr)
    call MPI_Test_cancelled(STATUS_AT(statuses, 1), flag, ierr)
    call expect(p, "a status of a cancelled receive", flag)
  end subroutine

  subroutine freed_send(p)
    type(Place), intent(in) :: p
    REQUEST_HANDLE :: request
    integer :: ierr
    there = value(p%me, 9)
    call MPI_Isend(there, 1, MPI_INTEGER, mod(p%me + 1, p%ranks), 13, p%comm, request, ierr)
    call MPI_Request_free(request, ierr)
    call MPI_Recv(here, 1, MPI_INTEGER, left(p), 13, p%comm, MPI_STATUS_IGNORE, ierr)
    call expect(p, "a send that was freed", request == MPI_REQUEST_NULL .and. here == value(left(p), 9))
    call MPI_Barrier(p%comm, ierr)
  end subroutine

  ! A LOGICAL of MPI has the bits of the compiler's .true. and .false.
  subroutine logicals(p)
    type(Place), intent(in) :: p
    REQUEST_HANDLE :: request
    STATUS_LIST(1) :: statuses
    logical :: flag
    integer :: ierr
    call MPI_Irecv(here, 1, MPI_INTEGER, 0, 14, MPI_COMM_SELF, request, ierr)
    flag = .true.
    call MPI_Test(request, flag, STATUS_AT(statuses, 1), ierr)
    call expect(p, "the bits of .false.", transfer(flag, 0) == transfer(.false., 0))
    call MPI_Send(5, 1, MPI_INTEGER, 0, 14, MPI_COMM_SELF, ierr)
    flag = .false.
    do while (transfer(flag, 0) == transfer(.false., 0))
      call MPI_Request_get_status(request, flag, STATUS_AT(statuses, 1), ierr)
    end do
    call expect(p, "the bits of .true.", transfer(flag, 0) == transfer(.true., 0))
    call expect(p, "the source by request_get_status", SOURCE_OF(statuses, 1) == 0)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  end subroutine

  ! Several at a time, started again and again: MPI may read their types until they are over.
  subroutine many_alltoallw(p)
    type(Place), intent(in) :: p
    REQUEST_HANDLE :: list(3)
    TYPE_HANDLE, allocatable :: ints(:), garbage(:)
    integer, allocatable :: ones(:), scales(:)
    integer, asynchronous, allocatable :: data(:, :)
    integer :: round, k, r, ierr
    logical :: right
    allocate(ints(p%ranks), garbage(p%ranks), ones(p%ranks), scales(p%ranks), data(p%ranks, 3))
    ints = MPI_INTEGER
    garbage = MPI_DATATYPE_NULL
    ones = 1
    scales = [(4 * r, r = 0, p%ranks - 1)]
    right = .true.
    do round = 1, 50
      do k = 1, 3
        data(:, k) = [(pair(p%me, r, k), r = 0, p%ranks - 1)]
        call MPI_Ialltoallw(MPI_IN_PLACE, ones, scales, garbage, data(1, k), ones, scales, ints, p%comm, list(k), ierr)
      end do
      call MPI_Waitall(3, list, MPI_STATUSES_IGNORE, ierr)
      do k = 1, 3
        right = right .and. all(data(:, k) == [(pair(r, p%me, k), r = 0, p%ranks - 1)])
      end do
    end do
    call expect(p, "many ialltoallw in place", right)
  end subroutine

  subroutine absolute_addresses(p)
    type(Place), intent(in) :: p
    TYPE_HANDLE :: type
    integer(MPI_ADDRESS_KIND) :: address(1)
    integer :: ierr
    call MPI_Get_address(news, address(1), ierr)
    call MPI_Type_create_hindexed(1, [3], address, MPI_INTEGER, type, ierr)
    call MPI_Type_commit(type, ierr)
    news = merge([7, 8, 9], [0, 0, 0], p%me == p%ranks - 1)
    call MPI_Bcast(MPI_BOTTOM, 1, type, p%ranks - 1, p%comm, ierr)
    call expect(p, "bcast from MPI_BOTTOM", all(news == [7, 8, 9]))
    call MPI_Type_free(type, ierr)
    call expect(p, "a freed type", type == MPI_DATATYPE_NULL)
  end subroutine

  subroutine reduce_scatter_of_blocks(p)
    type(Place), intent(in) :: p
    REQUEST_HANDLE :: request
    integer, asynchronous :: mine(2 * p%ranks), share(2)
    integer :: i, ierr
    mine = value(p%me, [(i, i = 1, 2 * p%ranks)])
    call MPI_Ireduce_scatter_block(mine, share, 2, MPI_INTEGER, MPI_SUM, p%comm, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call expect(p, "ireduce_scatter_block", all(share == total(p%ranks, 2 * p%me + [1, 2])))
  end subroutine

  subroutine disconnected(p)
    type(Place), intent(in) :: p
    COMM_HANDLE :: comm
    integer :: ierr
    call MPI_Comm_dup(p%comm, comm, ierr)
    call MPI_Comm_disconnect(comm, ierr)
    call expect(p, "a disconnected communicator", comm == MPI_COMM_NULL)
  end subroutine

  ! mpi_f08 lets the error code be absent.
  subroutine without_error_code(p)
    type(Place), intent(in) :: p
#ifdef USE_MPI_F08
    type(MPI_Request) :: list(1)
    integer :: sum, index
    call MPI_Barrier(p%comm)
    call MPI_Allreduce(p%me + 1, sum, 1, MPI_INTEGER, MPI_SUM, p%comm)
    call expect(p, "allreduce without an error code", sum == p%ranks * (p%ranks + 1) / 2)
    call MPI_Ibarrier(p%comm, list(1))
    call MPI_Waitany(1, list, index, MPI_STATUS_IGNORE)
    call expect(p, "waitany without an error code", list(1) == MPI_REQUEST_NULL)
#else
    call expect(p, "a place", p%ranks > 0)
#endif
  end subroutine
end module
