#include "handles.h"
! Lists of requests, of collectives and of messages, completed in every way.
module completions
  use requests
  implicit none
  ! MPICH 4.0 counts requests from 0 in mpi_f08, and has another value for none in mpif.h. Its messages tell.
  integer :: zero_index, no_index
contains
  subroutine completion_of_lists(p)
    type(Place), intent(in) :: p
    call learn_numbers(p)
    call wait_for_any(p)
    call wait_for_some(p)
    call test_all(p)
    call test_any_and_some(p)
  end subroutine

  subroutine learn_numbers(p)
    type(Place), intent(in) :: p
    REQUEST_HANDLE :: list(3)
    integer, asynchronous :: here
    character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: library
    integer :: length, ierr
    list = MPI_REQUEST_NULL
    call MPI_Waitany(3, list, no_index, MPI_STATUS_IGNORE, ierr)
    call MPI_Irecv(here, 1, MPI_INTEGER, 0, 5, MPI_COMM_SELF, list(2), ierr)
    call MPI_Send(1, 1, MPI_INTEGER, 0, 5, MPI_COMM_SELF, ierr)
    call MPI_Waitany(3, list, zero_index, MPI_STATUS_IGNORE, ierr)
    zero_index = zero_index - 2
    call MPI_Get_library_version(library, length, ierr)
    call expect(p, "requests counted from 1", zero_index == 0 .and. no_index == MPI_UNDEFINED .or. &
                index(library, "MPICH") > 0)
  end subroutine

  ! Two collectives, a receive, a send, and two places that hold no request.
  subroutine start_mixed(p, list)
    type(Place), intent(in) :: p
    REQUEST_HANDLE :: list(6)
    integer :: ierr
    sums = -1
    sums_so_far = -1
    list = MPI_REQUEST_NULL
    call MPI_Iallreduce(mine, sums, n, MPI_INTEGER, MPI_SUM, p%comm, list(2), ierr)
    call start_message(p, list(4:5))
    call MPI_Iscan(mine, sums_so_far, n, MPI_INTEGER, MPI_SUM, p%comm, list(6), ierr)
  end subroutine

  ! What is complete with the request at an index counted from 1.
  subroutine check_mixed(p, how, index)
    type(Place), intent(in) :: p
    character(len=*), intent(in) :: how
    integer, intent(in) :: index
    select case (index)
    case (2); call expect(p, how // ": iallreduce", is_sum(p%ranks, sums))
    case (4); call expect(p, how // ": irecv", heard == from_left(p))
    case (5); call expect(p, how // ": isend", .true.)
    case (6); call expect(p, how // ": iscan", is_sum(p%me + 1, sums_so_far))
    case default; call expect(p, how // ": an index without a request", .false.)
    end select
  end subroutine

  subroutine wait_for_any(p)
    type(Place), intent(in) :: p
    REQUEST_HANDLE :: list(6)
    STATUS_LIST(1) :: statuses
    logical :: seen(6)
    integer :: index, k, ierr
    call start_mixed(p, list)
    seen = .false.
    do k = 1, 4
      call MPI_Waitany(6, list, index, STATUS_AT(statuses, 1), ierr)
      index = index - zero_index
      call check_mixed(p, "waitany", index)
      if (index < 1 .or. index > 6) return
      call expect(p, "waitany: a request once", .not. seen(index) .and. list(index) == MPI_REQUEST_NULL)
      if (index == 4) call expect(p, "waitany: the source of a message", SOURCE_OF(statuses, 1) == from_left(p) - 50)
      seen(index) = .true.
    end do
    call MPI_Waitany(6, list, index, MPI_STATUS_IGNORE, ierr)
    call expect(p, "waitany: nothing left", index == no_index)
  end subroutine

  subroutine wait_for_some(p)
    type(Place), intent(in) :: p
    REQUEST_HANDLE :: list(6)
    STATUS_LIST(6) :: statuses
    integer :: count, ready, indices(6), k, ierr
    call start_mixed(p, list)
    ready = 0
    do while (ready < 4)
      call MPI_Waitsome(6, list, count, indices, statuses, ierr)
      indices = indices - zero_index
      if (count < 1 .or. count > 4 - ready) call expect(p, "waitsome: some", .false.)
      if (count < 1 .or. count > 4 - ready) return
      do k = 1, count
        call check_mixed(p, "waitsome", indices(k))
        if (indices(k) == 4) call expect(p, "waitsome: the source", SOURCE_OF(statuses, k) == from_left(p) - 50)
      end do
      ready = ready + count
    end do
    call MPI_Waitsome(6, list, count, indices, MPI_STATUSES_IGNORE, ierr)
    call expect(p, "waitsome: nothing left", count == MPI_UNDEFINED)
  end subroutine

  subroutine test_all(p)
    type(Place), intent(in) :: p
    REQUEST_HANDLE :: list(6)
    STATUS_LIST(6) :: statuses
    logical :: flag, all_or_none
    integer :: k, ierr
    call start_mixed(p, list)
    flag = .false.
    all_or_none = .true.
    do while (.not. flag)
      call MPI_Testall(6, list, flag, statuses, ierr)
      if (.not. flag) all_or_none = all_or_none .and. list(2) /= MPI_REQUEST_NULL .and. &
                                    list(4) /= MPI_REQUEST_NULL .and. list(6) /= MPI_REQUEST_NULL
    end do
    call expect(p, "testall: all or none", all_or_none)
    do k = 2, 6
      if (k /= 3) call check_mixed(p, "testall", k)
      call expect(p, "testall: no request left", list(k) == MPI_REQUEST_NULL)
    end do
    call expect(p, "testall: the source of a message", SOURCE_OF(statuses, 4) == from_left(p) - 50)
  end subroutine

  subroutine test_any_and_some(p)
    type(Place), intent(in) :: p
    REQUEST_HANDLE :: list(6)
    logical :: flag, none_yet
    integer :: index, count, indices(6), k, ready, ierr
    call start_mixed(p, list)
    none_yet = .true.
    ready = 0
    do while (ready < 2)
      call MPI_Testany(6, list, index, flag, MPI_STATUS_IGNORE, ierr)
      if (.not. flag) none_yet = none_yet .and. index == no_index
      if (.not. flag) cycle
      call check_mixed(p, "testany", index - zero_index)
      ready = ready + 1
    end do
    do while (ready < 4)
      call MPI_Testsome(6, list, count, indices, MPI_STATUSES_IGNORE, ierr)
      do k = 1, count
        call check_mixed(p, "testsome", indices(k) - zero_index)
      end do
      ready = ready + count
    end do
    call expect(p, "testany: no index yet", none_yet)
    call MPI_Testany(6, list, index, flag, MPI_STATUS_IGNORE, ierr)
    call expect(p, "testany: nothing left", flag .and. index == no_index)
  end subroutine
end module
