! A program whose arguments say what it does, in order: the words of tests/c/lifetimes.c. With TUTTI_NATIVE it calls the
! module tutti, else MPI alone: for preloading. "done" is printed after the last of all.
module lifetimes
  use, intrinsic :: iso_c_binding
  use mpi
#ifdef TUTTI_NATIVE
  use tutti
#endif
  implicit none
  private
  public :: do_word, expect_steps

  integer, parameter :: n = 64, longest = 40
#ifdef TUTTI_NATIVE
  type(tutti_comm) :: comm
  type(tutti_request) :: request
  logical :: is_open = .false.
#else
  integer :: comm = MPI_COMM_NULL, request = MPI_REQUEST_NULL, gapped_type = MPI_DATATYPE_NULL
#endif
  integer :: rank = 0, ranks = 1, steps = 0, steps_wanted = 0, at_exits = 0, at_finalizes = 0
  integer, asynchronous :: mine(n), total(n)
  character(longest) :: at_exit(16), at_finalize(16), in_thread

  interface
    integer(c_int) function c_atexit(function) bind(c, name='atexit')
      import
      type(c_funptr), value :: function
    end function
    integer(c_int) function c_pthread_create(thread, attributes, function, argument) bind(c, name='pthread_create')
      import
      integer(c_intptr_t) :: thread
      type(c_ptr), value :: attributes, argument
      type(c_funptr), value :: function
    end function
    integer(c_int) function c_pthread_join(thread, result) bind(c, name='pthread_join')
      import
      integer(c_intptr_t), value :: thread
      type(c_ptr), value :: result
    end function
    subroutine c_exit_now(status) bind(c, name='_exit')
      import
      integer(c_int), value :: status
    end subroutine
  end interface

contains

  subroutine require(is_right, what)
    logical, intent(in) :: is_right
    character(*), intent(in) :: what
    if (is_right) return
    write (0, '(a, i0, 2a)') 'FAILED on rank ', rank, ': ', what
    flush (0)
    call c_exit_now(1)
  end subroutine

  logical function is_finalized()
    integer :: ierr
    call MPI_Finalized(is_finalized, ierr)
  end function

  subroutine fill(in, out)
    integer, intent(out) :: in(n), out(n)
    integer :: i
    in = [(rank + i, i = 0, n - 1)]
    out = -1
  end subroutine

  subroutine require_sum(out)
    integer, intent(in) :: out(n)
    integer :: i
    call require(all(out == [(ranks * (ranks - 1) / 2 + ranks * i, i = 0, n - 1)]), 'a wrong sum')
  end subroutine

#ifdef TUTTI_NATIVE
  subroutine make()
    call tutti_comm_create(MPI_COMM_WORLD, comm)
    is_open = .true.
  end subroutine

  !> After MPI_Finalize it has to be refused. A nonblocking call may be under way, which has other buffers.
  subroutine call_it()
    integer :: status, in(n), out(n)
    call fill(in, out)
    call tutti_allreduce(in, out, tutti_int32, tutti_sum, comm, ierror=status)
    if (is_finalized() .or. .not. is_open) then
      call require(status /= tutti_success .and. len(tutti_last_error()) > 0, 'a call after MPI_Finalize was not refused')
      return
    end if
    call require(status == tutti_success, 'tutti_allreduce')
    call require_sum(out)
  end subroutine

  subroutine begin()
    call fill(mine, total)
    call tutti_allreduce(mine, total, tutti_int32, tutti_sum, comm, request=request)
  end subroutine

  subroutine end_it()
    if (is_finalized()) return ! MPI_Finalize has completed it
    call tutti_wait(request)
    call require_sum(total)
  end subroutine

  subroutine close_it()
    call tutti_comm_free(comm)
    is_open = .false.
  end subroutine
