module binding
  use mpi
  use arithmetic
  implicit none
  character(len=*), parameter :: binding_name = "use mpi"
contains
  subroutine compose_operation(in, inout, count, datatype)
    integer :: count, datatype, in(2, count), inout(2, count)
    call compose(in, inout, count)
  end subroutine

  subroutine add_operation(in, inout, count, datatype)
    integer :: count, datatype, in(count), inout(count)
    call add(in, inout, count)
  end subroutine
end module
