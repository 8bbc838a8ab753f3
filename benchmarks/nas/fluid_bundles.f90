! SPDX-License-Identifier: MIT OR Apache-2.0
!
! Bundles of lines of a tile: SP and BT copy them out of the field, solve them, and copy them back.
! Line (a, b) across direction d: for xi a counts eta and b zeta; for eta a counts xi and b zeta;
! for zeta a counts xi and b eta. Row i of a bundle holds point i of its lines, side by side.
module fluid_bundles
  use fluid
  use fluid_tiles
  implicit none
  private
  public :: lanes, across, gather_rows, scatter_rows, reserve_work

  integer, parameter :: lanes = 16    ! lines in a bundle

contains

  ! Number of lines across direction d, along their first (which = 1) or second index.
  pure integer function across(t, d, which)
    type(block_t), intent(in) :: t
    integer, intent(in) :: d, which
    if (which == 1) then
       across = merge(t%n(2), t%n(1), d == 1)
    else
       across = merge(t%n(2), t%n(3), d == 3)
    end if
  end function across

  ! Room for the bundles of a tile: all of them, or one where lines are solved at once.
  subroutine reserve_work(t, d, last, numbers)
    type(tile_t), intent(inout) :: t
    integer, intent(in) :: d, numbers
    logical, intent(in) :: last
    integer :: longest, bundles
    longest = maxval(t%b%n) + 4
    bundles = 1
    if (.not. last) bundles = across(t%b, d, 2) * ((across(t%b, d, 1) + lanes - 1) / lanes)
    if (allocated(t%work)) then
       if (size(t%work, 2) >= bundles) return
       deallocate (t%work)
    end if
    allocate (t%work(numbers * longest, bundles))
    t%work = 0
  end subroutine reserve_work

  ! The five quantities, in this order, of rows 1 to n(d) of the lines a + 1 to a + nv, b. Lanes
  ! without a line keep what they hold (zeros at first): their results are never read.
  pure subroutine gather_rows(n, d, a, b, nv, order, f, row_numbers, w)
    integer, intent(in) :: n(3), d, a, b, nv, order(5), row_numbers
    real(dp), intent(in) :: f(n(1), 5, n(2), n(3))
    real(dp), intent(inout) :: w(lanes, row_numbers, n(d))
    integer :: i, m
    do i = 1, n(d)
       do m = 1, 5
          select case (d)
          case (1)
             w(1:nv, m, i) = f(i, order(m), a+1:a+nv, b)
          case (2)
             w(1:nv, m, i) = f(a+1:a+nv, order(m), i, b)
          case (3)
             w(1:nv, m, i) = f(a+1:a+nv, order(m), b, i)
          end select
       end do
    end do
  end subroutine gather_rows

  pure subroutine scatter_rows(n, d, a, b, nv, order, w, row_numbers, f)
    integer, intent(in) :: n(3), d, a, b, nv, order(5), row_numbers
    real(dp), intent(in) :: w(lanes, row_numbers, n(d))
    real(dp), intent(inout) :: f(n(1), 5, n(2), n(3))
    integer :: i, m
    do i = 1, n(d)
       do m = 1, 5
          select case (d)
          case (1)
             f(i, order(m), a+1:a+nv, b) = w(1:nv, m, i)
          case (2)
             f(a+1:a+nv, order(m), i, b) = w(1:nv, m, i)
          case (3)
             f(a+1:a+nv, order(m), b, i) = w(1:nv, m, i)
          end select
       end do
    end do
  end subroutine scatter_rows
end module fluid_bundles
