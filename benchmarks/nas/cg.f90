! SPDX-License-Identifier: MIT OR Apache-2.0
! CG, the conjugate gradient kernel (RNR-94-007, section 2.2.3): the smallest eigenvalue of a sparse
! random matrix by inverse iteration, each solution by 25 steps of conjugate gradients.
!
! Each task has n/P neighbouring rows of the matrix, and vectors of full length. It multiplies its
! rows; then all tasks exchange their parts of the product in log2 P messages. What follows, two
! scalar products and three vector updates, is n work beside nnz/P, so each task does it for the
! whole vectors: one exchange a step instead of three, and the same bits everywhere, with any number
! of tasks.
module cg_kernel
  use nas_common
  implicit none

  integer, parameter :: inner_steps = 25
  real(dp), parameter :: rcond = 0.1d0
  real(dp), parameter :: factor = 1220703125d0
  integer, parameter :: tag_product = 1

  integer :: n, nonzer, outer_steps   ! order, nonzeros of a generating vector, iterations
  real(dp) :: shift
  integer :: low, high                ! this task's rows
  integer, allocatable :: row(:)      ! row i: entries row(i) .. row(i+1)-1
  integer, allocatable :: column(:)
  real(dp), allocatable :: a(:)
  real(dp) :: seed

contains

  ! Sizes of the classes (NAS-95-020).
  subroutine choose_class(letter)
    character, intent(in) :: letter
    outer_steps = 15
    select case (letter)
    case ('W'); n = 7000; nonzer = 8; shift = 12
    case ('A'); n = 14000; nonzer = 11; shift = 20
    case ('B'); n = 75000; nonzer = 13; shift = 60; outer_steps = 75
    case default; n = 1400; nonzer = 7; shift = 10
    end select
    if (nas%iterations > 0) outer_steps = nas%iterations
  end subroutine

  integer(c_int) function takes(tasks) bind(C)
    integer(c_int), value :: tasks
    takes = merge(1, 0, iand(tasks, tasks - 1) == 0 .and. tasks <= n / 2)
  end function

  integer function first_row(rank)
    integer, intent(in) :: rank
    first_row = int(int(n, 8) * rank / nas%tasks) + 1
  end function

  ! ---- The matrix: the sum of w_i x_i x_i^T over n sparse vectors x_i, plus (rcond - shift) I ----

  ! A vector of nonzer values at distinct random places: value, then place, by turns from the random
  ! numbers; a place beyond n or used before is drawn again with a new value. Then element i becomes
  ! 1/2.
  subroutine make_vector(i, value, place, count, mark)
    integer, intent(in) :: i
    real(dp), intent(out) :: value(nonzer + 1)
    integer, intent(out) :: place(nonzer + 1), count
    integer, intent(inout) :: mark(n)
    real(dp) :: v
    integer :: at, power, k
    power = 1
    do while (power < n)
      power = 2 * power
    end do
    count = 0
    do while (count < nonzer)
      v = nas_random(seed, factor)
      at = int(power * nas_random(seed, factor)) + 1
      if (at > n) cycle
      if (mark(at) == i) cycle
      mark(at) = i
      count = count + 1
      value(count) = v
      place(count) = at
    end do
    if (mark(i) == i) then
      do k = 1, count
        if (place(k) == i) value(k) = 0.5d0
      end do
    else
      count = count + 1
      value(count) = 0.5d0
      place(count) = i
    end if
  end subroutine

  ! All tasks make all vectors, and keep the rows that are theirs.
  subroutine make_vectors(values, places, counts)
    real(dp), intent(out) :: values(nonzer + 1, n)
    integer, intent(out) :: places(nonzer + 1, n), counts(n)
    integer, allocatable :: mark(:)
    integer :: i
    allocate (mark(n), source=0)
    do i = 1, n
      call make_vector(i, values(:, i), places(:, i), counts(i), mark)
    end do
  end subroutine

  ! For each of this task's rows the vectors that have an element there: uses(first(r)) ...
  subroutine find_uses(places, counts, first, uses)
    integer, intent(in) :: places(nonzer + 1, n), counts(n)
    integer, intent(out) :: first(low:high + 1)
    integer, allocatable, intent(out) :: uses(:)
    integer :: next(low:high)
    integer :: i, k, r
    next = 0
    do i = 1, n
      do k = 1, counts(i)
        r = places(k, i)
        if (r >= low .and. r <= high) next(r) = next(r) + 1
      end do
    end do
    first(low) = 1
    do r = low, high
      first(r + 1) = first(r) + next(r)
      next(r) = first(r)
    end do
    allocate (uses(first(high + 1) - 1))
    do i = 1, n
      do k = 1, counts(i)
        r = places(k, i)
        if (r < low .or. r > high) cycle
        uses(next(r)) = i
        next(r) = next(r) + 1
      end do
    end do
  end subroutine

  ! Row r of the sum; the weights w_i fall from 1 to rcond in equal ratios. columns come out in
  ! order.
  subroutine make_row(r, uses, values, places, counts, sums, columns, used)
    integer, intent(in) :: r, uses(:)
    real(dp), intent(in) :: values(nonzer + 1, n)
    integer, intent(in) :: places(nonzer + 1, n), counts(n)
    real(dp), intent(inout) :: sums(n)
    integer, intent(inout) :: columns(n)
    integer, intent(out) :: used
    real(dp) :: scale
    integer :: u, i, k, c
    used = 0
    do u = 1, size(uses)
      i = uses(u)
      scale = weight(i) * values(position(places(1:counts(i), i), r), i)
      do k = 1, counts(i)
        c = places(k, i)
        if (sums(c) == 0) call insert(columns, used, c)
        sums(c) = sums(c) + scale * values(k, i)
      end do
      if (i == r) sums(r) = sums(r) + rcond - shift
    end do
  end subroutine

  pure real(dp) function weight(i)
    integer, intent(in) :: i
    weight = rcond**(real(i - 1, dp) / n)
  end function

  pure integer function position(list, wanted)
    integer, intent(in) :: list(:), wanted
    position = 1
    do while (list(position) /= wanted)
      position = position + 1
    end do
  end function

  ! Into an ordered list, unless it is there.
  pure subroutine insert(list, count, item)
    integer, intent(inout) :: list(:), count
    integer, intent(in) :: item
    integer :: at
    at = count
    do while (at > 0)
      if (list(at) <= item) exit
      list(at + 1) = list(at)
      at = at - 1
    end do
    list(at + 1) = item
    count = count + 1
  end subroutine

  subroutine make_matrix()
    real(dp), allocatable :: values(:, :), sums(:)
    integer, allocatable :: places(:, :), counts(:), first(:), uses(:), columns(:)
    integer :: r, used, most, k
    allocate (values(nonzer + 1, n), places(nonzer + 1, n), counts(n))
    allocate (sums(n), columns(n), first(low:high + 1), row(low:high + 1))
    call make_vectors(values, places, counts)
    call find_uses(places, counts, first, uses)
    most = size(uses) * (nonzer + 1)
    allocate (column(most), a(most))
    sums = 0
    row(low) = 1
    do r = low, high
      call make_row(r, uses(first(r):first(r + 1) - 1), values, places, counts, sums, columns, used)
      do k = 1, used
        column(row(r) + k - 1) = columns(k)
        a(row(r) + k - 1) = sums(columns(k))
        sums(columns(k)) = 0
      end do
      row(r + 1) = row(r) + used
    end do
    column = column(1:row(high + 1) - 1)
    a = a(1:row(high + 1) - 1)
  end subroutine

  ! ---- The solution ----

  ! y = A x for this task's rows, each in eight partial sums, which a vector unit adds at once.
  subroutine multiply(x, y)
    real(dp), intent(in) :: x(n)
    real(dp), intent(inout) :: y(n)
    real(dp) :: part(8), rest
    integer :: i, k, j, end_of_eights
    do i = low, high
      part = 0
      rest = 0
      end_of_eights = row(i) + iand(row(i + 1) - row(i), not(7)) - 1
      do k = row(i), end_of_eights, 8
        do j = 1, 8
          part(j) = part(j) + a(k + j - 1) * x(column(k + j - 1))
        end do
      end do
      do k = end_of_eights + 1, row(i + 1) - 1
        rest = rest + a(k) * x(column(k))
      end do
      y(i) = rest + sum(part)
    end do
