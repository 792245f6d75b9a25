! What the module tutti is made of: errors, communicators, operations, requests and plans.
module tutti_handles
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use tutti_bindings
  implicit none
  public

  type :: tutti_comm
    type(c_ptr) :: handle = c_null_ptr
  end type
  type :: tutti_request
    type(c_ptr) :: handle = c_null_ptr
  end type
  type :: tutti_plan
    type(c_ptr) :: handle = c_null_ptr
  end type
  type :: tutti_batch
    type(c_ptr) :: handle = c_null_ptr
  end type

  !> Told by its address.
  integer, target, protected :: tutti_in_place = 0

  !> The module tutti_f08 adds the communicators of mpi_f08.
  interface tutti_comm_create
    module procedure comm_create
  end interface
  interface tutti_wait
    module procedure request_wait, plan_wait
  end interface
  interface tutti_test
    module procedure request_test, plan_test
  end interface
  interface tutti_start
    module procedure plan_start
  end interface
  interface tutti_free
    module procedure request_free, plan_free, batch_free
  end interface

contains


  !> The full text of the last error of this thread.
  function tutti_last_error() result(text)
    character(:), allocatable :: text
    text = text_at(c_last_error())
  end function

  function tutti_version() result(text)
    character(:), allocatable :: text
    text = text_at(c_version())
  end function

  function text_at(place) result(text)
    type(c_ptr), intent(in) :: place
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    call c_f_pointer(place, letters, [c_strlen(place)])
    allocate(character(size(letters)) :: text)
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end function

  !> Gives the status to the caller, or ends the program.
  subroutine settle(status, ierror)
    integer(c_int), intent(in) :: status
    integer, intent(out), optional :: ierror
    if (present(ierror)) then
      ierror = status
    else if (status /= tutti_success) then
      write (error_unit, '(a)') tutti_last_error()
      error stop 1
    end if
  end subroutine

  !> A text with a zero at its end; not allocated where there is none.
  subroutine keep_text(text, kept)
    character(*), intent(in), optional :: text
    character(kind=c_char), allocatable, target, intent(out) :: kept(:)
    integer :: i
    if (.not. present(text)) return
    allocate(kept(len_trim(text) + 1))
    do i = 1, len_trim(text)
      kept(i) = text(i:i)
    end do
    kept(size(kept)) = c_null_char
  end subroutine

  !> Its address.
  function place_of(kept) result(place)
    character(kind=c_char), allocatable, target, intent(in) :: kept(:)
    type(c_ptr) :: place
    place = c_null_ptr
    if (allocated(kept)) place = c_loc(kept)
  end function

  subroutine comm_create(parent, comm, algorithms, transport, buffers, forms_match, rules, ierror, bits)
    integer, intent(in) :: parent  !< A communicator of MPI.
    type(tutti_comm), intent(out) :: comm
    character(*), intent(in), optional :: algorithms, transport, buffers, rules, bits
    logical, intent(in), optional :: forms_match
    integer, intent(out), optional :: ierror
    type(c_comm_options) :: options
    character(kind=c_char), allocatable, target :: kept_algorithms(:), kept_transport(:), kept_buffers(:), &
                                                 kept_rules(:), kept_bits(:)
    call keep_text(algorithms, kept_algorithms)
    call keep_text(transport, kept_transport)
    call keep_text(buffers, kept_buffers)
    call keep_text(rules, kept_rules)
    call keep_text(bits, kept_bits)
    options = c_comm_options(c_sizeof(options), place_of(kept_algorithms), place_of(kept_transport), &
                             place_of(kept_buffers))
    if (present(forms_match)) options%forms_match = merge(1, 0, forms_match)
    options%rules = place_of(kept_rules)
    options%bits = place_of(kept_bits)
    call settle(c_comm_create_f(parent, options, comm%handle), ierror)
  end subroutine

  subroutine tutti_comm_free(comm, ierror)
    type(tutti_comm), intent(inout) :: comm
    integer, intent(out), optional :: ierror
    call settle(c_comm_free(comm%handle), ierror)
  end subroutine

  subroutine tutti_comm_close(comm, ierror)
    type(tutti_comm), intent(in) :: comm
    integer, intent(out), optional :: ierror
    call settle(c_comm_close(comm%handle), ierror)
  end subroutine

  subroutine tutti_comm_rank(comm, rank, ierror)
    type(tutti_comm), intent(in) :: comm
    integer, intent(out) :: rank
    integer, intent(out), optional :: ierror
    call settle(c_comm_rank(comm%handle, rank), ierror)
  end subroutine

  subroutine tutti_comm_size(comm, size, ierror)
    type(tutti_comm), intent(in) :: comm
    integer, intent(out) :: size
    integer, intent(out), optional :: ierror
    call settle(c_comm_size(comm%handle, size), ierror)
  end subroutine

  subroutine tutti_comm_node_count(comm, node_count, ierror)
    type(tutti_comm), intent(in) :: comm
    integer, intent(out) :: node_count
    integer, intent(out), optional :: ierror
    call settle(c_comm_node_count(comm%handle, node_count), ierror)
  end subroutine

  subroutine tutti_comm_node_of(comm, rank, node, ierror)
    type(tutti_comm), intent(in) :: comm
    integer, intent(in) :: rank
    integer, intent(out) :: node
    integer, intent(out), optional :: ierror
    call settle(c_comm_node_of(comm%handle, rank, node), ierror)
  end subroutine

  !> Why the communicator cannot be used any more; empty: it works.
  subroutine tutti_comm_status(comm, text, ierror)
    type(tutti_comm), intent(in) :: comm
    character(:), allocatable, intent(out) :: text
    integer, intent(out), optional :: ierror
    type(c_ptr) :: place
    integer(c_int) :: status
    status = c_comm_status(comm%handle, place)
    if (status == tutti_success) text = text_at(place)
    call settle(status, ierror)
  end subroutine

  !> `context` is handed to every call of `function`.
  subroutine tutti_op_create_user(function, commutative, op, context, ierror)
    procedure(tutti_user_function) :: function
    logical, intent(in) :: commutative
    type(tutti_op), intent(out) :: op
    type(c_ptr), intent(in), optional :: context
    integer, intent(out), optional :: ierror
    type(c_ptr) :: handed
    handed = c_null_ptr
    if (present(context)) handed = context
    call settle(c_op_create_user(c_funloc(function), merge(1, 0, commutative), handed, c_null_ptr, op%handle), ierror)
  end subroutine

  subroutine tutti_op_create_scaled_sum(scale, op, ierror)
    real(c_double), intent(in) :: scale
    type(tutti_op), intent(out) :: op
    integer, intent(out), optional :: ierror
    call settle(c_op_create_scaled_sum(scale, op%handle), ierror)
  end subroutine

  subroutine tutti_op_free(op, ierror)
    type(tutti_op), intent(inout) :: op
    integer, intent(out), optional :: ierror
    call settle(c_op_free(op%handle), ierror)
  end subroutine

  subroutine request_wait(request, ierror)
    type(tutti_request), intent(inout) :: request
    integer, intent(out), optional :: ierror
    call settle(c_request_wait(request%handle), ierror)
  end subroutine

  subroutine plan_wait(plan, ierror)
    type(tutti_plan), intent(in) :: plan
    integer, intent(out), optional :: ierror
    call settle(c_plan_wait(plan%handle), ierror)
  end subroutine

  subroutine request_test(request, is_complete, ierror)
    type(tutti_request), intent(inout) :: request
    logical, intent(out) :: is_complete
    integer, intent(out), optional :: ierror
    integer(c_int) :: answer, status
    answer = 0
    status = c_request_test(request%handle, answer)
    is_complete = answer /= 0
    call settle(status, ierror)
  end subroutine

  subroutine plan_test(plan, is_complete, ierror)
    type(tutti_plan), intent(in) :: plan
    logical, intent(out) :: is_complete
    integer, intent(out), optional :: ierror
    integer(c_int) :: answer, status
    answer = 0
    status = c_plan_test(plan%handle, answer)
    is_complete = answer /= 0
    call settle(status, ierror)
  end subroutine

  subroutine plan_start(plan, ierror)
    type(tutti_plan), intent(in) :: plan
    integer, intent(out), optional :: ierror
    call settle(c_plan_start(plan%handle), ierror)
  end subroutine

  !> The algorithm that runs, and why.
  subroutine tutti_explain(plan, text, ierror)
    type(tutti_plan), intent(in) :: plan
    character(:), allocatable, intent(out) :: text
    integer, intent(out), optional :: ierror
    type(c_ptr) :: place
    integer(c_int) :: status
    status = c_plan_explain(plan%handle, place)
    if (status == tutti_success) text = text_at(place)
    call settle(status, ierror)
  end subroutine

  subroutine request_free(request, ierror)
    type(tutti_request), intent(inout) :: request
    integer, intent(out), optional :: ierror
    call settle(c_request_free(request%handle), ierror)
  end subroutine

  subroutine plan_free(plan, ierror)
    type(tutti_plan), intent(inout) :: plan
    integer, intent(out), optional :: ierror
    call settle(c_plan_free(plan%handle), ierror)
  end subroutine

  subroutine batch_free(batch, ierror)
    type(tutti_batch), intent(inout) :: batch
    integer, intent(out), optional :: ierror
    call settle(c_batch_free(batch%handle), ierror)
  end subroutine
end module
