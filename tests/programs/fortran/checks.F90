#include "handles.h"
! Counts what was checked, and says what was wrong, on which rank. Its own messages are sends and receives.
module checks
  use binding
  implicit none
  integer :: done = 0, wrong = 0

  ! Where a suite runs: a communicator, and how many elements each of its ranks has in calls with counts: 1, 2, 0, 1, ...
  type :: Place
    COMM_HANDLE :: comm
    character(len=20) :: name
    integer :: me, ranks, all
    integer, allocatable :: counts(:), starts(:)
  end type
contains
  function place_of(comm, name) result(p)
    COMM_HANDLE, intent(in) :: comm
    character(len=*), intent(in) :: name
    type(Place) :: p
    integer :: r, ierr
    p%comm = comm
    p%name = name
    call MPI_Comm_rank(comm, p%me, ierr)
    call MPI_Comm_size(comm, p%ranks, ierr)
    allocate(p%counts(0:p%ranks - 1), p%starts(0:p%ranks - 1))
    p%counts = [(mod(r + 1, 3), r = 0, p%ranks - 1)]
    p%starts = [(sum(p%counts(0:r - 1)), r = 0, p%ranks - 1)]
    p%all = sum(p%counts)
  end function

  ! Element i of what a rank contributes.
  elemental integer function value(rank, i)
    integer, intent(in) :: rank, i
    value = 1000 * rank + i
  end function

  ! The sum of element i over the first ranks.
  elemental integer function total(ranks, i)
    integer, intent(in) :: ranks, i
    total = 1000 * (ranks * (ranks - 1) / 2) + ranks * i
  end function

  ! Element i of what one rank has for another.
  elemental integer function pair(from, to, i)
    integer, intent(in) :: from, to, i
    pair = 10000 * from + 100 * to + i
  end function

  subroutine expect(p, what, right)
    type(Place), intent(in) :: p
    character(len=*), intent(in) :: what
    logical, intent(in) :: right
    done = done + 1
    if (right) return
    wrong = wrong + 1
    print '(5a,i0,a,i0)', binding_name, ": WRONG: ", what, " on ", trim(p%name) // ", rank ", p%me, " of ", p%ranks
  end subroutine

  ! Rank 0 prints the verdict of all; every rank with a wrong result ends with an error.
  subroutine verdict()
    integer :: me, ranks, r, ierr, mine(2), sums(2)
    call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    mine = [done, wrong]
    if (me > 0) then
      call MPI_Send(mine, 2, MPI_INTEGER, 0, 7, MPI_COMM_WORLD, ierr)
    else
      sums = mine
      do r = 1, ranks - 1
        call MPI_Recv(mine, 2, MPI_INTEGER, r, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
        sums = sums + mine
      end do
      print '(2a,i0,a,i0,a,i0,a)', binding_name, ": ", sums(1), " checks on ", ranks, " ranks, ", sums(2), " wrong"
    end if
  end subroutine
end module
