! SPDX-License-Identifier: MIT OR Apache-2.0
!
! BT: the simulated flow problem with the block factorisation, a block tridiagonal system along each
! line (RNR-94-007, simulated CFD applications). fluid.f90 has the flow problem, bt_lines.f90 the
! lines, fluid_tiles.f90 how tasks share the grid.
program bt
  use nas_common, only: dp
  use fluid_run
  use bt_lines
  implicit none
  ! Floating-point operations of a step, as NPB counts them: with n the number of grid points and t
  ! the mean length of an edge, the factors of n, t^2, t and 1.
  real(dp), parameter :: operations(4) = &
       [3478.8_dp, -17655.7_dp, 28023.7_dp, 0.0_dp]
  ! The official classes: size, iterations, step, and the norms that verify a run.
  type(class_t), parameter :: classes(4) = [ &
       class_t('S', 12, 60, 0.010_dp, [ &
       1.7034283709541311e-01_dp, 1.2975252070034097e-02_dp, 3.2527926989486055e-02_dp, &
       2.6436421275166801e-02_dp, 1.9211784131744430e-01_dp], [ &
       4.9976913345811579e-04_dp, 4.5195666782961927e-05_dp, 7.3973765172921357e-05_dp, &
       7.3821238632439731e-05_dp, 8.9269630987491446e-04_dp]), &
       class_t('W', 24, 200, 0.0008_dp, [ &
       0.1125590409344e+03_dp, 0.1180007595731e+02_dp, 0.2710329767846e+02_dp, &
       0.2469174937669e+02_dp, 0.2638427874317e+03_dp], [ &
       0.4419655736008e+01_dp, 0.4638531260002e+00_dp, 0.1011551749967e+01_dp, &
       0.9235878729944e+00_dp, 0.1018045837718e+02_dp]), &
       class_t('A', 64, 200, 0.0008_dp, [ &
       1.0806346714637264e+02_dp, 1.1319730901220813e+01_dp, 2.5974354511582465e+01_dp, &
       2.3665622544678910e+01_dp, 2.5278963211748344e+02_dp], [ &
       4.2348416040525025e+00_dp, 4.4390282496995698e-01_dp, 9.6692480136345650e-01_dp, &
       8.8302063039765474e-01_dp, 9.7379901770829278e+00_dp]), &
       class_t('B', 102, 200, 0.0003_dp, [ &
       1.4233597229287254e+03_dp, 9.9330522590150238e+01_dp, 3.5646025644535285e+02_dp, &
       3.2485447959084092e+02_dp, 3.2707541254659363e+03_dp], [ &
       5.2969847140936856e+01_dp, 4.4632896115670668e+00_dp, 1.3122573342210174e+01_dp, &
       1.2006925323559144e+01_dp, 1.2459576151035986e+02_dp])]

  call run_fluid('bt', classes, operations, method_t(forward_numbers, backward_numbers, &
       kept_numbers, prepare_lines, eliminate, substitute))
end program bt
