! SPDX-License-Identifier: MIT OR Apache-2.0
!
! The residual of LU (RNR-94-007, chapter 3, spatial discretization): for each inside point
!   R = D(U) - F,  D = - dE/dx - dF/dy - dG/dz + viscous terms + dissipation,
! all by central differences.  F, the forcing term, is D of the exact solution.
!
! The part that is linear in U (second- and fourth-order dissipation) is one five-point stencil in
! each direction, because its coefficients are the same for the five equations.
module lu_rhs
  use, intrinsic :: iso_fortran_env, only: real64
  use lu_fluid
  use lu_grid
  implicit none
  private
  public :: prepare_stencils, residual

  ! Per axis: 1 / h**2 and 1 / (2 h).
  real(real64), public, protected :: per_h2(3), per_2h(3)
  ! Stencil weights of the dissipation, by offset and local point; in x repeated for each of the
  ! five components, so that a row is one loop over contiguous numbers.
  real(real64), allocatable :: weight_x(:, :, :), weight_y(:, :), weight_z(:, :)
  ! What each point of three successive planes contributes to the fluxes: velocity (1 to 3),
  ! energy per mass (4), pressure (5) and the square of the velocity (6).
  integer, parameter :: parts = 6
  real(real64), allocatable :: flow(:, :, :, :)

