! SPDX-License-Identifier: MIT OR Apache-2.0
!
! A sweep along the lines of one direction, from task to task: forward elimination from the first
! slice of the grid to the last, back substitution from the last to the first.
!
! Between the two a tile keeps what elimination has left of its lines, which is far more than the
! field itself. A large tile is therefore swept in parts, so that what it keeps stays in the second
! cache of a processor: that saves more than the additional messages cost. In small grids, where the
! latency of a network would count, a part is the whole tile.
module fluid_sweep
  use fluid
  use fluid_tiles
  use fluid_bundles
  use nas_common, only: nas_send, nas_recv
  implicit none
  private
  public :: sweep, part_t, line_pass, return_pass, to_self, kept_bytes_of_a_part

  integer, parameter :: tag_forward = 2, tag_backward = 3
  real(dp), parameter :: kept_bytes_of_a_part = 200.0e3_dp

  ! Some of the bundles of a tile, and the lines before them.
  type part_t
     integer :: from = 1, to = 0, skip = 0
  end type part_t

  real(dp), allocatable, target, save :: carry(:), back(:)
  logical, save :: to_self = .false.        ! --self

  abstract interface
     ! The first half of a sweep over a part of a tile. carry holds the numbers of its lines: what
     ! comes from the tile before is replaced by what goes on. The last tile of the lines does the
     ! second half, too.
     subroutine line_pass(t, d, part, last, carry, back)
       import :: tile_t, part_t, dp
       type(tile_t), intent(inout) :: t
       integer, intent(in) :: d
       type(part_t), intent(in) :: part
       logical, intent(in) :: last
       real(dp), intent(inout) :: carry(*), back(*)
     end subroutine line_pass
     ! The second half; back is to it what carry is to the first.
     subroutine return_pass(t, d, part, back)
       import :: tile_t, part_t, dp
       type(tile_t), intent(inout) :: t
       integer, intent(in) :: d
       type(part_t), intent(in) :: part
       real(dp), intent(inout) :: back(*)
     end subroutine return_pass
  end interface

