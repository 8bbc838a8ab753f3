! SPDX-License-Identifier: MIT OR Apache-2.0
!
! Bundles of lines of a tile: SP and BT copy them out of the field, solve them, and copy them back.
! Row i of a bundle holds point i of its lines side by side, one line a lane.
!
! The lines along direction d are counted through the plane across it: along xi first by eta, then
! by zeta; along eta by xi, then zeta; along zeta by xi, then eta. A bundle takes the next `lanes`
! of them, wherever a row of the plane ends, so that only the last bundle has lanes without a line.
! The stretches of a bundle that lie in one row of the plane are its runs.
module fluid_bundles
  use fluid
  use fluid_tiles
  implicit none
  private
  public :: lanes, bundle_t, choose_bundle, bundle_count, tile_lines, gather_rows, scatter_rows
  public :: reserve_work

  integer, parameter :: lanes = 32

  type bundle_t
     integer :: first = 0                ! lines before this bundle
     integer :: lines = 0                ! lines in it
     integer :: runs = 0
     ! Of each run: lanes before it, how many it has, the points before it along the first
     ! direction of the plane, and its place along the second.
     integer :: skip(lanes), length(lanes), a(lanes), b(lanes)
  end type bundle_t

contains

  ! How many lines a tile has along d.
  pure integer function tile_lines(t, d)
    type(tile_t), intent(in) :: t
    integer, intent(in) :: d
    tile_lines = product(t%b%n) / t%b%n(d)
  end function tile_lines

  pure integer function bundle_count(t, d)
    type(tile_t), intent(in) :: t
    integer, intent(in) :: d
    bundle_count = (tile_lines(t, d) + lanes - 1) / lanes
  end function bundle_count

  ! The bundle of this number, from 1.
  pure subroutine choose_bundle(t, d, number, x)
    type(tile_t), intent(in) :: t
    integer, intent(in) :: d, number
    type(bundle_t), intent(out) :: x
    integer :: width, line, last
    width = merge(t%b%n(2), t%b%n(1), d == 1)
    x%first = (number - 1) * lanes
    x%lines = min(lanes, tile_lines(t, d) - x%first)
    line = x%first
    last = x%first + x%lines
    do while (line < last)
       x%runs = x%runs + 1
       x%skip(x%runs) = line - x%first
       x%a(x%runs) = mod(line, width)
       x%b(x%runs) = line / width + 1
       x%length(x%runs) = min(width - x%a(x%runs), last - line)
       line = line + x%length(x%runs)
    end do
  end subroutine choose_bundle

  ! Room for so many bundles of a tile, at so many numbers a point.
  subroutine reserve_work(t, bundles, numbers)
    type(tile_t), intent(inout) :: t
    integer, intent(in) :: bundles, numbers
    if (allocated(t%work)) then
       if (size(t%work, 2) >= bundles) return
       deallocate (t%work)
    end if
    allocate (t%work(numbers * lanes * (maxval(t%b%n) + 4), bundles))
  end subroutine reserve_work

  ! The five quantities, in this order, of points 1 to n(d) of the lines. Lanes without a line get
  ! zeros.
  pure subroutine gather_rows(n, d, x, order, f, row_numbers, w)
    integer, intent(in) :: n(3), d, order(5), row_numbers
    type(bundle_t), intent(in) :: x
    real(dp), intent(in) :: f(n(1), 5, n(2), n(3))
    real(dp), intent(inout) :: w(lanes, row_numbers, n(d))
    integer :: i, m, r, v0, v1, a0, a1
    w(x%lines+1:, 1:5, :) = 0
    do i = 1, n(d)
       do r = 1, x%runs
          call run_bounds(x, r, v0, v1, a0, a1)
          do m = 1, 5
             select case (d)
             case (1)
                w(v0:v1, m, i) = f(i, order(m), a0:a1, x%b(r))
             case (2)
                w(v0:v1, m, i) = f(a0:a1, order(m), i, x%b(r))
             case (3)
                w(v0:v1, m, i) = f(a0:a1, order(m), x%b(r), i)
             end select
          end do
       end do
    end do
  end subroutine gather_rows

  pure subroutine scatter_rows(n, d, x, order, w, row_numbers, f)
    integer, intent(in) :: n(3), d, order(5), row_numbers
    type(bundle_t), intent(in) :: x
    real(dp), intent(in) :: w(lanes, row_numbers, n(d))
    real(dp), intent(inout) :: f(n(1), 5, n(2), n(3))
    integer :: i, m, r, v0, v1, a0, a1
    do i = 1, n(d)
       do r = 1, x%runs
          call run_bounds(x, r, v0, v1, a0, a1)
          do m = 1, 5
             select case (d)
             case (1)
                f(i, order(m), a0:a1, x%b(r)) = w(v0:v1, m, i)
             case (2)
                f(a0:a1, order(m), i, x%b(r)) = w(v0:v1, m, i)
             case (3)
                f(a0:a1, order(m), x%b(r), i) = w(v0:v1, m, i)
             end select
          end do
       end do
    end do
  end subroutine scatter_rows

  ! First and last lane of a run, first and last point along the plane's first direction.
  pure subroutine run_bounds(x, r, v0, v1, a0, a1)
    type(bundle_t), intent(in) :: x
    integer, intent(in) :: r
    integer, intent(out) :: v0, v1, a0, a1
    v0 = x%skip(r) + 1
    v1 = x%skip(r) + x%length(r)
    a0 = x%a(r) + 1
    a1 = x%a(r) + x%length(r)
  end subroutine run_bounds
end module fluid_bundles
