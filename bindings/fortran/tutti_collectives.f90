! What the module tutti is made of: the collectives, each in its three forms.
module tutti_collectives
  use, intrinsic :: iso_c_binding
  use tutti_bindings
  use tutti_handles
  use tutti_calls
  implicit none
  public

contains

  !> No rank returns before all ranks have called.
  subroutine tutti_barrier(comm, request, plan, algorithm, ierror)
    type(tutti_comm), intent(in) :: comm
    type(tutti_request), intent(out), optional :: request
    type(tutti_plan), intent(out), optional :: plan
    character(*), intent(in), optional :: algorithm
    integer, intent(out), optional :: ierror
    integer :: none(0)
    call perform(described(c_barrier, c_even, none, none, tutti_uint8), comm, request, plan, algorithm, ierror)
  end subroutine

  !> The root's data go to every rank.
  subroutine tutti_broadcast(data, element, root, comm, request, plan, algorithm, ierror)
    type(*), dimension(..), intent(inout), asynchronous :: data
    integer, intent(in) :: element, root
    type(tutti_comm), intent(in) :: comm
    type(tutti_request), intent(out), optional :: request
    type(tutti_plan), intent(out), optional :: plan
    character(*), intent(in), optional :: algorithm
    integer, intent(out), optional :: ierror
    call perform(even(c_broadcast, data, data, element, comm, root=root), comm, request, plan, algorithm, ierror)
  end subroutine

  !> The root's out is the combination of all ranks' in.
  subroutine tutti_reduce(in, out, element, op, root, comm, request, plan, algorithm, ierror, bits)
    type(*), dimension(..), intent(in), asynchronous :: in
    type(*), dimension(..), intent(inout), asynchronous :: out
    integer, intent(in) :: element, root
    type(tutti_op), intent(in) :: op
    type(tutti_comm), intent(in) :: comm
    type(tutti_request), intent(out), optional :: request
    type(tutti_plan), intent(out), optional :: plan
    character(*), intent(in), optional :: algorithm, bits
    integer, intent(out), optional :: ierror
    call perform(even(c_reduce, in, out, element, comm, op, root), comm, request, plan, algorithm, ierror, bits)
  end subroutine

  !> The same on every rank.
  subroutine tutti_allreduce(in, out, element, op, comm, request, plan, algorithm, ierror, bits)
    type(*), dimension(..), intent(in), asynchronous :: in
    type(*), dimension(..), intent(inout), asynchronous :: out
    integer, intent(in) :: element
    type(tutti_op), intent(in) :: op
    type(tutti_comm), intent(in) :: comm
    type(tutti_request), intent(out), optional :: request
    type(tutti_plan), intent(out), optional :: plan
    character(*), intent(in), optional :: algorithm, bits
    integer, intent(out), optional :: ierror
    call perform(even(c_allreduce, in, out, element, comm, op), comm, request, plan, algorithm, ierror, bits)
  end subroutine

  !> As many elements for each rank: every rank's out is its block of the combination of all ranks' in.
  subroutine tutti_reduce_scatter(in, out, element, op, comm, request, plan, algorithm, ierror, bits)
    type(*), dimension(..), intent(in), asynchronous :: in
    type(*), dimension(..), intent(inout), asynchronous :: out
    integer, intent(in) :: element
    type(tutti_op), intent(in) :: op
    type(tutti_comm), intent(in) :: comm
    type(tutti_request), intent(out), optional :: request
    type(tutti_plan), intent(out), optional :: plan
    character(*), intent(in), optional :: algorithm, bits
    integer, intent(out), optional :: ierror
    call perform(even(c_reduce_scatter, in, out, element, comm, op), comm, request, plan, algorithm, ierror, bits)
  end subroutine

  !> out is the combination of the in of the ranks up to this one.
  subroutine tutti_scan(in, out, element, op, comm, request, plan, algorithm, ierror, bits)
    type(*), dimension(..), intent(in), asynchronous :: in
    type(*), dimension(..), intent(inout), asynchronous :: out
    integer, intent(in) :: element
    type(tutti_op), intent(in) :: op
    type(tutti_comm), intent(in) :: comm
    type(tutti_request), intent(out), optional :: request
    type(tutti_plan), intent(out), optional :: plan
    character(*), intent(in), optional :: algorithm, bits
    integer, intent(out), optional :: ierror
    call perform(even(c_scan, in, out, element, comm, op), comm, request, plan, algorithm, ierror, bits)
  end subroutine

  !> The same without this rank's.
  subroutine tutti_exscan(in, out, element, op, comm, request, plan, algorithm, ierror, bits)
    type(*), dimension(..), intent(in), asynchronous :: in
    type(*), dimension(..), intent(inout), asynchronous :: out
    integer, intent(in) :: element
    type(tutti_op), intent(in) :: op
    type(tutti_comm), intent(in) :: comm
    type(tutti_request), intent(out), optional :: request
    type(tutti_plan), intent(out), optional :: plan
    character(*), intent(in), optional :: algorithm, bits
    integer, intent(out), optional :: ierror
    call perform(even(c_exscan, in, out, element, comm, op), comm, request, plan, algorithm, ierror, bits)
  end subroutine

  !> Every rank's out has the in of all ranks, one after the other.
  subroutine tutti_allgather(in, out, element, comm, request, plan, algorithm, ierror)
    type(*), dimension(..), intent(in), asynchronous :: in
    type(*), dimension(..), intent(inout), asynchronous :: out
    integer, intent(in) :: element
    type(tutti_comm), intent(in) :: comm
    type(tutti_request), intent(out), optional :: request
    type(tutti_plan), intent(out), optional :: plan
    character(*), intent(in), optional :: algorithm
    integer, intent(out), optional :: ierror
    call perform(even(c_allgather, in, out, element, comm), comm, request, plan, algorithm, ierror)
  end subroutine

  !> The same on the root only.
  subroutine tutti_gather(in, out, element, root, comm, request, plan, algorithm, ierror)
    type(*), dimension(..), intent(in), asynchronous :: in
    type(*), dimension(..), intent(inout), asynchronous :: out
    integer, intent(in) :: element, root
    type(tutti_comm), intent(in) :: comm
    type(tutti_request), intent(out), optional :: request
    type(tutti_plan), intent(out), optional :: plan
    character(*), intent(in), optional :: algorithm
    integer, intent(out), optional :: ierror
    call perform(even(c_gather, in, out, element, comm, root=root), comm, request, plan, algorithm, ierror)
  end subroutine

  !> Every rank's out is its block of the root's in.
  subroutine tutti_scatter(in, out, element, root, comm, request, plan, algorithm, ierror)
    type(*), dimension(..), intent(in), asynchronous :: in
    type(*), dimension(..), intent(inout), asynchronous :: out
    integer, intent(in) :: element, root
    type(tutti_comm), intent(in) :: comm
    type(tutti_request), intent(out), optional :: request
    type(tutti_plan), intent(out), optional :: plan
    character(*), intent(in), optional :: algorithm
    integer, intent(out), optional :: ierror
    call perform(even(c_scatter, in, out, element, comm, root=root), comm, request, plan, algorithm, ierror)
  end subroutine

  !> Block r of in goes to rank r, whose block for this rank is block r of out.
  subroutine tutti_alltoall(in, out, element, comm, request, plan, algorithm, ierror)
    type(*), dimension(..), intent(in), asynchronous :: in
    type(*), dimension(..), intent(inout), asynchronous :: out
    integer, intent(in) :: element
    type(tutti_comm), intent(in) :: comm
    type(tutti_request), intent(out), optional :: request
    type(tutti_plan), intent(out), optional :: plan
    character(*), intent(in), optional :: algorithm
    integer, intent(out), optional :: ierror
    call perform(even(c_alltoall, in, out, element, comm), comm, request, plan, algorithm, ierror)
  end subroutine

  !> tutti_reduce_scatter with counts(r + 1) elements for rank r.
  subroutine tutti_reduce_scatterv(in, out, counts, element, op, comm, request, plan, algorithm, ierror, bits)
    type(*), dimension(..), intent(in), asynchronous :: in
    type(*), dimension(..), intent(inout), asynchronous :: out
    integer, intent(in) :: element
    type(tutti_op), intent(in) :: op
    integer(c_int64_t), intent(in), target, contiguous :: counts(:)
    type(tutti_comm), intent(in) :: comm
    type(tutti_request), intent(out), optional :: request
    type(tutti_plan), intent(out), optional :: plan
    character(*), intent(in), optional :: algorithm, bits
    integer, intent(out), optional :: ierror
    type(c_call) :: call
    call = described(c_reduce_scatter, c_uneven, in, out, element, op)
    call%in_counts = list_at(counts, comm)
    call perform(call, comm, request, plan, algorithm, ierror, bits)
  end subroutine

  !> Rank r gives counts(r + 1) elements, which every rank gets behind offsets(r + 1) elements of out.
  subroutine tutti_allgatherv(in, out, counts, element, comm, offsets, request, plan, algorithm, ierror)
    type(*), dimension(..), intent(in), asynchronous :: in
    type(*), dimension(..), intent(inout), asynchronous :: out
    integer, intent(in) :: element
    integer(c_int64_t), intent(in), target, contiguous :: counts(:)
    integer(c_int64_t), intent(in), optional, target, contiguous :: offsets(:)
    type(tutti_comm), intent(in) :: comm
    type(tutti_request), intent(out), optional :: request
    type(tutti_plan), intent(out), optional :: plan
    character(*), intent(in), optional :: algorithm
    integer, intent(out), optional :: ierror
    type(c_call) :: call
    call = described(c_allgather, c_uneven, in, out, element)
    call%out_counts = list_at(counts, comm)
    if (present(offsets)) call set_offsets(call%out_offsets, call%out_counts, offsets, comm)
    call perform(call, comm, request, plan, algorithm, ierror)
  end subroutine

  !> The same on the root only, whose lists count.
  subroutine tutti_gatherv(in, out, counts, element, root, comm, offsets, request, plan, algorithm, ierror)
    type(*), dimension(..), intent(in), asynchronous :: in
    type(*), dimension(..), intent(inout), asynchronous :: out
    integer, intent(in) :: element, root
    integer(c_int64_t), intent(in), target, contiguous :: counts(:)
    integer(c_int64_t), intent(in), optional, target, contiguous :: offsets(:)
    type(tutti_comm), intent(in) :: comm
    type(tutti_request), intent(out), optional :: request
    type(tutti_plan), intent(out), optional :: plan
    character(*), intent(in), optional :: algorithm
    integer, intent(out), optional :: ierror
    type(c_call) :: call
    call = described(c_gather, c_uneven, in, out, element, root=root)
    call%count = elements(in)
    if (is_in_place(call%in)) call%count = counts(root + 1)
    call%out_counts = list_at(counts, comm)
    if (present(offsets)) call set_offsets(call%out_offsets, call%out_counts, offsets, comm)
    call perform(call, comm, request, plan, algorithm, ierror)
  end subroutine

  !> Rank r gets counts(r + 1) elements from behind offsets(r + 1) of the root's in, whose lists count.
  subroutine tutti_scatterv(in, out, counts, element, root, comm, offsets, request, plan, algorithm, ierror)
    type(*), dimension(..), intent(in), asynchronous :: in
    type(*), dimension(..), intent(inout), asynchronous :: out
    integer, intent(in) :: element, root
    integer(c_int64_t), intent(in), target, contiguous :: counts(:)
    integer(c_int64_t), intent(in), optional, target, contiguous :: offsets(:)
    type(tutti_comm), intent(in) :: comm
    type(tutti_request), intent(out), optional :: request
    type(tutti_plan), intent(out), optional :: plan
    character(*), intent(in), optional :: algorithm
    integer, intent(out), optional :: ierror
    type(c_call) :: call
    call = described(c_scatter, c_uneven, in, out, element, root=root)
    call%count = elements(out)
    if (is_in_place(call%out)) call%count = counts(root + 1)
    call%in_counts = list_at(counts, comm)
    if (present(offsets)) call set_offsets(call%in_offsets, call%in_counts, offsets, comm)
    call perform(call, comm, request, plan, algorithm, ierror)
  end subroutine

  !> in_counts(r + 1) elements go to rank r, out_counts(r + 1) come from it.
  subroutine tutti_alltoallv(in, in_counts, out, out_counts, element, comm, in_offsets, out_offsets, request, &
                             plan, algorithm, ierror)
    type(*), dimension(..), intent(in), asynchronous :: in
    type(*), dimension(..), intent(inout), asynchronous :: out
    integer, intent(in) :: element
    integer(c_int64_t), intent(in), target, contiguous :: in_counts(:), out_counts(:)
    integer(c_int64_t), intent(in), optional, target, contiguous :: in_offsets(:), out_offsets(:)
    type(tutti_comm), intent(in) :: comm
    type(tutti_request), intent(out), optional :: request
    type(tutti_plan), intent(out), optional :: plan
    character(*), intent(in), optional :: algorithm
    integer, intent(out), optional :: ierror
    type(c_call) :: call
    call = described(c_alltoall, c_uneven, in, out, element)
    call%in_counts = list_at(in_counts, comm)
    if (present(in_offsets)) call set_offsets(call%in_offsets, call%in_counts, in_offsets, comm)
    call%out_counts = list_at(out_counts, comm)
    if (present(out_offsets)) call set_offsets(call%out_offsets, call%out_counts, out_offsets, comm)
    call perform(call, comm, request, plan, algorithm, ierror)
  end subroutine

  !> The same with a type for each block, and with offsets in bytes.
  subroutine tutti_alltoallw(in, in_counts, in_offsets, in_types, out, out_counts, out_offsets, out_types, &
                             comm, request, plan, algorithm, ierror)
    type(*), dimension(..), intent(in), asynchronous :: in
    type(*), dimension(..), intent(inout), asynchronous :: out
    integer(c_int64_t), intent(in), target, contiguous :: in_counts(:), in_offsets(:), out_counts(:), out_offsets(:)
    integer, intent(in), target, contiguous :: in_types(:), out_types(:)
    type(tutti_comm), intent(in) :: comm
    type(tutti_request), intent(out), optional :: request
    type(tutti_plan), intent(out), optional :: plan
    character(*), intent(in), optional :: algorithm
    integer, intent(out), optional :: ierror
    type(c_call) :: call
    call = described(c_alltoall, c_typed, in, out, tutti_uint8)
    call%in_counts = list_at(in_counts, comm)
    call%in_offsets = list_at(in_offsets, comm)
    call%in_types = types_at(in_types, comm)
    call%out_counts = list_at(out_counts, comm)
    call%out_offsets = list_at(out_offsets, comm)
    call%out_types = types_at(out_types, comm)
    call perform(call, comm, request, plan, algorithm, ierror)
  end subroutine

end module
