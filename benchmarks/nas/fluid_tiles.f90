! SPDX-License-Identifier: MIT OR Apache-2.0
!
! How SP and BT divide the grid among tasks: a multipartition.
!
! Both programs solve along the lines of each direction in turn, and elimination along a line is
! sequential. Slabs would leave all tasks but one waiting in one direction, or move the whole field
! (a transpose, about five times the bytes). In a multipartition each direction is cut into slices
! and each slice of each direction holds the same number of tiles of every task: a sweep goes from
! slice to slice, and in each of them all tasks have work.
!
! p = a b tasks, b the largest number whose square divides p: the grid is cut into a x a x b tiles.
! Tile (c1, c2, c3), counted from 0, belongs to the task
!
!     ((c1 + c2) mod a, (c1 + c3) mod b)       that is, rank b f + s for the pair (f, s)
!
! With one of the three numbers fixed, each pair occurs equally often. The map is linear, so all
! tiles of a task have the same task as neighbour in a given direction: one message carries them
! all. Squares give the well-known diagonal pattern (a = b), 2 tasks 2x2x1, 8 tasks 4x4x2. Any
! number of tasks will do while each tile keeps two points along each direction.
module fluid_tiles
  use fluid
  use nas_common, only: nas_send, nas_recv
  implicit none
  private
  public :: partition_t, tile_t, make_partition, partition_shape, exchange_halo
  public :: tiles_fit, sweep, tile_lines, to_self, line_pass, return_pass

  integer, parameter :: tag_halo = 1, tag_forward = 2, tag_backward = 3
  integer, parameter :: min_points = 2      ! the halo is two points wide

  type tile_t
     integer :: c(3) = 0                    ! place in the partition, from 0
     type(block_t) :: b
     real(dp), allocatable :: work(:, :)    ! lines under way, one bundle a column
  end type tile_t

  type partition_t
     integer :: shape(3) = 1                ! slices along each direction
     integer :: plus(3) = 0, minus(3) = 0   ! rank of the neighbour behind and before
     integer :: ntasks = 1, me = 0
     type(tile_t), allocatable :: tile(:)   ! this task's, in order of c3, c2, c1
  end type partition_t

  real(dp), allocatable, save :: faces(:)   ! one message of the halo
  real(dp), allocatable, target, save :: carry(:), back(:)
  logical, save :: to_self = .false.        ! --self

  abstract interface
     ! The first half of a sweep over one tile. carry holds the numbers of this tile's lines: what
     ! comes from the tile before is replaced by what goes on. The last tile of the lines does the
     ! second half, too.
     subroutine line_pass(t, d, last, carry, back)
       import :: tile_t, dp
       type(tile_t), intent(inout) :: t
       integer, intent(in) :: d
       logical, intent(in) :: last
       real(dp), intent(inout) :: carry(*), back(*)
     end subroutine line_pass
     ! The second half; back is to it what carry is to the first.
     subroutine return_pass(t, d, back)
       import :: tile_t, dp
       type(tile_t), intent(inout) :: t
       integer, intent(in) :: d
       real(dp), intent(inout) :: back(*)
     end subroutine return_pass
  end interface

