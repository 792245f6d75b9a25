#include "handles.h"
! What Fortran's own forms of calls have to keep, beside the results.
program forms
  use lives
  implicit none
  integer :: provided, ierr
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierr)
  call all_forms(place_of(MPI_COMM_WORLD, "world"))
  call all_forms(place_of(MPI_COMM_SELF, "self"))
  call verdict()
  call MPI_Finalize(ierr)
  if (wrong > 0) error stop 1
contains
  subroutine all_forms(p)
    type(Place), intent(in) :: p
    call expect(p, "a level of threads", provided >= MPI_THREAD_SINGLE .and. provided <= MPI_THREAD_MULTIPLE)
    call lives_of_requests(p)
    call forms_of_calls(p)
  end subroutine
end program
