module binding
  use arithmetic
  implicit none
  include 'mpif.h'
  character(len=*), parameter :: binding_name = "mpif.h"
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