contains

  ! A line hands `forward` numbers to the next tile and `backward` numbers back; each of its points
  ! keeps `kept` numbers between the two.
  subroutine sweep(g, d, forward, backward, kept, eliminate, substitute)
    type(partition_t), intent(inout) :: g
    integer, intent(in) :: d, forward, backward, kept
    procedure(line_pass) :: eliminate
    procedure(return_pass) :: substitute
    integer :: i, parts
    parts = part_count(g, d, kept)
    call reserve(g, d, max(forward, backward), parts)
    do i = 1, parts
       call sweep_part(g, d, i, parts, forward, backward, eliminate, substitute)
    end do
  end subroutine sweep

  ! In how many parts: the same for all tasks, from the largest tile that any of them can have.
  integer function part_count(g, d, kept)
    type(partition_t), intent(in) :: g
    integer, intent(in) :: d, kept
    integer :: n(3), most
    part_count = 1
    if (g%shape(d) == 1) return
    n = (coef%size - 2 + g%shape - 1) / g%shape
    most = max(1, product(n) / n(d) / lanes)
    part_count = min(most, ceiling(8.0_dp * kept * product(n) / kept_bytes_of_a_part))
  end function part_count

  ! The sweep of one part of all tiles. Zeros stand for the boundary of the grid, where nothing is
  ! handed over. In the last slice elimination also substitutes back at once.
  subroutine sweep_part(g, d, number, parts, forward, backward, eliminate, substitute)
    type(partition_t), intent(inout) :: g
    integer, intent(in) :: d, number, parts, forward, backward
    procedure(line_pass) :: eliminate
    procedure(return_pass) :: substitute
    integer :: s, last, lines(0:g%shape(d)-1)
    last = g%shape(d) - 1
    do s = 0, last
       lines(s) = part_lines(g, d, s, number, parts)
    end do
    carry(:forward*lines(0)) = 0
    back(:backward*lines(last)) = 0
    do s = 0, last
       if (s > 0) call nas_recv(g%minus(d), tag_forward, carry, forward * lines(s))
       call eliminate_slice(g, d, s, number, parts, forward, backward, eliminate)
       if (s < last) call nas_send(g%plus(d), tag_forward, carry, forward * lines(s))
       if (s == last) call send_to_self(g, tag_forward, carry, forward * lines(s))
    end do
    do s = last, 0, -1
       if (s < last) then
          call nas_recv(g%plus(d), tag_backward, back, backward * lines(s))
          call substitute_slice(g, d, s, number, parts, backward, substitute)
       end if
       if (s > 0) call nas_send(g%minus(d), tag_backward, back, backward * lines(s))
       if (s == 0) call send_to_self(g, tag_backward, back, backward * lines(s))
    end do
  end subroutine sweep_part

  subroutine eliminate_slice(g, d, s, number, parts, forward, backward, eliminate)
    type(partition_t), intent(inout) :: g
    integer, intent(in) :: d, s, number, parts, forward, backward
    procedure(line_pass) :: eliminate
    type(part_t) :: part
    integer :: i, at
    at = 0
    do i = 1, size(g%tile)
       if (g%tile(i)%c(d) /= s) cycle
       part = choose_part(g%tile(i), d, number, parts)
       call eliminate(g%tile(i), d, part, s == g%shape(d) - 1, carry(forward*at+1:), &
            back(backward*at+1:))
       at = at + lines_of(g%tile(i), d, part)
    end do
  end subroutine eliminate_slice

  subroutine substitute_slice(g, d, s, number, parts, backward, substitute)
    type(partition_t), intent(inout) :: g
    integer, intent(in) :: d, s, number, parts, backward
    procedure(return_pass) :: substitute
    type(part_t) :: part
    integer :: i, at
    at = 0
    do i = 1, size(g%tile)
       if (g%tile(i)%c(d) /= s) cycle
       part = choose_part(g%tile(i), d, number, parts)
       call substitute(g%tile(i), d, part, back(backward*at+1:))
       at = at + lines_of(g%tile(i), d, part)
    end do
  end subroutine substitute_slice

  ! The thesis found each task of its SP and BT sending to itself. With --self a task is its own
  ! neighbour where the grid ends: what would go on if it did not end goes to the task itself.
  subroutine send_to_self(g, tag, x, n)
    type(partition_t), intent(in) :: g
    integer, intent(in) :: tag, n
    real(dp), intent(inout) :: x(n)
    if (.not. to_self) return
    call nas_send(g%me, tag, x, n)
    call nas_recv(g%me, tag, x, n)
  end subroutine send_to_self

  ! Tiles one behind the other have the same lines, so their parts have, too.
  pure function choose_part(t, d, number, parts) result(part)
    type(tile_t), intent(in) :: t
    integer, intent(in) :: d, number, parts
    type(part_t) :: part
    integer :: bundles
    bundles = bundle_count(t, d)
    part%from = (number - 1) * bundles / parts + 1
    part%to = number * bundles / parts
    part%skip = (part%from - 1) * lanes
  end function choose_part

  pure integer function lines_of(t, d, part)
    type(tile_t), intent(in) :: t
    integer, intent(in) :: d
    type(part_t), intent(in) :: part
    lines_of = min(part%to * lanes, tile_lines(t, d)) - part%skip
  end function lines_of

  ! How many lines this part has in slice s.
  pure integer function part_lines(g, d, s, number, parts)
    type(partition_t), intent(in) :: g
    integer, intent(in) :: d, s, number, parts
    integer :: i
    part_lines = 0
    do i = 1, size(g%tile)
       if (g%tile(i)%c(d) == s) part_lines = part_lines &
            + lines_of(g%tile(i), d, choose_part(g%tile(i), d, number, parts))
    end do
  end function part_lines

  ! Room for the messages of any part.
  subroutine reserve(g, d, numbers, parts)
    type(partition_t), intent(in) :: g
    integer, intent(in) :: d, numbers, parts
    integer :: s, i, n
    n = 0
    do s = 0, g%shape(d) - 1
       do i = 1, parts
          n = max(n, numbers * part_lines(g, d, s, i, parts))
       end do
    end do
    if (allocated(carry)) then
       if (size(carry) >= n) return
       deallocate (carry, back)
    end if
    allocate (carry(n), back(n))
  end subroutine reserve
end module fluid_sweep
