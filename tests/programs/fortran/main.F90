#include "handles.h"
! Calls MPI's collectives by one of the three Fortran bindings, on several communicators, and checks all results.
program main
  use blocking
  use in_place
  use types
  use completions
  use communicators
  implicit none
  COMM_HANDLE :: twin, some
  integer :: me, ranks, ierr
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call MPI_Comm_dup(MPI_COMM_WORLD, twin, ierr)
  call MPI_Comm_split(MPI_COMM_WORLD, merge(1, 0, me == 1), -me, some, ierr) ! all but rank 1, backwards; and rank 1
  call everything(place_of(MPI_COMM_WORLD, "world"))
  call everything(place_of(twin, "a duplicate"))
  call everything(place_of(some, "a part"))
  call everything(place_of(MPI_COMM_SELF, "self"))
  call MPI_Comm_free(twin, ierr)
  call MPI_Comm_free(some, ierr)
  if (ranks > 1) call calls_between_groups()
  call made_and_freed()
  call errors_come_back()
  call verdict()
  call MPI_Finalize(ierr)
  if (wrong > 0) error stop 1
contains
  subroutine everything(p)
    type(Place), intent(in) :: p
    call blocking_calls(p)
    call calls_in_place(p)
    call calls_with_types(p)
    call nonblocking_calls(p)
    call completion_of_lists(p)
  end subroutine
end program
