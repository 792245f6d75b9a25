#include "handles.h"
! All persistent collectives, of which each is started several times. For MPIs of version 4.
program persistent
  use checks
  implicit none
  integer, parameter :: n = 4, many = 17, rounds = 3
  integer, asynchronous :: mine(n), news(n), reduced(n), sums(n), sums_so_far(n), sums_before(n), share(2), part(2)
  integer, asynchronous :: block(2), share_of_sums(1), share_of_blocks(1)
  integer, asynchronous, allocatable, dimension(:, :) :: blocks, gathered, at_root, exchanged, counted, typed
  integer, asynchronous, allocatable :: ragged(:, :), ragged_at_root(:, :), long(:), twos(:), starts(:), scales(:), ones(:)
  TYPE_HANDLE, asynchronous, allocatable :: ints(:)
  REQUEST_HANDLE :: list(many)
  type(Place) :: world
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: library
  logical :: is_mpich_4_0
  integer :: round, i, ierr
  call MPI_Init(ierr)
  world = place_of(MPI_COMM_WORLD, "world")
  call MPI_Get_library_version(library, i, ierr)
  is_mpich_4_0 = index(library, "MPICH Version:" // achar(9) // "4.0") > 0
  call make_rooted(world)
  call make_others(world)
  do round = 1, rounds
    call fill(world, round)
    if (round == 2) then
      call MPI_Startall(many, list, ierr)
    else
      do i = 1, many
        call MPI_Start(list(i), ierr)
      end do
    end if
    call MPI_Waitall(many, list, MPI_STATUSES_IGNORE, ierr)
    call check_rooted(world, round)
    call check_others(world, round)
  end do
  do i = 1, many
    call expect(world, "a persistent request stays", list(i) /= MPI_REQUEST_NULL)
    call MPI_Request_free(list(i), ierr)
    call expect(world, "a freed request", list(i) == MPI_REQUEST_NULL)
  end do
  call verdict()
  call MPI_Finalize(ierr)
  if (wrong > 0) error stop 1
contains
  subroutine make_rooted(p)
    type(Place), intent(in) :: p
    integer :: r, last, ierr
    last = p%ranks - 1
    allocate(blocks(2, 0:last), gathered(2, 0:last), at_root(2, 0:last), exchanged(2, 0:last), counted(2, 0:last))
    allocate(typed(2, 0:last), ragged(2, 0:last), ragged_at_root(2, 0:last), long(p%ranks), twos(p%ranks))
    allocate(starts(p%ranks), scales(p%ranks), ones(p%ranks), ints(p%ranks))
    twos = 2
    ones = 1
    starts = [(2 * r, r = 0, last)]
    scales = 4 * starts
    ints = MPI_INTEGER
    call MPI_Barrier_init(p%comm, MPI_INFO_NULL, list(1), ierr)
    call MPI_Bcast_init(news, n, MPI_INTEGER, last, p%comm, MPI_INFO_NULL, list(2), ierr)
    call MPI_Reduce_init(mine, reduced, n, MPI_INTEGER, MPI_SUM, last, p%comm, MPI_INFO_NULL, list(3), ierr)
    call MPI_Gather_init(block, 2, MPI_INTEGER, at_root, 2, MPI_INTEGER, 0, p%comm, MPI_INFO_NULL, list(4), ierr)
    call MPI_Gatherv_init(block, 2, MPI_INTEGER, ragged_at_root, twos, starts, MPI_INTEGER, last, p%comm, &
                          MPI_INFO_NULL, list(5), ierr)
    call MPI_Scatter_init(blocks, 2, MPI_INTEGER, share, 2, MPI_INTEGER, 0, p%comm, MPI_INFO_NULL, list(6), ierr)
    call MPI_Scatterv_init(blocks, twos, starts, MPI_INTEGER, part, 2, MPI_INTEGER, last, p%comm, MPI_INFO_NULL, &
                           list(7), ierr)
  end subroutine

  subroutine make_others(p)
    type(Place), intent(in) :: p
    integer :: ierr
    call MPI_Allreduce_init(mine, sums, n, MPI_INTEGER, MPI_SUM, p%comm, MPI_INFO_NULL, list(8), ierr)
    call MPI_Scan_init(mine, sums_so_far, n, MPI_INTEGER, MPI_SUM, p%comm, MPI_INFO_NULL, list(9), ierr)
    call MPI_Exscan_init(mine, sums_before, n, MPI_INTEGER, MPI_SUM, p%comm, MPI_INFO_NULL, list(10), ierr)
    call MPI_Reduce_scatter_init(long, share_of_sums, ones, MPI_INTEGER, MPI_SUM, p%comm, MPI_INFO_NULL, list(11), ierr)
    call MPI_Reduce_scatter_block_init(long, share_of_blocks, 1, MPI_INTEGER, MPI_SUM, p%comm, MPI_INFO_NULL, list(12), ierr)
    call MPI_Allgather_init(block, 2, MPI_INTEGER, gathered, 2, MPI_INTEGER, p%comm, MPI_INFO_NULL, list(13), ierr)
    call MPI_Allgatherv_init(block, 2, MPI_INTEGER, ragged, twos, starts, MPI_INTEGER, p%comm, MPI_INFO_NULL, &
                             list(14), ierr)
    call MPI_Alltoall_init(blocks, 2, MPI_INTEGER, exchanged, 2, MPI_INTEGER, p%comm, MPI_INFO_NULL, list(15), ierr)
    call MPI_Alltoallv_init(blocks, twos, starts, MPI_INTEGER, counted, twos, starts, MPI_INTEGER, p%comm, &
                            MPI_INFO_NULL, list(16), ierr)
    call MPI_Alltoallw_init(blocks, twos, scales, ints, typed, twos, scales, ints, p%comm, MPI_INFO_NULL, list(17), ierr)
  end subroutine

  subroutine fill(p, round)
    type(Place), intent(in) :: p
    integer, intent(in) :: round
    integer :: r, i
    mine = round * value(p%me, [(i, i = 1, n)])
    news = merge(mine, -1, p%me == p%ranks - 1)
    block = round * pair(p%me, p%me, [1, 2])
    long = round * value(p%me, [(i, i = 1, p%ranks)])
    do r = 0, p%ranks - 1
      blocks(:, r) = round * pair(p%me, r, [1, 2])
    end do
    gathered = -1; at_root = -1; ragged = -1; ragged_at_root = -1; exchanged = -1; counted = -1; typed = -1
    reduced = -1; sums = -1; sums_so_far = -1; sums_before = -1; share = -1; part = -1
    share_of_sums = -1; share_of_blocks = -1
  end subroutine

  subroutine check_rooted(p, round)
    type(Place), intent(in) :: p
    integer, intent(in) :: round
    integer :: last, i
    last = p%ranks - 1
    call expect(p, "bcast_init", all(news == round * value(last, [(i, i = 1, n)])))
    call expect(p, "reduce_init", p%me < last .or. all(reduced == round * total(p%ranks, [(i, i = 1, n)])))
    if (.not. is_mpich_4_0) then ! its MPI_Gather_init and the two like it leave data behind, in C as well
      call expect(p, "gather_init", p%me > 0 .or. is_of_all(p, round, at_root))
      call expect(p, "scatter_init", all(share == round * pair(0, p%me, [1, 2])))
      call expect(p, "allgather_init", is_of_all(p, round, gathered))
    end if
    call expect(p, "gatherv_init", p%me < last .or. is_of_all(p, round, ragged_at_root))
    call expect(p, "scatterv_init", all(part == round * pair(last, p%me, [1, 2])))
  end subroutine

  subroutine check_others(p, round)
    type(Place), intent(in) :: p
    integer, intent(in) :: round
    integer :: i
    call expect(p, "allreduce_init", all(sums == round * total(p%ranks, [(i, i = 1, n)])))
    call expect(p, "scan_init", all(sums_so_far == round * total(p%me + 1, [(i, i = 1, n)])))
    call expect(p, "exscan_init", p%me == 0 .or. all(sums_before == round * total(p%me, [(i, i = 1, n)])))
    call expect(p, "reduce_scatter_init", share_of_sums(1) == round * total(p%ranks, p%me + 1))
    call expect(p, "reduce_scatter_block_init", share_of_blocks(1) == round * total(p%ranks, p%me + 1))
    call expect(p, "allgatherv_init", is_of_all(p, round, ragged))
    call expect(p, "alltoall_init", is_for_me(p, round, exchanged))
    call expect(p, "alltoallv_init", is_for_me(p, round, counted))
    call expect(p, "alltoallw_init", is_for_me(p, round, typed))
  end subroutine

  logical function is_of_all(p, round, data)
    type(Place), intent(in) :: p
    integer, intent(in) :: round, data(2, 0:p%ranks - 1)
    integer :: r
    is_of_all = all([(all(data(:, r) == round * pair(r, r, [1, 2])), r = 0, p%ranks - 1)])
  end function

  logical function is_for_me(p, round, data)
    type(Place), intent(in) :: p
    integer, intent(in) :: round, data(2, 0:p%ranks - 1)
    integer :: r
    is_for_me = all([(all(data(:, r) == round * pair(r, p%me, [1, 2])), r = 0, p%ranks - 1)])
  end function
end program
