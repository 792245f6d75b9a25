#include "handles.h"
! Derived datatypes, absolute addresses from MPI_BOTTOM, and operations written in Fortran.
module types
  use checks
  implicit none
  ! Reached by their addresses, not by name: as module variables the compiler expects any call to change them.
  integer :: whole(2)
  double precision :: number
  integer, allocatable :: gathered(:, :)
contains
  subroutine calls_with_types(p)
    type(Place), intent(in) :: p
    call rows_and_columns(p)
    call structures(p)
    call absolute_addresses(p)
    call own_operations(p)
  end subroutine

  ! Rows, which are strided here, arrive as contiguous elements, and the other way round.
  subroutine rows_and_columns(p)
    type(Place), intent(in) :: p
    integer :: matrix(4, 3), all_rows(3, 0:p%ranks - 1), columns(4, 3), numbers(3), r, ierr
    TYPE_HANDLE :: row
    call MPI_Type_vector(3, 1, 4, MPI_INTEGER, row, ierr)
    call MPI_Type_commit(row, ierr)
    matrix = -1
    matrix(2, :) = value(p%me, [1, 2, 3])
    call MPI_Allgather(matrix(2, 1), 1, row, all_rows, 3, MPI_INTEGER, p%comm, ierr)
    do r = 0, p%ranks - 1
      call expect(p, "allgather of rows", all(all_rows(:, r) == value(r, [1, 2, 3])))
    end do
    columns = -1
    if (p%me == 0) then
      numbers = [1, 2, 3]
      call MPI_Bcast(numbers, 3, MPI_INTEGER, 0, p%comm, ierr)
    else
      call MPI_Bcast(columns(4, 1), 1, row, 0, p%comm, ierr)
      call expect(p, "bcast into a row", all(columns(4, :) == [1, 2, 3]) .and. all(columns(1:3, :) == -1))
    end if
    ! Freed while in use: the call has to end as if it were not.
    call MPI_Type_free(row, ierr)
  end subroutine

  subroutine structures(p)
    type(Place), intent(in) :: p
    integer :: ierr, r
    TYPE_HANDLE :: record, resized
    integer(MPI_ADDRESS_KIND) :: offsets(2), extent
    type :: Both
      sequence
      double precision :: x
      integer :: n, padding
    end type
    type(Both) :: mine, all_of_them(0:p%ranks - 1)
    offsets = [0, 8]
    extent = 16
    call MPI_Type_create_struct(2, [1, 1], offsets, [MPI_DOUBLE_PRECISION, MPI_INTEGER], record, ierr)
    call MPI_Type_create_resized(record, 0_MPI_ADDRESS_KIND, extent, resized, ierr)
    call MPI_Type_commit(resized, ierr)
    call MPI_Type_free(record, ierr)
    mine = Both(p%me + 0.5d0, p%me, 0)
    all_of_them = Both(-1, -1, -1)
    call MPI_Gather(mine%x, 1, resized, all_of_them(0)%x, 1, resized, p%ranks - 1, p%comm, ierr)
    if (p%me == p%ranks - 1) &
      call expect(p, "gather of structures", all(all_of_them%x == [(r + 0.5d0, r = 0, p%ranks - 1)]) .and. &
                  all(all_of_them%n == [(r, r = 0, p%ranks - 1)]) .and. all(all_of_them%padding == -1))
    call MPI_Type_free(resized, ierr)
  end subroutine

  ! One type with the addresses of two variables that have nothing to do with each other.
  subroutine absolute_addresses(p)
    type(Place), intent(in) :: p
    integer(MPI_ADDRESS_KIND) :: addresses(2)
    integer :: root, r, ierr
    TYPE_HANDLE :: both, here
    call MPI_Get_address(whole, addresses(1), ierr)
    call MPI_Get_address(number, addresses(2), ierr)
    call MPI_Type_create_struct(2, [2, 1], addresses, [MPI_INTEGER, MPI_DOUBLE_PRECISION], both, ierr)
    call MPI_Type_commit(both, ierr)
    do root = 0, p%ranks - 1
      whole = merge([root, 5], [-1, -1], p%me == root)
      number = merge(root + 0.25d0, -1d0, p%me == root)
      call MPI_Bcast(MPI_BOTTOM, 1, both, root, p%comm, ierr)
      call expect(p, "bcast from the bottom", all(whole == [root, 5]) .and. number == root + 0.25d0)
    end do
    call MPI_Type_free(both, ierr)
    call MPI_Type_create_hindexed(1, [2], addresses(1:1), MPI_INTEGER, here, ierr)
    call MPI_Type_commit(here, ierr)
    allocate(gathered(2, 0:p%ranks - 1))
    whole = value(p%me, [1, 2])
    gathered = -1
    call MPI_Allgather(MPI_BOTTOM, 1, here, gathered, 2, MPI_INTEGER, p%comm, ierr)
    do r = 0, p%ranks - 1
      call expect(p, "allgather from the bottom", all(gathered(:, r) == value(r, [1, 2])))
    end do
    whole = -1
    call MPI_Scatter(gathered, 2, MPI_INTEGER, MPI_BOTTOM, 1, here, 0, p%comm, ierr)
    call expect(p, "scatter to the bottom", all(whole == value(p%me, [1, 2])))
    deallocate(gathered)
    call MPI_Type_free(here, ierr)
  end subroutine

  subroutine own_operations(p)
    type(Place), intent(in) :: p
    OP_HANDLE :: ordered, any_order
    TYPE_HANDLE :: pairs
    integer :: r, i, ierr, in(2, 3), out(2, 3), so_far(2, 3), whole_of_them(2, 3), numbers(700), sums(700)
    call MPI_Op_create(compose_operation, .false., ordered, ierr)
    call MPI_Op_create(add_operation, .true., any_order, ierr)
    call MPI_Type_contiguous(2, MPI_INTEGER, pairs, ierr)
    call MPI_Type_commit(pairs, ierr)
    in = maps_of(p%me)
    so_far = in
    do r = p%me - 1, 0, -1
      call prepend(maps_of(r), so_far)
    end do
    whole_of_them = maps_of(p%ranks - 1)
    do r = p%ranks - 2, 0, -1
      call prepend(maps_of(r), whole_of_them)
    end do
    call MPI_Allreduce(in, out, 3, pairs, ordered, p%comm, ierr)
    call expect(p, "allreduce by an operation that does not commute", all(out == whole_of_them))
    call MPI_Scan(in, out, 3, pairs, ordered, p%comm, ierr)
    call expect(p, "scan by an operation that does not commute", all(out == so_far))
    out = in
    call MPI_Reduce_local(maps_of(7), out, 3, pairs, ordered, ierr)
    call prepend(maps_of(7), in)
    call expect(p, "reduce_local", all(out == in))
    numbers = value(p%me, [(i, i = 1, 700)])
    call MPI_Allreduce(numbers, sums, 700, MPI_INTEGER, any_order, p%comm, ierr)
    call expect(p, "allreduce by an own sum", all(sums == mod(total(p%ranks, [(i, i = 1, 700)]), modulus)))
    call MPI_Reduce(numbers, sums, 700, MPI_INTEGER, any_order, 0, p%comm, ierr)
    call expect(p, "reduce by an own sum", p%me > 0 .or. all(sums == mod(total(p%ranks, [(i, i = 1, 700)]), modulus)))
    call MPI_Op_free(ordered, ierr)
    call MPI_Op_free(any_order, ierr)
    call MPI_Type_free(pairs, ierr)
  end subroutine

  pure function maps_of(rank) result(maps)
    integer, intent(in) :: rank
    integer :: maps(2, 3)
    maps = reshape([rank + 2, 1, 3, rank, 2 * rank + 1, 5], [2, 3])
  end function

  subroutine prepend(first, maps)
    integer, intent(in) :: first(2, 3)
    integer, intent(inout) :: maps(2, 3)
    call compose(first, maps, 3)
  end subroutine
end module
