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
  public :: tiles_fit

  integer, parameter :: tag_halo = 1
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
    call copy_box(b%n, lo, hi, b%u, faces, sending, n)
  end subroutine copy_face
end module fluid_tiles