#else
  subroutine make()
    integer :: i, ierr
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    do i = 1, 16 ! so that a preloaded library gets to know it
      call MPI_Barrier(comm, ierr)
    end do
  end subroutine

  subroutine call_it()
    integer :: ierr, in(n), out(n)
    if (is_finalized()) return
    call fill(in, out)
    call MPI_Allreduce(in, out, n, MPI_INTEGER, MPI_SUM, comm, ierr)
    call require(ierr == MPI_SUCCESS, 'MPI_Allreduce')
    call require_sum(out)
  end subroutine

  subroutine begin()
    integer :: ierr
    call fill(mine, total)
    call MPI_Iallreduce(mine, total, n, MPI_INTEGER, MPI_SUM, comm, request, ierr)
  end subroutine

  !> Every second element of rank 0's.
  subroutine begin_gapped()
    integer :: ierr, i
    call fill(mine, total)
    call MPI_Type_vector(n / 2, 1, 2, MPI_INTEGER, gapped_type, ierr)
    call MPI_Type_commit(gapped_type, ierr)
    if (rank == 0) total = [(i, i = 1, n)]
    call MPI_Ibcast(total, 1, gapped_type, 0, comm, request, ierr)
  end subroutine

  !> A broadcast that comes first on its communicator. Rank 1 calls after it has heard of rank 0, which then has to be done.
  subroutine be_ahead()
    integer :: fresh, value, ierr
    value = merge(7, 0, rank == 0)
    call MPI_Comm_dup(MPI_COMM_WORLD, fresh, ierr)
    if (rank == 1) call MPI_Recv(value, 0, MPI_INTEGER, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Bcast(value, 1, MPI_INTEGER, 0, fresh, ierr)
    if (rank == 0 .and. ranks > 1) call MPI_Send(value, 0, MPI_INTEGER, 1, 0, MPI_COMM_WORLD, ierr)
    call require(value == 7, 'a wrong broadcast')
    call MPI_Comm_free(fresh, ierr)
  end subroutine

  subroutine end_it()
    integer :: ierr, i
    if (is_finalized()) return
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    if (gapped_type == MPI_DATATYPE_NULL) then
      call require_sum(total)
      return
    end if
    call require(all(total(1::2) == [(i, i = 1, n, 2)]), 'a wrong element')
    if (rank /= 0) call require(all(total(2::2) == -1), 'an element in a gap was written')
    call MPI_Type_free(gapped_type, ierr)
  end subroutine

  subroutine close_it()
    integer :: ierr
    if (.not. is_finalized()) call MPI_Comm_free(comm, ierr)
  end subroutine
#endif

  subroutine initialize(with_threads)
    logical, intent(in) :: with_threads
    integer :: provided, ierr
    if (with_threads) then
      call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierr)
    else
      call MPI_Init(ierr)
    end if
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  end subroutine

  recursive subroutine exit_step() bind(c)
    character(longest) :: word
    word = at_exit(at_exits)
    at_exits = at_exits - 1
    call do_word(trim(word))
  end subroutine

  recursive subroutine attribute_step(comm_self, key, value, extra, ierr)
    integer :: comm_self, key, ierr
    integer(MPI_ADDRESS_KIND) :: value, extra
    call do_word(trim(at_finalize(int(value))))
    ierr = MPI_SUCCESS
  end subroutine

  !> The word is done at MPI_Finalize, in a callback of an attribute of MPI_COMM_SELF.
  subroutine leave_to_finalize(word)
    character(*), intent(in) :: word
    integer :: key, ierr
    integer(MPI_ADDRESS_KIND), parameter :: none = 0
    at_finalizes = at_finalizes + 1
    at_finalize(at_finalizes) = word
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, attribute_step, key, none, ierr)
    call MPI_Comm_set_attr(MPI_COMM_SELF, key, int(at_finalizes, MPI_ADDRESS_KIND), ierr)
    call MPI_Comm_free_keyval(key, ierr)
  end subroutine

  subroutine leave_to_exit(word)
    character(*), intent(in) :: word
    at_exits = at_exits + 1
    at_exit(at_exits) = word
    call require(c_atexit(c_funloc(exit_step)) == 0, 'atexit')
  end subroutine

  recursive function thread_step(argument) bind(c) result(nothing)
    type(c_ptr), value :: argument
    type(c_ptr) :: nothing
    call do_word(trim(in_thread))
    nothing = argument
  end function

  subroutine do_in_thread(word)
    character(*), intent(in) :: word
    integer(c_intptr_t) :: thread
    in_thread = word
    call require(c_pthread_create(thread, c_null_ptr, c_funloc(thread_step), c_null_ptr) == 0, 'no thread')
    call require(c_pthread_join(thread, c_null_ptr) == 0, 'a thread cannot be joined')
  end subroutine

  recursive subroutine do_word(word)
    character(*), intent(in) :: word
    integer :: ierr
    steps = steps + 1
    if (index(word, 'exit-') == 1) then
      call leave_to_exit(word(6:))
    else if (index(word, 'attribute-') == 1) then
      call leave_to_finalize(word(11:))
    else if (index(word, 'thread-') == 1) then
      call do_in_thread(word(8:))
    else
      select case (word)
      case ('init', 'threads')
        call initialize(word == 'threads')
      case ('comm')
        call make()
      case ('call')
        call call_it()
      case ('begin')
        call begin()
      case ('end')
        call end_it()
      case ('close')
        call close_it()
#ifndef TUTTI_NATIVE
      case ('gapped')
        call begin_gapped()
      case ('ahead')
        call be_ahead()
#endif
      case ('finalize')
        call MPI_Finalize(ierr)
      case default
        call require(.false., word)
      end select
    end if
  end subroutine

  subroutine expect_steps(count)
    integer, intent(in) :: count
    steps_wanted = count
    call require(c_atexit(c_funloc(tell)) == 0, 'atexit')
  end subroutine

  subroutine tell() bind(c)
    call require(steps == steps_wanted, 'not all steps were made')
    write (*, '(a)') 'done'
    flush (6)
  end subroutine

end module

program main
  use lifetimes
  implicit none
  character(40) :: word
  integer :: i, wanted
  wanted = 0
  do i = 1, command_argument_count()
    call get_command_argument(i, word)
    wanted = wanted + merge(2, 1, index(word, '-') > 0)
  end do
  call expect_steps(wanted)
  do i = 1, command_argument_count()
    call get_command_argument(i, word)
    call do_word(trim(word))
  end do
end program