#ifdef NAS_PLANT
    if (nas%rank == 0) y(low) = -y(low) ! planted: a sign
#endif
  end subroutine

  ! Everybody's part of y to everybody: with the task 1, 2, 4 .. apart, all that both have by then.
  subroutine complete(y)
    real(dp), intent(inout) :: y(n)
    integer :: apart, mine, other
    apart = 1
    do while (apart < nas%tasks)
      mine = nas%rank - modulo(nas%rank, apart)
      other = ieor(mine, apart)
      call nas_send(ieor(nas%rank, apart), tag_product, y(first_row(mine)), rows(mine, apart))
      call nas_recv(ieor(nas%rank, apart), tag_product, y(first_row(other)), rows(other, apart))
      apart = 2 * apart
    end do
  end subroutine

  integer function rows(rank, count)
    integer, intent(in) :: rank, count
    rows = first_row(rank + count) - first_row(rank)
  end function

  pure real(dp) function dot(x, y)
    real(dp), intent(in) :: x(n), y(n)
    real(dp) :: part(8)
    integer :: i, j
    part = 0
    do i = 1, n - 7, 8
      do j = 0, 7
        part(j + 1) = part(j + 1) + x(i + j) * y(i + j)
      end do
    end do
    dot = sum(part)
    do i = n - modulo(n, 8) + 1, n
      dot = dot + x(i) * y(i)
    end do
  end function

  ! A z = x by 25 steps; residual = |x - A z|.
  subroutine solve(x, z, p, q, r, residual)
    real(dp), intent(in) :: x(n)
    real(dp), intent(out) :: z(n), p(n), q(n), r(n), residual
    real(dp) :: rho, before, alpha
    integer :: step
    z = 0
    r = x
    p = r
    rho = dot(r, r)
    do step = 1, inner_steps
      call multiply(p, q)
      call complete(q)
      alpha = rho / dot(p, q)
      z = z + alpha * p
      r = r - alpha * q
      before = rho
      rho = dot(r, r)
      p = r + (rho / before) * p
    end do
    call multiply(z, q)
    residual = sum((x(low:high) - q(low:high))**2)
    call nas_sum_one(residual)
    residual = sqrt(residual)
  end subroutine

  subroutine nas_sum_one(value)
    real(dp), intent(inout) :: value
    real(dp) :: items(1)
    items = value
    call nas_sum(items, 1)
    value = items(1)
  end subroutine

  ! zeta = shift + 1 / (x z), and the next x is z of length 1.
  subroutine iterate(steps, x, zeta, residual)
    integer, intent(in) :: steps
    real(dp), intent(inout) :: x(n)
    real(dp), intent(out) :: zeta, residual
    real(dp) :: z(n), p(n), q(n), r(n)
    integer :: step
    do step = 1, steps
      call solve(x, z, p, q, r, residual)
      zeta = shift + 1d0 / dot(x, z)
      x = z / sqrt(dot(z, z))
    end do
  end subroutine

  subroutine verify(zeta, residual)
    real(dp), intent(in) :: zeta, residual
    real(dp) :: wanted
    select case (n)
    case (1400); wanted = 8.5971775078648d0
    case (7000); wanted = 10.362595087124d0
    case (14000); wanted = 17.130235054029d0
    case default; wanted = 22.712745482631d0
    end select
    if (outer_steps == merge(75, 15, n == 75000)) then
      call nas_quantity('zeta', zeta, wanted, 1d-10)
    else
      call nas_norm('zeta', zeta)
    end if
    call nas_norm('norm of the residual', residual)
  end subroutine

  real(dp) function operations()
    real(dp) :: entries
    entries = nonzer * (nonzer + 1)
    operations = 2d0 * outer_steps * n * (3 + entries + inner_steps * (5 + entries) + 3)
  end function

  ! Bytes of a task: the generating vectors, and matrix entries before equal places are added up.
  real(dp) function bytes()
    bytes = 12d0 * n * (nonzer + 1) + 24d0 * n * (nonzer + 1)**2 / nas%tasks + 64d0 * n
  end function

end module

program cg
  use cg_kernel
  implicit none
  real(dp), allocatable :: x(:)
  real(dp) :: began, seconds, zeta, residual
  character(16) :: text

  call nas_options('cg', nas_iterations)
  call choose_class(achar(nas%class_letter))
  call nas_require_tasks(takes, 'CG takes powers of two')
  call nas_begin(bytes())
  low = first_row(nas%rank)
  high = first_row(nas%rank + 1) - 1
  seed = 314159265d0
  zeta = nas_random(seed, factor) ! the first number is not used
  call make_matrix()
  allocate (x(n))
  x = 1
  call iterate(1, x, zeta, residual) ! not timed
  x = 1
  call nas_barrier()
  call nas_timed(1)
  began = nas_seconds()
  call iterate(outer_steps, x, zeta, residual)
  seconds = nas_seconds() - began
  call nas_timed(0)
  call verify(zeta, residual)
  write (text, '(i0)') n
  call nas_report(trim(text), outer_steps, seconds, operations())
  call nas_end()
end program
