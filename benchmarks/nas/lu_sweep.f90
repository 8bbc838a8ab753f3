! SPDX-License-Identifier: MIT OR Apache-2.0
!
! The symmetric successive over-relaxation of LU (RNR-94-007, chapter 3, the SSOR scheme): with
! D, L and Y the diagonal, lower and upper blocks of the implicit operator
!   K = I - dt (d/dx A' + d/dy B' + d/dz C'),
! each step solves (D + w L) V = dt R going up, (I + w D^-1 Y) V' = V going down, and adds
! V' / (w (2 - w)) to U.
!
! No block is ever stored.  A, B and C are Jacobian matrices of the fluxes, and a matrix times a
! vector is the derivative of the flux in the direction of that vector, which is short to write
! down.  D is lower triangular, because the inviscid parts cancel in it.
!
! A point, once solved, at once computes what it contributes to the next point along x, y and z:
! `share_x`, `share_y`, `share_z`.  Two tasks side by side therefore exchange shares, and the
! sweeps need no copies of the neighbour's correction.
module lu_sweep
  use, intrinsic :: iso_fortran_env, only: real64
  use lu_fluid
  use lu_grid
  use lu_rhs, only: per_h2, per_2h
  use lu_exchange
  implicit none
  private
  public :: prepare_sweeps, sweep_up, sweep_down

  real(real64), parameter :: omega = 1.2_real64

  ! The coefficients of the sweeps, all with the time step and, outside the diagonal, with omega.
  type :: coefficients
    real(real64) :: step             ! dt
    real(real64) :: diagonal         ! of D, what does not depend on U
    real(real64) :: shear(3)         ! of D, times 1 / rho: momentum along x, y and z
    real(real64) :: heat             ! of D, times 1 / rho: energy
    real(real64) :: inviscid(3)      ! of L and Y; negative in L
    real(real64) :: viscous(3), constant(3)  ! of L and Y: times a viscous flux, times V
  end type coefficients
  type(coefficients) :: up, down

  real(real64), allocatable :: share_x(:, :, :), share_y(:, :, :), share_z(:, :, :)

contains

  ! Call once after the stencils are prepared.
  subroutine prepare_sweeps(step)
    real(real64), intent(in) :: step

    up%step = step
    up%diagonal = 1.0_real64 + 2.0_real64 * step * sum(per_h2 * second_order)
    up%shear = 2.0_real64 * step * c34 * (sum(per_h2) + per_h2 / 3.0_real64)
    up%heat = 2.0_real64 * step * c1345 * sum(per_h2)
    up%inviscid = -omega * step * per_2h
    up%viscous = omega * step * per_h2
    up%constant = up%viscous * second_order
    down = up
    down%inviscid = -up%inviscid
    allocate(share_x(5, nj, planes_per_message), share_y(5, ni, planes_per_message))
    allocate(share_z(5, ni, nj))
  end subroutine prepare_sweeps

  ! The lower triangular solve: rsd becomes (D + w L)^-1 dt rsd.
  subroutine sweep_up()
    integer :: k, planes

    share_z = 0.0_real64
    do k = 2, nz - 1, planes_per_message
      planes = min(planes_per_message, nz - k)
      call receive_shares(west, south, planes, share_x, share_y)
      call sweep_planes(up, k, k + planes - 1, 1)
      call send_shares(east, north, planes, share_x, share_y)
    end do
  end subroutine sweep_up

  ! The upper triangular solve: rsd becomes V', and U the solution after this step.
  subroutine sweep_down()
    integer :: k, planes

    share_z = 0.0_real64
    do k = nz - 1, 2, -planes_per_message
      planes = min(planes_per_message, k - 1)
      call receive_shares(east, north, planes, share_x, share_y)
      call sweep_planes(down, k, k - planes + 1, -1)
      call send_shares(west, south, planes, share_x, share_y)
    end do
  end subroutine sweep_down

  subroutine sweep_planes(c, from, to, order)
    type(coefficients), intent(in) :: c
    integer, intent(in) :: from, to, order
    integer :: j, k, plane

    plane = 0
    do k = from, to, order
      plane = plane + 1
      do j = merge(jst, jend, order > 0), merge(jend, jst, order > 0), order
        call sweep_row(c, iend - ist + 1, order, u(1, ist, j, k), rsd(1, ist, j, k), &
            share_x(1, j, plane), share_y(1, ist, plane), share_z(1, ist, j))
      end do
    end do
  end subroutine sweep_planes

  ! Solves the points of one row, upwards or downwards.
  subroutine sweep_row(c, length, order, v, r, from_x, from_y, from_z)
    type(coefficients), intent(in) :: c
    integer, intent(in) :: length, order
    real(real64), intent(inout) :: v(5, length), r(5, length)
    real(real64), intent(inout) :: from_x(5), from_y(5, length), from_z(5, length)
    real(real64), parameter :: relax = 1.0_real64 / (omega * (2.0_real64 - omega))
    real(real64) :: w(3), per_rho, energy, pressure, b(5), shares(5, 3)
    integer :: i

    shares(:, 1) = from_x
    do i = merge(1, length, order > 0), merge(length, 1, order > 0), order
      per_rho = 1.0_real64 / v(1, i)
      w = v(2:4, i) * per_rho
      energy = v(5, i) * per_rho
      pressure = c2 * (energy - 0.5_real64 * (w(1)**2 + w(2)**2 + w(3)**2))
      b = shares(:, 1) + from_y(:, i) + from_z(:, i)
      if (order > 0) b = c%step * r(:, i) - b
      call solve_diagonal(c, per_rho, w, energy, b)
      if (order < 0) then
        b = r(:, i) - b
        v(:, i) = v(:, i) + relax * b
      end if
      r(:, i) = b
      call spread(c, per_rho, w, energy, pressure, b, shares)
      from_y(:, i) = shares(:, 2)
      from_z(:, i) = shares(:, 3)
    end do
    from_x = shares(:, 1)
  end subroutine sweep_row

  ! Solves D x = b.  In the variables a = x(2:5) - (w, energy) x(1), which are rho times the
  ! change of velocity and of energy per mass, D is all but diagonal.
  pure subroutine solve_diagonal(c, per_rho, w, energy, b)
    type(coefficients), intent(in) :: c
    real(real64), intent(in) :: per_rho, w(3), energy
    real(real64), intent(inout) :: b(5)
    real(real64) :: a(3), shear(3), heat, x1

    shear = c%shear * per_rho
    heat = c%heat * per_rho
    x1 = b(1) / c%diagonal
    a = (b(2:4) - w * b(1)) / (c%diagonal + shear)
    b(5) = (b(5) - energy * b(1) - sum(w * (shear - heat) * a)) / (c%diagonal + heat) + energy * x1
    b(2:4) = a + w * x1
    b(1) = x1
  end subroutine solve_diagonal

  ! The off-diagonal blocks of the three directions times x.
  pure subroutine spread(c, per_rho, w, energy, pressure, x, shares)
    type(coefficients), intent(in) :: c
    real(real64), intent(in) :: per_rho, w(3), energy, pressure, x(5)
    real(real64), intent(out) :: shares(5, 3)
    real(real64) :: a(3), a5, work, dp, heat, enthalpy, shear(3), energy_flux(3)
    integer :: n

    a = x(2:4) - w * x(1)
    a5 = x(5) - energy * x(1)
    work = w(1) * a(1) + w(2) * a(2) + w(3) * a(3)
    dp = c2 * (a5 - work) + pressure * x(1)
    shear = c34 * per_rho * a
    heat = per_rho * ((c34 - c1345) * work + c1345 * a5)
    enthalpy = energy + pressure
    energy_flux = w * (x(5) + dp) + enthalpy * a
    do n = 1, 3
      shares(1, n) = c%inviscid(n) * x(n + 1) - c%constant(n) * x(1)
      shares(2:4, n) = c%inviscid(n) * (w(n) * x(2:4) + w * a(n)) &
          - c%viscous(n) * shear - c%constant(n) * x(2:4)
      shares(n + 1, n) = shares(n + 1, n) + c%inviscid(n) * dp - c%viscous(n) / 3.0_real64 * shear(n)
      shares(5, n) = c%inviscid(n) * energy_flux(n) &
          - c%viscous(n) * (heat + w(n) * shear(n) / 3.0_real64) - c%constant(n) * x(5)
    end do
  end subroutine spread

end module lu_sweep
