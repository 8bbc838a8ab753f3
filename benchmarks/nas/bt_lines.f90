! SPDX-License-Identifier: MIT OR Apache-2.0
!
! BT's lines: the approximate factorisation of Beam and Warming without diagonalisation ("the block
! tridiagonal system" of RNR-94-007). A step solves
!
!     (I + L1) (I + L2) (I + L3) dU = rhs,
!     L_d = dt ( d/dx_d J - d2/dx_d2 (N + added) )
!
! with J and N the Jacobians of the convective and viscous flux. Along each line that is a block
! tridiagonal system with blocks of 5 x 5. The quantities of a line are put in the order density,
! momentum along the line, the other two momenta, energy: so one code serves three directions, and
! the zeros of the blocks are at fixed places.
!
! Lines are solved in bundles: each inner loop runs over the lanes of a bundle, its body unrolled
! over the rows of a block, so that a column of a block stays in registers. A block is factored
! once (five divisions), and five columns and the right-hand side are solved with the factors.
module bt_lines
  use fluid
  use fluid_tiles
  use fluid_bundles
  use fluid_sweep, only: part_t
  implicit none
  private
  public :: eliminate, substitute, prepare_lines
  public :: forward_numbers, backward_numbers, kept_numbers

  ! One row of a line goes on: five values and a block. One row of five values comes back.
  integer, parameter :: forward_numbers = 30, backward_numbers = 5
  ! A row of w: column 0 holds the five values, columns 1 to 5 the block of the next unknown.
  integer, parameter :: row_numbers = 30
  integer, parameter :: kept_numbers = row_numbers   ! for each point, from one pass to the other
  ! Order of the quantities along each direction.
  integer, parameter :: order(5, 3) = reshape([ &
       1, 2, 3, 4, 5,  1, 3, 2, 4, 5,  1, 4, 2, 3, 5], [5, 3])
  ! What the Jacobians are made of: 1 / density, velocity along the line, the other two, pressure.
  integer, parameter :: inv = 1, along = 2, side1 = 3, side2 = 4, pressure = 5, nstate = 5
  real(dp), parameter :: c = k1 * k5

  real(dp), allocatable, save :: state(:, :, :)   ! of the rows of one bundle

contains

  ! Once, when the size is known: longest line of any tile.
  subroutine prepare_lines(longest)
    integer, intent(in) :: longest
    allocate (state(lanes, nstate, 0:longest+1))
    state = 0
  end subroutine prepare_lines

  include 'fluid_lines.inc'

  ! Rows 1 to n of a bundle from the field.
  subroutine gather_bundle(t, d, x, w)
    type(block_t), intent(in) :: t
    integer, intent(in) :: d
    type(bundle_t), intent(in) :: x
    real(dp), intent(inout) :: w(lanes, row_numbers, 0:t%n(d)+1)
    call gather_states(t%n, d, x, t%a)
    call gather_rows(t%n, d, x, order(:, d), t%rhs, row_numbers, w(1, 1, 1))
  end subroutine gather_bundle

  ! The states, one row more on each side.
  subroutine gather_states(n, d, x, f)
    integer, intent(in) :: n(3), d
    type(bundle_t), intent(in) :: x
    real(dp), intent(in) :: f(-1:n(1)+2, naux, -1:n(2)+2, -1:n(3)+2)
    integer :: from(nstate), i, m, r, v, a, b, l
    from = [a_inv, order(2:4, d), a_p]   ! velocities are stored where u has the momenta
    state(x%lines+1:, :, 0:n(d)+1) = 0
    do i = 0, n(d) + 1
       do r = 1, x%runs
          v = x%skip(r)
          a = x%a(r)
          b = x%b(r)
          l = x%length(r)
          do m = 1, nstate
             select case (d)
             case (1)
                state(v+1:v+l, m, i) = f(i, from(m), a+1:a+l, b)
             case (2)
                state(v+1:v+l, m, i) = f(a+1:a+l, from(m), i, b)
             case (3)
                state(v+1:v+l, m, i) = f(a+1:a+l, from(m), b, i)
             end select
          end do
       end do
    end do
  end subroutine gather_states

  ! carry holds the last row before this tile, and afterwards that of this tile.
  subroutine eliminate_bundle(t, d, nv, carry, w)
    type(block_t), intent(in) :: t
    integer, intent(in) :: d, nv
    real(dp), intent(inout) :: carry(nv, 5, 0:5), w(lanes, 5, 0:5, 0:t%n(d)+1)
    real(dp) :: low(lanes, 5, 5), mid(lanes, 5, 5)
    integer :: i, m, n
    n = t%n(d)
    w(:, :, :, 0) = 0
    w(1:nv, :, :, 0) = carry
    do i = 1, n
       call lower_block(d, state(1, 1, i-1), low)
       call middle_block(d, state(1, 1, i), mid)
#ifdef NAS_PLANT
       ! The row behind is not there, as if its plane had not been exchanged.
       call upper_block(d, state(1, 1, i), w(1, 1, 1, i))
