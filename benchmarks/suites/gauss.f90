! SPDX-License-Identifier: MIT OR Apache-2.0
! Gaussian elimination with partial pivoting by several tasks, in three partitions of the matrix. With one task nothing is sent:
! that is the sequential run. The entries and the right side, which is column n + 1, are worked out by each task for itself.
!
! Every entry is changed by the same operations in the same order, whichever task has it, and of several equal pivots the first
! is taken. So the solution has the same bits in all partitions and with any number of tasks (where the compiler does not fuse
! a product and a sum in one place and not in another: -ffp-contract=off).
module gauss
  use iso_c_binding
  use calls
  implicit none
contains

  ! Between -0.5 and 0.5.
  pure function entry_of(i, j) result(x)
    integer, intent(in) :: i, j
    real(c_double) :: x
    x = modulo(sin(12.9898d0 * i + 78.233d0 * j) * 43758.5453d0, 1d0) - 0.5d0
  end function

  ! Which task has column j (from 1): blocks of neighbouring columns, or one to each task in turn.
  pure function owner_of(j, n, tasks, scattered) result(task)
    integer, intent(in) :: j, n, tasks
    integer(c_int), intent(in) :: scattered
    integer :: task
    if (scattered /= 0) then
      task = modulo(j - 1, tasks)
    else
      task = (j - 1) * tasks / (n + 1)
    end if
  end function

  subroutine gauss_columns_fill(a, n, me, tasks, scattered) bind(C)
    integer(c_int), value :: n, me, tasks, scattered
    real(c_double), intent(out) :: a(n, n + 1)
    integer :: i, j
    do j = 1, n + 1
      if (owner_of(j, n, tasks, scattered) /= me) cycle
      do i = 1, n
        a(i, j) = entry_of(i, j)
      end do
    end do
  end subroutine

  ! The owner of column k finds the pivot by itself, and sends its number and the factors to all.
  subroutine gauss_columns(a, n, me, tasks, scattered) bind(C)
    integer(c_int), value :: n, me, tasks, scattered
    real(c_double), intent(inout) :: a(n, n + 1)
    real(c_double) :: message(n), kept
    integer :: j, k, pivot
    do k = 1, n - 1
      if (owner_of(k, n, tasks, scattered) == me) then
        pivot = k - 1 + maxloc(abs(a(k:n, k)), 1)
        kept = a(pivot, k)
        a(pivot, k) = a(k, k)
        a(k, k) = kept
        message(1) = pivot
        message(2:n - k + 1) = a(k + 1:n, k) / kept
      end if
      if (tasks > 1) call calls_broadcast(owner_of(k, n, tasks, scattered), message, 8 * (n - k + 1))
      pivot = int(message(1))
      do j = k + 1, n + 1
        if (owner_of(j, n, tasks, scattered) /= me) cycle
        kept = a(pivot, j)
        a(pivot, j) = a(k, j)
        a(k, j) = kept
        a(k + 1:n, j) = a(k + 1:n, j) - kept * message(2:n - k + 1)
      end do
    end do
  end subroutine

  ! Backward substitution after the elimination: every task gets the solution.
  subroutine gauss_columns_solve(a, x, n, me, tasks, scattered) bind(C)
    integer(c_int), value :: n, me, tasks, scattered
    real(c_double), intent(in) :: a(n, n + 1)
    real(c_double), intent(out) :: x(n)
    integer :: k
    if (owner_of(n + 1, n, tasks, scattered) == me) x = a(:, n + 1)
    if (tasks > 1) call calls_broadcast(owner_of(n + 1, n, tasks, scattered), x, 8 * n)
    do k = n, 1, -1
      if (owner_of(k, n, tasks, scattered) == me) then
        x(k) = x(k) / a(k, k)
        x(1:k - 1) = x(1:k - 1) - x(k) * a(1:k - 1, k)
      end if
      if (tasks > 1) call calls_broadcast(owner_of(k, n, tasks, scattered), x, 8 * k)
    end do
  end subroutine

  ! First row of a task's block of rows, from 1.
  pure function first_row(task, n, tasks) result(row)
    integer, intent(in) :: task, n, tasks
    integer :: row
    row = task * n / tasks + 1
  end function

  pure function owner_of_row(wanted, n, tasks) result(task)
    integer, intent(in) :: wanted, n, tasks
    integer :: task
    task = 0
    do while (first_row(task + 1, n, tasks) <= wanted)
      task = task + 1
    end do
  end function

  ! Rows lie one after the other: a(:, i) is the row i.
  subroutine gauss_rows_fill(a, n, me, tasks) bind(C)
    integer(c_int), value :: n, me, tasks
    real(c_double), intent(out) :: a(n + 1, n)
    integer :: i, j
    do i = first_row(me, n, tasks), first_row(me + 1, n, tasks) - 1
      do j = 1, n + 1
        a(j, i) = entry_of(i, j)
      end do
    end do
  end subroutine

  ! All look for the pivot at the same time, each in its own rows; the row of the largest is sent to all, and the row k goes to
  ! where that came from.
  subroutine gauss_rows(a, n, me, tasks) bind(C)
    integer(c_int), value :: n, me, tasks
    real(c_double), intent(inout) :: a(n + 1, n)
    real(c_double) :: row(n + 1), largest(0:2 * tasks - 1), factor
    integer :: first, last, i, k, best, pivot, owner, home, width
    first = first_row(me, n, tasks)
    last = first_row(me + 1, n, tasks) - 1
    do k = 1, n - 1
      width = n - k + 2
      best = max(k, first) - 1 + merge(maxloc(abs(a(k, max(k, first):last)), 1), 1, last >= max(k, first))
      largest = 0
      if (last >= max(k, first)) largest(2 * me:2 * me + 1) = [abs(a(k, best)), dble(best)]
      if (tasks > 1) call calls_sum(largest, 2 * tasks)
      owner = maxloc(largest(0::2), 1) - 1
      pivot = int(largest(2 * owner + 1))
      home = owner_of_row(k, n, tasks)
      if (me == owner) row(1:width) = a(k:n + 1, pivot)
      if (tasks > 1) call calls_broadcast(owner, row, 8 * width)
      call exchange
      do i = max(k + 1, first), last
        factor = a(k, i) / row(1)
        a(k:n + 1, i) = a(k:n + 1, i) - factor * row(1:width)
      end do
    end do
  contains
    ! The row k becomes the pivot's row, and the old row k takes its place.
    subroutine exchange
      real(c_double) :: old(n + 1)
      if (pivot == k) return
      if (me == home) old(1:width) = a(k:n + 1, k)
      if (home /= owner .and. me == home) call calls_send(RAW, owner, old, 8 * width)
      if (home /= owner .and. me == owner) call calls_receive(RAW, home, old, 8 * width)
      if (me == owner) a(k:n + 1, pivot) = old(1:width)
      if (me == home) a(k:n + 1, k) = row(1:width)
    end subroutine
  end subroutine

  ! As gauss_columns_solve.
  subroutine gauss_rows_solve(a, x, n, me, tasks) bind(C)
    integer(c_int), value :: n, me, tasks
    real(c_double), intent(in) :: a(n + 1, n)
    real(c_double), intent(out) :: x(n)
    integer :: i, k
    do i = first_row(me, n, tasks), first_row(me + 1, n, tasks) - 1
      x(i) = a(n + 1, i)
    end do
    do k = n, 1, -1
      if (owner_of_row(k, n, tasks) == me) x(k) = x(k) / a(k, k)
      if (tasks > 1) call calls_broadcast(owner_of_row(k, n, tasks), x(k:k), 8)
      do i = first_row(me, n, tasks), min(k, first_row(me + 1, n, tasks)) - 1
        x(i) = x(i) - x(k) * a(k, i)
      end do
    end do
  end subroutine

  ! The largest of | A x - b |, as a multiple of n eps (|A| |x| + |b|): of the order of 1 for a good solution.
  function gauss_residual(x, n) result(residual) bind(C)
    integer(c_int), value :: n
    real(c_double), intent(in) :: x(n)
    real(c_double) :: residual
    real(c_double) :: row(n), side, scale
    integer :: i, j
    residual = 0
    scale = 0
    do i = 1, n
      row = [(entry_of(i, j), j = 1, n)]
      side = entry_of(i, n + 1)
      residual = max(residual, abs(dot_product(row, x) - side))
      scale = max(scale, sum(abs(row)) * maxval(abs(x)) + abs(side))
    end do
    residual = residual / (n * epsilon(scale) * scale)
  end function
end module
