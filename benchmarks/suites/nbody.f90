! SPDX-License-Identifier: MIT OR Apache-2.0
! N bodies that attract one another, every one every other: O(N^2). Each task has an equal share; the shares go round a ring, so
! that each task sees all of them. It adds their forces up in the order of the bodies' numbers, so the sums have the same bits
! with any number of tasks. With one task nothing is sent: that is the sequential run.
module nbody
  use iso_c_binding
  use calls
  implicit none
  real(c_double), parameter :: SOFTENING = 1d-4
contains

  ! The forces on the n / tasks bodies of task `me`.
  subroutine nbody_forces(force, n, me, tasks) bind(C)
    integer(c_int), value :: n, me, tasks
    real(c_double), intent(out) :: force(3, n / tasks)
    real(c_double) :: bodies(4, n / tasks, 0:tasks - 1)
    integer :: i, step, share, last, next
    share = n / tasks
    do i = 1, share
      bodies(:, i, me) = body(me * share + i)
    end do
    do step = 1, tasks - 1
      last = modulo(me - step + 1, tasks)
      next = modulo(me - step, tasks)
      call calls_shift(modulo(me + 1, tasks), bodies(:, :, last), modulo(me - 1, tasks), bodies(:, :, next), 32 * share)
    end do
    force = 0
    do i = 0, tasks - 1
      call attract(force, bodies(:, :, me), bodies(:, :, i), share)
    end do
  end subroutine

  ! Place and mass, different for each number.
  pure function body(number) result(b)
    integer, intent(in) :: number
    real(c_double) :: b(4)
    integer :: k
    b = [(modulo(sin(12.9898d0 * number + 37.719d0 * k) * 43758.5453d0, 1d0), k = 1, 4)]
  end function

  pure subroutine attract(force, own, guests, share)
    integer, intent(in) :: share
    real(c_double), intent(inout) :: force(3, share)
    real(c_double), intent(in) :: own(4, share), guests(4, share)
    real(c_double) :: d(3), f
    integer :: i, j
    do i = 1, share
      do j = 1, share
        d = guests(1:3, j) - own(1:3, i)
        f = d(1) * d(1) + d(2) * d(2) + d(3) * d(3) + SOFTENING
        f = own(4, i) * guests(4, j) / (f * sqrt(f))
        force(:, i) = force(:, i) + f * d
      end do
    end do
  end subroutine
end module
