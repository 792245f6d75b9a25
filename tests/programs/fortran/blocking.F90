#include "handles.h"
! Every blocking collective, with separate buffers.
module blocking
  use checks
  implicit none
contains
  subroutine blocking_calls(p)
    type(Place), intent(in) :: p
    call broadcasts(p)
    call reductions(p)
    call reductions_of_types(p)
    call scattered_reductions(p)
    call gathers(p)
    call scatters(p)
    call exchanges(p)
  end subroutine

  subroutine broadcasts(p)
    type(Place), intent(in) :: p
    integer :: numbers(3), root, ierr
    character(len=5) :: text
    call MPI_Barrier(p%comm, ierr)
    call expect(p, "barrier", ierr == MPI_SUCCESS)
    do root = 0, p%ranks - 1
      numbers = merge(7, -1, p%me == root)
      call MPI_Bcast(numbers, 3, MPI_INTEGER, root, p%comm, ierr)
      call expect(p, "bcast", all(numbers == 7))
    end do
    text = merge("tutti", ".....", p%me == 0)
    call MPI_Bcast(text, len(text), MPI_CHARACTER, 0, p%comm, ierr)
    call expect(p, "bcast of characters", text == "tutti")
    numbers = p%me
    call MPI_Bcast(numbers, 0, MPI_INTEGER, 0, p%comm, ierr)
    call expect(p, "bcast of nothing", all(numbers == p%me))
  end subroutine

  subroutine reductions(p)
    type(Place), intent(in) :: p
    integer, parameter :: n = 1500
    integer :: in(n), out(n), i, root, ierr
    in = value(p%me, [(i, i = 1, n)])
    call MPI_Allreduce(in, out, n, MPI_INTEGER, MPI_SUM, p%comm, ierr)
    call expect(p, "allreduce", all(out == total(p%ranks, [(i, i = 1, n)])))
    do root = 0, p%ranks - 1
      out = -1
      call MPI_Reduce(in, out, 5, MPI_INTEGER, MPI_MAX, root, p%comm, ierr)
      if (p%me == root) then
        call expect(p, "reduce", all(out(1:5) == value(p%ranks - 1, [1, 2, 3, 4, 5])) .and. all(out(6:) == -1))
      else
        call expect(p, "reduce, not at its root", all(out == -1))
      end if
    end do
    call MPI_Scan(in, out, n, MPI_INTEGER, MPI_SUM, p%comm, ierr)
    call expect(p, "scan", all(out == total(p%me + 1, [(i, i = 1, n)])))
    out = -1
    call MPI_Exscan(in, out, n, MPI_INTEGER, MPI_SUM, p%comm, ierr)
    if (p%me > 0) call expect(p, "exscan", all(out == total(p%me, [(i, i = 1, n)])))
  end subroutine

  subroutine reductions_of_types(p)
    type(Place), intent(in) :: p
    logical :: flags(2), both(2), any_of(2)
    integer :: places(2, 3), greatest(2, 3), bits, i, ierr
    integer(8) :: product
    double precision :: numbers(2, 2), least(2, 2)
    complex(8) :: z(3), sum_of_z(3)
    real :: x
    flags = [.true., p%me == 0]
    call MPI_Allreduce(flags, both, 2, MPI_LOGICAL, MPI_LAND, p%comm, ierr)
    call MPI_Allreduce(flags, any_of, 2, MPI_LOGICAL, MPI_LOR, p%comm, ierr)
    call expect(p, "allreduce of logicals", both(1) .and. (both(2) .eqv. p%ranks == 1) .and. all(any_of))
    places(1, :) = [p%me, -p%me, 5]
    places(2, :) = p%me
    call MPI_Allreduce(places, greatest, 3, MPI_2INTEGER, MPI_MAXLOC, p%comm, ierr)
    call expect(p, "allreduce, maxloc", all(greatest == reshape([p%ranks - 1, p%ranks - 1, 0, 0, 5, 0], [2, 3])))
    numbers(1, :) = [p%me * 0.5d0, -p%me * 0.5d0]
    numbers(2, :) = p%me
    call MPI_Allreduce(numbers, least, 2, MPI_2DOUBLE_PRECISION, MPI_MINLOC, p%comm, ierr)
    call expect(p, "allreduce, minloc", all(least(:, 1) == 0) .and. &
                all(least(:, 2) == [-(p%ranks - 1) * 0.5d0, p%ranks - 1.0d0]))
    z = cmplx(p%me, [1, 2, 3], 8)
    call MPI_Allreduce(z, sum_of_z, 3, MPI_DOUBLE_COMPLEX, MPI_SUM, p%comm, ierr)
    call expect(p, "allreduce of complex numbers", &
                all(sum_of_z == cmplx(p%ranks * (p%ranks - 1) / 2, p%ranks * [1, 2, 3], 8)))
    call MPI_Allreduce(3_8, product, 1, MPI_INTEGER8, MPI_PROD, p%comm, ierr)
    call expect(p, "allreduce, product of constants", product == 3_8 ** p%ranks)
    call MPI_Allreduce(ishft(1, p%me), bits, 1, MPI_INTEGER, MPI_BOR, p%comm, ierr)
    call expect(p, "allreduce, bits", bits == sum([(2 ** i, i = 0, p%ranks - 1)]))
    call MPI_Allreduce(real(p%me) + 0.25, x, 1, MPI_REAL, MPI_MIN, p%comm, ierr)
    call expect(p, "allreduce of a real", x == 0.25)
  end subroutine

  subroutine scattered_reductions(p)
    type(Place), intent(in) :: p
    integer :: in(p%all), out(2), blocks(2, 0:p%ranks - 1), i, ierr
    in = value(p%me, [(i, i = 1, p%all)])
    out = -1
    call MPI_Reduce_scatter(in, out, p%counts, MPI_INTEGER, MPI_SUM, p%comm, ierr)
    call expect(p, "reduce_scatter", all(out(:p%counts(p%me)) == &
                [(total(p%ranks, p%starts(p%me) + i), i = 1, p%counts(p%me))]) .and. all(out(p%counts(p%me) + 1:) == -1))
    blocks = value(p%me, reshape([(i, i = 1, 2 * p%ranks)], [2, p%ranks]))
    call MPI_Reduce_scatter_block(blocks, out, 2, MPI_INTEGER, MPI_SUM, p%comm, ierr)
    call expect(p, "reduce_scatter_block", all(out == total(p%ranks, 2 * p%me + [1, 2])))
  end subroutine

  subroutine gathers(p)
    type(Place), intent(in) :: p
    integer :: in(2), out(2, 0:p%ranks - 1), ragged(p%all), r, i, root, ierr
    in = value(p%me, [1, 2])
    call MPI_Allgather(in, 2, MPI_INTEGER, out, 2, MPI_INTEGER, p%comm, ierr)
    call expect(p, "allgather", all(out == reshape([((value(r, i), i = 1, 2), r = 0, p%ranks - 1)], shape(out))))
    ragged = -1
    call MPI_Allgatherv(in, p%counts(p%me), MPI_INTEGER, ragged, p%counts, p%starts, MPI_INTEGER, p%comm, ierr)
    call expect(p, "allgatherv", all(ragged == all_of(p)))
    do root = 0, p%ranks - 1
      out = -1
      call MPI_Gather(in, 2, MPI_INTEGER, out, 2, MPI_INTEGER, root, p%comm, ierr)
      if (p%me == root) call expect(p, "gather", all(out(1, :) == value([(r, r = 0, p%ranks - 1)], 1)) .and. &
                                    all(out(2, :) == out(1, :) + 1))
      if (p%me /= root) call expect(p, "gather, not at its root", all(out == -1))
      ragged = -1
      call MPI_Gatherv(in, p%counts(p%me), MPI_INTEGER, ragged, p%counts, p%starts, MPI_INTEGER, root, p%comm, ierr)
      if (p%me == root) call expect(p, "gatherv", all(ragged == all_of(p)))
    end do
  end subroutine

  ! Each rank's elements, as many as it has, behind each other.
  function all_of(p) result(ragged)
    type(Place), intent(in) :: p
    integer :: ragged(p%all), r, i
    ragged = [((value(r, i), i = 1, p%counts(r)), r = 0, p%ranks - 1)]
  end function

  subroutine scatters(p)
    type(Place), intent(in) :: p
    integer :: in(3, 0:p%ranks - 1), ragged(p%all), out(3), r, root, ierr
    do root = 0, p%ranks - 1
      do r = 0, p%ranks - 1
        in(:, r) = merge(pair(root, r, [1, 2, 3]), -1, p%me == root)
      end do
      call MPI_Scatter(in, 3, MPI_INTEGER, out, 3, MPI_INTEGER, root, p%comm, ierr)
      call expect(p, "scatter", all(out == pair(root, p%me, [1, 2, 3])))
      ragged = merge(all_of(p), -1, p%me == root)
      out = -1
      call MPI_Scatterv(ragged, p%counts, p%starts, MPI_INTEGER, out, p%counts(p%me), MPI_INTEGER, root, p%comm, ierr)
      call expect(p, "scatterv", all(out == merge(value(p%me, [1, 2, 3]), -1, [1, 2, 3] <= p%counts(p%me))))
    end do
  end subroutine

  ! What one rank has for another has 0 to 2 elements where they are counted.
  elemental integer function counted(from, to)
    integer, intent(in) :: from, to
    counted = mod(from + 2 * to, 3)
  end function

  subroutine exchanges(p)
    type(Place), intent(in) :: p
    integer :: in(2, 0:p%ranks - 1), out(2, 0:p%ranks - 1), right(2, 0:p%ranks - 1), r, ierr
    integer, dimension(0:p%ranks - 1) :: peers, out_counts, in_counts
    TYPE_HANDLE, dimension(0:p%ranks - 1) :: types
    peers = [(r, r = 0, p%ranks - 1)]
    do r = 0, p%ranks - 1
      in(:, r) = pair(p%me, r, [1, 2])
      right(:, r) = pair(r, p%me, [1, 2])
    end do
    call MPI_Alltoall(in, 2, MPI_INTEGER, out, 2, MPI_INTEGER, p%comm, ierr)
    call expect(p, "alltoall", all(out == right))
    in_counts = counted(p%me, peers)
    out_counts = counted(peers, p%me)
    right(1, :) = merge(right(1, :), -1, out_counts >= 1)
    right(2, :) = merge(right(2, :), -1, out_counts >= 2)
    out = -1
    call MPI_Alltoallv(in, in_counts, 2 * peers, MPI_INTEGER, out, out_counts, 2 * peers, MPI_INTEGER, p%comm, ierr)
    call expect(p, "alltoallv", all(out == right))
    out = -1
    types = MPI_INTEGER
    call MPI_Alltoallw(in, in_counts, 8 * peers, types, out, out_counts, 8 * peers, types, p%comm, ierr)
    call expect(p, "alltoallw", all(out == right))
  end subroutine
end module
