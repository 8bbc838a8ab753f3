! SPDX-License-Identifier: MIT OR Apache-2.0
!
! LU, one of the three simulated CFD applications of the NAS Parallel Benchmarks (RNR-94-007): the
! flow problem of fluid.f90, advanced in time by symmetric successive over-relaxation.
!
! lu_blocks.f90 says how the grid is divided and what tasks send each other, lu_sweep.f90 holds the
! solver, lu_surface.f90 and lu_classes.f90 what verifies it.
module lu_run
  use, intrinsic :: iso_c_binding, only: c_int
  use nas_common, only: nas, nas_timed, nas_options, nas_size, nas_step, nas_mastered, nas_master, nas_fail, &
       nas_require_tasks, nas_begin, nas_end, nas_send, nas_recv, nas_sum, nas_barrier, &
       nas_seconds, nas_quantity, nas_norm, nas_report
  use fluid
  use lu_blocks
  use lu_classes
  use lu_surface
  use lu_sweep
  implicit none
  private
  public :: run_lu

  integer, parameter :: tag_field = 10, tag_sums = 11
  real(dp), parameter :: tolerance = 1e-8_dp

  type(class_t) :: wanted           ! the class whose values verify the run
  logical :: official
  integer :: points(3), iterations
  real(dp) :: step
  real(dp) :: sums(11)              ! squares of residual and error, surface integral
  real(dp) :: seconds

contains

  subroutine run_lu()
    call nas_options('lu', nas_size + nas_step + nas_mastered)
    call choose_problem()
    call nas_require_tasks(can_share, 'LU takes a power of two, and two points of x and y a task')
    call nas_begin(real(block_bytes(largest_pencil(nas%tasks, points)), dp))
    call set_problem(points, step)
    if (nas%rank == nas_master) then
       call hand_out()
    else
       call solve()
    end if
    call verify()
    call nas_report(size_text(), iterations, seconds, operations())
    call nas_end()
  end subroutine run_lu

  ! The class named, or the class nearest to --size, gives what the options leave open.  The run is
  ! official if the options change nothing.
  subroutine choose_problem()
    integer :: i

    i = findloc(classes%letter == achar(nas%class_letter), .true., 1)
    if (i == 0) i = minloc(abs(classes%points - nas%size(1)), 1)
    wanted = classes(i)
    points = wanted%points
    iterations = wanted%iterations
    step = wanted%step
    if (nas%size(1) > 0) points = nas%size
    if (nas%iterations > 0) iterations = nas%iterations
    if (nas%step > 0) step = nas%step
    official = all(points == wanted%points) .and. iterations == wanted%iterations &
         .and. abs(step - wanted%step) <= 0
    if (any(points < 5)) call nas_fail('LU takes grids of 5 points and more along each axis.')
  end subroutine choose_problem

  integer(c_int) function can_share(tasks) bind(C)
    integer(c_int), value :: tasks

    can_share = merge(1, 0, pencils_fit(tasks, points))
  end function can_share

  ! A worker's run.  The timed part is that of NPB: all steps and the norms of the last residual,
  ! after one step that is not timed and whose result is discarded.
  subroutine solve()
    type(block_t) :: b
    real(dp) :: began

    call make_pencil(b, points, nas%tasks, nas%rank)
    call prepare_sweeps(b)
    call set_forcing(b)
    if (nas%thesis == 0) then
       call start_field(b)
       call advance(b)
    end if
    call start_field(b)
    call nas_barrier()
    call nas_timed(1)
    began = nas_seconds()
    call run_steps(b)
    sums(1:5) = residual_squares(b)
    call add_up(sums(1:5))
    seconds = nas_seconds() - began
    call nas_timed(0)
    sums(6:10) = error_squares(b)
    sums(11) = surface_share(b)
    call add_up(sums(6:11))
  end subroutine solve

  subroutine run_steps(b)
    type(block_t), intent(inout) :: b
    integer :: i

    do i = 1, iterations
       call advance(b)
    end do
  end subroutine run_steps

  ! One time step: b%rhs holds the residual before and after it.
  subroutine advance(b)
    type(block_t), intent(inout) :: b

    call sweep(b, upwards)
    call sweep(b, downwards)
    call exchange_halo(b)
    call right_hand_side(b)
  end subroutine advance

  ! The initial values and their residual.  In the thesis's shape the master has made the values.
  subroutine start_field(b)
    type(block_t), intent(inout) :: b

    if (nas%thesis == 0) then
       call initial_field(b)
    else
       call nas_recv(nas_master, tag_field, b%u, size(b%u))
    end if
    call right_hand_side(b)
  end subroutine start_field

  ! The master's part: it makes each worker's initial values, and waits for the sums.
  subroutine hand_out()
    type(block_t) :: b
    integer :: rank

    do rank = 0, nas%tasks - 1
       call make_pencil(b, points, nas%tasks, rank)
       call initial_field(b)
       call nas_send(rank, tag_field, b%u, size(b%u))
    end do
    seconds = 0
    call add_up(sums(1:5))
    call add_up(sums(6:11))
  end subroutine hand_out

  ! The sum over all workers, for the master if there is one, else for everybody.
  subroutine add_up(values)
    real(dp), intent(inout) :: values(:)
    real(dp) :: part(size(values))
    integer :: rank

    if (nas%rank == nas_master) then
       values = 0
       do rank = 0, nas%tasks - 1
          call nas_recv(rank, tag_sums, part, size(part))
          values = values + part
       end do
    else if (nas%thesis /= 0) then
       call nas_send(nas_master, tag_sums, values, size(values))
    else
       call nas_sum(values, size(values))
    end if
  end subroutine add_up

  subroutine verify()
    if (nas%first == 0) return
    sums(1:10) = sqrt(sums(1:10) / product(real(points - 2, dp)))
    call report_five('residual', sums(1:5), wanted%residual)
    call report_five('error', sums(6:10), wanted%error)
    call report_one('surface integral', sums(11), wanted%surface)
  end subroutine verify

  subroutine report_five(name, got, want)
    character(*), intent(in) :: name
    real(dp), intent(in) :: got(5), want(5)
    integer :: m

    do m = 1, 5
       call report_one(name // ' ' // achar(iachar('0') + m), got(m), want(m))
    end do
  end subroutine report_five

  subroutine report_one(name, got, want)
    character(*), intent(in) :: name
    real(dp), intent(in) :: got, want

    if (official) then
       call nas_quantity(name, got, want, tolerance)
    else
       call nas_norm(name, got)
    end if
  end subroutine report_one

  function size_text() result(text)
    character(:), allocatable :: text
    character(20) :: line

    write (line, '(i0, "x", i0, "x", i0)') points
    text = trim(line)
  end function size_text

  ! The operations that NPB counts for so many steps on such a grid, whatever a program does; the
  ! formula goes below zero for tiny grids.
  real(dp) function operations()
    real(dp) :: n

    n = sum(real(points, dp)) / 3
    operations = 1984.77_dp * product(real(points, dp)) - 10923.3_dp * n**2 + 27770.9_dp * n &
         - 144010.0_dp
    operations = iterations * max(0.0_dp, operations)
  end function operations

end module lu_run

program lu
  use lu_run
  implicit none

  call run_lu()
end program lu
