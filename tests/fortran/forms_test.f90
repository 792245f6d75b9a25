! Communicators, requests, plans, batches, operations and errors of the module tutti.
module product_of_matrices
  use, intrinsic :: iso_c_binding
  implicit none
contains
  !> Elements are matrices of 2 x 2: associative, not commutative.
  subroutine multiply(lhs, rhs, into, count, context) bind(c)
    type(c_ptr), value :: lhs, rhs, into, context
    integer(c_int64_t), value :: count
    integer(c_int64_t), pointer :: a(:, :), b(:, :), c(:, :)
    integer, pointer :: calls
    call c_f_pointer(lhs, a, [2_c_int64_t, count / 2])
    call c_f_pointer(rhs, b, [2_c_int64_t, count / 2])
    call c_f_pointer(into, c, [2_c_int64_t, count / 2])
    call c_f_pointer(context, calls)
    calls = calls + 1
    c = matmul(a, b)
  end subroutine
end module

program forms_test
  use, intrinsic :: iso_c_binding
  use mpi
  use tutti
  use product_of_matrices
  implicit none
  type(tutti_comm) :: comm
  integer :: rank, ranks, ierr, failures, all_failures

  call MPI_Init(ierr)
  call tutti_comm_create(MPI_COMM_WORLD, comm, algorithms='broadcast=chain', transport='auto', buffers='host')
  call tutti_comm_rank(comm, rank)
  call tutti_comm_size(comm, ranks)
  failures = 0
  call test_requests()
  call test_plans()
  call test_batches()
  call test_operations()
  call test_bits()
  call test_errors()
  call test_nodes()
  call tutti_comm_free(comm)
  call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
  if (all_failures > 0) error stop 1

