! SPDX-License-Identifier: MIT OR Apache-2.0
! EP, the embarrassingly parallel kernel (RNR-94-007, section 2.2.1): 2^m pairs of uniform random
! numbers become pairs of Gaussian deviates, whose sums and counts are the answer. The only messages
! are the sums.
module ep_kernel
  use nas_common
  implicit none

  real(dp), parameter :: seed0 = 271828183d0, factor = 1220703125d0 ! s and a = 5^13
  integer, parameter :: batch_log = 16, batch = 2**batch_log        ! pairs of a batch
  integer, parameter :: piece = 4096                                ! pairs that stay in the cache

  integer :: m ! 2^m pairs

  type tally
    real(dp) :: sx = 0, sy = 0
    real(dp) :: in_ring(0:9) = 0
  end type

contains

  ! Pairs of a class: 2^m.
  integer function pairs_log(letter)
    character, intent(in) :: letter
    select case (letter)
    case ('W'); pairs_log = 25
    case ('A'); pairs_log = 28
    case ('B'); pairs_log = 30
    case default; pairs_log = 24
    end select
  end function

  integer(c_int) function takes(tasks) bind(C)
    integer(c_int), value :: tasks
    takes = merge(1, 0, tasks <= 2**(m - batch_log))
  end function

  ! x = 2 r - 1, y = 2 r' - 1; the pairs with t = x^2 + y^2 <= 1 move to the front, without a branch
  ! that the processor would guess wrong each fifth time.
  subroutine keep_inside(r, x, y, t, kept)
    real(dp), intent(in) :: r(2 * piece)
    real(dp), intent(out) :: x(piece + 1), y(piece + 1), t(piece + 1)
    integer, intent(out) :: kept
    real(dp) :: xi, yi, ti
    integer :: i
    kept = 0
    do i = 1, piece
      xi = 2d0 * r(2 * i - 1) - 1d0
      yi = 2d0 * r(2 * i) - 1d0
      ti = xi * xi + yi * yi
      x(kept + 1) = xi
      y(kept + 1) = yi
      t(kept + 1) = ti
      if (ti <= 1d0) kept = kept + 1
    end do
  end subroutine

  ! X = x sqrt(-2 log t / t), Y likewise; ring l counts the pairs with l <= max(|X|, |Y|) < l+1.
  subroutine add_gaussian(kept, x, y, t, sums)
    integer, intent(in) :: kept
    real(dp), intent(in) :: x(piece + 1), y(piece + 1), t(piece + 1)
    type(tally), intent(inout) :: sums
    real(dp) :: scale(piece), gx, gy
    integer :: i, ring
    do i = 1, kept
      scale(i) = log(t(i))
    end do
    do i = 1, kept
      scale(i) = sqrt(-2d0 * scale(i) / t(i))
    end do
    do i = 1, kept
      gx = x(i) * scale(i)
      gy = y(i) * scale(i)
      ring = int(max(abs(gx), abs(gy)))
      sums%in_ring(ring) = sums%in_ring(ring) + 1
      sums%sx = sums%sx + gx
      sums%sy = sums%sy + gy
    end do
#ifdef NAS_PLANT
    ! Planted: a deviate with the wrong sign.
    if (nas%rank == 0) sums%sx = sums%sx - 2 * x(1) * scale(1)
#endif
  end subroutine

  ! Batch k begins 2 * batch * k numbers after the seed.
  subroutine do_batch(k, sums)
    integer, intent(in) :: k
    type(tally), intent(inout) :: sums
    real(dp) :: r(2 * piece), x(piece + 1), y(piece + 1), t(piece + 1), seed
    integer :: i, kept
    seed = nas_seed_after(seed0, factor, int(k, c_long) * 2 * batch)
    do i = 1, batch / piece
      call nas_randoms(2 * piece, seed, factor, r)
      call keep_inside(r, x, y, t, kept)
      call add_gaussian(kept, x, y, t, sums)
    end do
  end subroutine

  ! Each task takes neighbouring batches.
  subroutine do_share(batches, sums)
    integer, intent(in) :: batches
    type(tally), intent(inout) :: sums
    integer :: k, first, last
    first = int(int(batches, 8) * nas%rank / nas%tasks)
    last = int(int(batches, 8) * (nas%rank + 1) / nas%tasks) - 1
    do k = first, last
      call do_batch(k, sums)
      if (mod(k, 64) == 63) call nas_poll()
    end do
  end subroutine

  subroutine sum_up(sums)
    type(tally), intent(inout) :: sums
    real(dp) :: all(12)
    all(1:2) = [sums%sx, sums%sy]
    all(3:12) = sums%in_ring
    call nas_sum(all, 12)
    sums%sx = all(1)
    sums%sy = all(2)
    sums%in_ring = all(3:12)
  end subroutine

  subroutine verify(sums)
    type(tally), intent(in) :: sums
    real(dp) :: wanted(2)
    select case (m)
    case (24); wanted = [-3.247834652034740d3, -6.958407078382297d3]
    case (25); wanted = [-2.863319731645753d3, -6.320053679109499d3]
    case (28); wanted = [-4.295875165629892d3, -1.580732573678431d4]
    case default; wanted = [4.033815542441498d4, -2.660669192809235d4]
    end select
    call nas_quantity('sx', sums%sx, wanted(1), 1d-8)
    call nas_quantity('sy', sums%sy, wanted(2), 1d-8)
    call nas_norm('Gaussian pairs', sum(sums%in_ring))
  end subroutine

end module

program ep
  use ep_kernel
  implicit none
  real(dp) :: began, seconds
  type(tally) :: warm, sums
  character(16) :: size

  call nas_options('ep', 0)
  m = pairs_log(achar(nas%class_letter))
  call nas_require_tasks(takes, 'EP takes at most one task for each batch of 65536 pairs')
  call nas_begin(1d6)
  call do_batch(0, warm) ! pages, tables and the clock of the processor are warm
  call nas_barrier()
  call nas_timed(1)
  began = nas_seconds()
  call do_share(2**(m - batch_log), sums)
  call sum_up(sums)
  seconds = nas_seconds() - began
  call nas_timed(0)
  call verify(sums)
  write (size, '(a, i0)') '2^', m
  call nas_report(trim(size), 0, seconds, 2d0**(m + 1))
  call nas_end()
end program
