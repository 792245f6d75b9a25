module binding
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use arithmetic
  implicit none
  character(len=*), parameter :: binding_name = "use mpi_f08"
contains
  subroutine compose_operation(in, inout, count, datatype)
    type(c_ptr), value :: in, inout
    integer :: count
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:, :), b(:, :)
    call c_f_pointer(in, a, [2, count])
    call c_f_pointer(inout, b, [2, count])
    call compose(a, b, count)
  end subroutine

  subroutine add_operation(in, inout, count, datatype)
    type(c_ptr), value :: in, inout
    integer :: count
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    call c_f_pointer(in, a, [count])
    call c_f_pointer(inout, b, [count])
    call add(a, b, count)
  end subroutine
end module
