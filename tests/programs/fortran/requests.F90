#include "handles.h"
! Every nonblocking collective, alone and all at once beside a message.
module requests
  use checks
  implicit none
  integer, parameter :: n = 300
  integer, asynchronous, dimension(n) :: mine, sums, sums_so_far, sums_before, news, reduced
  integer, asynchronous, allocatable, dimension(:, :) :: blocks, gathered, at_root, scattered, exchanged, counted
  integer, asynchronous, allocatable :: ragged(:), ragged_at_root(:), peers(:), ones(:), scales(:)
  TYPE_HANDLE, asynchronous, allocatable :: ints(:)
  integer, asynchronous :: block(2), part, share(2), share_of_block(2), told, heard
contains
  subroutine nonblocking_calls(p)
    type(Place), intent(in) :: p
    call prepare(p)
    call wait_for_each(p)
    call wait_for_all(p)
    deallocate(blocks, gathered, at_root, scattered, exchanged, counted, ragged, ragged_at_root, peers, ones, scales, ints)
  end subroutine

  subroutine prepare(p)
    type(Place), intent(in) :: p
    integer :: r, i, last
    last = p%ranks - 1
    allocate(blocks(2, 0:last), gathered(2, 0:last), at_root(2, 0:last), scattered(2, 0:last), exchanged(2, 0:last))
    allocate(counted(2, 0:last), ragged(p%all), ragged_at_root(p%all), peers(0:last), ones(0:last), scales(0:last))
    allocate(ints(0:last))
    mine = value(p%me, [(i, i = 1, n)])
    peers = [(r, r = 0, last)]
    ones = 1
    scales = 8 * peers
    ints = MPI_INTEGER
    do r = 0, last
      blocks(:, r) = pair(p%me, r, [1, 2])
    end do
  end subroutine

  logical function is_sum(ranks, data)
    integer, intent(in) :: ranks, data(n)
    integer :: i
    is_sum = all(data == total(ranks, [(i, i = 1, n)]))
  end function

  subroutine wait_for_each(p)
    type(Place), intent(in) :: p
    REQUEST_HANDLE :: request
    STATUS_LIST(1) :: status
    logical :: flag
    integer :: ierr
    call MPI_Iallreduce(mine, sums, n, MPI_INTEGER, MPI_SUM, p%comm, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call expect(p, "iallreduce, wait", is_sum(p%ranks, sums) .and. request == MPI_REQUEST_NULL)
    call MPI_Ibarrier(p%comm, request, ierr)
    flag = .false.
    do while (.not. flag)
      call MPI_Test(request, flag, MPI_STATUS_IGNORE, ierr)
    end do
    call expect(p, "ibarrier, test", request == MPI_REQUEST_NULL)
    sums = mine
    call MPI_Iallreduce(MPI_IN_PLACE, sums, n, MPI_INTEGER, MPI_SUM, p%comm, request, ierr)
    flag = .false.
    do while (.not. flag)
      call MPI_Request_get_status(request, flag, STATUS_AT(status, 1), ierr) ! Open MPI 4: never true without a status
    end do
    call expect(p, "iallreduce in place, request_get_status", is_sum(p%ranks, sums) .and. request /= MPI_REQUEST_NULL)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call expect(p, "iallreduce in place, wait", request == MPI_REQUEST_NULL)
  end subroutine

  ! All kinds at once; the first ones have waited longest when the last is posted.
  subroutine wait_for_all(p)
    type(Place), intent(in) :: p
    REQUEST_HANDLE :: all_requests(18)
    integer :: ierr, i
    call start_rooted(p, all_requests(1:7))
    call start_others(p, all_requests(8:16))
    call start_message(p, all_requests(17:18))
    call MPI_Waitall(18, all_requests, MPI_STATUSES_IGNORE, ierr)
    do i = 1, 18
      call expect(p, "waitall", all_requests(i) == MPI_REQUEST_NULL)
    end do
    call expect(p, "a message beside collectives", heard == from_left(p))
    call check_rooted(p)
    call check_others(p)
  end subroutine

  integer function from_left(p)
    type(Place), intent(in) :: p
    from_left = 50 + mod(p%me + p%ranks - 1, p%ranks)
  end function

  subroutine start_message(p, both)
    type(Place), intent(in) :: p
    REQUEST_HANDLE :: both(2)
    integer :: ierr
    told = 50 + p%me
    heard = -1
    call MPI_Irecv(heard, 1, MPI_INTEGER, mod(p%me + p%ranks - 1, p%ranks), 3, p%comm, both(1), ierr)
    call MPI_Isend(told, 1, MPI_INTEGER, mod(p%me + 1, p%ranks), 3, p%comm, both(2), ierr)
  end subroutine

  subroutine start_rooted(p, r)
    type(Place), intent(in) :: p
    REQUEST_HANDLE :: r(7)
    integer :: ierr, last
    last = p%ranks - 1
    news = merge(mine, -1, p%me == 0)
    block = blocks(:, p%me)
    ragged_at_root = -1
    call MPI_Ibcast(news, n, MPI_INTEGER, 0, p%comm, r(1), ierr)
    call MPI_Ireduce(mine, reduced, n, MPI_INTEGER, MPI_SUM, last, p%comm, r(2), ierr)
    call MPI_Igather(block, 2, MPI_INTEGER, at_root, 2, MPI_INTEGER, 0, p%comm, r(3), ierr)
    call MPI_Igatherv(mine, p%counts(p%me), MPI_INTEGER, ragged_at_root, p%counts, p%starts, MPI_INTEGER, last, &
                      p%comm, r(4), ierr)
    call MPI_Iscatter(blocks, 2, MPI_INTEGER, share, 2, MPI_INTEGER, last, p%comm, r(5), ierr)
    call MPI_Iscatterv(blocks, ones, 2 * peers, MPI_INTEGER, part, 1, MPI_INTEGER, 0, p%comm, r(6), ierr)
    call MPI_Ibarrier(p%comm, r(7), ierr)
  end subroutine

  subroutine check_rooted(p)
    type(Place), intent(in) :: p
    integer :: last, r, i, i2
    last = p%ranks - 1
    call expect(p, "ibcast", all(news == value(0, [(i, i = 1, n)])))
    call expect(p, "ireduce", p%me < last .or. is_sum(p%ranks, reduced))
    call expect(p, "igather", p%me > 0 .or. all(at_root == reshape([((pair(r, r, i2), i2 = 1, 2), r = 0, last)], [2, p%ranks])))
    call expect(p, "igatherv", p%me < last .or. &
                all(ragged_at_root == [((value(r, i), i = 1, p%counts(r)), r = 0, last)]))
    call expect(p, "iscatter", all(share == pair(last, p%me, [1, 2])))
    call expect(p, "iscatterv", part == pair(0, p%me, 1))
  end subroutine

  subroutine start_others(p, r)
    type(Place), intent(in) :: p
    REQUEST_HANDLE :: r(9)
    integer :: ierr
    counted = -1
    call MPI_Iscan(mine, sums_so_far, n, MPI_INTEGER, MPI_SUM, p%comm, r(1), ierr)
    call MPI_Iexscan(mine, sums_before, n, MPI_INTEGER, MPI_SUM, p%comm, r(2), ierr)
    call MPI_Iallgather(block, 2, MPI_INTEGER, gathered, 2, MPI_INTEGER, p%comm, r(3), ierr)
    call MPI_Iallgatherv(mine, p%counts(p%me), MPI_INTEGER, ragged, p%counts, p%starts, MPI_INTEGER, p%comm, r(4), ierr)
    call MPI_Ialltoall(blocks, 2, MPI_INTEGER, exchanged, 2, MPI_INTEGER, p%comm, r(5), ierr)
    call MPI_Ialltoallv(blocks, ones, 2 * peers, MPI_INTEGER, counted, ones, 2 * peers, MPI_INTEGER, p%comm, r(6), ierr)
    call MPI_Ireduce_scatter(mine, share_of_block, p%counts, MPI_INTEGER, MPI_SUM, p%comm, r(7), ierr)
    call MPI_Iallreduce(mine, sums, n, MPI_INTEGER, MPI_SUM, p%comm, r(8), ierr)
    call MPI_Ialltoallw(blocks, ones, scales, ints, scattered, ones, scales, ints, p%comm, r(9), ierr)
  end subroutine

  subroutine check_others(p)
    type(Place), intent(in) :: p
    integer :: r, i
    call expect(p, "iscan", is_sum(p%me + 1, sums_so_far))
    call expect(p, "iexscan", p%me == 0 .or. is_sum(p%me, sums_before))
    do r = 0, p%ranks - 1
      call expect(p, "iallgather", all(gathered(:, r) == pair(r, r, [1, 2])))
      call expect(p, "ialltoall", all(exchanged(:, r) == pair(r, p%me, [1, 2])))
      call expect(p, "ialltoallw", scattered(1, r) == pair(r, p%me, 1))
      call expect(p, "ialltoallv", all(counted(:, r) == [pair(r, p%me, 1), -1]))
    end do
    call expect(p, "iallgatherv", all(ragged == [((value(r, i), i = 1, p%counts(r)), r = 0, p%ranks - 1)]))
    call expect(p, "ireduce_scatter", all(share_of_block(:p%counts(p%me)) == &
                [(total(p%ranks, p%starts(p%me) + i), i = 1, p%counts(p%me))]))
    call expect(p, "iallreduce", is_sum(p%ranks, sums))
  end subroutine
end module
