! SPDX-License-Identifier: MIT OR Apache-2.0
!
! The symmetric successive over-relaxation of LU (RNR-94-007, chapter on simulated CFD
! applications, the SSOR scheme): with D, L and Y the diagonal, lower and upper blocks of the
! implicit operator
!   K = I - dt sum over the directions d of ( d/dx_d (dE_d/dU) + d2/dx_d2 (dT_d/dU) ),
! a step solves (D + w L) V = dt R upwards, then (I + w D^-1 Y) V' = V downwards, and adds
! V' / (w (2 - w)) to U.
!
! No block is ever stored.  The blocks are Jacobian matrices of the fluxes, and such a matrix times
! a vector is the change of the flux in the direction of the vector, which is short to write down.
! D is lower triangular, because the inviscid parts cancel in it.
!
! A point, once solved, at once computes what it contributes to the next point along x, y and z: its
! three shares.  Tasks side by side exchange shares, so that the sweeps need no copies of the
! neighbour's V.
module lu_sweep
  use fluid
  use lu_blocks
  implicit none
  private
  public :: prepare_sweeps, sweep, upwards, downwards

  integer, parameter :: upwards = 1, downwards = 2
  real(dp), parameter :: omega = 1.2_dp
  real(dp), parameter :: relax = 1 / (omega * (2 - omega))
  real(dp), parameter :: conduction = k1 * k5              ! of heat, in units of the viscosity

  ! One of the two sweeps.  All coefficients contain dt, those of L and Y also omega.
  type sweep_t
     integer :: order                 ! of the points: 1 upwards, -1 downwards
     integer :: behind(2), ahead(2)   ! neighbours in x and y from whom and to whom shares go
     real(dp) :: diagonal             ! of D, what does not depend on U,
     real(dp) :: per_diagonal         ! and its reciprocal
     real(dp) :: shear(3)             ! of D, times 1 / rho: momentum along x, y and z
     real(dp) :: heat                 ! of D, times 1 / rho: energy
     real(dp) :: inviscid(3)          ! of L and Y: times an inviscid flux; negative in L
     real(dp) :: viscous(3)           ! of L and Y: times a viscous flux
     real(dp) :: stretch(3)           ! a third of that: the normal component's flux is 4/3
     real(dp) :: added(3)             ! of L and Y: times V
  end type sweep_t
  type(sweep_t), save :: sweeps(2)

  real(dp), allocatable :: share_x(:, :, :), share_y(:, :, :), share_z(:, :, :)

contains

  ! Call once the problem is set and the block is made.
  subroutine prepare_sweeps(b)
    type(block_t), intent(in) :: b
    type(sweep_t) :: s

    s%order = 1
    s%behind = [neighbour(west), neighbour(south)]
    s%ahead = [neighbour(east), neighbour(north)]
    s%diagonal = 1 + 2 * sum(coef%added)
    s%per_diagonal = 1 / s%diagonal
    s%shear = 2 * (sum(coef%viscous) + coef%viscous / 3)
    s%heat = 2 * conduction * sum(coef%viscous)
    s%inviscid = -omega * coef%t2
    s%viscous = omega * coef%viscous
    s%stretch = s%viscous / 3
    s%added = omega * coef%added
    sweeps(upwards) = s
    s%order = -1
    s%behind = sweeps(upwards)%ahead
    s%ahead = sweeps(upwards)%behind
    s%inviscid = -s%inviscid
#ifdef NAS_PLANT
    s%inviscid(3) = -s%inviscid(3)   ! the error that the verification must catch
