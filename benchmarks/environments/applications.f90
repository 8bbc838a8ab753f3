! SPDX-License-Identifier: MIT OR Apache-2.0
! applications TASKS REPETITIONS WHAT SIZE... [WHAT SIZE...]
!
! The applications of the comparison of 1997. WHAT is rows, columns or scattered (Gaussian elimination of order SIZE in blocks
! of rows, in blocks of columns, in columns dealt out one by one), or nbody (SIZE bodies, a multiple of TASKS). Only the
! elimination, or the forces, are timed; what is told is the time of each repetition in seconds, averaged over the tasks.
!
! Behind it stand the bits of the whole result, which are those of any other system and number of tasks, and how wrong it is:
! the residual of the equations as a multiple of what rounding makes (gauss.f90), and for the bodies the sum of all forces, which
! should be 0, as a multiple of eps times their absolute sum. The program ends with status 1 where that is large, or where the
! tasks do not have the same solution.
program applications
  use iso_c_binding
  use calls
  use command
  use gauss
  use nbody
  implicit none
  integer, parameter :: FIRST = 3
  double precision, parameter :: WRONG_MAX = 16
  character(LINE_MAX) :: line
  character(WORD_MAX) :: what
  integer :: me, tasks, repetitions, n, i
  integer(c_int) :: scattered
  real(c_double), allocatable :: place(:), result(:)

  line = command_line()
  call calls_begin(line, me, tasks)
  repetitions = nint(number_at(line, 2))
  what = ''
  do i = FIRST, LINE_MAX
    if (word(line, i) == '') exit
    if (is_number(word(line, i))) then
      n = nint(number_at(line, i))
      call measure
    else
      what = word(line, i)
    end if
  end do
  call calls_end

contains

  subroutine measure
    real(c_double) :: times(repetitions), error
    integer :: r
    if (.not. any(what == [character(WORD_MAX) :: 'rows', 'columns', 'scattered', 'nbody'])) &
      call wrong('such an application is not known', 0d0)
    if (n < tasks .or. what == 'nbody' .and. modulo(n, tasks) /= 0) call wrong('not for so many tasks', dble(tasks))
    scattered = merge(1, 0, what == 'scattered')
    allocate (place(merge(3 * (n / tasks), n * (n + 1), what == 'nbody')))
    do r = 1, repetitions
      call run(times(r))
    end do
    call calls_sum(times, repetitions)
    times = times / tasks
    if (what == 'nbody') then
      call gather
    else
      call solve
    end if
    call compare
    error = merge(error_of(), 0d0, me == 0)
    if (.not. error < WRONG_MAX) call wrong('the result is wrong', error)
    if (me == 0) print '(a,2(1x,i0),a,*(1x,g0.6))', 'bits '//trim(what), tasks, n, ' '//hex(), error
    if (me == 0) print '(a,2(1x,i0),a,*(1x,g0.6))', 'application '//trim(what), tasks, n, ' s', times
    deallocate (place, result)
  end subroutine

  subroutine run(time)
    real(c_double), intent(out) :: time
    if (what == 'rows') then
      call gauss_rows_fill(place, n, me, tasks)
    else if (what /= 'nbody') then
      call gauss_columns_fill(place, n, me, tasks, scattered)
    end if
    call calls_barrier
    time = calls_now()
    if (what == 'rows') then
      call gauss_rows(place, n, me, tasks)
    else if (what == 'nbody') then
      call nbody_forces(place, n, me, tasks)
    else
      call gauss_columns(place, n, me, tasks, scattered)
    end if
    time = calls_now() - time
  end subroutine

  subroutine solve
    allocate (result(n))
    if (what == 'rows') then
      call gauss_rows_solve(place, result, n, me, tasks)
    else
      call gauss_columns_solve(place, result, n, me, tasks, scattered)
    end if
  end subroutine

  ! All forces, in the order of the bodies, in every task.
  subroutine gather
    integer :: task, share
    allocate (result(3 * n))
    share = 3 * (n / tasks)
    do task = 0, tasks - 1
      if (task == me) result(task * share + 1:(task + 1) * share) = place
      if (tasks > 1) call calls_broadcast(task, result(task * share + 1:), 8 * share)
    end do
  end subroutine

  function hash() result(h)
    integer(c_int64_t) :: h
    integer :: i
    h = 0
    do i = 1, size(result)
      h = ieor(ishftc(h, 7), transfer(result(i), h))
    end do
  end function

  character(16) function hex()
    write (hex, '(z16.16)') hash()
  end function

  ! The bits of all tasks are those of task 0.
  subroutine compare
    real(c_double) :: first(1), same(1)
    first = transfer(hash(), first)
    if (tasks > 1) call calls_broadcast(0, first, 8)
    same = merge(1, 0, transfer(first(1), hash()) == hash())
    call calls_and(same, 1)
    if (.not. same(1) > 0) call wrong('the tasks do not have the same result', 0d0)
  end subroutine

  function error_of() result(error)
    real(c_double) :: error
    if (what /= 'nbody') then
      error = gauss_residual(result, n)
    else
      error = maxval(abs(sum(reshape(result, [3, n]), 2))) / (epsilon(error) * sum(abs(result)))
    end if
  end function

  subroutine wrong(why, value)
    character(*), intent(in) :: why
    double precision, intent(in) :: value
    write (0, '(a,i0,3a,1x,i0,a,g0.6)') 'task ', me, ': ', why, ': '//trim(what), n, ': ', value
    call exit(1)
  end subroutine
end program
