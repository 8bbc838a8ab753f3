! SPDX-License-Identifier: MIT OR Apache-2.0
!
! The synthetic flow of the NAS specification (RNR-94-007, chapter 3): its constants, its exact
! solution and its initial values.
module lu_fluid
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  private
  public :: exact_solution, initial_value

  ! The constants k1 to k5 of the specification: ratio of specific heats and the coefficients of
  ! pressure, viscosity and heat conduction.
  real(real64), parameter, public :: c1 = 1.4_real64, c2 = 0.4_real64, c3 = 0.1_real64
  real(real64), parameter, public :: c4 = 1.0_real64, c5 = 1.4_real64
  real(real64), parameter, public :: c34 = c3 * c4, c1345 = c1 * c3 * c4 * c5

  ! The second-order dissipation in x, y and z.  The specification names one coefficient for each
  ! of the five equations; the five are equal, and this code relies on it.
  real(real64), parameter, public :: second_order(3) = [0.75_real64, 0.75_real64, 1.0_real64]
  ! The fourth-order dissipation: a quarter of the largest of the coefficients above.
  real(real64), parameter, public :: fourth_order = 0.25_real64 * 1.0_real64

  ! The coefficients C(m, 1:13) of the exact solution.
  real(real64), parameter :: ce(5, 13) = reshape([real(real64) :: &
      2.0, 1.0, 2.0, 2.0, 5.0,  0.0, 0.0, 2.0, 2.0, 4.0,  0.0, 0.0, 0.0, 0.0, 3.0, &
      4.0, 0.0, 0.0, 0.0, 2.0,  5.0d0, 1.0d0, 0.0d0, 0.0d0, 0.1d0, &
      3.0d0, 2.0d0, 2.0d0, 2.0d0, 0.4d0,  0.5d0, 3.0d0, 3.0d0, 3.0d0, 0.3d0, &
      0.02d0, 0.01d0, 0.04d0, 0.03d0, 0.05d0,  0.01d0, 0.03d0, 0.03d0, 0.05d0, 0.04d0, &
      0.03d0, 0.02d0, 0.05d0, 0.04d0, 0.03d0,  0.5d0, 0.4d0, 0.3d0, 0.2d0, 0.1d0, &
      0.4d0, 0.3d0, 0.5d0, 0.1d0, 0.3d0,  0.3d0, 0.5d0, 0.4d0, 0.3d0, 0.2d0], [5, 13])

contains

  ! U*(x, y, z): a polynomial of the fourth degree in each coordinate, all three in 0..1.
  pure function exact_solution(x, y, z) result(u)
    real(real64), intent(in) :: x, y, z
    real(real64) :: u(5)

    u = ce(:, 1) + x * (ce(:, 2) + x * (ce(:, 5) + x * (ce(:, 8) + x * ce(:, 11)))) &
                 + y * (ce(:, 3) + y * (ce(:, 6) + y * (ce(:, 9) + y * ce(:, 12)))) &
                 + z * (ce(:, 4) + z * (ce(:, 7) + z * (ce(:, 10) + z * ce(:, 13))))
  end function exact_solution

  ! The starting values inside the cube: with Pn the linear interpolation of U* between the two
  ! faces across axis n, U = Px + Py + Pz - Px Py - Py Pz - Pz Px + Px Py Pz, component by
  ! component.  On a face it is U* itself.
  pure function initial_value(x, y, z) result(u)
    real(real64), intent(in) :: x, y, z
    real(real64) :: u(5), px(5), py(5), pz(5)
    real(real64), parameter :: zero = 0.0_real64, one = 1.0_real64

    px = (one - x) * exact_solution(zero, y, z) + x * exact_solution(one, y, z)
    py = (one - y) * exact_solution(x, zero, z) + y * exact_solution(x, one, z)
    pz = (one - z) * exact_solution(x, y, zero) + z * exact_solution(x, y, one)
    u = px + py + pz - px * py - py * pz - pz * px + px * py * pz
  end function initial_value

end module lu_fluid