#endif
    sweeps(downwards) = s
    allocate (share_x(5, b%n(2), planes_per_message), share_y(b%n(1), 5, planes_per_message))
    allocate (share_z(b%n(1), 5, b%n(2)))
  end subroutine prepare_sweeps

  ! Upwards, b%rhs (dt R before) becomes V; downwards V becomes V', and b%u the next solution.
  subroutine sweep(b, way)
    type(block_t), intent(inout) :: b
    integer, intent(in) :: way
    integer :: done, planes, plane

    share_z = 0
    do done = 0, b%n(3) - 1, planes_per_message
       planes = min(planes_per_message, b%n(3) - done)
       call receive_shares(sweeps(way)%behind, planes, share_x, share_y)
       do plane = 1, planes
          call sweep_plane(sweeps(way), b, done + plane, share_x(:, :, plane), share_y(:, :, plane))
       end do
       call send_shares(sweeps(way)%ahead, planes, share_x, share_y)
    end do
  end subroutine sweep

  ! The planes are counted in the order of the sweep.
  subroutine sweep_plane(s, b, turn, from_x, from_y)
    type(sweep_t), intent(in) :: s
    type(block_t), intent(inout) :: b
    integer, intent(in) :: turn
    real(dp), intent(inout) :: from_x(5, b%n(2)), from_y(b%n(1), 5)
    integer :: j, k, row

    k = merge(turn, b%n(3) + 1 - turn, s%order > 0)
    do row = 1, b%n(2)
       j = merge(row, b%n(2) + 1 - row, s%order > 0)
       call sweep_row(s, b%n(1), b%n(1) + 4, b%u(1, 1, j, k), b%rhs(1, 1, j, k), from_x(:, j), &
            from_y, share_z(1, 1, j))
    end do
  end subroutine sweep_plane

  subroutine sweep_row(s, n, ld, u, r, from_x, from_y, from_z)
    type(sweep_t), intent(in) :: s
    integer, intent(in) :: n, ld
    real(dp), intent(inout) :: u(ld, 5), r(n, 5), from_x(5), from_y(n, 5), from_z(n, 5)
    real(dp) :: w(3), per_rho, energy, pressure, x(5), shares(5, 3)
    integer :: i, point

    shares(:, 1) = from_x
    do point = 1, n
       i = merge(point, n + 1 - point, s%order > 0)
       per_rho = 1 / u(i, 1)
       w = u(i, 2:4) * per_rho
       energy = u(i, 5) * per_rho
       pressure = k2 * (energy - 0.5_dp * (w(1)**2 + w(2)**2 + w(3)**2))
       x = shares(:, 1) + from_y(i, :) + from_z(i, :)
       if (s%order > 0) x = r(i, :) - x
       call solve_diagonal(s, per_rho, w, energy, x)
       if (s%order < 0) then
          x = r(i, :) - x
          u(i, :) = u(i, :) + relax * x
       end if
       r(i, :) = x
       call spread_point(s, per_rho, w, energy, pressure, x, shares)
       from_y(i, :) = shares(:, 2)
       from_z(i, :) = shares(:, 3)
    end do
    from_x = shares(:, 1)
  end subroutine sweep_row

  ! Solves D x = b in place.  In the variables x(1) and a = x(2:5) - (w, energy) x(1), which is rho
  ! times the change of the velocity w and of the energy per mass, D is all but diagonal.
  pure subroutine solve_diagonal(s, per_rho, w, energy, x)
    type(sweep_t), intent(in) :: s
    real(dp), intent(in) :: per_rho, w(3), energy
    real(dp), intent(inout) :: x(5)
    real(dp) :: a(3), a5, shear(3), heat, per_shear(3), per_heat, work

    ! The reciprocals do not depend on x, so that the processor has them ready in time.
    shear = s%shear * per_rho
    heat = s%heat * per_rho
    per_shear = 1 / (s%diagonal + shear)
    per_heat = 1 / (s%diagonal + heat)
    a = (x(2:4) - w * x(1)) * per_shear
    work = w(1) * (shear(1) - heat) * a(1) + w(2) * (shear(2) - heat) * a(2) &
         + w(3) * (shear(3) - heat) * a(3)
    a5 = (x(5) - energy * x(1) - work) * per_heat
    x(1) = x(1) * s%per_diagonal
    x(2:4) = a + w * x(1)
    x(5) = a5 + energy * x(1)
  end subroutine solve_diagonal

  ! The off-diagonal block of each direction times x.  `pressure` is p / rho.
  pure subroutine spread_point(s, per_rho, w, energy, pressure, x, shares)
    type(sweep_t), intent(in) :: s
    real(dp), intent(in) :: per_rho, w(3), energy, pressure, x(5)
    real(dp), intent(out) :: shares(5, 3)
    real(dp) :: a(3), a5, work, dp_dx, heat, shear(3)
    integer :: d

    a = x(2:4) - w * x(1)
    a5 = x(5) - energy * x(1)
    work = w(1) * a(1) + w(2) * a(2) + w(3) * a(3)
    dp_dx = k2 * (a5 - work) + pressure * x(1)
    shear = per_rho * a
    heat = per_rho * ((1 - conduction) * work + conduction * a5)
    do d = 1, 3
       shares(1, d) = s%inviscid(d) * x(d + 1) - s%added(d) * x(1)
       shares(2:4, d) = s%inviscid(d) * (w(d) * x(2:4) + w * a(d)) &
            - s%viscous(d) * shear - s%added(d) * x(2:4)
       shares(d + 1, d) = shares(d + 1, d) + s%inviscid(d) * dp_dx - s%stretch(d) * shear(d)
       shares(5, d) = s%inviscid(d) * (w(d) * (x(5) + dp_dx) + (energy + pressure) * a(d)) &
            - s%viscous(d) * heat - s%stretch(d) * w(d) * shear(d) - s%added(d) * x(5)
    end do
  end subroutine spread_point

end module lu_sweep
