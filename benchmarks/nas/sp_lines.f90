! SPDX-License-Identifier: MIT OR Apache-2.0
!
! SP's lines: the diagonalised approximate factorisation of Beam and Warming ("the scalar
! pentadiagonal system" of RNR-94-007). A step solves
!
!     T1 (I + L1) N (I + L2) P (I + L3) T3^-1 dU = rhs,      N = T1^-1 T2,  P = T2^-1 T3
!
! with T_d the eigenvectors of the convective Jacobian in direction d. Along each line five scalar
! systems of band width five remain, for the eigenvalues v, v, v, v + c, v - c (v the velocity in
! this direction, c the speed of sound): three share one matrix. L_d holds the central difference of
! the eigenvalue, the viscous term by its spectral radius, and the dissipation of fourth order.
!
! Lines are solved in bundles: row i of a bundle is a small contiguous array w(:, :, i), and each
! inner loop runs over its lanes, one a line, which is what vector units like.
module sp_lines
  use fluid
  use fluid_tiles
  use fluid_bundles
  use fluid_sweep, only: part_t
  implicit none
  private
  public :: finish_rhs, eliminate, substitute
  public :: prepare_lines, forward_numbers, backward_numbers, kept_numbers

  ! Two rows of a line go on: five values and two coefficients of each of three matrices.
  integer, parameter :: forward_numbers = 22
  ! Two rows of five values come back.
  integer, parameter :: backward_numbers = 10
  ! A row of w: five values, then pairs (next, next but one) for the matrices of v, v + c, v - c.
  integer, parameter :: row_numbers = 11
  integer, parameter :: kept_numbers = row_numbers   ! for each point, from one pass to the other
  integer, parameter :: as_stored(5) = [1, 2, 3, 4, 5]
  ! A row of the terms of the matrices: convection by v, by c, and diffusion.
  integer, parameter :: conv = 1, sound = 2, diff = 3

  ! The terms of the rows of one bundle; no line of a tile is longer than the grid allows.
  real(dp), allocatable, save :: terms(:, :, :)

contains

  ! Once, when the size is known: longest line of any tile.
  subroutine prepare_lines(longest)
    integer, intent(in) :: longest
    allocate (terms(lanes, 3, 0:longest+1))
    terms = 0
  end subroutine prepare_lines

  ! T1^-1 rhs of a row.
  subroutine finish_rhs(b, j, k)
    type(block_t), intent(inout) :: b
    integer, intent(in) :: j, k
    call to_characteristic_row(b%n(1), b%a(1, 1, j, k), b%rhs(1, 1, j, k))
  end subroutine finish_rhs

  pure subroutine to_characteristic_row(n, a, r)
    integer, intent(in) :: n
    real(dp), intent(in) :: a(n+4, naux)
    real(dp), intent(inout) :: r(n, 5)
    real(dp) :: v, c, kin, t1, t2, t3, r1
    integer :: i
    do i = 1, n
       v = a(i, a_inv)
       c = a(i, a_snd)
       r1 = r(i, 1)
       kin = 0.5_dp * (a(i, a_vel+1)**2 + a(i, a_vel+2)**2 + a(i, a_vel+3)**2)
       t1 = k2 / (c * c) * (kin * r1 - a(i, a_vel+1) * r(i, 2) - a(i, a_vel+2) * r(i, 3) &
            - a(i, a_vel+3) * r(i, 4) + r(i, 5))
       t2 = bt_half * v * (a(i, a_vel+1) * r1 - r(i, 2))
       t3 = bt_half * v * c * t1
       r(i, 1) = r1 - t1
       r(i, 2) = v * (r(i, 4) - a(i, a_vel+3) * r1)
       r(i, 5) = t3 + t2
       r(i, 3) = v * (a(i, a_vel+2) * r1 - r(i, 3))
       r(i, 4) = t3 - t2
    end do
  end subroutine to_characteristic_row

  include 'fluid_lines.inc'

  ! Rows 1 to n of a bundle from the field.
  subroutine gather_bundle(t, d, x, w)
    type(block_t), intent(in) :: t
    integer, intent(in) :: d
    type(bundle_t), intent(in) :: x
    real(dp), intent(inout) :: w(lanes, row_numbers, -1:t%n(d)+2)
    call gather_terms(t%n, d, x, t%a)
    call gather_rows(t%n, d, x, as_stored, t%rhs, row_numbers, w(1, 1, 1))
  end subroutine gather_bundle

  ! The terms of the matrices, one row more on each side.
  subroutine gather_terms(n, d, x, f)
    integer, intent(in) :: n(3), d
    type(bundle_t), intent(in) :: x
    real(dp), intent(in) :: f(-1:n(1)+2, naux, -1:n(2)+2, -1:n(3)+2)
    integer :: i, r, v, a, b, l
    terms(x%lines+1:, :, 0:n(d)+1) = 0
    do i = 0, n(d) + 1
       do r = 1, x%runs
          v = x%skip(r) + 1
          a = x%a(r) + 1
          b = x%b(r)
          l = x%length(r)
          select case (d)
          case (1)
             call terms_row(d, l, f(i, a_vel+1, a:a+l-1, b), f(i, a_snd, a:a+l-1, b), &
                  f(i, a_inv, a:a+l-1, b), terms(v, 1, i))
          case (2)
             call terms_row(d, l, f(a:a+l-1, a_vel+2, i, b), f(a:a+l-1, a_snd, i, b), &
                  f(a:a+l-1, a_inv, i, b), terms(v, 1, i))
          case (3)
             call terms_row(d, l, f(a:a+l-1, a_vel+3, b, i), f(a:a+l-1, a_snd, b, i), &
                  f(a:a+l-1, a_inv, b, i), terms(v, 1, i))
          end select
       end do
    end do
  end subroutine gather_terms

  ! The diffusion is the spectral radius of the viscous Jacobian and the added second difference.
  pure subroutine terms_row(d, n, v, c, inv, t)
    integer, intent(in) :: d, n
    real(dp), intent(in) :: v(:), c(:), inv(:)
    real(dp), intent(inout) :: t(lanes, 3)
    t(1:n, conv) = coef%t2(d) * v
    t(1:n, sound) = coef%t2(d) * c
    t(1:n, diff) = coef%added(d) + k1 * k5 * coef%viscous(d) * inv
  end subroutine terms_row

  ! carry holds the last two rows before this tile, and afterwards those of this tile.
  subroutine eliminate_bundle(t, d, nv, carry, w)
    type(block_t), intent(in) :: t
    integer, intent(in) :: d, nv
    real(dp), intent(inout) :: carry(nv, row_numbers, 2)
    real(dp), intent(inout) :: w(lanes, row_numbers, -1:t%n(d)+2)
    real(dp) :: mid
    integer :: i, n
    n = t%n(d)
    w(:, :, -1:0) = 0
    w(1:nv, :, -1:0) = carry
    do i = 1, n
       ! The dissipation is one-sided at the first and last point of the line.
       mid = 1 + 6 * coef%diss
