#include "handles.h"
! Every collective that takes MPI_IN_PLACE, with it.
module in_place
  use checks
  implicit none
contains
  subroutine calls_in_place(p)
    type(Place), intent(in) :: p
    call reductions_in_place(p)
    call scattered_reductions_in_place(p)
    call gathers_in_place(p)
    call scatters_in_place(p)
    call exchanges_in_place(p)
  end subroutine

  subroutine reductions_in_place(p)
    type(Place), intent(in) :: p
    integer :: data(4), unused(4), i(4), root, ierr
    i = [1, 2, 3, 4]
    data = value(p%me, i)
    call MPI_Allreduce(MPI_IN_PLACE, data, 4, MPI_INTEGER, MPI_SUM, p%comm, ierr)
    call expect(p, "allreduce in place", all(data == total(p%ranks, i)))
    do root = 0, p%ranks - 1
      data = value(p%me, i)
      if (p%me == root) then
        call MPI_Reduce(MPI_IN_PLACE, data, 4, MPI_INTEGER, MPI_SUM, root, p%comm, ierr)
        call expect(p, "reduce in place", all(data == total(p%ranks, i)))
      else
        call MPI_Reduce(data, unused, 4, MPI_INTEGER, MPI_SUM, root, p%comm, ierr)
        call expect(p, "reduce in place at the root", all(data == value(p%me, i)))
      end if
    end do
    data = value(p%me, i)
    call MPI_Scan(MPI_IN_PLACE, data, 4, MPI_INTEGER, MPI_SUM, p%comm, ierr)
    call expect(p, "scan in place", all(data == total(p%me + 1, i)))
    data = value(p%me, i)
    call MPI_Exscan(MPI_IN_PLACE, data, 4, MPI_INTEGER, MPI_SUM, p%comm, ierr)
    if (p%me > 0) call expect(p, "exscan in place", all(data == total(p%me, i)))
  end subroutine

  subroutine scattered_reductions_in_place(p)
    type(Place), intent(in) :: p
    integer :: ragged(p%all + 2), blocks(2 * p%ranks), i, ierr
    ragged = value(p%me, [(i, i = 1, p%all + 2)])
    call MPI_Reduce_scatter(MPI_IN_PLACE, ragged, p%counts, MPI_INTEGER, MPI_SUM, p%comm, ierr)
    call expect(p, "reduce_scatter in place", &
                all(ragged(:p%counts(p%me)) == [(total(p%ranks, p%starts(p%me) + i), i = 1, p%counts(p%me))]))
    blocks = value(p%me, [(i, i = 1, 2 * p%ranks)])
    call MPI_Reduce_scatter_block(MPI_IN_PLACE, blocks, 2, MPI_INTEGER, MPI_SUM, p%comm, ierr)
    call expect(p, "reduce_scatter_block in place", all(blocks(1:2) == total(p%ranks, 2 * p%me + [1, 2])))
  end subroutine

  ! The elements of every rank, or only mine, the others being -1.
  function ragged_of(p, only_mine) result(ragged)
    type(Place), intent(in) :: p
    logical, intent(in) :: only_mine
    integer :: ragged(p%all), r, i
    ragged = [((merge(-1, value(r, i), only_mine .and. r /= p%me), i = 1, p%counts(r)), r = 0, p%ranks - 1)]
  end function

  subroutine gathers_in_place(p)
    type(Place), intent(in) :: p
    integer, dimension(2, 0:p%ranks - 1) :: blocks, right
    integer :: ragged(p%all), unused(2), r, root, ierr
    do r = 0, p%ranks - 1
      right(:, r) = value(r, [1, 2])
    end do
    blocks = -1
    blocks(:, p%me) = value(p%me, [1, 2])
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, blocks, 2, MPI_INTEGER, p%comm, ierr)
    call expect(p, "allgather in place", all(blocks == right))
    ragged = ragged_of(p, .true.)
    call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, ragged, p%counts, p%starts, MPI_INTEGER, p%comm, ierr)
    call expect(p, "allgatherv in place", all(ragged == ragged_of(p, .false.)))
    do root = 0, p%ranks - 1
      if (p%me == root) then
        blocks = -1
        blocks(:, p%me) = value(p%me, [1, 2])
        call MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, blocks, 2, MPI_INTEGER, root, p%comm, ierr)
        call expect(p, "gather in place", all(blocks == right))
        ragged = ragged_of(p, .true.)
        call MPI_Gatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, ragged, p%counts, p%starts, MPI_INTEGER, root, p%comm, ierr)
        call expect(p, "gatherv in place", all(ragged == ragged_of(p, .false.)))
      else
        call MPI_Gather(value(p%me, [1, 2]), 2, MPI_INTEGER, unused, 0, MPI_INTEGER, root, p%comm, ierr)
        call MPI_Gatherv(value(p%me, [1, 2]), p%counts(p%me), MPI_INTEGER, unused, p%counts, p%starts, MPI_INTEGER, &
                         root, p%comm, ierr)
      end if
    end do
  end subroutine

  subroutine scatters_in_place(p)
    type(Place), intent(in) :: p
    integer :: blocks(2, 0:p%ranks - 1), ragged(p%all), out(2), r, root, ierr
    do root = 0, p%ranks - 1
      if (p%me == root) then
        do r = 0, p%ranks - 1
          blocks(:, r) = pair(root, r, [1, 2])
        end do
        call MPI_Scatter(blocks, 2, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, p%comm, ierr)
        call expect(p, "scatter in place", all(blocks(:, root) == pair(root, root, [1, 2])))
        ragged = ragged_of(p, .false.)
        call MPI_Scatterv(ragged, p%counts, p%starts, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, p%comm, ierr)
        call expect(p, "scatterv in place", all(ragged == ragged_of(p, .false.)))
      else
        out = -1
        call MPI_Scatter(blocks, 2, MPI_INTEGER, out, 2, MPI_INTEGER, root, p%comm, ierr)
        call expect(p, "scatter in place at the root", all(out == pair(root, p%me, [1, 2])))
        out = -1
        call MPI_Scatterv(ragged, p%counts, p%starts, MPI_INTEGER, out, p%counts(p%me), MPI_INTEGER, root, p%comm, ierr)
        call expect(p, "scatterv in place at the root", &
                    all(out == merge(value(p%me, [1, 2]), -1, [1, 2] <= p%counts(p%me))))
      end if
    end do
  end subroutine

  subroutine exchanges_in_place(p)
    type(Place), intent(in) :: p
    integer, dimension(2, 0:p%ranks - 1) :: data, mine, right
    integer, dimension(0:p%ranks - 1) :: peers, counts
    TYPE_HANDLE, dimension(0:p%ranks - 1) :: types
    integer :: r, ierr
    peers = [(r, r = 0, p%ranks - 1)]
    do r = 0, p%ranks - 1
      mine(:, r) = pair(p%me, r, [1, 2])
      right(:, r) = pair(r, p%me, [1, 2])
    end do
    data = mine
    call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, 2, MPI_INTEGER, p%comm, ierr)
    call expect(p, "alltoall in place", all(data == right))
    counts = mod(p%me + peers, 3) ! the same in both directions
    right(1, :) = merge(right(1, :), mine(1, :), counts >= 1)
    right(2, :) = merge(right(2, :), mine(2, :), counts >= 2)
    data = mine
    call MPI_Alltoallv(MPI_IN_PLACE, counts, 2 * peers, MPI_DATATYPE_NULL, data, counts, 2 * peers, MPI_INTEGER, &
                       p%comm, ierr)
    call expect(p, "alltoallv in place", all(data == right))
    data = mine
    types = MPI_INTEGER
    call MPI_Alltoallw(MPI_IN_PLACE, counts, 8 * peers, types, data, counts, 8 * peers, types, p%comm, ierr)
    call expect(p, "alltoallw in place", all(data == right))
  end subroutine
end module
