! SPDX-License-Identifier: MIT OR Apache-2.0
! primitives TASKS EXPERIMENTS REPETITIONS SECONDS TEST SIZE... [TEST SIZE...]
!
! The communication primitives of the comparison of 1997. A TEST is echo (between tasks 0 and 1; told is half of the way there
! and back), exchange (with a neighbour, both ways at once), broadcast (the sender changes from one repetition to the next, so
! that nobody runs ahead), ring (a message goes on to the next task, TASKS - 1 times), complete (every task has another block
! for each other), all of SIZE bytes, a multiple of 4; or sum, multiply, and (of SIZE doubles), whose results every task gets.
!
! An experiment is a loop of at most REPETITIONS, and of about SECONDS, between two barriers. What is told is the time of one
! repetition in microseconds, for each of EXPERIMENTS. Before it, what comes is compared with what should.
program primitives
  use iso_c_binding
  use calls
  use command
  implicit none
  integer, parameter :: FIRST = 5
  character(LINE_MAX) :: line
  character(WORD_MAX) :: test
  integer :: me, tasks, forward, backward, experiments, most, size, i
  double precision :: seconds
  real(c_double), allocatable :: out(:), in(:)

  line = command_line()
  call calls_begin(line, me, tasks)
  call calls_neighbours(forward, backward)
  experiments = nint(number_at(line, 2))
  most = nint(number_at(line, 3))
  seconds = number_at(line, 4)
  test = ''
  do i = FIRST, LINE_MAX
    if (word(line, i) == '') exit
    if (is_number(word(line, i))) then
      size = nint(number_at(line, i))
      call measure
    else
      test = word(line, i)
    end if
  end do
  call calls_end