#ifndef NAS_PLANT
       if ((i == 1 .and. t%at_lo(d)) .or. (i == n .and. t%at_hi(d))) mid = 1 + 5 * coef%diss
#endif
       call eliminate_row(mid, coef%diss, terms(1, 1, i-1), terms(1, 1, i), terms(1, 1, i+1), &
            w(1, 1, i-2), w(1, 1, i-1), w(1, 1, i))
    end do
    carry = w(1:nv, :, n-1:n)
  end subroutine eliminate_bundle

  ! Row i of the system is  far x(i-2) + low x(i-1) + mid x(i) + up x(i+1) + far x(i+2) = r(i);
  ! the rows before read  x(i-1) + p1(6) x(i) + p1(7) x(i+1) = p1(1:3)  and so on.
  pure subroutine eliminate_row(mid, far, before, here, behind, p2, p1, w)
    real(dp), intent(in) :: mid, far
    real(dp), intent(in) :: before(lanes, 3), here(lanes, 3), behind(lanes, 3)
    real(dp), intent(in) :: p2(lanes, row_numbers), p1(lanes, row_numbers)
    real(dp), intent(inout) :: w(lanes, row_numbers)
    real(dp) :: a, pivot, low, up, centre
    integer :: l
    do l = 1, lanes
       low = -before(l, conv) - before(l, diff) - 4 * far
       up = behind(l, conv) - behind(l, diff) - 4 * far
       centre = mid + 2 * here(l, diff)
       a = low - far * p2(l, 6)
       pivot = 1 / (centre - far * p2(l, 7) - a * p1(l, 6))
       w(l, 6) = (up - a * p1(l, 7)) * pivot
       w(l, 7) = far * pivot
       w(l, 1) = (w(l, 1) - far * p2(l, 1) - a * p1(l, 1)) * pivot
       w(l, 2) = (w(l, 2) - far * p2(l, 2) - a * p1(l, 2)) * pivot
       w(l, 3) = (w(l, 3) - far * p2(l, 3) - a * p1(l, 3)) * pivot
       a = low - before(l, sound) - far * p2(l, 8)
       pivot = 1 / (centre - far * p2(l, 9) - a * p1(l, 8))
       w(l, 8) = (up + behind(l, sound) - a * p1(l, 9)) * pivot
       w(l, 9) = far * pivot
       w(l, 4) = (w(l, 4) - far * p2(l, 4) - a * p1(l, 4)) * pivot
       a = low + before(l, sound) - far * p2(l, 10)
       pivot = 1 / (centre - far * p2(l, 11) - a * p1(l, 10))
       w(l, 10) = (up - behind(l, sound) - a * p1(l, 11)) * pivot
       w(l, 11) = far * pivot
       w(l, 5) = (w(l, 5) - far * p2(l, 5) - a * p1(l, 5)) * pivot
    end do
  end subroutine eliminate_row

  ! back holds the first two rows behind this tile, and afterwards those of this tile.
  subroutine substitute_bundle(n, nv, back, w)
    integer, intent(in) :: n, nv
    real(dp), intent(inout) :: back(nv, 5, 2), w(lanes, row_numbers, -1:n+2)
    integer :: i
    w(:, 1:5, n+1:n+2) = 0
    w(1:nv, 1:5, n+1:n+2) = back
    do i = n, 1, -1
       call substitute_row(w(1, 1, i+1), w(1, 1, i+2), w(1, 1, i))
    end do
    back = w(1:nv, 1:5, 1:2)
  end subroutine substitute_bundle

  pure subroutine substitute_row(n1, n2, w)
    real(dp), intent(in) :: n1(lanes, row_numbers), n2(lanes, row_numbers)
    real(dp), intent(inout) :: w(lanes, row_numbers)
    integer :: l
    do l = 1, lanes
       w(l, 1) = w(l, 1) - w(l, 6) * n1(l, 1) - w(l, 7) * n2(l, 1)
       w(l, 2) = w(l, 2) - w(l, 6) * n1(l, 2) - w(l, 7) * n2(l, 2)
       w(l, 3) = w(l, 3) - w(l, 6) * n1(l, 3) - w(l, 7) * n2(l, 3)
       w(l, 4) = w(l, 4) - w(l, 8) * n1(l, 4) - w(l, 9) * n2(l, 4)
       w(l, 5) = w(l, 5) - w(l, 10) * n1(l, 5) - w(l, 11) * n2(l, 5)
    end do
  end subroutine substitute_row

  ! Turns the solution of direction d into what the next direction, or u, takes.
  subroutine finish_bundle(t, d, x, w)
    type(block_t), intent(inout) :: t
    integer, intent(in) :: d
    type(bundle_t), intent(in) :: x
    real(dp), intent(inout) :: w(lanes, row_numbers, -1:t%n(d)+2)
    integer :: i, r
    do i = 1, t%n(d)
       select case (d)
       case (1)
          call xi_to_eta(w(1, 1, i))
       case (2)
          call eta_to_zeta(w(1, 1, i))
       case (3)
          do r = 1, x%runs
             call add_row(x%length(r), t%n(1) + 4, w(x%skip(r)+1, 1, i), &
                  t%a(x%a(r)+1, 1, x%b(r), i), t%u(x%a(r)+1, 1, x%b(r), i))
          end do
       end select
    end do
    if (d < 3) call scatter_rows(t%n, d, x, as_stored, w(1, 1, 1), row_numbers, t%rhs)
  end subroutine finish_bundle

  ! N^-1 of the values of a row.
  pure subroutine xi_to_eta(r)
    real(dp), intent(inout) :: r(lanes, 5)
    real(dp) :: r1, r2, t, s
    integer :: l
    do l = 1, lanes
       r1 = r(l, 1)
       r2 = r(l, 2)
       t = bt_half * r(l, 3)
       s = 0.5_dp * (r(l, 4) + r(l, 5))
       r(l, 1) = -r2
       r(l, 2) = r1
       r(l, 3) = bt_half * (r(l, 4) - r(l, 5))
       r(l, 4) = s - t
       r(l, 5) = s + t
    end do
  end subroutine xi_to_eta

  ! P^-1 of the values of a row.
  pure subroutine eta_to_zeta(r)
    real(dp), intent(inout) :: r(lanes, 5)
    real(dp) :: r2, t, s
    integer :: l
    do l = 1, lanes
       r2 = r(l, 2)
       t = bt_half * r(l, 1)
       s = 0.5_dp * (r(l, 4) + r(l, 5))
       r(l, 1) = bt_half * (r(l, 4) - r(l, 5))
       r(l, 2) = -r(l, 3)
       r(l, 3) = r2
       r(l, 4) = s - t
       r(l, 5) = s + t
    end do
  end subroutine eta_to_zeta

  ! u + T3 w: the step is complete.
  pure subroutine add_row(n, ld, w, a, u)
    integer, intent(in) :: n, ld
    real(dp), intent(in) :: w(lanes, 5), a(ld, naux)
    real(dp), intent(inout) :: u(ld, 5)
    real(dp) :: t1, t2, t3, rho, c, kin
    integer :: l
    do l = 1, n
       rho = u(l, 1)
       c = a(l, a_snd)
       kin = 0.5_dp * (a(l, a_vel+1)**2 + a(l, a_vel+2)**2 + a(l, a_vel+3)**2)
       t1 = bt_half * rho / c * (w(l, 4) + w(l, 5))
       t2 = w(l, 3) + t1
       t3 = bt_half * rho * (w(l, 4) - w(l, 5))
       u(l, 1) = rho + t2
       u(l, 2) = u(l, 2) - rho * w(l, 2) + a(l, a_vel+1) * t2
       u(l, 3) = u(l, 3) + rho * w(l, 1) + a(l, a_vel+2) * t2
       u(l, 4) = u(l, 4) + a(l, a_vel+3) * t2 + t3
       u(l, 5) = u(l, 5) + rho * (a(l, a_vel+2) * w(l, 1) - a(l, a_vel+1) * w(l, 2)) &
            + kin * t2 + c * c * t1 / k2 + a(l, a_vel+3) * t3
    end do
  end subroutine add_row
end module sp_lines
