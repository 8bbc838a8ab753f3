! SPDX-License-Identifier: MIT OR Apache-2.0
!
! SP: the simulated flow problem with the diagonalised factorisation, five scalar pentadiagonal
! systems along each line (RNR-94-007, simulated CFD applications). fluid.f90 has the flow problem,
! sp_lines.f90 the lines, fluid_tiles.f90 how tasks share the grid.
program sp
  use nas_common, only: dp
  use fluid_run
  use sp_lines
  implicit none
  ! Floating-point operations of a step, as NPB counts them: with n the number of grid points and t
  ! the mean length of an edge, the factors of n, t^2, t and 1.
  real(dp), parameter :: operations(4) = &
       [881.174_dp, -4683.91_dp, 11484.5_dp, -19272.4_dp]
  ! The official classes: size, iterations, step, and the norms that verify a run.
  type(class_t), parameter :: classes(4) = [ &
       class_t('S', 12, 100, 0.015_dp, [ &
       2.7470315451339479e-02_dp, 1.0360746705285417e-02_dp, 1.6235745065095532e-02_dp, &
       1.5840557224455615e-02_dp, 3.4849040609362460e-02_dp], [ &
       2.7289258557377227e-05_dp, 1.0364446640837285e-05_dp, 1.6154798287166471e-05_dp, &
       1.5750704994480102e-05_dp, 3.4177666183390531e-05_dp]), &
       class_t('W', 36, 400, 0.0015_dp, [ &
       0.1893253733584e-02_dp, 0.1717075447775e-03_dp, 0.2778153350936e-03_dp, &
       0.2887475409984e-03_dp, 0.3143611161242e-02_dp], [ &
       0.7542088599534e-04_dp, 0.6512852253086e-05_dp, 0.1049092285688e-04_dp, &
       0.1128838671535e-04_dp, 0.1212845639773e-03_dp]), &
       class_t('A', 64, 400, 0.0015_dp, [ &
       2.4799822399300195e0_dp, 1.1276337964368832e0_dp, 1.5028977888770491e0_dp, &
       1.4217816211695179e0_dp, 2.1292113035138280e0_dp], [ &
       1.0900140297820550e-04_dp, 3.7343951769282091e-05_dp, 5.0092785406541633e-05_dp, &
       4.7671093939528255e-05_dp, 1.3621613399213001e-04_dp]), &
       class_t('B', 102, 400, 0.001_dp, [ &
       0.6903293579998e+02_dp, 0.3095134488084e+02_dp, 0.4103336647017e+02_dp, &
       0.3864769009604e+02_dp, 0.5643482272596e+02_dp], [ &
       0.9810006190188e-02_dp, 0.1022827905670e-02_dp, 0.1720597911692e-02_dp, &
       0.1694479428231e-02_dp, 0.1847456263981e-01_dp])]

  call run_fluid('sp', classes, operations, method_t(forward_numbers, backward_numbers, &
       kept_numbers, prepare_lines, eliminate, substitute, finish_rhs))
end program sp
