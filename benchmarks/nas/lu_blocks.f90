! SPDX-License-Identifier: MIT OR Apache-2.0
!
! How LU divides the grid among tasks, and what neighbours send each other.
!
! A task owns a pencil: a block of the inside points in x and y, and all of z.  The tasks stand in a
! rectangle of columns (along x) and rows (along y); rank = row * columns + column.  Two kinds of
! messages go between neighbours in the rectangle:
!
!   halo     two layers of U on each side of a pencil, once a step, for the residual
!   shares   what the last points of a pencil contribute to the first points of the next, for each
!            plane of z and each sweep: 5 numbers a point.  A task that has sent plane k goes on
!            with plane k + 1 while the next one works on plane k, so that the tasks work on a
!            slanting front.  Small planes share a message.
module lu_blocks
  use fluid
  use nas_common, only: nas, nas_send, nas_recv
  implicit none
  private
  public :: largest_pencil, pencils_fit, make_pencil, exchange_halo, receive_shares, send_shares

  integer, parameter, public :: west = 1, east = 2, south = 3, north = 4
  integer, parameter :: nobody = -1
  integer, parameter :: min_points = 2                     ! the halo is two points wide
  integer, parameter :: tag_halo = 11, tag_share = 12

  integer, public, protected :: neighbour(4) = nobody      ! ranks
  integer, public, protected :: planes_per_message = 1
  real(dp), allocatable :: face(:)

contains

  ! The rectangle for a power of two: a square, or two squares side by side in y, because the rows
  ! along x are contiguous in memory and had better stay long.
  pure subroutine arrange(tasks, columns, rows)
    integer, intent(in) :: tasks
    integer, intent(out) :: columns, rows

    columns = 1
    do while (4 * columns * columns <= tasks)
       columns = 2 * columns
    end do
    rows = tasks / columns
  end subroutine arrange

  ! Whether so many tasks can share a grid of this size.
  pure logical function pencils_fit(tasks, size)
    integer, intent(in) :: tasks, size(3)
    integer :: columns, rows

    call arrange(tasks, columns, rows)
    pencils_fit = popcnt(tasks) == 1 .and. all(size(1:2) - 2 >= min_points * [columns, rows])
  end function pencils_fit

  ! The points of the largest of the tasks' pencils.
  pure function largest_pencil(tasks, size) result(n)
    integer, intent(in) :: tasks, size(3)
    integer :: n(3), columns, rows

    call arrange(tasks, columns, rows)
    n = (size - 3) / [columns, rows, 1] + 1
  end function largest_pencil

  subroutine make_pencil(b, size, tasks, rank)
    type(block_t), intent(out) :: b
    integer, intent(in) :: size(3), tasks, rank
    integer :: columns, rows, column, row, lo(3), hi(3)

    call arrange(tasks, columns, rows)
    column = mod(rank, columns)
    row = rank / columns
    neighbour = [rank - 1, rank + 1, rank - columns, rank + columns]
    where ([column == 0, column == columns - 1, row == 0, row == rows - 1]) neighbour = nobody
    lo = ([column, row, 0] * (size - 2)) / [columns, rows, 1] + 1
    hi = ([column + 1, row + 1, 1] * (size - 2)) / [columns, rows, 1]
    call make_block(b, lo, hi - lo + 1)
    planes_per_message = planes_together(largest_pencil(tasks, size))
    if (allocated(face)) deallocate (face)
    allocate (face(10 * b%n(3) * maxval(b%n(1:2))))
  end subroutine make_pencil

  ! A message costs about as much as sending 2 KB; but the next task waits until all planes of the
  ! message are done, so that the pipeline should have at least five of them.  In the thesis's shape
  ! each plane goes alone, as there.
  integer function planes_together(n)
    integer, intent(in) :: n(3)
    integer, parameter :: worth_a_message = 2048
    integer :: bytes_of_a_plane

    bytes_of_a_plane = 5 * 8 * maxval(n(1:2))
    planes_together = max(1, min(worth_a_message / bytes_of_a_plane + 1, n(3) / 5))
    if (nas%thesis /= 0) planes_together = 1
  end function planes_together

  ! Brings the halo of U up to date.  The corners of the halo are used by nobody.
  subroutine exchange_halo(b)
    type(block_t), intent(inout) :: b
    integer :: side

    do side = west, north
       if (neighbour(side) == nobody) cycle
       call copy_face(b, side, .true.)
       call nas_send(neighbour(side), tag_halo, face, face_numbers(b, side))
    end do
    do side = west, north
       if (neighbour(side) == nobody) cycle
       call nas_recv(neighbour(side), tag_halo, face, face_numbers(b, side))
       call copy_face(b, side, .false.)
    end do
  end subroutine exchange_halo

  pure integer function face_numbers(b, side)
    type(block_t), intent(in) :: b
    integer, intent(in) :: side

    face_numbers = 10 * b%n(3) * merge(b%n(2), b%n(1), side <= east)
  end function face_numbers

  ! Two layers: the outermost of the pencil into `face`, or `face` into the halo.
  subroutine copy_face(b, side, sending)
    type(block_t), intent(inout) :: b
    integer, intent(in) :: side
    logical, intent(in) :: sending
    integer :: lo(2), hi(2), axis, at

    axis = merge(1, 2, side <= east)
    lo = 1
    hi = b%n(1:2)
    if (side == west .or. side == south) then
       lo(axis) = merge(1, -1, sending)
    else
       lo(axis) = b%n(axis) + merge(-1, 1, sending)
    end if
    hi(axis) = lo(axis) + 1
    at = 0
    call copy_box(b%n, [lo, 1], [hi, b%n(3)], b%u, face, sending, at)
  end subroutine copy_face

  ! The shares of the neighbours behind, in x and y, for some planes; zero at the edge of the cube,
  ! where the correction is zero.
  subroutine receive_shares(behind, planes, x, y)
    integer, intent(in) :: behind(2), planes
    real(dp), intent(inout), contiguous :: x(:, :, :), y(:, :, :)

    if (behind(1) == nobody) then
       x = 0
    else
       call nas_recv(behind(1), tag_share, x, planes * size(x, 1) * size(x, 2))
    end if
    if (behind(2) == nobody) then
       y = 0
    else
       call nas_recv(behind(2), tag_share, y, planes * size(y, 1) * size(y, 2))
    end if
  end subroutine receive_shares

  subroutine send_shares(ahead, planes, x, y)
    integer, intent(in) :: ahead(2), planes
    real(dp), intent(in), contiguous :: x(:, :, :), y(:, :, :)

    if (ahead(1) /= nobody) &
         call nas_send(ahead(1), tag_share, x, planes * size(x, 1) * size(x, 2))
    if (ahead(2) /= nobody) &
         call nas_send(ahead(2), tag_share, y, planes * size(y, 1) * size(y, 2))
  end subroutine send_shares

end module lu_blocks
