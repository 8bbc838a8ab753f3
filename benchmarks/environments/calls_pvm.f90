! SPDX-License-Identifier: MIT OR Apache-2.0
! The calls over PVM 3, any version. The first task is started from a shell and spawns the others. As PVM had neither an
! exchange nor global operations in 1997, they are made of sends and receives, as the comparison says that it did.
module calls
  use iso_c_binding
  use pvm_names
  implicit none
  private
  integer, parameter :: TAG = 7, ROSTER_TAG = 8, TASKS_MAX = 64, PATH_MAX = 4096
  integer, parameter :: TO_SUM = 1, TO_PRODUCT = 2, TO_AND = 3
  character(*), parameter :: GROUP = 'environments'
  integer, parameter, public :: RAW = 0
  integer :: me, tasks, tids(0:TASKS_MAX - 1)
  public :: calls_begin, calls_end, calls_now, calls_send, calls_receive, calls_shift, calls_exchange
  public :: calls_barrier, calls_broadcast, calls_sum, calls_product, calls_and, calls_exchange_all, calls_neighbours
contains

  ! Becomes a task. The first word of `line` is the number of tasks; all get the first one's line.
  subroutine calls_begin(line, my_number, all)
    character(*), intent(inout) :: line
    integer, intent(out) :: my_number, all
    integer :: own, parent, info
    call pvmfmytid(own)
    call check('pvmfmytid', own)
    call pvmfsetopt(PVMROUTE, PVMROUTEDIRECT, info)
    call pvmfparent(parent)
    if (parent < 0) then
      call lead(line, own)
    else
      call follow(line, own, parent)
    end if
    call pvmfjoingroup(GROUP, info)
    call check('pvmfjoingroup', info)
    call calls_barrier
    my_number = me
    all = tasks
  end subroutine

  subroutine lead(line, own)
    character(*), intent(in) :: line
    integer, intent(in) :: own
    character(PATH_MAX) :: program
    real(c_double), allocatable :: roster(:)
    integer :: started, info, i
    read (line, *, iostat=info) tasks
    if (info /= 0) tasks = 0
    if (tasks < 1 .or. tasks > TASKS_MAX) call check('the first argument is the number of tasks, 1 to 64', PvmBadParam)
    call get_command_argument(0, program)
    me = 0
    tids(0) = own
    if (tasks == 1) return
    call pvmfspawn(trim(program), PVMTASKDEFAULT, '*', tasks - 1, tids(1), started)
    if (started < tasks - 1) call check('pvmfspawn', tids(1 + max(started, 0)))
    call pvmfinitsend(PVMDATADEFAULT, info)
    roster = [tasks, len_trim(line), tids(0:tasks - 1), (iachar(line(i:i)), i = 1, len_trim(line))]
    call pvmfpack(REAL8, roster, size(roster), 1, info)
    call pvmfmcast(tasks - 1, tids(1), ROSTER_TAG, info)
    call check('pvmfmcast', info)
  end subroutine

  subroutine follow(line, own, parent)
    character(*), intent(out) :: line
    integer, intent(in) :: own, parent
    real(c_double) :: head(2), rest(TASKS_MAX + len(line))
    integer :: info, i
    call pvmfrecv(parent, ROSTER_TAG, info)
    call check('pvmfrecv', info)
    call pvmfunpack(REAL8, head, 2, 1, info)
    tasks = int(head(1))
    call pvmfunpack(REAL8, rest, int(sum(head)), 1, info)
    call check('pvmfunpack', info)
    tids(0:tasks - 1) = int(rest(1:tasks))
    line = ''
    do i = 1, int(head(2))
      line(i:i) = achar(int(rest(tasks + i)))
    end do
    me = findloc(tids(0:tasks - 1), own, 1) - 1
  end subroutine

  subroutine check(what, code)
    character(*), intent(in) :: what
    integer, intent(in) :: code
    integer :: info
    if (code >= 0) return
    write (0, '(3a,i0)') 'PVM: ', what, ': code ', code
    call pvmfexit(info)
    call exit(1)
  end subroutine

  subroutine calls_end
    integer :: info
    call calls_barrier
    call pvmflvgroup(GROUP, info)
    call pvmfexit(info)
  end subroutine

  ! Seconds.
  function calls_now() result(now)
    real(c_double) :: now
    integer(c_int64_t) :: count, rate
    call system_clock(count, rate)
    now = real(count, c_double) / real(rate, c_double)
  end function

  subroutine calls_send(mode, to, data, bytes)
    integer(c_int), value :: mode, to, bytes
    real(c_double), intent(in) :: data(*)
    integer :: info
    call pvmfinitsend(PVMDATARAW, info)
    if (bytes > 0) call pvmfpack(INTEGER4, data, bytes / 4, 1, info)
    call pvmfsend(tids(to), TAG, info)
    call check('pvmfsend', info)
  end subroutine

  subroutine calls_receive(mode, from, data, bytes)
    integer(c_int), value :: mode, from, bytes
    real(c_double), intent(inout) :: data(*)
    integer :: info
    call pvmfrecv(tids(from), TAG, info)
    call check('pvmfrecv', info)
    if (bytes > 0) call pvmfunpack(INTEGER4, data, bytes / 4, 1, info)
    call check('pvmfunpack', info)
  end subroutine

  ! Sends to one task and receives from another, all tasks at the same time.
  subroutine calls_shift(to, out, from, in, bytes)
    integer(c_int), value :: to, from, bytes
    real(c_double), intent(in) :: out(*)
    real(c_double), intent(inout) :: in(*)
    call calls_send(RAW, to, out, bytes)
    call calls_receive(RAW, from, in, bytes)
  end subroutine

  ! With a neighbour: one of them sends first, the other receives first.
  subroutine calls_exchange(partner, out, in, bytes)
    integer(c_int), value :: partner, bytes
    real(c_double), intent(in) :: out(*)
    real(c_double), intent(inout) :: in(*)
    if (me < partner) call calls_send(RAW, partner, out, bytes)
    call calls_receive(RAW, partner, in, bytes)
    if (me > partner) call calls_send(RAW, partner, out, bytes)
  end subroutine

  subroutine calls_barrier
    integer :: info
    if (tasks == 1) return
    call pvmfbarrier(GROUP, tasks, info)
    call check('pvmfbarrier', info)
  end subroutine

  subroutine calls_broadcast(from, data, bytes)
    integer(c_int), value :: from, bytes
    real(c_double), intent(inout) :: data(*)
    integer :: info
    if (me /= from) then
      call calls_receive(RAW, from, data, bytes)
    else if (tasks > 1) then
      call pvmfinitsend(PVMDATARAW, info)
      if (bytes > 0) call pvmfpack(INTEGER4, data, bytes / 4, 1, info)
      call pvmfbcast(GROUP, TAG, info)
      call check('pvmfbcast', info)
    end if
  end subroutine

  ! Every task gets the sums.
  subroutine calls_sum(data, count)
    real(c_double), intent(inout) :: data(*)
    integer(c_int), value :: count
    call combine_all(TO_SUM, data, count)
  end subroutine

  subroutine calls_product(data, count)
    real(c_double), intent(inout) :: data(*)
    integer(c_int), value :: count
    call combine_all(TO_PRODUCT, data, count)
  end subroutine

  ! 1 where the numbers of all tasks are not 0, else 0.
  subroutine calls_and(data, count)
    real(c_double), intent(inout) :: data(*)
    integer(c_int), value :: count
    data(1:count) = merge(1d0, 0d0, abs(data(1:count)) > 0)
    call combine_all(TO_AND, data, count)
  end subroutine

  ! Up a binomial tree to task 0, and from there to all.
  subroutine combine_all(operation, data, count)
    integer, intent(in) :: operation, count
    real(c_double), intent(inout) :: data(count)
    real(c_double) :: other(count)
    integer :: step
    step = 1
    do while (step < tasks)
      if (iand(me, step) /= 0) then
        call calls_send(RAW, me - step, data, 8 * count)
        exit
      else if (me + step < tasks) then
        call calls_receive(RAW, me + step, other, 8 * count)
        call combine(operation, data, other)
      end if
      step = 2 * step
    end do
    call calls_broadcast(0, data, 8 * count)
  end subroutine

  pure subroutine combine(operation, data, other)
    integer, intent(in) :: operation
    real(c_double), intent(inout) :: data(:)
    real(c_double), intent(in) :: other(:)
    select case (operation)
    case (TO_SUM)
      data = data + other
    case (TO_PRODUCT)
      data = data * other
    case (TO_AND)
      data = merge(1d0, 0d0, data /= 0 .and. other /= 0)
    end select
  end subroutine

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
      call calls_send(RAW, to, out(to * words + 1), bytes)
    end do
    do step = 1, tasks - 1
      from = modulo(me - step, tasks)
      call calls_receive(RAW, from, in(from * words + 1), bytes)
    end do
  end subroutine

  ! On a ring. PVM has no calls for it, so the numbers' order is as good as any.
  subroutine calls_neighbours(forward, backward)
    integer, intent(out) :: forward, backward
    forward = modulo(me + 1, tasks)
    backward = modulo(me - 1, tasks)
  end subroutine
end module
