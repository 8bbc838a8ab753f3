! SPDX-License-Identifier: MIT OR Apache-2.0
!
! What LU is verified by (RNR-94-007, chapter 3): norms of the residual and of the error, and an
! integral of the pressure over the surface of a box inside the cube.  Each function returns the
! share of this task; the sum over the tasks is the caller's.
module lu_verify
  use, intrinsic :: iso_fortran_env, only: real64
  use lu_fluid
  use lu_grid
  implicit none
  private
  public :: residual_squares, error_squares, rms, surface_share

contains

  ! Sum of the squares of each component of rsd over the inside points.
  function residual_squares() result(squares)
    real(real64) :: squares(5)
    integer :: i, j, k

    squares = 0.0_real64
    do k = 2, nz - 1
      do j = jst, jend
        do i = ist, iend
          squares = squares + rsd(:, i, j, k)**2
        end do
      end do
    end do
  end function residual_squares

  ! The same of the difference between u and the exact solution.
  function error_squares() result(squares)
    real(real64) :: squares(5), at(3)
    integer :: i, j, k

    squares = 0.0_real64
    do k = 2, nz - 1
      do j = jst, jend
        do i = ist, iend
          at = coordinate(i, j, k)
          squares = squares + (exact_solution(at(1), at(2), at(3)) - u(:, i, j, k))**2
        end do
      end do
    end do
  end function error_squares

  ! The root mean square over all inside points of the grid.
  pure function rms(squares)
    real(real64), intent(in) :: squares(5)
    real(real64) :: rms(5)

    rms = sqrt(squares / product(real(points - 2, real64)))
  end function rms

  ! The integral of the pressure by the trapezoidal rule over the six faces of the box of global
  ! points 2..nx-1, 2..ny-2, 3..nz-1.
  function surface_share() result(total)
    real(real64) :: total, h(3)
    integer :: low(3), high(3), axis, side, faces(2, 3)

    low = [2, 2, 3]
    high = [points(1) - 1, points(2) - 2, points(3) - 1]
    faces(1, :) = low
    faces(2, :) = high
    h = 1.0_real64 / real(points - 1, real64)
    total = 0.0_real64
    do axis = 1, 3
      do side = 1, 2
        total = total + product(h) / h(axis) * face_share(axis, faces(side, axis), low, high)
      end do
    end do
  end function surface_share

  ! The points of one face: `at` along `axis`, low to high along the other two.
  function face_share(axis, at, low, high) result(total)
    integer, intent(in) :: axis, at, low(3), high(3)
    real(real64) :: total
    integer :: i, j, k, from(3), to(3), origin(3)

    origin = [first(1) - 1, first(2) - 1, 0]
    from = low
    to = high
    from(axis) = at
    to(axis) = at
    from = max(from - origin, 1)
    to = min(to - origin, [ni, nj, nz])
    total = 0.0_real64
    do k = from(3), to(3)
      do j = from(2), to(2)
        do i = from(1), to(1)
          total = total + pressure(u(:, i, j, k)) * weight([i, j, k] + origin, axis, low, high)
        end do
      end do
    end do
  end function face_share

  ! The trapezoidal rule's weight: one, half of it on an edge of the face, a quarter in a corner.
  pure function weight(at, axis, low, high)
    integer, intent(in) :: at(3), axis, low(3), high(3)
    real(real64) :: weight
    integer :: other

    weight = 1.0_real64
    do other = 1, 3
      if (other /= axis .and. (at(other) == low(other) .or. at(other) == high(other))) &
          weight = 0.5_real64 * weight
    end do
  end function weight

  pure function pressure(v)
    real(real64), intent(in) :: v(5)
    real(real64) :: pressure

    pressure = c2 * (v(5) - 0.5_real64 * (v(2)**2 + v(3)**2 + v(4)**2) / v(1))
  end function pressure

end module lu_verify
