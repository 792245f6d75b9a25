! What the module tutti is made of: how buffers and lists become a call, and batches of messages.
module tutti_calls
  use, intrinsic :: iso_c_binding
  use tutti_bindings
  use tutti_handles
  implicit none
  public

contains

  !> The address of a buffer, or a mark: MPI's for tutti_in_place, or that of a section that is not contiguous, which calls
  !> refuse.
  function address(buffer) result(place)
    type(*), dimension(..), intent(in), target, asynchronous :: buffer
    type(c_ptr) :: place
    place = c_null_ptr
    if (size(buffer) == 0) return
    if (.not. is_contiguous(buffer)) then
      place = c_not_contiguous()
      return
    end if
    place = c_loc(buffer)
    if (c_associated(place, c_loc(tutti_in_place))) place = c_in_place()
  end function

  function elements(buffer) result(count)
    type(*), dimension(..), intent(in), asynchronous :: buffer
    integer(c_int64_t) :: count
    count = size(buffer, kind=c_int64_t)
  end function

  !> The address of a list with one entry per rank; NULL, which calls refuse, if it is another one.
  function list_at(list, comm) result(place)
    integer(c_int64_t), intent(in), target, contiguous :: list(:)
    type(tutti_comm), intent(in) :: comm
    type(c_ptr) :: place
    place = c_null_ptr
    if (size_of(comm) == size(list)) place = c_loc(list)
  end function

  !> Offsets that go with counts. Offsets of another length make the counts NULL, since calls take NULL for no offsets.
  subroutine set_offsets(offsets, counts, list, comm)
    type(c_ptr), intent(out) :: offsets
    type(c_ptr), intent(inout) :: counts
    integer(c_int64_t), intent(in), target, contiguous :: list(:)
    type(tutti_comm), intent(in) :: comm
    offsets = list_at(list, comm)
    if (.not. c_associated(offsets)) counts = c_null_ptr
  end subroutine

  function types_at(list, comm) result(place)
    integer, intent(in), target, contiguous :: list(:)
    type(tutti_comm), intent(in) :: comm
    type(c_ptr) :: place
    place = c_null_ptr
    if (size_of(comm) == size(list)) place = c_loc(list)
  end function

  !> 1 where there is none: the call itself finds the mistake.
  integer function size_of(comm)
    type(tutti_comm), intent(in) :: comm
    if (c_comm_size(comm%handle, size_of) /= tutti_success) size_of = 1
  end function

  logical function is_rank(rank, comm)
    integer, intent(in) :: rank
    type(tutti_comm), intent(in) :: comm
    integer :: mine
    is_rank = .false.
    if (c_comm_rank(comm%handle, mine) == tutti_success) is_rank = mine == rank
  end function

  logical function is_in_place(place)
    type(c_ptr), intent(in) :: place
    is_in_place = c_associated(place, c_in_place())
  end function

  !> A call with blocks of one size, which the sizes of the buffers say.
  function even(collective, in, out, element, comm, op, root) result(call)
    integer(c_int), intent(in) :: collective
    type(*), dimension(..), intent(in), asynchronous :: in, out
    integer, intent(in) :: element
    type(tutti_comm), intent(in) :: comm
    type(tutti_op), intent(in), optional :: op
    integer, intent(in), optional :: root
    type(c_call) :: call
    logical :: reads, writes, is_root
    integer :: in_blocks, out_blocks
    call = described(collective, c_even, in, out, element, op, root)
    reads = .not. is_in_place(call%in)
    writes = .not. is_in_place(call%out)
    is_root = is_rank(call%root, comm)
    if (collective == c_scatter) reads = reads .and. is_root
    if (any(collective == [c_reduce, c_gather])) writes = writes .and. is_root
    in_blocks = merge(size_of(comm), 1, any(collective == [c_reduce_scatter, c_scatter, c_alltoall]))
    out_blocks = merge(size_of(comm), 1, any(collective == [c_allgather, c_gather, c_alltoall]))
    if (reads .and. (.not. writes .or. in_blocks == 1 .or. out_blocks > 1)) then
      call%count = elements(in) / in_blocks
    else
      call%count = elements(out) / out_blocks
    end if
    ! A buffer that is too small: no call takes this count.
    if (reads .and. elements(in) < call%count * in_blocks) call%count = -1
    if (writes .and. elements(out) < call%count * out_blocks) call%count = -1
  end function

  !> A call whose count and lists are still to be given.
  function described(collective, blocks, in, out, element, op, root) result(call)
    integer(c_int), intent(in) :: collective, blocks
    type(*), dimension(..), intent(in), asynchronous :: in, out
    integer, intent(in) :: element
    type(tutti_op), intent(in), optional :: op
    integer, intent(in), optional :: root
    type(c_call) :: call
    call%bytes = c_sizeof(call)
    call%collective = collective
    call%blocks = blocks
    call%in = address(in)
    call%out = address(out)
    call%element = element
    if (present(op)) call%op = op%handle
    if (present(root)) call%root = root
  end function

  !> Runs, starts or prepares a call.
  subroutine perform(call, comm, request, plan, algorithm, ierror, bits)
    type(c_call), intent(in) :: call
    type(tutti_comm), intent(in) :: comm
    type(tutti_request), intent(out), optional :: request
    type(tutti_plan), intent(out), optional :: plan
    character(*), intent(in), optional :: algorithm, bits
    integer, intent(out), optional :: ierror
    character(kind=c_char), allocatable, target :: kept(:), kept_bits(:)
    type(c_options) :: options
    call keep_text(algorithm, kept)
    call keep_text(bits, kept_bits)
    options%bytes = c_sizeof(options)
    options%algorithm = place_of(kept)
    options%bits = place_of(kept_bits)
    if (present(request)) then
      call settle(c_start(call, comm%handle, options, request%handle), ierror)
    else if (present(plan)) then
      call settle(c_prepare(call, comm%handle, options, plan%handle), ierror)
    else
      call settle(c_run(call, comm%handle, options), ierror)
    end if
  end subroutine

  subroutine tutti_batch_create(comm, batch, ierror)
    type(tutti_comm), intent(in) :: comm
    type(tutti_batch), intent(out) :: batch
    integer, intent(out), optional :: ierror
    call settle(c_batch_create(comm%handle, batch%handle), ierror)
  end subroutine

  subroutine tutti_batch_send(batch, data, element, to, ierror)
    type(tutti_batch), intent(in) :: batch
    type(*), dimension(..), intent(in), target, asynchronous :: data
    integer, intent(in) :: element, to
    integer, intent(out), optional :: ierror
    call settle(c_batch_send(batch%handle, address(data), elements(data), element, to), ierror)
  end subroutine

  subroutine tutti_batch_recv(batch, data, element, from, ierror)
    type(tutti_batch), intent(in) :: batch
    type(*), dimension(..), intent(inout), target, asynchronous :: data
    integer, intent(in) :: element, from
    integer, intent(out), optional :: ierror
    call settle(c_batch_recv(batch%handle, address(data), elements(data), element, from), ierror)
  end subroutine

  !> Runs, starts or prepares the batch.
  subroutine tutti_batch_run(batch, request, plan, ierror)
    type(tutti_batch), intent(in) :: batch
    type(tutti_request), intent(out), optional :: request
    type(tutti_plan), intent(out), optional :: plan
    integer, intent(out), optional :: ierror
    if (present(request)) then
      call settle(c_batch_start(batch%handle, request%handle), ierror)
    else if (present(plan)) then
      call settle(c_batch_plan(batch%handle, plan%handle), ierror)
    else
      call settle(c_batch_run(batch%handle), ierror)
    end if
  end subroutine

end module
