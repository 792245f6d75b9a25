! What the module tutti is made of: the constants, structures and functions of tutti.h.
module tutti_bindings
  use, intrinsic :: iso_c_binding
  implicit none
  public

  ! tutti_status
  integer, parameter :: tutti_success = 0, tutti_error_argument = 1, tutti_error_state = 2, tutti_error_mpi = 3, &
                        tutti_error_memory = 4, tutti_error_failed = 5, tutti_error_other = 6

  ! tutti_type
  integer, parameter :: tutti_int8 = 0, tutti_int16 = 1, tutti_int32 = 2, tutti_int64 = 3, tutti_uint8 = 4, &
                        tutti_uint16 = 5, tutti_uint32 = 6, tutti_uint64 = 7, tutti_fp8_e4m3 = 8, tutti_fp8_e5m2 = 9, &
                        tutti_fp16 = 10, tutti_bf16 = 11, tutti_fp32 = 12, tutti_fp64 = 13, tutti_complex_fp32 = 14, &
                        tutti_complex_fp64 = 15, tutti_bool = 16

  ! tutti_collective and tutti_blocks, which only the module tutti uses
  integer(c_int), parameter :: c_barrier = 0, c_broadcast = 1, c_reduce = 2, c_allreduce = 3, c_reduce_scatter = 4, &
                               c_allgather = 5, c_gather = 6, c_scatter = 7, c_alltoall = 8, c_scan = 9, c_exscan = 10
  integer(c_int), parameter :: c_even = 0, c_uneven = 1, c_typed = 2

  ! A tutti_op is a number or an address.
  type :: tutti_op
    integer(c_intptr_t) :: handle = 0
  end type
  type(tutti_op), parameter :: tutti_sum = tutti_op(1), tutti_prod = tutti_op(2), tutti_min = tutti_op(3), &
                               tutti_max = tutti_op(4), tutti_avg = tutti_op(5), tutti_land = tutti_op(6), &
                               tutti_lor = tutti_op(7), tutti_lxor = tutti_op(8), tutti_band = tutti_op(9), &
                               tutti_bor = tutti_op(10), tutti_bxor = tutti_op(11), tutti_exact_sum = tutti_op(12)

  type, bind(c) :: c_comm_options
    integer(c_size_t) :: bytes
    type(c_ptr) :: algorithms = c_null_ptr, transport = c_null_ptr, buffers = c_null_ptr
    integer(c_int) :: forms_match = 0
    type(c_ptr) :: rules = c_null_ptr, bits = c_null_ptr
  end type

  type, bind(c) :: c_options
    integer(c_size_t) :: bytes
    type(c_ptr) :: algorithm = c_null_ptr
    integer(c_int) :: has_stream = 0
    type(c_ptr) :: stream = c_null_ptr, bits = c_null_ptr, accumulate = c_null_ptr, rounding = c_null_ptr
  end type

  type, bind(c) :: c_call
    integer(c_size_t) :: bytes
    integer(c_int) :: collective = c_barrier, blocks = c_even
    type(c_ptr) :: in = c_null_ptr, out = c_null_ptr
    integer(c_int64_t) :: count = 0
    integer(c_int) :: element = tutti_uint8, root = 0
    integer(c_intptr_t) :: op = 0
    type(c_ptr) :: in_counts = c_null_ptr, in_offsets = c_null_ptr, out_counts = c_null_ptr, &
                   out_offsets = c_null_ptr, in_types = c_null_ptr, out_types = c_null_ptr
  end type

  ! The function of a user's operation: into(i) = lhs(i) (+) rhs(i), for i <= count; c_f_pointer gives the arrays.
  abstract interface
    subroutine tutti_user_function(lhs, rhs, into, count, context) bind(c)
      import
      type(c_ptr), value :: lhs, rhs, into, context
      integer(c_int64_t), value :: count
    end subroutine
  end interface

  interface
    integer(c_int) function c_comm_create_f(mpi_comm, options, comm) bind(c, name='tutti_comm_create_f')
      import
      integer(c_int), value :: mpi_comm
      type(c_comm_options), intent(in) :: options
      type(c_ptr), intent(inout) :: comm
    end function
    integer(c_int) function c_comm_close(comm) bind(c, name='tutti_comm_close')
      import
      type(c_ptr), value :: comm
    end function
    integer(c_int) function c_comm_free(comm) bind(c, name='tutti_comm_free')
      import
      type(c_ptr), intent(inout) :: comm
    end function
    integer(c_int) function c_comm_rank(comm, rank) bind(c, name='tutti_comm_rank')
      import
      type(c_ptr), value :: comm
      integer(c_int), intent(out) :: rank
    end function
    integer(c_int) function c_comm_size(comm, size) bind(c, name='tutti_comm_size')
      import
      type(c_ptr), value :: comm
      integer(c_int), intent(out) :: size
    end function
    integer(c_int) function c_comm_node_count(comm, count) bind(c, name='tutti_comm_node_count')
      import
      type(c_ptr), value :: comm
      integer(c_int), intent(out) :: count
    end function
    integer(c_int) function c_comm_node_of(comm, rank, node) bind(c, name='tutti_comm_node_of')
      import
      type(c_ptr), value :: comm
      integer(c_int), value :: rank
      integer(c_int), intent(out) :: node
    end function
    integer(c_int) function c_comm_status(comm, text) bind(c, name='tutti_comm_status')
      import
      type(c_ptr), value :: comm
      type(c_ptr), intent(inout) :: text
    end function
    integer(c_int) function c_run(call, comm, options) bind(c, name='tutti_run')
      import
      type(c_call), intent(in) :: call
      type(c_ptr), value :: comm
      type(c_options), intent(in) :: options
    end function
    integer(c_int) function c_start(call, comm, options, request) bind(c, name='tutti_start')
      import
      type(c_call), intent(in) :: call
      type(c_ptr), value :: comm
      type(c_options), intent(in) :: options
      type(c_ptr), intent(inout) :: request
    end function
    integer(c_int) function c_prepare(call, comm, options, plan) bind(c, name='tutti_prepare')
      import
      type(c_call), intent(in) :: call
      type(c_ptr), value :: comm
      type(c_options), intent(in) :: options
      type(c_ptr), intent(inout) :: plan
    end function
    integer(c_int) function c_request_wait(request) bind(c, name='tutti_request_wait')
      import
      type(c_ptr), intent(inout) :: request
    end function
    integer(c_int) function c_request_test(request, is_complete) bind(c, name='tutti_request_test')
      import
      type(c_ptr), intent(inout) :: request
      integer(c_int), intent(out) :: is_complete
    end function
    integer(c_int) function c_request_free(request) bind(c, name='tutti_request_free')
      import
      type(c_ptr), intent(inout) :: request
    end function
    integer(c_int) function c_plan_start(plan) bind(c, name='tutti_plan_start')
      import
      type(c_ptr), value :: plan
    end function
    integer(c_int) function c_plan_wait(plan) bind(c, name='tutti_plan_wait')
      import
      type(c_ptr), value :: plan
    end function
    integer(c_int) function c_plan_test(plan, is_complete) bind(c, name='tutti_plan_test')
      import
      type(c_ptr), value :: plan
      integer(c_int), intent(out) :: is_complete
    end function
    integer(c_int) function c_plan_explain(plan, text) bind(c, name='tutti_plan_explain')
      import
      type(c_ptr), value :: plan
      type(c_ptr), intent(inout) :: text
    end function
    integer(c_int) function c_plan_free(plan) bind(c, name='tutti_plan_free')
      import
      type(c_ptr), intent(inout) :: plan
    end function
    integer(c_int) function c_op_create_scaled_sum(scale, op) bind(c, name='tutti_op_create_scaled_sum')
      import
      real(c_double), value :: scale
      integer(c_intptr_t), intent(inout) :: op
    end function
    integer(c_int) function c_op_create_user(function, is_commutative, context, device_kernel, op) &
       bind(c, name='tutti_op_create_user')
      import
      type(c_funptr), value :: function
      integer(c_int), value :: is_commutative
      type(c_ptr), value :: context, device_kernel
      integer(c_intptr_t), intent(inout) :: op
    end function
    integer(c_int) function c_op_free(op) bind(c, name='tutti_op_free')
      import
      integer(c_intptr_t), intent(inout) :: op
    end function
    integer(c_int) function c_batch_create(comm, batch) bind(c, name='tutti_batch_create')
      import
      type(c_ptr), value :: comm
      type(c_ptr), intent(inout) :: batch
    end function
    integer(c_int) function c_batch_send(batch, data, count, element, to) bind(c, name='tutti_batch_send')
      import
      type(c_ptr), value :: batch, data
      integer(c_int64_t), value :: count
      integer(c_int), value :: element, to
    end function
    integer(c_int) function c_batch_recv(batch, data, count, element, from) bind(c, name='tutti_batch_recv')
      import
      type(c_ptr), value :: batch, data
      integer(c_int64_t), value :: count
      integer(c_int), value :: element, from
    end function
    integer(c_int) function c_batch_run(batch) bind(c, name='tutti_batch_run')
      import
      type(c_ptr), value :: batch
    end function
    integer(c_int) function c_batch_start(batch, request) bind(c, name='tutti_batch_start')
      import
      type(c_ptr), value :: batch
      type(c_ptr), intent(inout) :: request
    end function
    integer(c_int) function c_batch_plan(batch, plan) bind(c, name='tutti_batch_plan')
      import
      type(c_ptr), value :: batch
      type(c_ptr), intent(inout) :: plan
    end function
    integer(c_int) function c_batch_free(batch) bind(c, name='tutti_batch_free')
      import
      type(c_ptr), intent(inout) :: batch
    end function
    integer(c_int) function c_allocate(bytes, data) bind(c, name='tutti_allocate')
      import
      integer(c_int64_t), value :: bytes
      type(c_ptr), intent(inout) :: data
    end function
    integer(c_int) function c_deallocate(data) bind(c, name='tutti_deallocate')
      import
      type(c_ptr), value :: data
    end function
    type(c_ptr) function c_last_error() bind(c, name='tutti_last_error')
      import
    end function
    type(c_ptr) function c_version() bind(c, name='tutti_version')
      import
    end function
    type(c_ptr) function c_in_place() bind(c, name='tutti_in_place')
      import
    end function
    type(c_ptr) function c_not_contiguous() bind(c, name='tutti_not_contiguous')
      import
    end function
    integer(c_size_t) function c_strlen(text) bind(c, name='strlen')
      import
      type(c_ptr), value :: text
    end function
  end interface
end module