contains

  ! Call once after the grid is laid out.
  subroutine prepare_stencils()
    integer :: i, m
    real(real64) :: w(-2:2)

    per_h2 = real(points - 1, real64)**2
    per_2h = 0.5_real64 * real(points - 1, real64)
    allocate(weight_x(5, ni, -2:2), weight_y(-2:2, nj), weight_z(-2:2, nz))
    allocate(flow(parts, 0:ni + 1, 0:nj + 1, 0:2), source=0.0_real64)
    do i = 1, ni
      w = stencil(1, first(1) + i - 1)
      do m = 1, 5
        weight_x(m, i, :) = w
      end do
    end do
    do i = 1, nj
      weight_y(:, i) = stencil(2, first(2) + i - 1)
    end do
    do i = 1, nz
      weight_z(:, i) = stencil(3, i)
    end do
  end subroutine prepare_stencils

  ! Second-order minus fourth-order dissipation at global point `at` of an axis.  The fourth
  ! difference loses the terms that would lie outside at the two points next to each face.
  pure function stencil(axis, at) result(w)
    integer, intent(in) :: axis, at
    real(real64) :: w(-2:2), fourth(-2:2)
    integer :: last

    last = points(axis)
    fourth = [1.0_real64, -4.0_real64, 6.0_real64, -4.0_real64, 1.0_real64]
    if (at == 2) fourth(-2:0) = [0.0_real64, 0.0_real64, 5.0_real64]
    if (at == 3) fourth(-2) = 0.0_real64
    if (at == last - 2) fourth(2) = 0.0_real64
    if (at == last - 1) fourth(0:2) = [5.0_real64, 0.0_real64, 0.0_real64]
    if (at == 1 .or. at == last) fourth = 0.0_real64
    w = -fourth_order * fourth
    w(-1:1) = w(-1:1) + second_order(axis) * per_h2(axis) * [1.0_real64, -2.0_real64, 1.0_real64]
  end function stencil

  ! Computes rsd from u (whose copies of the neighbours' points are up to date) and frct.
  subroutine residual()
    integer :: k

    call flow_of_plane(1)
    call flow_of_plane(2)
    do k = 2, nz - 1
      call flow_of_plane(k + 1)
      call residual_of_plane(k)
    end do
  end subroutine residual

  ! Fills the flow variables of plane k, one layer of neighbours' points included.
  subroutine flow_of_plane(k)
    integer, intent(in) :: k
    integer :: j, length

    length = iend - ist + 3
    do j = jst - 1, jend + 1
      call flow_of_row(length, u(1, ist - 1, j, k), flow(1, ist - 1, j, mod(k, 3)))
    end do
  end subroutine flow_of_plane

  pure subroutine flow_of_row(length, v, w)
    integer, intent(in) :: length
    real(real64), intent(in) :: v(5, length)
    real(real64), intent(out) :: w(parts, length)
    real(real64) :: per_rho
    integer :: i

    do i = 1, length
      per_rho = 1.0_real64 / v(1, i)
      w(1:4, i) = v(2:5, i) * per_rho
      w(6, i) = w(1, i)**2 + w(2, i)**2 + w(3, i)**2
      w(5, i) = c2 * (v(5, i) - 0.5_real64 * v(1, i) * w(6, i))
    end do
  end subroutine flow_of_row

  subroutine residual_of_plane(k)
    integer, intent(in) :: k
    integer :: j, length, below, here, above

    length = iend - ist + 1
    below = mod(k - 1, 3)
    here = mod(k, 3)
    above = mod(k + 1, 3)
    do j = jst, jend
      call dissipation_of_row(length, j, k)
      call fluxes_of_row(1, length, u(1, ist - 1, j, k), u(1, ist + 1, j, k), &
          flow(1, ist - 1, j, here), flow(1, ist, j, here), flow(1, ist + 1, j, here), &
          rsd(1, ist, j, k))
      call fluxes_of_row(2, length, u(1, ist, j - 1, k), u(1, ist, j + 1, k), &
          flow(1, ist, j - 1, here), flow(1, ist, j, here), flow(1, ist, j + 1, here), &
          rsd(1, ist, j, k))
      call fluxes_of_row(3, length, u(1, ist, j, k - 1), u(1, ist, j, k + 1), &
          flow(1, ist, j, below), flow(1, ist, j, here), flow(1, ist, j, above), &
          rsd(1, ist, j, k))
    end do
  end subroutine residual_of_plane

  ! Begins the residual of a row with the terms that are linear in u, and the forcing term.
  subroutine dissipation_of_row(length, j, k)
    integer, intent(in) :: length, j, k

    call stencil_x(5 * length, 5 * ni, weight_x(1, ist, -2), u(1, ist - 2, j, k), &
        frct(1, ist, j, k), rsd(1, ist, j, k))
    call stencil_yz(5 * length, weight_y(:, j), u(1, ist, j - 2, k), u(1, ist, j - 1, k), &
        u(1, ist, j, k), u(1, ist, j + 1, k), u(1, ist, j + 2, k), rsd(1, ist, j, k))
    call stencil_yz(5 * length, weight_z(:, k), u(1, ist, j, k - 2), u(1, ist, j, k - 1), &
        u(1, ist, j, k), u(1, ist, j, k + 1), u(1, ist, j, k + 2), rsd(1, ist, j, k))
  end subroutine dissipation_of_row

  ! Neighbours in x lie five numbers apart.
  pure subroutine stencil_x(length, stride, w, v, f, r)
    integer, intent(in) :: length, stride
    real(real64), intent(in) :: w(stride, -2:2), v(length + 20), f(length)
    real(real64), intent(inout) :: r(length)
    integer :: i

    do i = 1, length
      r(i) = w(i, -2) * v(i) + w(i, -1) * v(i + 5) + w(i, 0) * v(i + 10) &
          + w(i, 1) * v(i + 15) + w(i, 2) * v(i + 20) - f(i)
    end do
  end subroutine stencil_x

  pure subroutine stencil_yz(length, w, a, b, c, d, e, r)
    integer, intent(in) :: length
    real(real64), intent(in) :: w(-2:2)
    real(real64), intent(in), dimension(length) :: a, b, c, d, e
    real(real64), intent(inout) :: r(length)
    integer :: i

    do i = 1, length
      r(i) = r(i) + w(-2) * a(i) + w(-1) * b(i) + w(0) * c(i) + w(1) * d(i) + w(2) * e(i)
    end do
  end subroutine stencil_yz

  ! Adds the inviscid and the viscous fluxes along one axis to a row of the residual.  `um` and
  ! `up` are the solution one point before and behind along the axis; `wm`, `w` and `wp` are the
  ! flow variables before, at and behind the points of the row.
  pure subroutine fluxes_of_row(axis, length, um, up, wm, w, wp, r)
    integer, intent(in) :: axis, length
    real(real64), intent(in), dimension(5, length) :: um, up
    real(real64), intent(in), dimension(parts, length) :: wm, w, wp
    real(real64), intent(inout) :: r(5, length)
    real(real64) :: vm, vp, t2, viscous, curve(6)
    integer :: i, normal

    normal = axis + 1
    t2 = per_2h(axis)
    viscous = c34 * per_h2(axis)
    do i = 1, length
      vm = wm(axis, i)
      vp = wp(axis, i)
      curve = wm(:, i) - 2.0_real64 * w(:, i) + wp(:, i)
      r(1, i) = r(1, i) - t2 * (up(normal, i) - um(normal, i))
      r(2:4, i) = r(2:4, i) - t2 * (up(2:4, i) * vp - um(2:4, i) * vm) + viscous * curve(1:3)
      r(normal, i) = r(normal, i) - t2 * (wp(5, i) - wm(5, i)) &
          + viscous / 3.0_real64 * curve(axis)
      r(5, i) = r(5, i) - t2 * ((up(5, i) + wp(5, i)) * vp - (um(5, i) + wm(5, i)) * vm) &
          + viscous * (0.5_real64 * (1.0_real64 - c1 * c5) * curve(6) + c1 * c5 * curve(4) &
          + (vm**2 - 2.0_real64 * w(axis, i)**2 + vp**2) / 6.0_real64)
    end do
  end subroutine fluxes_of_row

end module lu_rhs
