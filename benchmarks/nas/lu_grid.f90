! SPDX-License-Identifier: MIT OR Apache-2.0
!
! The grid of LU and the part of it that this task owns: all of z and a block of x and y.
!
! The tasks stand in a rectangle of `columns` x `rows`; x runs over the columns, y over the rows.
! Local point (i, j) is the global point (first(1) + i - 1, first(2) + j - 1); two layers around
! the block hold copies of the neighbours' points.
module lu_grid
  use, intrinsic :: iso_fortran_env, only: real64
  use lu_fluid
  implicit none
  private
  public :: arrange_tasks, lay_out_grid, allocate_fields, coordinate

  integer, parameter, public :: west = 1, east = 2, south = 3, north = 4
  ! The neighbour's rank in each direction; nobody at the edge of the cube.
  integer, parameter, public :: nobody = -1
  integer, public, protected :: neighbour(4)

  integer, public, protected :: points(3)             ! of the whole grid
  integer, public, protected :: columns, rows         ! of the rectangle of tasks
  integer, public, protected :: first(2)              ! global numbers of local point (1, 1)
  integer, public, protected :: ni, nj, nz            ! points of this task
  integer, public, protected :: ist, iend, jst, jend  ! those of them inside the cube

  ! Solution U, residual (later the correction to U), and forcing term.
  real(real64), allocatable, public :: u(:, :, :, :), rsd(:, :, :, :), frct(:, :, :, :)

contains

  ! The rectangle for a number of tasks that is a power of two: a square, or two squares side by
  ! side along y, because rows of x are the contiguous ones.
  pure subroutine arrange_tasks(tasks, task_columns, task_rows)
    integer, intent(in) :: tasks
    integer, intent(out) :: task_columns, task_rows

    task_columns = 1
    do while (4 * task_columns * task_columns <= tasks)
      task_columns = 2 * task_columns
    end do
    task_rows = tasks / task_columns
  end subroutine arrange_tasks

  ! Fixes which points the task of this rank owns.
  subroutine lay_out_grid(size, tasks, rank)
    integer, intent(in) :: size(3), tasks, rank
    integer :: column, row

    points = size
    call arrange_tasks(tasks, columns, rows)
    column = mod(rank, columns)
    row = rank / columns
    call share(points(1), columns, column, first(1), ni)
    call share(points(2), rows, row, first(2), nj)
    nz = points(3)
    neighbour = [rank - 1, rank + 1, rank - columns, rank + columns]
    if (column == 0) neighbour(west) = nobody
    if (column == columns - 1) neighbour(east) = nobody
    if (row == 0) neighbour(south) = nobody
    if (row == rows - 1) neighbour(north) = nobody
    ist = merge(2, 1, neighbour(west) == nobody)
    iend = merge(ni - 1, ni, neighbour(east) == nobody)
    jst = merge(2, 1, neighbour(south) == nobody)
    jend = merge(nj - 1, nj, neighbour(north) == nobody)
  end subroutine lay_out_grid

  ! Part `part` (from 0) of n points in `parts` parts that differ by one point at most.
  pure subroutine share(n, parts, part, start, count)
    integer, intent(in) :: n, parts, part
    integer, intent(out) :: start, count

    count = n / parts + merge(1, 0, part < mod(n, parts))
    start = part * (n / parts) + min(part, mod(n, parts)) + 1
  end subroutine share

  ! The planes k = 0 and nz + 1 do not exist; they have memory so that stencils whose weight is
  ! zero there can be applied without asking.
  subroutine allocate_fields()
    allocate(u(5, -1:ni + 2, -1:nj + 2, 0:nz + 1), source=1.0_real64)
    allocate(rsd(5, ni, nj, nz), source=0.0_real64)
    allocate(frct(5, ni, nj, nz), source=0.0_real64)
  end subroutine allocate_fields

  ! The place in the unit cube of local point (i, j, k).
  pure function coordinate(i, j, k) result(at)
    integer, intent(in) :: i, j, k
    real(real64) :: at(3)

    at = real([first(1) + i - 2, first(2) + j - 2, k - 1], real64) / real(points - 1, real64)
  end function coordinate

end module lu_grid