contains

  pure function partition_shape(ntasks) result(shape)
    integer, intent(in) :: ntasks
    integer :: shape(3), b
    do b = int(sqrt(real(ntasks))) + 1, 1, -1
       if (mod(ntasks, b * b) == 0) exit
    end do
    shape = [ntasks / b, ntasks / b, b]
  end function partition_shape

  ! Whether so many tasks can share a grid of this size.
  pure logical function tiles_fit(ntasks, size)
    integer, intent(in) :: ntasks, size(3)
    tiles_fit = all(size - 2 >= min_points * partition_shape(ntasks))
  end function tiles_fit

  pure integer function owner(shape, c)
    integer, intent(in) :: shape(3), c(3)
    owner = shape(3) * modulo(c(1) + c(2), shape(1)) + modulo(c(1) + c(3), shape(3))
  end function owner

  subroutine make_partition(g, ntasks, me, size)
    type(partition_t), intent(out) :: g
    integer, intent(in) :: ntasks, me, size(3)
    integer :: d, c(3), step(3)
    g%shape = partition_shape(ntasks)
    g%ntasks = ntasks
    g%me = me
    allocate (g%tile(product(g%shape) / ntasks))
    call collect_tiles(g, size)
    c = g%tile(1)%c
    do d = 1, 3
       step = 0
       step(d) = 1
       g%plus(d) = owner(g%shape, c + step)
       g%minus(d) = owner(g%shape, c - step)
    end do
  end subroutine make_partition

  subroutine collect_tiles(g, size)
    type(partition_t), intent(inout) :: g
    integer, intent(in) :: size(3)
    integer :: c1, c2, c3, n
    n = 0
    do c3 = 0, g%shape(3) - 1
       do c2 = 0, g%shape(2) - 1
          do c1 = 0, g%shape(1) - 1
             if (owner(g%shape, [c1, c2, c3]) /= g%me) cycle
             n = n + 1
             g%tile(n)%c = [c1, c2, c3]
             call cut_tile(g%tile(n), g%shape, size)
          end do
       end do
    end do
  end subroutine collect_tiles

  ! Slice s of m points in k slices begins at point s m / k: the sizes differ by one at most.
  subroutine cut_tile(t, shape, size)
    type(tile_t), intent(inout) :: t
    integer, intent(in) :: shape(3), size(3)
    integer :: lo(3), hi(3)
    lo = (t%c * (size - 2)) / shape + 1
    hi = ((t%c + 1) * (size - 2)) / shape
    call make_block(t%b, lo, hi - lo + 1)
  end subroutine cut_tile

  ! The neighbour in direction d on this side (+1 behind, -1 before).
  pure integer function partner(g, d, side)
    type(partition_t), intent(in) :: g
    integer, intent(in) :: d, side
    partner = merge(g%plus(d), g%minus(d), side > 0)
  end function partner

  ! Whether the tile has a tile beside it in direction d on this side.
  pure logical function has_neighbour(g, t, d, side)
    type(partition_t), intent(in) :: g
    type(tile_t), intent(in) :: t
    integer, intent(in) :: d, side
    has_neighbour = t%c(d) + side >= 0 .and. t%c(d) + side < g%shape(d)
  end function has_neighbour

  ! Fills the halo of u of each tile. One message to each neighbouring task holds the two outermost
  ! planes of all faces that lie against its tiles, and as much comes back.
  subroutine exchange_halo(g)
    type(partition_t), intent(inout) :: g
    integer :: other, n(0:g%ntasks-1)
    if (.not. allocated(faces)) allocate (faces(halo_bound(g)))
    do other = 0, g%ntasks - 1
       call walk_faces(g, other, .true., n(other))
       if (n(other) > 0) call nas_send(other, tag_halo, faces, n(other))
    end do
    do other = 0, g%ntasks - 1
       if (n(other) == 0) cycle
       call nas_recv(other, tag_halo, faces, n(other))
       call walk_faces(g, other, .false., n(other))
    end do
  end subroutine exchange_halo

  ! More numbers than any message of the halo can have.
  pure integer function halo_bound(g)
    type(partition_t), intent(in) :: g
    integer :: i, n(3)
    halo_bound = 0
    do i = 1, size(g%tile)
       n = g%tile(i)%b%n
       halo_bound = halo_bound + 20 * (n(1) * n(2) + n(2) * n(3) + n(3) * n(1))
    end do
  end function halo_bound

  ! Copies all faces between this task's tiles and those of the task other into (sending) or out of
  ! the buffer; n: how many numbers. Sender and receiver go through them in the same order, that of
  ! the sender's sides and tiles: what was sent behind fills the halo before, and tiles that lie one
  ! behind the other are in the same order among their tasks'.
  subroutine walk_faces(g, other, sending, n)
    type(partition_t), intent(inout) :: g
    integer, intent(in) :: other
    logical, intent(in) :: sending
    integer, intent(out) :: n
    integer :: d, side, mine, i
    n = 0
    do d = 1, 3
       do side = -1, 1, 2
          mine = merge(side, -side, sending)
          if (partner(g, d, mine) /= other) cycle
          do i = 1, size(g%tile)
             if (has_neighbour(g, g%tile(i), d, mine)) &
                  call copy_face(g%tile(i)%b, d, mine, sending, n)
          end do
       end do
    end do
  end subroutine walk_faces

  ! Two planes: the outermost of the block (sending), or those of the halo.
  subroutine copy_face(b, d, side, sending, n)
    type(block_t), intent(inout) :: b
    integer, intent(in) :: d, side
    logical, intent(in) :: sending
    integer, intent(inout) :: n
    integer :: lo(3), hi(3)
    lo = 1
    hi = b%n
    lo(d) = merge(b%n(d) - 1, 1, side > 0)
    if (.not. sending) lo(d) = lo(d) + 2 * side
    hi(d) = lo(d) + 1
    call copy_box(b%n, lo, hi, b%u, sending, n)
  end subroutine copy_face

  subroutine copy_box(n, lo, hi, u, sending, at)
    integer, intent(in) :: n(3), lo(3), hi(3)
    real(dp), intent(inout) :: u(-1:n(1)+2, 5, -1:n(2)+2, -1:n(3)+2)
    logical, intent(in) :: sending
    integer, intent(inout) :: at
    integer :: j, k, m, w
    w = hi(1) - lo(1) + 1
    do k = lo(3), hi(3)
       do j = lo(2), hi(2)
          do m = 1, 5
             if (sending) then
                faces(at+1:at+w) = u(lo(1):hi(1), m, j, k)
             else
                u(lo(1):hi(1), m, j, k) = faces(at+1:at+w)
             end if
             at = at + w
          end do
       end do
    end do
  end subroutine copy_box

  ! One sweep along the lines of direction d: forward elimination from the first slice to the last,
  ! back substitution from the last to the first. What a line hands to the next tile travels in
  ! carry (forward numbers a line), what it hands back in back (backward numbers a line); zeros
  ! stand for the boundary of the grid, where nothing is handed over. In the last slice forward also
  ! substitutes back at once, while the lines are in the cache.
  subroutine sweep(g, d, forward, backward, eliminate, substitute)
    type(partition_t), intent(inout) :: g
    integer, intent(in) :: d, forward, backward
    procedure(line_pass) :: eliminate
    procedure(return_pass) :: substitute
    integer :: s, last
    last = g%shape(d) - 1
    call reserve(g, d, max(forward, backward))
    carry = 0
    back = 0
    do s = 0, last
       if (s > 0) call nas_recv(g%minus(d), tag_forward, carry, forward * lines(g, d, s))
       call eliminate_slice(g, d, s, forward, backward, eliminate)
       if (s < last) call nas_send(g%plus(d), tag_forward, carry, forward * lines(g, d, s))
       if (s == last) call send_to_self(g, tag_forward, carry, forward * lines(g, d, s))
    end do
    do s = last, 0, -1
       if (s < last) then
          call nas_recv(g%plus(d), tag_backward, back, backward * lines(g, d, s))
          call substitute_slice(g, d, s, backward, substitute)
       end if
       if (s > 0) call nas_send(g%minus(d), tag_backward, back, backward * lines(g, d, s))
       if (s == 0) call send_to_self(g, tag_backward, back, backward * lines(g, d, s))
    end do
  end subroutine sweep

  subroutine eliminate_slice(g, d, s, forward, backward, eliminate)
    type(partition_t), intent(inout) :: g
    integer, intent(in) :: d, s, forward, backward
    procedure(line_pass) :: eliminate
    integer :: i, at
    at = 0
    do i = 1, size(g%tile)
       if (g%tile(i)%c(d) /= s) cycle
       call eliminate(g%tile(i), d, s == g%shape(d) - 1, carry(forward*at+1:), &
            back(backward*at+1:))
       at = at + tile_lines(g%tile(i), d)
    end do
  end subroutine eliminate_slice

  subroutine substitute_slice(g, d, s, backward, substitute)
    type(partition_t), intent(inout) :: g
    integer, intent(in) :: d, s, backward
    procedure(return_pass) :: substitute
    integer :: i, at
    at = 0
    do i = 1, size(g%tile)
       if (g%tile(i)%c(d) /= s) cycle
       call substitute(g%tile(i), d, back(backward*at+1:))
       at = at + tile_lines(g%tile(i), d)
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

  pure integer function tile_lines(t, d)
    type(tile_t), intent(in) :: t
    integer, intent(in) :: d
    tile_lines = product(t%b%n) / t%b%n(d)
  end function tile_lines

  ! How many lines the tiles of slice s have.
  pure integer function lines(g, d, s)
    type(partition_t), intent(in) :: g
    integer, intent(in) :: d, s
    integer :: i
    lines = 0
    do i = 1, size(g%tile)
       if (g%tile(i)%c(d) == s) lines = lines + tile_lines(g%tile(i), d)
    end do
  end function lines

  subroutine reserve(g, d, numbers)
    type(partition_t), intent(in) :: g
    integer, intent(in) :: d, numbers
    integer :: s, n
    n = 0
    do s = 0, g%shape(d) - 1
       n = max(n, numbers * lines(g, d, s))
    end do
    if (allocated(carry)) then
       if (size(carry) >= n) return
       deallocate (carry, back)
    end if
    allocate (carry(n), back(n))
  end subroutine reserve
end module fluid_tiles