contains

  subroutine check(is_right, what)
    logical, intent(in) :: is_right
    character(*), intent(in) :: what
    if (is_right) return
    failures = failures + 1
    print *, 'rank', rank, ': ', what, ' is wrong'
  end subroutine

  subroutine test_requests()
    integer, asynchronous :: mine(100), total(100)
    type(tutti_request) :: request
    logical :: is_complete
    mine = rank
    call tutti_allreduce(mine, total, tutti_int32, tutti_sum, comm, request=request)
    call tutti_wait(request)
    call check(all(total == ranks * (ranks - 1) / 2), 'wait')
    call tutti_allreduce(tutti_in_place, mine, tutti_int32, tutti_max, comm, request=request)
    is_complete = .false.
    do while (.not. is_complete)
      call tutti_test(request, is_complete)
    end do
    call check(all(mine == ranks - 1), 'test')
    call tutti_barrier(comm, request=request)
    call tutti_free(request)
  end subroutine

  subroutine test_plans()
    integer, asynchronous :: mine, numbers(ranks)
    type(tutti_plan) :: plan
    character(:), allocatable :: text
    logical :: is_complete
    integer :: step, i
    call tutti_allgather(mine, numbers, tutti_int32, comm, plan=plan, algorithm='ring')
    do step = 1, 3
      mine = step * 100 + rank
      call tutti_start(plan)
      call tutti_wait(plan)
      call check(all(numbers == [(step * 100 + i, i=0, ranks - 1)]), 'plan')
    end do
    call tutti_test(plan, is_complete)
    call check(is_complete, 'a complete plan')
    call tutti_explain(plan, text)
    call check(index(text, ': ring, as the call says') > 0, 'explanation')
    call tutti_free(plan)
  end subroutine

  subroutine test_batches()
    real, asynchronous :: mine(10), theirs(10)
    type(tutti_batch) :: batch
    type(tutti_request) :: request
    type(tutti_plan) :: plan
    integer :: left
    left = modulo(rank - 1, ranks)
    call tutti_batch_create(comm, batch)
    call tutti_batch_send(batch, mine, tutti_fp32, modulo(rank + 1, ranks))
    call tutti_batch_recv(batch, theirs, tutti_fp32, left)
    mine = real(rank)
    call tutti_batch_run(batch)
    call check(all(theirs == real(left)), 'batch')
    mine = real(rank) + 0.5
    call tutti_batch_run(batch, request=request)
    call tutti_wait(request)
    call check(all(theirs == real(left) + 0.5), 'nonblocking batch')
    mine = real(rank) + 0.25
    call tutti_batch_run(batch, plan=plan)
    call tutti_start(plan)
    call tutti_wait(plan)
    call check(all(theirs == real(left) + 0.25), 'persistent batch')
    call tutti_free(plan)
    call tutti_free(batch)
  end subroutine

  subroutine test_operations()
    integer(c_int64_t) :: mine(2, 2), total(2, 2), wanted(2, 2)
    integer, target :: calls
    integer :: r, all_calls
    real :: scaled
    type(tutti_op) :: op
    calls = 0
    call tutti_op_create_user(multiply, .false., op, c_loc(calls))
    wanted = matrix_of(0)
    do r = 1, ranks - 1
      wanted = matmul(wanted, matrix_of(r))
    end do
    mine = matrix_of(rank)
    call tutti_allreduce(mine, total, tutti_int64, op, comm, algorithm='recursive_doubling')
    call check(all(total == wanted), 'user operation')
    call MPI_Allreduce(calls, all_calls, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call check(all_calls > 0 .or. ranks == 1, 'the context of a user operation')
    call tutti_op_create_scaled_sum(0.5d0, op)
    call tutti_allreduce(1.0, scaled, tutti_fp32, op, comm)
    call check(scaled == 0.5 * real(ranks), 'scaled sum')
    call tutti_op_free(op)
  end subroutine

  function matrix_of(r) result(m)
    integer, intent(in) :: r
    integer(c_int64_t) :: m(2, 2)
    m = reshape([1, r, r + 1, 2], [2, 2])
  end function

  !> The number of a rank, of which every order of operands has another sum.
  real(c_double) function number_of(its_rank)
    integer, intent(in) :: its_rank
    number_of = 0.1_c_double * 3.0_c_double**its_rank
  end function

  !> The sum in the fixed order: the first ones pair up until a power of two is left, then all do.
  real(c_double) function folded()
    real(c_double) :: row(ranks)
    integer :: left, core, i
    row = [(number_of(i), i=0, ranks - 1)]
    core = 1
    do while (2 * core <= ranks)
      core = 2 * core
    end do
    left = ranks - core
    row(:core) = [(row(2 * i - 1) + row(2 * i), i=1, left), row(2 * left + 1:)]
    do while (core > 1)
      core = core / 2
      row(:core) = [(row(2 * i - 1) + row(2 * i), i=1, core)]
    end do
    folded = row(1)
  end function

  subroutine test_bits()
    real(c_double) :: mine(50), total(50)
    type(tutti_comm) :: fixed
    integer :: status
    mine = number_of(rank)
    call tutti_allreduce(mine, total, tutti_fp64, tutti_sum, comm, bits='fixed')
    call check(all(total == folded()), 'the fixed order')
    call tutti_reduce(mine, total, tutti_fp64, tutti_sum, ranks - 1, comm, bits='fixed')
    call check(all(total == folded()), 'the fixed order of a reduce')
    call tutti_comm_create(MPI_COMM_WORLD, fixed, bits='fixed')
    total = 0
    call tutti_allreduce(mine, total, tutti_fp64, tutti_sum, fixed)
    call check(all(total == folded()), 'the fixed order of a communicator')
    call tutti_allreduce(mine, total, tutti_fp64, tutti_sum, fixed, algorithm='ring', ierror=status)
    call check(index(tutti_last_error(), "'ring', which keeps no fixed order") > 0, 'another order')
    call tutti_comm_free(fixed)
    call tutti_allreduce(mine, total, tutti_fp64, tutti_sum, comm, bits='exact', ierror=status)
    call check(index(tutti_last_error(), "'bits' is 'exact'; allowed: same, fixed") > 0, 'no such bits')
    call tutti_comm_create(MPI_COMM_WORLD, fixed, bits='exact', ierror=status)
    call check(index(tutti_last_error(), "'bits' is 'exact'; allowed: same, fixed") > 0, 'no such bits of all')
  end subroutine

  subroutine test_errors()
    type(tutti_comm) :: none, made
    type(tutti_request) :: request
    integer :: number, status
    number = 1
    call tutti_comm_rank(none, number, ierror=status)
    call check(status == tutti_error_argument .and. index(tutti_last_error(), "'comm' is NULL") > 0, 'no communicator')
    call tutti_allreduce(tutti_in_place, number, tutti_int32, tutti_sum, none, ierror=status)
    call check(status == tutti_error_argument, 'a call without communicator')
    call tutti_wait(request, ierror=status)
    call check(status == tutti_error_argument, 'no request')
    call tutti_broadcast(number, 99, 0, comm, ierror=status)
    call check(index(tutti_last_error(), "'type' is 99") > 0, 'no type')
    call tutti_barrier(comm, algorithm='no such', ierror=status)
    call check(index(tutti_last_error(), "'no such'") > 0, 'no algorithm')
    call tutti_comm_create(MPI_COMM_NULL, made, ierror=status)
    call check(index(tutti_last_error(), 'MPI_COMM_NULL') > 0, 'MPI_COMM_NULL')
    call tutti_comm_create(MPI_COMM_WORLD, made)
    call tutti_comm_close(made)
    call tutti_barrier(made, ierror=status)
    call check(status == tutti_error_state, 'a closed communicator')
    call tutti_comm_free(made, ierror=status)
    call check(status == tutti_success, 'freeing')
  end subroutine

  subroutine test_nodes()
    integer :: nodes, node
    character(:), allocatable :: text
    call tutti_comm_node_count(comm, nodes)
    call tutti_comm_node_of(comm, ranks - 1, node)
    call tutti_comm_status(comm, text)
    call check(nodes == 1 .and. node == 0 .and. text == '' .and. index(tutti_version(), '.') > 0, 'nodes')
  end subroutine

end program
