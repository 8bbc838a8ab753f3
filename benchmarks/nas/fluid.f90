! SPDX-License-Identifier: MIT OR Apache-2.0
!
! The flow problem that SP and BT share: the chapter of RNR-94-007 on simulated CFD applications.
!
! Five conserved quantities U = (density, momentum in xi, eta, zeta, energy) on a cube, driven by a
! forcing for which a polynomial U* is the steady solution:
!
!     dU/dt = sum over the directions d of ( dE_d/dx_d + dT_d/dx_d ) + H*
!
! E_d is the convective flux, T_d the viscous one. Differences are central and of second order; a
! dissipation of fourth order is added. This file holds the constants, U*, the initial field, one
! block of the grid with its halo, the right-hand side and the two norms that verify a run.
!
! A row (all points along xi at one eta and zeta) of one quantity lies contiguous in memory, and the
! five quantities of a row lie side by side: the inner loops run along xi at unit stride, and the
! neighbours in eta and zeta of all quantities are few streams for the memory.
module fluid
  use nas_common, only: dp
  implicit none
  private
  public :: dp, block_t, coefficients, coef, k1, k2, k5, bt_half
  public :: a_inv, a_vel, a_p, a_heat, a_snd, naux
  public :: set_problem, make_block, initial_field, set_forcing, right_hand_side, row_work
  public :: residual_squares, error_squares, block_bytes, copy_box

  ! Table of constants of the specification. k1 is the ratio of specific heats, k2 = k1 - 1.
  real(dp), parameter :: k1 = 1.40_dp, k2 = 0.40_dp, k3 = 0.10_dp, k4 = 1.00_dp, k5 = 1.40_dp
  real(dp), parameter :: bt_half = 0.70710678118654752440_dp  ! the square root of one half
  ! Coefficients of the second differences that are added to all five equations, by direction.
  real(dp), parameter :: added(3) = [0.75_dp, 0.75_dp, 1.00_dp]
  ! The dissipation of fourth order: max of the above, divided by four.
  real(dp), parameter :: dissipation = 0.25_dp * 1.00_dp

  ! U*: for each quantity a constant, then for the powers 1 to 4 one coefficient per direction.
  real(dp), parameter :: constant(5) = [2.0_dp, 1.0_dp, 2.0_dp, 2.0_dp, 5.0_dp]
  real(dp), parameter :: power(3, 4, 5) = reshape([ &
       0.0_dp, 0.0_dp, 4.0_dp,  5.0_dp, 3.0_dp, 0.5_dp,  0.02_dp, 0.01_dp, 0.03_dp, &
       0.5_dp, 0.4_dp, 0.3_dp, &
       0.0_dp, 0.0_dp, 0.0_dp,  1.0_dp, 2.0_dp, 3.0_dp,  0.01_dp, 0.03_dp, 0.02_dp, &
       0.4_dp, 0.3_dp, 0.5_dp, &
       2.0_dp, 0.0_dp, 0.0_dp,  0.0_dp, 2.0_dp, 3.0_dp,  0.04_dp, 0.03_dp, 0.05_dp, &
       0.3_dp, 0.5_dp, 0.4_dp, &
       2.0_dp, 0.0_dp, 0.0_dp,  0.0_dp, 2.0_dp, 3.0_dp,  0.03_dp, 0.05_dp, 0.04_dp, &
       0.2_dp, 0.1_dp, 0.3_dp, &
       4.0_dp, 3.0_dp, 2.0_dp,  0.1_dp, 0.4_dp, 0.3_dp,  0.05_dp, 0.04_dp, 0.03_dp, &
       0.1_dp, 0.3_dp, 0.2_dp], [3, 4, 5])

  ! What is derived from U at each point, by its place in block_t%a.
  integer, parameter :: a_inv = 1        ! 1 / density
  integer, parameter :: a_vel = 1        ! a_vel + d: velocity in direction d
  integer, parameter :: a_p = 5          ! pressure
  integer, parameter :: a_heat = 6       ! what the heat flux of the energy equation differentiates
  integer, parameter :: a_snd = 7        ! speed of sound, where set_problem was asked for it
  integer, parameter :: naux = 7
  ! Rows of a strip: five planes of so many rows stay in the second cache.
  integer, parameter :: strip = 16

  ! What follows from the size of the grid and the time step. All carry the factor dt already.
  type coefficients
     integer :: size(3) = 0              ! grid points, the boundary counted
     real(dp) :: dt = 0
     real(dp) :: t1(3), t2(3)            ! dt / h^2 and dt / (2 h)
     real(dp) :: added(3)                ! t1 times the added second difference
     real(dp) :: viscous(3)              ! t1 k3 k4
     logical :: sound = .false.          ! whether the speed of sound is wanted
     real(dp) :: diss                    ! dt times the dissipation of fourth order
  end type coefficients
  type(coefficients), save :: coef

  ! A box of interior grid points, with a halo of two on each side of u.
  type block_t
     integer :: n(3) = 0                 ! points owned along each direction
     integer :: lo(3) = 0                ! grid index of the first (the boundary is index 0)
     logical :: at_lo(3), at_hi(3)       ! touches the boundary of the grid
     real(dp), allocatable :: u(:, :, :, :)        ! (xi, quantity, eta, zeta)
     real(dp), allocatable :: a(:, :, :, :)        ! derived values, halo as u
     real(dp), allocatable :: forcing(:, :, :, :)  ! dt H*
     real(dp), allocatable :: rhs(:, :, :, :)
  end type block_t

  abstract interface
     subroutine row_work(b, j, k)
       import :: block_t
       type(block_t), intent(inout) :: b
       integer, intent(in) :: j, k
     end subroutine row_work
  end interface

