! SPDX-License-Identifier: MIT OR Apache-2.0
! The calls over NX. A receive of the iPSC/860 chooses by type alone, so the type says who sends.
module calls
  use iso_c_binding
  implicit none
  private
  integer, parameter :: TAG = 1000, SPREAD_TAG = 2000, EVERYBODY = -1, PROCESS = 0, TASKS_MAX = 512
  integer, parameter, public :: RAW = 0
  integer :: me, tasks
  public :: calls_begin, calls_end, calls_now, calls_send, calls_receive, calls_shift, calls_exchange
  public :: calls_barrier, calls_broadcast, calls_sum, calls_product, calls_and, calls_exchange_all, calls_neighbours
contains

  ! The first word of `line` is the number of tasks that the user expects.
  subroutine calls_begin(line, my_number, all)
    character(*), intent(inout) :: line
    integer, intent(out) :: my_number, all
    integer :: info
    include 'fnx.h'
    me = mynode()
    tasks = numnodes()
    all = 0
    read (line, *, iostat=info) all
    if (all /= tasks .or. tasks > TASKS_MAX) then
      write (0, '(2(a,i0))') 'NX: nodes asked for: ', all, ', started: ', tasks
      call exit(1)
    end if
    my_number = me
  end subroutine

  subroutine calls_end
    call gsync
  end subroutine

  ! Seconds.
  function calls_now() result(now)
    include 'fnx.h'
    real(c_double) :: now
    now = dclock()
  end function

  subroutine calls_send(mode, to, data, bytes)
    integer(c_int), value :: mode, to, bytes
    real(c_double), intent(in) :: data(*)
    call csend(TAG + me, data, bytes, to, PROCESS)
  end subroutine

  subroutine calls_receive(mode, from, data, bytes)
    integer(c_int), value :: mode, from, bytes
    real(c_double), intent(inout) :: data(*)
    call crecv(TAG + from, data, bytes)
  end subroutine

  ! Sends to one task and receives from another at the same time: the receive is posted first.
  subroutine calls_shift(to, out, from, in, bytes)
    integer(c_int), value :: to, from, bytes
    real(c_double), intent(in) :: out(*)
    real(c_double), intent(inout) :: in(*)
    integer :: message
    include 'fnx.h'
    message = irecv(TAG + from, in, bytes)
    call csend(TAG + me, out, bytes, to, PROCESS)
    call msgwait(message)
  end subroutine

  subroutine calls_exchange(partner, out, in, bytes)
    integer(c_int), value :: partner, bytes
    real(c_double), intent(in) :: out(*)
    real(c_double), intent(inout) :: in(*)
    call calls_shift(partner, out, partner, in, bytes)
  end subroutine

  subroutine calls_barrier
    call gsync
  end subroutine

  subroutine calls_broadcast(from, data, bytes)
    integer(c_int), value :: from, bytes
    real(c_double), intent(inout) :: data(*)
    if (me /= from) then
      call crecv(SPREAD_TAG + from, data, bytes)
    else if (tasks > 1) then
      call csend(SPREAD_TAG + me, data, bytes, EVERYBODY, PROCESS)
    end if
  end subroutine

  ! Every task gets the sums.
  subroutine calls_sum(data, count)
    real(c_double), intent(inout) :: data(*)
    integer(c_int), value :: count
    real(c_double) :: work(count)
    call gdsum(data, count, work)
  end subroutine

  subroutine calls_product(data, count)
    real(c_double), intent(inout) :: data(*)
    integer(c_int), value :: count
    real(c_double) :: work(count)
    call gdprod(data, count, work)
  end subroutine

  ! 1 where the numbers of all tasks are not 0, else 0.
  subroutine calls_and(data, count)
    real(c_double), intent(inout) :: data(*)
    integer(c_int), value :: count
    integer(c_int) :: words(count), work(count)
    words = merge(1, 0, abs(data(1:count)) > 0)
    call gland(words, count, work)
    data(1:count) = merge(1, 0, words /= 0)
  end subroutine

  ! `bytes` for each task out of `out`, in its order; the same in `in`. Each block begins with a double.
  subroutine calls_exchange_all(out, in, bytes)
    real(c_double), intent(in) :: out(*)
    real(c_double), intent(inout) :: in(*)
    integer(c_int), value :: bytes
    integer :: step, to, from, words, messages(tasks - 1)
    include 'fnx.h'
    words = (bytes + 7) / 8
    in(me * words + 1:(me + 1) * words) = out(me * words + 1:(me + 1) * words)
    do step = 1, tasks - 1
      from = modulo(me - step, tasks)
      messages(step) = irecv(TAG + from, in(from * words + 1), bytes)
    end do
    do step = 1, tasks - 1
      to = modulo(me + step, tasks)
      call csend(TAG + me, out(to * words + 1), bytes, to, PROCESS)
    end do
    do step = 1, tasks - 1
      call msgwait(messages(step))
    end do
  end subroutine

  ! On a ring of neighbours in a hypercube, where the nodes are one: a Gray code.
  subroutine calls_neighbours(forward, backward)
    integer, intent(out) :: forward, backward
    integer :: place
    if (popcnt(tasks) /= 1) then
      forward = modulo(me + 1, tasks)
      backward = modulo(me - 1, tasks)
      return
    end if
    place = place_of(me)
    forward = gray_code(modulo(place + 1, tasks))
    backward = gray_code(modulo(place - 1, tasks))
  end subroutine

  pure integer function gray_code(number)
    integer, intent(in) :: number
    gray_code = ieor(number, number / 2)
  end function

  pure integer function place_of(code)
    integer, intent(in) :: code
    integer :: rest
    place_of = 0
    rest = code
    do while (rest > 0)
      place_of = ieor(place_of, rest)
      rest = rest / 2
    end do
  end function
end module