contains

  subroutine measure
    real(c_double) :: times(experiments), one(1)
    integer :: e, n
    call verify_one
    call fill
    one = loop_seconds(1)
    call calls_broadcast(0, one, 8)
    n = max(1, nint(min(dble(most), seconds / max(one(1), 1d-7))))
    do e = 1, experiments
      times(e) = 1d6 * loop_seconds(n) / merge(2, 1, test == 'echo')
    end do
    if (me == 0) print '(3a,2(1x,i0),a,*(1x,g0.6))', 'primitive ', trim(test), '', tasks, size, ' us', times
    deallocate (out, in)
  end subroutine

  function loop_seconds(n) result(time)
    integer, intent(in) :: n
    real(c_double) :: time
    integer :: i
    call calls_barrier
    time = calls_now()
    do i = 1, n
      call once(i - 1)
    end do
    call calls_barrier
    time = (calls_now() - time) / n
  end function

  subroutine once(round)
    integer, intent(in) :: round
    select case (test)
    case ('echo')
      call echo
    case ('exchange')
      if (ieor(me, 1) < tasks) call calls_exchange(ieor(me, 1), out, in, size)
    case ('broadcast')
      call calls_broadcast(modulo(round, tasks), in, size)
    case ('sum')
      call calls_sum(in, size)
    case ('multiply')
      call calls_product(in, size)
    case ('and')
      call calls_and(in, size)
    case ('ring')
      call ring
    case ('complete')
      call calls_exchange_all(out, in, size)
    case default
      call wrong('such a test is not known')
    end select
  end subroutine

  subroutine echo
    if (tasks < 2) return
    if (me == 0) then
      call calls_send(RAW, 1, out, size)
      call calls_receive(RAW, 1, in, size)
    else if (me == 1) then
      call calls_receive(RAW, 0, in, size)
      call calls_send(RAW, 0, in, size)
    end if
  end subroutine

  ! Ends with the message in `in`.
  subroutine ring
    integer :: step
    if (modulo(tasks, 2) == 1) in = out
    do step = 1, tasks - 1
      if (modulo(tasks - step, 2) == 1) then
        call calls_shift(forward, out, backward, in, size)
      else
        call calls_shift(forward, in, backward, out, size)
      end if
    end do
  end subroutine

  ! Sums of nothing and products of ones stay what they are.
  subroutine fill
    in = merge(0, 1, test == 'sum')
  end subroutine

  logical function is_global()
    is_global = any(test == [character(WORD_MAX) :: 'sum', 'multiply', 'and'])
  end function

  subroutine verify_one
    integer :: doubles
    if (.not. is_global() .and. modulo(size, 4) /= 0) call wrong('sizes are multiples of 4')
    doubles = merge(size, (size + 7) / 8, is_global())
    if (test == 'complete') doubles = doubles * tasks
    allocate (out(doubles), in(doubles))
    call fill_to_verify
    call once(0)
    if (tasks > 1 .or. is_global()) call compare
  end subroutine

  ! The words of a block say who sends it, to whom, and where in it they stand.
  pure integer function pattern(task, to, i)
    integer, intent(in) :: task, to, i
    pattern = 10000000 * (task + 1) + 100000 * to + i
  end function

  ! What a task gives to a sum, product or and.
  pure function number_of(task, i) result(value)
    integer, intent(in) :: task, i
    real(c_double) :: value
    select case (test)
    case ('sum')
      value = task + i
    case ('multiply')
      value = 2d0**modulo(task + i, 3)
    case default
      value = merge(0, i, task == tasks - 1 .and. modulo(i, 3) == 0)
    end select
  end function

  subroutine fill_to_verify
    integer :: i, to
    in = 0
    out = 0
    if (is_global()) then
      in = [(number_of(me, i), i = 1, size)]
    else
      do to = 0, merge(tasks - 1, 0, test == 'complete')
        call fill_block(out(to * ((size + 7) / 8) + 1:), to)
      end do
      if (test == 'broadcast' .and. me == 0) in = out
    end if
  end subroutine

  subroutine fill_block(block, to)
    real(c_double), intent(inout) :: block(:)
    integer, intent(in) :: to
    integer(c_int) :: words(2 * ((size + 7) / 8))
    integer :: i
    words = [(pattern(me, to, i), i = 1, ubound(words, 1))]
    block(1:(size + 7) / 8) = transfer(words, block, (size + 7) / 8)
  end subroutine

  subroutine compare
    integer :: i
    select case (test)
    case ('sum', 'multiply', 'and')
      if (any(abs(in - [(combined(i), i = 1, size)]) > 0)) call wrong('a result is wrong')
    case ('complete')
      do i = 0, tasks - 1
        call compare_with(in(i * ((size + 7) / 8) + 1:), i, me)
      end do
    case ('ring')
      call compare_with(in, forward, 0)
    case ('exchange')
      if (ieor(me, 1) < tasks) call compare_with(in, ieor(me, 1), 0)
    case default
      if (test == 'broadcast' .or. me < 2) call compare_with(in, 0, 0)
    end select
  end subroutine

  subroutine compare_with(got, task, to)
    real(c_double), intent(in) :: got(:)
    integer, intent(in) :: task, to
    integer(c_int) :: words(size / 4)
    integer :: i
    words = transfer(got, words, size / 4)
    do i = 1, size / 4
      if (words(i) /= pattern(task, to, i)) call wrong('a message is wrong')
    end do
  end subroutine

  pure function combined(i) result(value)
    integer, intent(in) :: i
    real(c_double) :: value
    integer :: task
    value = number_of(0, i)
    do task = 1, tasks - 1
      select case (test)
      case ('sum')
        value = value + number_of(task, i)
      case ('multiply')
        value = value * number_of(task, i)
      case default
        value = merge(1, 0, value * number_of(task, i) > 0)
      end select
    end do
    if (test == 'and') value = merge(1, 0, value > 0)
  end function

  subroutine wrong(what)
    character(*), intent(in) :: what
    write (0, '(a,i0,5a,i0)') 'task ', me, ': ', what, ': ', trim(test), ' of ', size
    call exit(1)
  end subroutine
end program