contains

  ! size: grid points along each direction with the boundary; dt: the time step; sound: whether the
  ! speed of sound is to be kept, too.
  subroutine set_problem(size, dt, sound)
    integer, intent(in) :: size(3)
    real(dp), intent(in) :: dt
    logical, intent(in), optional :: sound
    real(dp) :: h(3)
    h = 1.0_dp / (size - 1)
    coef%size = size
    coef%dt = dt
    if (present(sound)) coef%sound = sound
    coef%t1 = dt / h**2
    coef%t2 = dt / (2 * h)
    coef%added = added * coef%t1
    coef%viscous = k3 * k4 * coef%t1
    coef%diss = dt * dissipation
  end subroutine set_problem

  ! U* at a point of the unit cube.
  pure function exact(x) result(u)
    real(dp), intent(in) :: x(3)
    real(dp) :: u(5)
    integer :: m, d
    do m = 1, 5
       u(m) = constant(m)
       do d = 1, 3
          u(m) = u(m) + x(d) * (power(d, 1, m) + x(d) * (power(d, 2, m) &
               + x(d) * (power(d, 3, m) + x(d) * power(d, 4, m))))
       end do
    end do
  end function exact

  ! The place of a grid index in the unit cube. Indices beyond the grid count as its edge: they
  ! belong to halo points that hold some value but are never used.
  pure function place(index) result(x)
    integer, intent(in) :: index(3)
    real(dp) :: x(3)
    x = real(max(0, min(coef%size - 1, index)), dp) / (coef%size - 1)
  end function place

  ! What a block of n points needs, in bytes.
  pure real(dp) function block_bytes(n)
    integer, intent(in) :: n(3)
    block_bytes = 8 * ((5 + naux) * product(n + 4.0_dp) + 10 * product(real(n, dp)))
  end function block_bytes

  subroutine make_block(b, lo, n)
    type(block_t), intent(out) :: b
    integer, intent(in) :: lo(3), n(3)
    b%n = n
    b%lo = lo
    b%at_lo = lo == 1
    b%at_hi = lo + n == coef%size - 1
    allocate (b%u(-1:n(1)+2, 5, -1:n(2)+2, -1:n(3)+2), b%forcing(n(1), 5, n(2), n(3)))
    allocate (b%a(-1:n(1)+2, naux, -1:n(2)+2, -1:n(3)+2), b%rhs(n(1), 5, n(2), n(3)))
    b%a = 0
    b%forcing = 0
    b%rhs = 0
  end subroutine make_block

  ! The initial values: on the boundary U*, inside the blend of the six boundary values around a
  ! point ("boundary and initial conditions" of the specification).
  subroutine initial_field(b)
    type(block_t), intent(inout) :: b
    integer :: i, j, k
    do k = -1, b%n(3) + 2
       do j = -1, b%n(2) + 2
          do i = -1, b%n(1) + 2
             b%u(i, :, j, k) = blend(b%lo - 1 + [i, j, k])
          end do
       end do
    end do
  end subroutine initial_field

  ! With P_d the linear interpolation between the two boundary values of U* in direction d:
  ! U = P_1 + P_2 + P_3 - P_1 P_2 - P_2 P_3 - P_3 P_1 + P_1 P_2 P_3.
  function blend(index) result(u)
    integer, intent(in) :: index(3)
    real(dp) :: u(5), x(3), near(3), far(3), p(5, 3)
    integer :: d
    x = place(index)
    if (any(index <= 0 .or. index >= coef%size - 1)) then
       u = exact(x)
       return
    end if
    do d = 1, 3
       near = x
       near(d) = 0
       far = x
       far(d) = 1
       p(:, d) = (1 - x(d)) * exact(near) + x(d) * exact(far)
    end do
    u = p(:, 1) + p(:, 2) + p(:, 3) - p(:, 1) * p(:, 2) - p(:, 2) * p(:, 3) - p(:, 3) * p(:, 1) &
         + p(:, 1) * p(:, 2) * p(:, 3)
  end function blend

  ! H*: what makes the discrete operator vanish for U*. The operator itself computes it, with U* in
  ! place of U. Afterwards u holds U*; call initial_field again.
  subroutine set_forcing(b)
    type(block_t), intent(inout) :: b
    integer :: i, j, k
    b%forcing = 0
    do k = -1, b%n(3) + 2
       do j = -1, b%n(2) + 2
          do i = -1, b%n(1) + 2
             b%u(i, :, j, k) = exact(place(b%lo - 1 + [i, j, k]))
          end do
       end do
    end do
    call right_hand_side(b)
    b%forcing = -b%rhs
  end subroutine set_forcing

  ! At the boundary of the grid the dissipation is one-sided. For the first point the specification
  ! asks for 5 U1 - 4 U2 + U3; that is the common U(-1) - 4 U0 + 6 U1 - 4 U2 + U3 with the value
  ! 4 U0 - U1 for U(-1), which is stored in the outer layer of the halo. For the second point see
  ! second_point.
  subroutine close_halo(b)
    type(block_t), intent(inout) :: b
    integer :: n(3)
    n = b%n
    if (b%at_lo(1)) b%u(-1, :, :, :) = 4 * b%u(0, :, :, :) - b%u(1, :, :, :)
    if (b%at_hi(1)) b%u(n(1)+2, :, :, :) = 4 * b%u(n(1)+1, :, :, :) - b%u(n(1), :, :, :)
    if (b%at_lo(2)) b%u(:, :, -1, :) = 4 * b%u(:, :, 0, :) - b%u(:, :, 1, :)
    if (b%at_hi(2)) b%u(:, :, n(2)+2, :) = 4 * b%u(:, :, n(2)+1, :) - b%u(:, :, n(2), :)
    if (b%at_lo(3)) b%u(:, :, :, -1) = 4 * b%u(:, :, :, 0) - b%u(:, :, :, 1)
    if (b%at_hi(3)) b%u(:, :, :, n(3)+2) = 4 * b%u(:, :, :, n(3)+1) - b%u(:, :, :, n(3))
  end subroutine close_halo

  ! The right-hand side of the whole block from u and its halo. finish, where given, works on each
  ! row right behind it, while it is in the cache. A strip of rows goes through all planes.
  subroutine right_hand_side(b, finish)
    type(block_t), intent(inout) :: b
    procedure(row_work), optional :: finish
    integer :: j, j0, j1, k
    call close_halo(b)
    do j0 = 1, b%n(2), strip
       j1 = min(j0 + strip - 1, b%n(2))
       call primitives(b, j0 - 1, j1 + 1, 0)
       call primitives(b, j0 - 1, j1 + 1, 1)
       do k = 1, b%n(3)
          call primitives(b, j0 - 1, j1 + 1, k + 1)
          do j = j0, j1
             call right_hand_side_row(b, j, k)
             if (present(finish)) call finish(b, j, k)
          end do
       end do
    end do
  end subroutine right_hand_side

  ! Velocities, pressure and the like of rows j0 to j1 in plane k.
  subroutine primitives(b, j0, j1, k)
    type(block_t), intent(inout) :: b
    integer, intent(in) :: j0, j1, k
    integer :: j
    do j = j0, j1
       call primitives_row(b%n(1) + 4, b%u(-1, 1, j, k), b%a(-1, 1, j, k))
       if (coef%sound) call sound_row(b%n(1) + 4, b%a(-1, 1, j, k))
    end do
  end subroutine primitives

  ! kin is half the square of the velocity.
  pure subroutine primitives_row(n, u, a)
    integer, intent(in) :: n
    real(dp), intent(in) :: u(n, 5)
    real(dp), intent(inout) :: a(n, naux)
    real(dp) :: r, kin
    integer :: i
    do i = 2, n - 1
       r = 1 / u(i, 1)
       a(i, a_inv) = r
       a(i, a_vel+1) = u(i, 2) * r
       a(i, a_vel+2) = u(i, 3) * r
       a(i, a_vel+3) = u(i, 4) * r
       kin = 0.5_dp * (u(i, 2)**2 + u(i, 3)**2 + u(i, 4)**2) * r * r
       a(i, a_p) = k2 * (u(i, 5) - u(i, 1) * kin)
       a(i, a_heat) = (1 - k1 * k5) * kin + k1 * k5 * u(i, 5) * r
    end do
  end subroutine primitives_row

  pure subroutine sound_row(n, a)
    integer, intent(in) :: n
    real(dp), intent(inout) :: a(n, naux)
    integer :: i
    do i = 2, n - 1
       a(i, a_snd) = sqrt(k1 * a(i, a_p) * a(i, a_inv))
    end do
  end subroutine sound_row

  ! dt times the right-hand side of a row; the derived values around it are there.
  pure subroutine right_hand_side_row(b, j, k)
    type(block_t), intent(inout) :: b
    integer, intent(in) :: j, k
    integer :: d
    call linear_row(b%n, j, k, b%u, b%forcing(1, 1, j, k), b%rhs(1, 1, j, k))
    call second_point(b, j, k, b%rhs(1, 1, j, k))
    do d = 1, 3
       call flux_row(d, b%n, j, k, b%u, b%a, b%rhs(1, 1, j, k))
    end do
  end subroutine right_hand_side_row

  ! What is linear in U: the forcing, the added second differences and the dissipation
  ! -(U[-2] - 4 U[-1] + 6 U - 4 U[+1] + U[+2]) in each direction, their coefficients summed.
  pure subroutine linear_row(n, j, k, u, forcing, r)
    integer, intent(in) :: n(3), j, k
    real(dp), intent(in) :: u(-1:n(1)+2, 5, -1:n(2)+2, -1:n(3)+2), forcing(n(1), 5)
    real(dp), intent(inout) :: r(n(1), 5)
    real(dp) :: centre, near(3), far
    integer :: i, m
    centre = -2 * sum(coef%added) - 18 * coef%diss
    near = coef%added + 4 * coef%diss
    far = coef%diss
    do m = 1, 5
       do i = 1, n(1)
          r(i, m) = forcing(i, m) + centre * u(i, m, j, k) &
               + near(1) * (u(i-1, m, j, k) + u(i+1, m, j, k)) &
               + near(2) * (u(i, m, j-1, k) + u(i, m, j+1, k)) &
               + near(3) * (u(i, m, j, k-1) + u(i, m, j, k+1)) &
               - far * (u(i-2, m, j, k) + u(i+2, m, j, k) + u(i, m, j-2, k) + u(i, m, j+2, k) &
               + u(i, m, j, k-2) + u(i, m, j, k+2))
       end do
    end do
  end subroutine linear_row

  ! The dissipation at the second point from the boundary leaves out the boundary value:
  ! -4 U1 + 6 U2 - 4 U3 + U4. Takes back what linear_row has subtracted for it.
  pure subroutine second_point(b, j, k, r)
    type(block_t), intent(in) :: b
    integer, intent(in) :: j, k
    real(dp), intent(inout) :: r(b%n(1), 5)
    integer :: n(3)
    n = b%n
    if (b%at_lo(1)) r(2, :) = r(2, :) + coef%diss * b%u(0, :, j, k)
    if (b%at_hi(1)) r(n(1)-1, :) = r(n(1)-1, :) + coef%diss * b%u(n(1)+1, :, j, k)
    if (b%at_lo(2) .and. j == 2) call add_back(b%u(1:n(1), :, 0, k), r)
    if (b%at_hi(2) .and. j == n(2) - 1) call add_back(b%u(1:n(1), :, n(2)+1, k), r)
    if (b%at_lo(3) .and. k == 2) call add_back(b%u(1:n(1), :, j, 0), r)
    if (b%at_hi(3) .and. k == n(3) - 1) call add_back(b%u(1:n(1), :, j, n(3)+1), r)
  end subroutine second_point

  pure subroutine add_back(boundary, r)
    real(dp), intent(in) :: boundary(:, :)
    real(dp), intent(inout) :: r(:, :)
    r = r + coef%diss * boundary
  end subroutine add_back

  ! Convective and viscous flux of direction d. With v the velocity in d, w any velocity, p the
  ! pressure, and m the momentum in d:
  !   E = -(m, momentum v + p where momentum = m, (energy + p) v)
  !   T = k3 k4 (0, dw/dx, with 4/3 for v, dheat/dx + 1/6 d(v^2)/dx)
  pure subroutine flux_row(d, n, j, k, u, a, r)
    integer, intent(in) :: d, n(3), j, k
    real(dp), intent(in) :: u(-1:n(1)+2, 5, -1:n(2)+2, -1:n(3)+2)
    real(dp), intent(in) :: a(-1:n(1)+2, naux, -1:n(2)+2, -1:n(3)+2)
    real(dp), intent(inout) :: r(n(1), 5)
    integer :: s(3)
    s = 0
    s(d) = 1
    call flux_difference(d, n(1), &
         u(1-s(1), 1, j-s(2), k-s(3)), u(1+s(1), 1, j+s(2), k+s(3)), &
         a(1-s(1), 1, j-s(2), k-s(3)), a(1, 1, j, k), a(1+s(1), 1, j+s(2), k+s(3)), r)
  end subroutine flux_row

  ! um, am and up, ap: the rows before and behind in direction d.
  pure subroutine flux_difference(d, n, um, up, am, a, ap, r)
    integer, intent(in) :: d, n
    real(dp), intent(in) :: um(n+4, 5), up(n+4, 5), am(n+4, naux), a(n+4, naux), ap(n+4, naux)
    real(dp), intent(inout) :: r(n, 5)
    real(dp) :: t, v(2:4), q, h, wm, wp
    integer :: i
    t = coef%t2(d)
    h = coef%viscous(d)
    v = h
    v(d+1) = h * 4 / 3
    q = h / 6
    do i = 1, n
       wm = t * am(i, a_vel+d)
       wp = t * ap(i, a_vel+d)
       r(i, 1) = r(i, 1) - t * (up(i, d+1) - um(i, d+1))
       r(i, 2) = r(i, 2) + v(2) * (am(i, 2) - 2 * a(i, 2) + ap(i, 2)) &
            - (up(i, 2) * wp - um(i, 2) * wm)
       r(i, 3) = r(i, 3) + v(3) * (am(i, 3) - 2 * a(i, 3) + ap(i, 3)) &
            - (up(i, 3) * wp - um(i, 3) * wm)
       r(i, 4) = r(i, 4) + v(4) * (am(i, 4) - 2 * a(i, 4) + ap(i, 4)) &
            - (up(i, 4) * wp - um(i, 4) * wm)
    end do
    do i = 1, n
       r(i, d+1) = r(i, d+1) - t * (ap(i, a_p) - am(i, a_p))
       wm = am(i, a_vel+d)
       wp = ap(i, a_vel+d)
       r(i, 5) = r(i, 5) + h * (am(i, a_heat) - 2 * a(i, a_heat) + ap(i, a_heat)) &
            + q * (wm * wm - 2 * a(i, a_vel+d)**2 + wp * wp) &
            - t * ((up(i, 5) + ap(i, a_p)) * wp - (um(i, 5) + am(i, a_p)) * wm)
    end do
  end subroutine flux_difference

  ! Sums of squares over the block: of rhs, and of the difference between u and U*.
  pure function residual_squares(b) result(s)
    type(block_t), intent(in) :: b
    real(dp) :: s(5)
    integer :: m
    do m = 1, 5
       s(m) = sum((b%rhs(:, m, :, :) / coef%dt)**2)
    end do
  end function residual_squares

  pure function error_squares(b) result(s)
    type(block_t), intent(in) :: b
    real(dp) :: s(5)
    integer :: i, j, k
    s = 0
    do k = 1, b%n(3)
       do j = 1, b%n(2)
          do i = 1, b%n(1)
             s = s + (b%u(i, :, j, k) - exact(place(b%lo - 1 + [i, j, k])))**2
          end do
       end do
    end do
  end function error_squares

  ! The points lo to hi of a field into (sending) or out of a message, from its number `at` on.
  subroutine copy_box(n, lo, hi, u, message, sending, at)
    integer, intent(in) :: n(3), lo(3), hi(3)
    real(dp), intent(inout) :: u(-1:n(1)+2, 5, -1:n(2)+2, -1:n(3)+2), message(*)
    logical, intent(in) :: sending
    integer, intent(inout) :: at
    integer :: j, k, m, w
    w = hi(1) - lo(1) + 1
    do k = lo(3), hi(3)
       do j = lo(2), hi(2)
          do m = 1, 5
             if (sending) then
                message(at+1:at+w) = u(lo(1):hi(1), m, j, k)
             else
                u(lo(1):hi(1), m, j, k) = message(at+1:at+w)
             end if
             at = at + w
          end do
       end do
    end do
  end subroutine copy_box
end module fluid