#else
       call upper_block(d, state(1, 1, i+1), w(1, 1, 1, i))
#endif
       call subtract_product(low, w(1, 1, 0, i-1), w(1, 1, 0, i))
       do m = 1, 5
          call subtract_product(low, w(1, 1, m, i-1), mid(1, 1, m))
       end do
       call factor(mid)
       do m = 0, 5
          call solve(mid, w(1, 1, m, i))
       end do
    end do
    carry = w(1:nv, :, :, n)
  end subroutine eliminate_bundle

  ! The block before the diagonal: -dt/(2h) J - dt/h^2 (N + added).
  pure subroutine lower_block(d, s, x)
    integer, intent(in) :: d
    real(dp), intent(in) :: s(lanes, nstate)
    real(dp), intent(out) :: x(lanes, 5, 5)
    call block(-coef%t2(d), -coef%viscous(d), -coef%added(d), s, x)
  end subroutine lower_block

  ! The block behind the diagonal: dt/(2h) J - dt/h^2 (N + added).
  pure subroutine upper_block(d, s, x)
    integer, intent(in) :: d
    real(dp), intent(in) :: s(lanes, nstate)
    real(dp), intent(out) :: x(lanes, 5, 5)
    call block(coef%t2(d), -coef%viscous(d), -coef%added(d), s, x)
  end subroutine upper_block

  ! The block on the diagonal: I + 2 dt/h^2 (N + added).
  pure subroutine middle_block(d, s, x)
    integer, intent(in) :: d
    real(dp), intent(in) :: s(lanes, nstate)
    real(dp), intent(out) :: x(lanes, 5, 5)
    call block(0.0_dp, 2 * coef%viscous(d), 1 + 2 * coef%added(d), s, x)
  end subroutine middle_block

  ! x = t J + h N + g I, with J = dE/dU and N = dT/dU (without the factor k3 k4, which h has).
  pure subroutine block(t, h, g, s, x)
    real(dp), intent(in) :: t, h, g, s(lanes, nstate)
    real(dp), intent(out) :: x(lanes, 5, 5)
    real(dp) :: v, w1, w2, q, e, hr
    integer :: l
    do l = 1, lanes
       v = s(l, along)
       w1 = s(l, side1)
       w2 = s(l, side2)
       q = 0.5_dp * (v * v + w1 * w1 + w2 * w2)
       e = q + s(l, pressure) * s(l, inv) / k2      ! energy / density
       hr = h * s(l, inv)
       x(l, 1, 1) = g
       x(l, 2, 1) = t * (k2 * q - v * v) - hr * v * 4 / 3
       x(l, 3, 1) = -w1 * (t * v + hr)
       x(l, 4, 1) = -w2 * (t * v + hr)
       x(l, 5, 1) = t * v * (2 * k2 * q - k1 * e) &
            - hr * (v * v / 3 + 2 * (1 - c) * q + c * e)
       x(l, 1, 2) = t
       x(l, 2, 2) = t * (2 - k2) * v + hr * 4 / 3 + g
       x(l, 3, 2) = t * w1
       x(l, 4, 2) = t * w2
       x(l, 5, 2) = t * (k1 * e - k2 * (q + v * v)) + hr * (4.0_dp / 3 - c) * v
       x(l, 1, 3) = 0
       x(l, 2, 3) = -t * k2 * w1
       x(l, 3, 3) = t * v + hr + g
       x(l, 4, 3) = 0
       x(l, 5, 3) = w1 * (hr * (1 - c) - t * k2 * v)
       x(l, 1, 4) = 0
       x(l, 2, 4) = -t * k2 * w2
       x(l, 3, 4) = 0
       x(l, 4, 4) = t * v + hr + g
       x(l, 5, 4) = w2 * (hr * (1 - c) - t * k2 * v)
       x(l, 1, 5) = 0
       x(l, 2, 5) = t * k2
       x(l, 3, 5) = 0
       x(l, 4, 5) = 0
       x(l, 5, 5) = t * k1 * v + hr * c + g
    end do
  end subroutine block

  ! y - A x for one column; the zeros of A are those of block.
  pure subroutine subtract_product(a, x, y)
    real(dp), intent(in) :: a(lanes, 5, 5), x(lanes, 5)
    real(dp), intent(inout) :: y(lanes, 5)
    integer :: l
    do l = 1, lanes
       y(l, 1) = y(l, 1) - a(l, 1, 1) * x(l, 1) - a(l, 1, 2) * x(l, 2)
       y(l, 2) = y(l, 2) - a(l, 2, 1) * x(l, 1) - a(l, 2, 2) * x(l, 2) - a(l, 2, 3) * x(l, 3) &
            - a(l, 2, 4) * x(l, 4) - a(l, 2, 5) * x(l, 5)
       y(l, 3) = y(l, 3) - a(l, 3, 1) * x(l, 1) - a(l, 3, 2) * x(l, 2) - a(l, 3, 3) * x(l, 3)
       y(l, 4) = y(l, 4) - a(l, 4, 1) * x(l, 1) - a(l, 4, 2) * x(l, 2) - a(l, 4, 4) * x(l, 4)
       y(l, 5) = y(l, 5) - a(l, 5, 1) * x(l, 1) - a(l, 5, 2) * x(l, 2) - a(l, 5, 3) * x(l, 3) &
            - a(l, 5, 4) * x(l, 4) - a(l, 5, 5) * x(l, 5)
    end do
  end subroutine subtract_product

  ! a = L U without pivoting (the blocks are dominated by their diagonal); L has ones on its
  ! diagonal, U's is replaced by its reciprocals.
  pure subroutine factor(a)
    real(dp), intent(inout) :: a(lanes, 5, 5)
    integer :: p, i, j
    do p = 1, 5
       a(:, p, p) = 1 / a(:, p, p)
       do i = p + 1, 5
          a(:, i, p) = a(:, i, p) * a(:, p, p)
       end do
       do j = p + 1, 5
          do i = p + 1, 5
             a(:, i, j) = a(:, i, j) - a(:, i, p) * a(:, p, j)
          end do
       end do
    end do
  end subroutine factor

  ! x = (L U)^-1 x for one column.
  pure subroutine solve(f, x)
    real(dp), intent(in) :: f(lanes, 5, 5)
    real(dp), intent(inout) :: x(lanes, 5)
    real(dp) :: x1, x2, x3, x4, x5
    integer :: l
    do l = 1, lanes
       x1 = x(l, 1)
       x2 = x(l, 2) - f(l, 2, 1) * x1
       x3 = x(l, 3) - f(l, 3, 1) * x1 - f(l, 3, 2) * x2
       x4 = x(l, 4) - f(l, 4, 1) * x1 - f(l, 4, 2) * x2 - f(l, 4, 3) * x3
       x5 = x(l, 5) - f(l, 5, 1) * x1 - f(l, 5, 2) * x2 - f(l, 5, 3) * x3 - f(l, 5, 4) * x4
       x5 = x5 * f(l, 5, 5)
       x4 = (x4 - f(l, 4, 5) * x5) * f(l, 4, 4)
       x3 = (x3 - f(l, 3, 4) * x4 - f(l, 3, 5) * x5) * f(l, 3, 3)
       x2 = (x2 - f(l, 2, 3) * x3 - f(l, 2, 4) * x4 - f(l, 2, 5) * x5) * f(l, 2, 2)
       x1 = (x1 - f(l, 1, 2) * x2 - f(l, 1, 3) * x3 - f(l, 1, 4) * x4 - f(l, 1, 5) * x5) &
            * f(l, 1, 1)
       x(l, 1) = x1
       x(l, 2) = x2
       x(l, 3) = x3
       x(l, 4) = x4
       x(l, 5) = x5
    end do
  end subroutine solve

  ! back holds the first row behind this tile, and afterwards that of this tile.
  subroutine substitute_bundle(n, nv, back, w)
    integer, intent(in) :: n, nv
    real(dp), intent(inout) :: back(nv, 5), w(lanes, 5, 0:5, 0:n+1)
    integer :: i
    w(:, :, 0, n+1) = 0
    w(1:nv, :, 0, n+1) = back
    do i = n, 1, -1
       call substitute_row(w(1, 1, 0, i+1), w(1, 1, 0, i))
    end do
    back = w(1:nv, :, 0, 1)
  end subroutine substitute_bundle

  pure subroutine substitute_row(x, w)
    real(dp), intent(in) :: x(lanes, 5)
    real(dp), intent(inout) :: w(lanes, 5, 0:5)
    integer :: l, m
    do m = 1, 5
       do l = 1, lanes
          w(l, m, 0) = w(l, m, 0) - w(l, m, 1) * x(l, 1) - w(l, m, 2) * x(l, 2) &
               - w(l, m, 3) * x(l, 3) - w(l, m, 4) * x(l, 4) - w(l, m, 5) * x(l, 5)
       end do
    end do
  end subroutine substitute_row

  ! The solution of the last direction is what u changes by.
  subroutine finish_bundle(t, d, x, w)
    type(block_t), intent(inout) :: t
    integer, intent(in) :: d
    type(bundle_t), intent(in) :: x
    real(dp), intent(in) :: w(lanes, row_numbers, 0:t%n(d)+1)
    integer :: i, m, r, v, a, l
    if (d < 3) then
       call scatter_rows(t%n, d, x, order(:, d), w(1, 1, 1), row_numbers, t%rhs)
       return
    end if
    do i = 1, t%n(3)
       do r = 1, x%runs
          v = x%skip(r)
          a = x%a(r)
          l = x%length(r)
          do m = 1, 5
             t%u(a+1:a+l, order(m, d), x%b(r), i) = t%u(a+1:a+l, order(m, d), x%b(r), i) &
                  + w(v+1:v+l, m, i)
          end do
       end do
    end do
  end subroutine finish_bundle
end module bt_lines
