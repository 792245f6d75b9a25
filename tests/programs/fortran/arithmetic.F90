! What the user operations compute, whatever their arguments look like in a binding.
module arithmetic
  implicit none
  integer, parameter :: modulus = 10007
contains
  ! Composes maps x -> a x + b, stored as pairs (a, b): associative, but not commutative.
  pure subroutine compose(first, second_and_result, count)
    integer, intent(in) :: count, first(2, count)
    integer, intent(inout) :: second_and_result(2, count)
    integer :: i, a
    do i = 1, count
      a = second_and_result(1, i)
      second_and_result(1, i) = mod(first(1, i) * a, modulus)
      second_and_result(2, i) = mod(first(2, i) * a + second_and_result(2, i), modulus)
    end do
  end subroutine

  pure subroutine add(in, inout, count)
    integer, intent(in) :: count, in(count)
    integer, intent(inout) :: inout(count)
    inout = mod(in + inout, modulus)
  end subroutine
end module
