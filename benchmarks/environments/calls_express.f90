! SPDX-License-Identifier: MIT OR Apache-2.0
! The calls over the Express-style interface. The nodes are started by cubix, all with the same arguments.
module calls
  use iso_c_binding
  implicit none
  private
  integer, parameter :: TAG = 7, SPREAD_TAG = 8, COMBINE_TAG = 9
  integer, parameter, public :: RAW = 0
  integer :: me, tasks
  public :: calls_begin, calls_end, calls_now, calls_send, calls_receive, calls_shift, calls_exchange
  public :: calls_barrier, calls_broadcast, calls_sum, calls_product, calls_and, calls_exchange_all, calls_neighbours
contains

  ! The first word of `line` is the number of tasks that the user expects.
  subroutine calls_begin(line, my_number, all)
    character(*), intent(inout) :: line
    integer, intent(out) :: my_number, all
    integer :: env(5), info
    include 'express.inc'
    call KXINIT
    call KXPARA(env)
    me = env(1)
    tasks = env(2)
    all = 0
    read (line, *, iostat=info) all
    if (all /= tasks) then
      write (0, '(2(a,i0))') 'Express: nodes asked for: ', all, ', started: ', tasks
      call exit(1)
    end if
    info = KXGDIN(1, -tasks)
    my_number = me
  end subroutine

  subroutine calls_end
    call calls_barrier
  end subroutine

  ! Seconds.
  function calls_now() result(now)
    include 'express.inc'
    real(c_double) :: now
    now = KXTIME()
  end function

  subroutine check(what, got, bytes)
    character(*), intent(in) :: what
    integer, intent(in) :: got, bytes
    if (got == bytes) return
    write (0, '(3a,2(i0,a))') 'Express: ', what, ': ', got, ' bytes, not ', bytes
    call exit(1)
  end subroutine

  subroutine calls_send(mode, to, data, bytes)
    integer(c_int), value :: mode, to, bytes
    real(c_double), intent(in) :: data(*)
    include 'express.inc'
    call check('KXWRIT', KXWRIT(data, bytes, to, TAG), bytes)
  end subroutine

  subroutine calls_receive(mode, from, data, bytes)
    integer(c_int), value :: mode, from, bytes
    real(c_double), intent(inout) :: data(*)
    integer :: source, type
    include 'express.inc'
    source = from
    type = TAG
    call check('KXREAD', KXREAD(data, bytes, source, type), bytes)
  end subroutine

  ! Sends to one task and receives from another in one call.
  subroutine calls_shift(to, out, from, in, bytes)
    integer(c_int), value :: to, from, bytes
    real(c_double), intent(in) :: out(*)
    real(c_double), intent(inout) :: in(*)
    integer :: source, type
    include 'express.inc'
    source = from
    type = TAG
    call check('KXCHAN', KXCHAN(in, bytes, source, type, out, bytes, to, TAG), bytes)
  end subroutine

  subroutine calls_exchange(partner, out, in, bytes)
    integer(c_int), value :: partner, bytes
    real(c_double), intent(in) :: out(*)
    real(c_double), intent(inout) :: in(*)
    call calls_shift(partner, out, partner, in, bytes)
  end subroutine

  subroutine calls_barrier
    integer :: info
    include 'express.inc'
    info = KXSYNC()
  end subroutine

  subroutine calls_broadcast(from, data, bytes)
    integer(c_int), value :: from, bytes
    real(c_double), intent(inout) :: data(*)
    integer :: list(1), got
    include 'express.inc'
    call check('KXBROD', KXBROD(data, from, bytes, IALNOD, list, got, SPREAD_TAG), bytes)
  end subroutine

  ! Every task gets the sums.
  subroutine calls_sum(data, count)
    real(c_double), intent(inout) :: data(*)
    integer(c_int), value :: count
    integer :: list(1), info
    include 'express.inc'
    info = KXCOMB(data, add, 8, count, IALNOD, list, COMBINE_TAG)
  end subroutine

  subroutine calls_product(data, count)
    real(c_double), intent(inout) :: data(*)
    integer(c_int), value :: count
    integer :: list(1), info
    include 'express.inc'
    info = KXCOMB(data, multiply, 8, count, IALNOD, list, COMBINE_TAG)
  end subroutine

  ! 1 where the numbers of all tasks are not 0, else 0.
  subroutine calls_and(data, count)
    real(c_double), intent(inout) :: data(*)
    integer(c_int), value :: count
    integer :: list(1), info
    include 'express.inc'
    data(1:count) = merge(1d0, 0d0, abs(data(1:count)) > 0)
    info = KXCOMB(data, both, 8, count, IALNOD, list, COMBINE_TAG)
  end subroutine

  integer function add(into, from, size)
    real(c_double) :: into, from
    integer :: size
    into = into + from
    add = size
  end function

  integer function multiply(into, from, size)
    real(c_double) :: into, from
    integer :: size
    into = into * from
    multiply = size
  end function

  integer function both(into, from, size)
    real(c_double) :: into, from
    integer :: size
    into = merge(1d0, 0d0, into /= 0 .and. from /= 0)
    both = size
  end function

  ! `bytes` for each task out of `out`, in its order; the same in `in`. Each block begins with a double.
  subroutine calls_exchange_all(out, in, bytes)
    real(c_double), intent(in) :: out(*)
    real(c_double), intent(inout) :: in(*)
    integer(c_int), value :: bytes
    integer :: step, to, from, words
    words = (bytes + 7) / 8
    in(me * words + 1:(me + 1) * words) = out(me * words + 1:(me + 1) * words)
    do step = 1, tasks - 1
      to = modulo(me + step, tasks)
      from = modulo(me - step, tasks)
      call calls_shift(to, out(to * words + 1), from, in(from * words + 1), bytes)
    end do
  end subroutine

  ! On the ring that calls_begin made.
  subroutine calls_neighbours(forward, backward)
    integer, intent(out) :: forward, backward
    include 'express.inc'
    forward = KXGDNO(me, 0, 1)
    backward = KXGDNO(me, 0, -1)
  end subroutine
end module
