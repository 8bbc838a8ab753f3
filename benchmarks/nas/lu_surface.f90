! SPDX-License-Identifier: MIT OR Apache-2.0
!
! The surface integral that LU is verified by beside the norms (RNR-94-007, verification of the
! simulated CFD applications): a quarter of the sum, over all cells of the six faces of a box inside
! the cube, of the pressure in the four corners of the cell times the area of the cell.
module lu_surface
  use fluid
  implicit none
  private
  public :: surface_share

contains

  ! What this task's points add to the integral.  The box leaves out the boundary of the grid and,
  ! as the official values have it, one more layer at the far side of y and at the near side of z.
  function surface_share(b) result(total)
    type(block_t), intent(in) :: b
    real(dp) :: total, h(3)
    integer :: low(3), high(3), axis

    low = [1, 1, 2]
    high = coef%size - [2, 3, 2]
    h = 1.0_dp / (coef%size - 1)
    total = 0
    do axis = 1, 3
       total = total + product(h) / h(axis) * face_share(b, axis, low(axis), low, high)
       total = total + product(h) / h(axis) * face_share(b, axis, high(axis), low, high)
    end do
  end function surface_share

  ! One face: grid index `at` along `axis`, low to high along the other two.
  function face_share(b, axis, at, low, high) result(total)
    type(block_t), intent(in) :: b
    integer, intent(in) :: axis, at, low(3), high(3)
    real(dp) :: total, v(5)
    integer :: i, j, k, from(3), to(3)

    from = low
    to = high
    from(axis) = at
    to(axis) = at
    from = max(from - b%lo + 1, 1)
    to = min(to - b%lo + 1, b%n)
    total = 0
    do k = from(3), to(3)
       do j = from(2), to(2)
          do i = from(1), to(1)
             v = b%u(i, :, j, k)
             total = total + pressure(v) * weight([i, j, k] + b%lo - 1, axis, low, high)
          end do
       end do
    end do
  end function face_share

  ! A point is a corner of four cells inside the face, of two on an edge, of one in a corner.
  pure real(dp) function weight(at, axis, low, high)
    integer, intent(in) :: at(3), axis, low(3), high(3)
    logical :: on_edge(3)

    on_edge = at == low .or. at == high
    on_edge(axis) = .false.
    weight = 0.5_dp**count(on_edge)
  end function weight

  pure real(dp) function pressure(v)
    real(dp), intent(in) :: v(5)

    pressure = k2 * (v(5) - 0.5_dp * (v(2)**2 + v(3)**2 + v(4)**2) / v(1))
  end function pressure

end module lu_surface
