! SPDX-License-Identifier: MIT OR Apache-2.0
! FT, the three-dimensional Fourier transform kernel (RNR-94-007, section 2.2.4): u_t = alpha
! Laplace(u) on n1 x n2 x n3 points with random initial values: transformed once, multiplied by
! exp(-4 alpha pi^2 |k|^2 t) and transformed back for each t = 1, 2 ..., with a checksum of 1024
! points.
!
! A task has n3/P planes in space, and n2/P of the k2 in the transformed world, where all of the
! third direction is with it. Both are kept as blocks(n1, n2/P, n3/P, 0:P-1), block b being what
! task b sent or will get, so what is sent and received lies together and needs no packing.
! Lines come from memory `width` side by side, into work arrays that stay in the cache, real and
! imaginary parts apart; there `lanes` of them are transformed at once.
module ft_kernel
  use nas_common
  implicit none

  real(dp), parameter :: alpha = 1d-6, pi = 3.141592653589793238d0
  real(dp), parameter :: factor = 1220703125d0, seed0 = 314159265d0
  integer, parameter :: tag_blocks = 1, tag_done = 2, checks = 1024
  integer, parameter :: lanes = 8, width = 32 ! lines transformed, and fetched, at once
  integer, parameter :: smallest = width

  ! Checksums of the classes S, W, A and B; where they are from: README.md.
  complex(dp), parameter :: wanted_s(6) = [ &
    (5.546087004964e2_dp, 4.845363331978e2_dp), (5.546385409189e2_dp, 4.865304269511e2_dp), &
    (5.546148406171e2_dp, 4.883910722336e2_dp), (5.545423607415e2_dp, 4.901273169046e2_dp), &
    (5.544255039624e2_dp, 4.917475857993e2_dp), (5.542683411902e2_dp, 4.932597244941e2_dp) &
    ]
  complex(dp), parameter :: wanted_w(6) = [ &
    (5.673612178944e2_dp, 5.293246849175e2_dp), (5.631436885271e2_dp, 5.282149986629e2_dp), &
    (5.594024089970e2_dp, 5.270996558037e2_dp), (5.560698047020e2_dp, 5.260027904925e2_dp), &
    (5.530898991250e2_dp, 5.249400845633e2_dp), (5.504159734538e2_dp, 5.239212247086e2_dp) &
    ]
  complex(dp), parameter :: wanted_a(6) = [ &
    (5.046735008193e2_dp, 5.114047905510e2_dp), (5.059412319734e2_dp, 5.098809666433e2_dp), &
    (5.069376896287e2_dp, 5.098144042213e2_dp), (5.077892868474e2_dp, 5.101336130759e2_dp), &
    (5.085233095391e2_dp, 5.104914655194e2_dp), (5.091487099959e2_dp, 5.107917842803e2_dp) &
    ]
  complex(dp), parameter :: wanted_b(20) = [ &
    (5.177643571579e2_dp, 5.077803458597e2_dp), (5.154521291263e2_dp, 5.088249431599e2_dp), &
    (5.146409228649e2_dp, 5.096208912659e2_dp), (5.142378756213e2_dp, 5.101023387619e2_dp), &
    (5.139626667737e2_dp, 5.103976610617e2_dp), (5.137423460082e2_dp, 5.105948019802e2_dp), &
    (5.135547056878e2_dp, 5.107404165783e2_dp), (5.133910925466e2_dp, 5.108576573661e2_dp), &
    (5.132470705390e2_dp, 5.109577278523e2_dp), (5.131197729984e2_dp, 5.110460304483e2_dp), &
    (5.130070319283e2_dp, 5.111252433800e2_dp), (5.129070537032e2_dp, 5.111968077718e2_dp), &
    (5.128182883502e2_dp, 5.112616233064e2_dp), (5.127393733383e2_dp, 5.113203605551e2_dp), &
    (5.126691062020e2_dp, 5.113735928093e2_dp), (5.126064276004e2_dp, 5.114218460548e2_dp), &
    (5.125504076570e2_dp, 5.114656139760e2_dp), (5.125002331720e2_dp, 5.115053595966e2_dp), &
    (5.124551951846e2_dp, 5.115415130407e2_dp), (5.124146770029e2_dp, 5.115744692211e2_dp) &
    ]

  integer :: n1, n2, n3, iterations
  integer :: own2, own3                      ! n2/P, n3/P
  complex(dp), allocatable, target :: spectrum(:, :, :, :) ! the transformed initial values
  complex(dp), allocatable, target :: outgoing(:, :, :, :), arrived(:, :, :, :)
  complex(dp), allocatable :: plane(:, :)    ! (n2, n1): one plane in space, the second index first
  real(dp), allocatable :: decay1(:), decay2(:), decay3(:) ! exp(-4 alpha pi^2 k^2)

  type roots ! of unity: exp(-2 pi i k / n)
    real(dp), allocatable :: re(:), im(:)
  end type
  type(roots) :: roots1, roots2, roots3

contains

  subroutine choose_size(letter)
    character, intent(in) :: letter
    integer :: sizes(3)
    iterations = 6
    select case (letter)
    case ('W'); sizes = [128, 128, 32]
    case ('A'); sizes = [256, 256, 128]
    case ('B'); sizes = [512, 256, 256]; iterations = 20
    case default; sizes = 64
    end select
    if (nas%size(1) > 0) sizes = nas%size
    if (nas%iterations > 0) iterations = nas%iterations
    if (any(popcnt(sizes) /= 1) .or. any(sizes(1:2) < smallest)) &
      call nas_fail('FT takes sizes that are powers of two, the first two 32 or more.')
    n1 = sizes(1)
    n2 = sizes(2)
    n3 = sizes(3)
  end subroutine

  integer(c_int) function takes(tasks) bind(C)
    integer(c_int), value :: tasks
    takes = merge(1, 0, iand(tasks, tasks - 1) == 0 .and. tasks <= min(n2, n3))
  end function

  subroutine allocate_all()
    own2 = n2 / nas%tasks
    own3 = n3 / nas%tasks
    allocate (spectrum(n1, own2, own3, 0:nas%tasks - 1), outgoing(n1, own2, own3, 0:nas%tasks - 1))
    if (nas%tasks > 1) allocate (arrived(n1, own2, own3, 0:nas%tasks - 1))
    allocate (plane(n2, n1))
  end subroutine

  ! ---- One-dimensional transforms of `lanes` lines ----

  subroutine make_roots(n, table)
    integer, intent(in) :: n
    type(roots), intent(inout) :: table
    integer :: k
    table%re = [(cos(2 * pi * k / n), k=0, n - 1)]
    table%im = [(-sin(2 * pi * k / n), k=0, n - 1)]
  end subroutine

  ! A step of Stockham's method, radix 4: `rest` points are still to be combined, in groups of
  ! `done` lanes and points that are; so all of a group have the same roots, and the inner loop is
  ! long.
  pure subroutine radix4(rest, done, n, re, im, sign, ar, ai, br, bi)
    integer, intent(in) :: rest, done, n
    real(dp), intent(in) :: re(0:n - 1), im(0:n - 1), sign
    real(dp), intent(in) :: ar(done, rest / 4, 4), ai(done, rest / 4, 4)
    real(dp), intent(out) :: br(done, 4, rest / 4), bi(done, 4, rest / 4)
    real(dp) :: w1r, w1i, w2r, w2i, w3r, w3i, sr, si, dr, di, tr, ti, er, ei
    integer :: i, p, apart
    apart = n / rest
    do p = 1, rest / 4
      w1r = re((p - 1) * apart)
      w1i = sign * im((p - 1) * apart)
      w2r = re((p - 1) * apart * 2)
      w2i = sign * im((p - 1) * apart * 2)
      w3r = re((p - 1) * apart * 3)
      w3i = sign * im((p - 1) * apart * 3)
      do i = 1, done
        sr = ar(i, p, 1) + ar(i, p, 3)
        si = ai(i, p, 1) + ai(i, p, 3)
        dr = ar(i, p, 1) - ar(i, p, 3)
        di = ai(i, p, 1) - ai(i, p, 3)
        tr = ar(i, p, 2) + ar(i, p, 4)
        ti = ai(i, p, 2) + ai(i, p, 4)
        er = -sign * (ai(i, p, 2) - ai(i, p, 4))
        ei = sign * (ar(i, p, 2) - ar(i, p, 4))
        br(i, 1, p) = sr + tr
        bi(i, 1, p) = si + ti
        br(i, 2, p) = w1r * (dr - er) - w1i * (di - ei)
        bi(i, 2, p) = w1r * (di - ei) + w1i * (dr - er)
        br(i, 3, p) = w2r * (sr - tr) - w2i * (si - ti)
        bi(i, 3, p) = w2r * (si - ti) + w2i * (sr - tr)
        br(i, 4, p) = w3r * (dr + er) - w3i * (di + ei)
        bi(i, 4, p) = w3r * (di + ei) + w3i * (dr + er)
      end do
    end do
  end subroutine

  ! The last step, when four points are left: all roots are 1.
  pure subroutine last4(done, sign, ar, ai, br, bi)
    integer, intent(in) :: done
    real(dp), intent(in) :: sign, ar(done, 4), ai(done, 4)
    real(dp), intent(out) :: br(done, 4), bi(done, 4)
    real(dp) :: sr, si, dr, di, tr, ti, er, ei
    integer :: i
    do i = 1, done
      sr = ar(i, 1) + ar(i, 3)
      si = ai(i, 1) + ai(i, 3)
      dr = ar(i, 1) - ar(i, 3)
      di = ai(i, 1) - ai(i, 3)
      tr = ar(i, 2) + ar(i, 4)
      ti = ai(i, 2) + ai(i, 4)
      er = -sign * (ai(i, 2) - ai(i, 4))
      ei = sign * (ar(i, 2) - ar(i, 4))
      br(i, 1) = sr + tr
      bi(i, 1) = si + ti
      br(i, 2) = dr - er
      bi(i, 2) = di - ei
      br(i, 3) = sr - tr
      bi(i, 3) = si - ti
      br(i, 4) = dr + er
      bi(i, 4) = di + ei
    end do
  end subroutine

  ! The last step where n is no power of four.
  pure subroutine radix2(done, ar, ai, br, bi)
    integer, intent(in) :: done
    real(dp), intent(in) :: ar(done, 2), ai(done, 2)
    real(dp), intent(out) :: br(done, 2), bi(done, 2)
    br(:, 1) = ar(:, 1) + ar(:, 2)
    bi(:, 1) = ai(:, 1) + ai(:, 2)
    br(:, 2) = ar(:, 1) - ar(:, 2)
    bi(:, 2) = ai(:, 1) - ai(:, 2)
  end subroutine

  ! Of `lanes` lines into themselves. sign 1: exp(-2 pi i jk/n), -1: exp(+...), neither divided by
  ! n.
  subroutine transform(n, table, sign, xr, xi)
    integer, intent(in) :: n
    type(roots), intent(in) :: table
    real(dp), intent(in) :: sign
    real(dp), intent(inout) :: xr(lanes * n), xi(lanes * n)
    real(dp) :: yr(lanes * n), yi(lanes * n)
    integer :: rest, done
    logical :: in_y
    rest = n
    done = lanes
    in_y = .false.
    do while (rest >= 4)
      if (in_y) then
        call step4(rest, done, n, table, sign, yr, yi, xr, xi)
      else
        call step4(rest, done, n, table, sign, xr, xi, yr, yi)
      end if
      in_y = .not. in_y
      rest = rest / 4
      done = done * 4
    end do
    if (rest == 2 .and. in_y) call radix2(done, yr, yi, xr, xi)
    if (rest == 2 .and. .not. in_y) call radix2(done, xr, xi, yr, yi)
    if (rest == 2) in_y = .not. in_y
    if (in_y) then
      xr = yr
      xi = yi
    end if
  end subroutine

  pure subroutine step4(rest, done, n, table, sign, ar, ai, br, bi)
    integer, intent(in) :: rest, done, n
    type(roots), intent(in) :: table
    real(dp), intent(in) :: sign, ar(lanes * n), ai(lanes * n)
    real(dp), intent(out) :: br(lanes * n), bi(lanes * n)
    if (rest == 4) then
      call last4(done, sign, ar, ai, br, bi)
    else
      call radix4(rest, done, n, table%re, table%im, sign, ar, ai, br, bi)
    end if
  end subroutine

  subroutine transform_all(n, table, sign, xr, xi)
    integer, intent(in) :: n
    type(roots), intent(in) :: table
    real(dp), intent(in) :: sign
    real(dp), intent(inout) :: xr(lanes * n, width / lanes), xi(lanes * n, width / lanes)
    integer :: group
    do group = 1, width / lanes
      call transform(n, table, sign, xr(:, group), xi(:, group))
    end do
  end subroutine

  ! Point `at` of `width` lines, times a factor for each, from memory to the work arrays, and back.
  pure subroutine load(from, n, at, xr, xi)
    integer, intent(in) :: n, at
    complex(dp), intent(in) :: from(lanes, width / lanes)
    real(dp), intent(inout) :: xr(lanes, n, width / lanes), xi(lanes, n, width / lanes)
    integer :: group, l
    do group = 1, width / lanes
      do l = 1, lanes
        xr(l, at, group) = real(from(l, group), dp)
        xi(l, at, group) = aimag(from(l, group))
      end do
    end do
  end subroutine

  pure subroutine load_times(from, times, n, at, xr, xi)
    integer, intent(in) :: n, at
    complex(dp), intent(in) :: from(lanes, width / lanes)
    real(dp), intent(in) :: times(lanes, width / lanes)
    real(dp), intent(inout) :: xr(lanes, n, width / lanes), xi(lanes, n, width / lanes)
    integer :: group, l
    do group = 1, width / lanes
      do l = 1, lanes
        xr(l, at, group) = real(from(l, group), dp) * times(l, group)
        xi(l, at, group) = aimag(from(l, group)) * times(l, group)
      end do
    end do
  end subroutine

  pure subroutine store(to, n, at, xr, xi)
    integer, intent(in) :: n, at
    complex(dp), intent(inout) :: to(lanes, width / lanes)
    real(dp), intent(in) :: xr(lanes, n, width / lanes), xi(lanes, n, width / lanes)
    integer :: group, l
    do group = 1, width / lanes
      do l = 1, lanes
        to(l, group) = cmplx(xr(l, at, group), xi(l, at, group), dp)
      end do
    end do
  end subroutine

  ! The same for lines that lie one after the other, as columns of the plane.
  pure subroutine load_turned(from, n, xr, xi)
    integer, intent(in) :: n
    complex(dp), intent(in) :: from(n, lanes, width / lanes)
    real(dp), intent(out) :: xr(lanes, n, width / lanes), xi(lanes, n, width / lanes)
    integer :: group, l, at
    do group = 1, width / lanes
      do at = 1, n
        do l = 1, lanes
          xr(l, at, group) = real(from(at, l, group), dp)
          xi(l, at, group) = aimag(from(at, l, group))
        end do
      end do
    end do
  end subroutine

  pure subroutine store_turned(to, n, xr, xi)
    integer, intent(in) :: n
    complex(dp), intent(inout) :: to(n, lanes, width / lanes)
    real(dp), intent(in) :: xr(lanes, n, width / lanes), xi(lanes, n, width / lanes)
    integer :: group, l, at
    do group = 1, width / lanes
      do at = 1, n
        do l = 1, lanes
          to(at, l, group) = cmplx(xr(l, at, group), xi(l, at, group), dp)
        end do
      end do
    end do
  end subroutine

  ! ---- The three directions ----

  ! First direction of a plane in space; the plane has the second index first.
  subroutine transform1(sign)
    real(dp), intent(in) :: sign
    real(dp) :: xr(width * n1), xi(width * n1)
    integer :: j, i
    do j = 1, n2, width
      do i = 1, n1
        call load(plane(j, i), n1, i, xr, xi)
      end do
      call transform_all(n1, roots1, sign, xr, xi)
      do i = 1, n1
        call store(plane(j, i), n1, i, xr, xi)
      end do
    end do
  end subroutine

  ! Second direction forward, from the plane to the blocks of all receivers.
  subroutine transform2_forward(k)
    integer, intent(in) :: k ! which of this task's planes
    real(dp) :: xr(width * n2), xi(width * n2)
    integer :: i, j
    do i = 1, n1, width
      call load_turned(plane(1, i), n2, xr, xi)
      call transform_all(n2, roots2, 1d0, xr, xi)
      do j = 0, n2 - 1
        call store(outgoing(i, modulo(j, own2) + 1, k, j / own2), n2, j + 1, xr, xi)
      end do
    end do
  end subroutine

  ! Second direction back, from the blocks that came to the plane.
  subroutine transform2_back(blocks, k)
    complex(dp), intent(in) :: blocks(n1, own2, own3, 0:nas%tasks - 1)
    integer, intent(in) :: k
    real(dp) :: xr(width * n2), xi(width * n2)
    integer :: i, j
    do i = 1, n1, width
      do j = 0, n2 - 1
        call load(blocks(i, modulo(j, own2) + 1, k, j / own2), n2, j + 1, xr, xi)
      end do
      call transform_all(n2, roots2, -1d0, xr, xi)
      call store_turned(plane(1, i), n2, xr, xi)
    end do
  end subroutine

  ! Third direction forward, within the spectrum.
  subroutine transform3_forward()
    real(dp) :: xr(width * n3), xi(width * n3)
    integer :: i, j, k
    do j = 1, own2
      do i = 1, n1, width
        do k = 0, n3 - 1
          call load(spectrum(i, j, modulo(k, own3) + 1, k / own3), n3, k + 1, xr, xi)
        end do
        call transform_all(n3, roots3, 1d0, xr, xi)
        do k = 0, n3 - 1
          call store(spectrum(i, j, modulo(k, own3) + 1, k / own3), n3, k + 1, xr, xi)
        end do
      end do
    end do
  end subroutine

  ! Third direction back, of the spectrum at time t: exp(-4 alpha pi^2 (k1^2 + k2^2 + k3^2) t) is a
  ! product of three factors.
  subroutine transform3_back(t)
    integer, intent(in) :: t
    real(dp) :: along1(n1), along3(n3), here, xr(width * n3), xi(width * n3)
    integer :: i, j, k
    along1 = decay1**t
    along3 = decay3**t
    do j = 1, own2
      here = decay2(nas%rank * own2 + j)**t
      do i = 1, n1, width
        do k = 0, n3 - 1
          call load_times(spectrum(i, j, modulo(k, own3) + 1, k / own3), &
            along1(i:i + width - 1) * (here * along3(k + 1)), n3, k + 1, xr, xi)
        end do
        call transform_all(n3, roots3, -1d0, xr, xi)
        do k = 0, n3 - 1
          call store(outgoing(i, j, modulo(k, own3) + 1, k / own3), n3, k + 1, xr, xi)
        end do
      end do
    end do
  end subroutine

  ! ---- The whole ----

  ! Frequencies run 0 .. n/2 - 1, -n/2 .. -1.
  subroutine make_decay(n, decay)
    integer, intent(in) :: n
    real(dp), allocatable, intent(out) :: decay(:)
    integer :: k
    decay = [(exp(-4 * alpha * pi**2 * real(modulo(k + n / 2, n) - n / 2, dp)**2), k=0, n - 1)]
  end subroutine

  subroutine make_tables()
    call make_decay(n1, decay1)
    call make_decay(n2, decay2)
    call make_decay(n3, decay3)
    call make_roots(n1, roots1)
    call make_roots(n2, roots2)
    call make_roots(n3, roots3)
  end subroutine

  ! Random numbers fill the array in storage order, real and imaginary part by turns.
  subroutine fill_plane(k)
    integer, intent(in) :: k
    real(dp) :: seed, line(2 * n1)
    integer :: i, j
    seed = nas_seed_after(seed0, factor, 2_c_long * n1 * n2 * (nas%rank * own3 + k - 1))
    do j = 1, n2
      call nas_randoms(2 * n1, seed, factor, line)
      do i = 1, n1
        plane(j, i) = cmplx(line(2 * i - 1), line(2 * i), dp)
      end do
    end do
  end subroutine

  ! Blocks to their tasks, in pairs that differ in the same bits of the rank. Both of a pair wait
  ! until each has the other's block: a step that began before would send beside this one, on the
  ! same cables, and its receivers would wait for both.
  subroutine exchange(from, to)
    complex(dp), intent(inout) :: from(n1, own2, own3, 0:nas%tasks - 1)
    complex(dp), intent(inout) :: to(n1, own2, own3, 0:nas%tasks - 1)
    integer :: step, other
    real(dp) :: done(1)
    done = 0
    to(:, :, :, nas%rank) = from(:, :, :, nas%rank)
    do step = 1, nas%tasks - 1
      other = ieor(nas%rank, step)
#ifdef NAS_PLANT
      if (nas%rank == 0) from(:, :, own3, other) = 0 ! planted: a plane that does not come
#endif
      call nas_send(other, tag_blocks, from(1, 1, 1, other), 2 * n1 * own2 * own3)
      call nas_recv(other, tag_blocks, to(1, 1, 1, other), 2 * n1 * own2 * own3)
      if (nas%thesis == 1) cycle ! which had no such messages
      call nas_send(other, tag_done, done, 1)
      call nas_recv(other, tag_done, done, 1)
    end do
  end subroutine

  subroutine transform_initial()
    integer :: k
    do k = 1, own3
      call fill_plane(k)
      call transform1(1d0)
      call transform2_forward(k)
    end do
    call exchange(outgoing, spectrum)
    call transform3_forward()
  end subroutine

  ! Planes are transformed one after the other, and the checksum taken while they are in the cache:
  ! points (j mod n1, 3j mod n2, 5j mod n3) for j = 1 .. 1024.
  complex(dp) function planes_back(blocks)
    complex(dp), intent(in) :: blocks(n1, own2, own3, 0:nas%tasks - 1)
    integer :: j, k
    planes_back = 0
    do k = 1, own3
      call transform2_back(blocks, k)
      call transform1(-1d0)
      do j = 1, checks
        if (modulo(5 * j, n3) /= nas%rank * own3 + k - 1) cycle
        planes_back = planes_back + plane(modulo(3 * j, n2) + 1, modulo(j, n1) + 1)
      end do
    end do
  end function

  subroutine run(count, checksums)
    integer, intent(in) :: count
    complex(dp), intent(out) :: checksums(count)
    integer :: t
    call make_tables()
    call transform_initial()
    do t = 1, count
      call transform3_back(t)
      if (nas%tasks > 1) then
        call exchange(outgoing, arrived)
        checksums(t) = planes_back(arrived)
      else
#ifdef NAS_PLANT
        outgoing(:, :, own3, 0) = 0
#endif
        checksums(t) = planes_back(outgoing)
      end if
    end do
    call sum_checksums(count, checksums)
  end subroutine

  subroutine sum_checksums(count, checksums)
    integer, intent(in) :: count
    complex(dp), intent(inout) :: checksums(count)
    real(dp) :: items(2 * count)
    items(1:count) = real(checksums, dp)
    items(count + 1:) = aimag(checksums)
    call nas_sum(items, 2 * count)
    checksums = cmplx(items(1:count), items(count + 1:), dp) / (real(n1, dp) * n2 * n3)
  end subroutine

  ! ---- The answer ----

  ! The checksums of a size that is a class, and how many there are; 0 for other sizes.
  subroutine find_wanted(values, count)
    complex(dp), intent(out) :: values(20)
    integer, intent(out) :: count
    integer :: sizes(3)
    sizes = [n1, n2, n3]
    values = 0
    count = 6
    if (all(sizes == 64)) then
      values(1:6) = wanted_s
    else if (all(sizes == [128, 128, 32])) then
      values(1:6) = wanted_w
    else if (all(sizes == [256, 256, 128])) then
      values(1:6) = wanted_a
    else if (all(sizes == [512, 256, 256])) then
      count = 20
      values = wanted_b
    else
      count = 0
    end if
  end subroutine

  subroutine verify(checksums)
    complex(dp), intent(in) :: checksums(iterations)
    complex(dp) :: values(20)
    character(32) :: name
    integer :: t, known
    call find_wanted(values, known)
    do t = 1, iterations
      write (name, '(a, i0)') 'checksum ', t
      if (t <= known) then
        call nas_quantity(trim(name) // ' real', real(checksums(t), dp), real(values(t), dp), 1d-12)
        call nas_quantity(trim(name) // ' imag', aimag(checksums(t)), aimag(values(t)), 1d-12)
      else
        call nas_norm(trim(name) // ' real', real(checksums(t), dp))
        call nas_norm(trim(name) // ' imag', aimag(checksums(t)))
      end if
    end do
  end subroutine

  ! The customary count of a transform with these lengths.
  real(dp) function operations()
    real(dp) :: points, logarithm
    points = real(n1, dp) * n2 * n3
    logarithm = log(points)
    operations = points * (14.8157d0 + 7.19641d0 * logarithm &
      + (5.23518d0 + 7.21113d0 * logarithm) * iterations)
  end function

end module

program ft
  use ft_kernel
  implicit none
  complex(dp), allocatable :: checksums(:)
  real(dp) :: began, seconds
  character(32) :: text

  call nas_options('ft', nas_size)
  call choose_size(achar(nas%class_letter))
  call nas_require_tasks(takes, 'FT takes powers of two up to its planes')
  call nas_begin(48d0 * n1 * n2 * n3 / nas%tasks + 16d0 * n1 * n2)
  call allocate_all()
  allocate (checksums(iterations))
  call run(1, checksums(1:1)) ! not timed
  call nas_barrier()
  call nas_timed(1)
  began = nas_seconds()
  call run(iterations, checksums)
  seconds = nas_seconds() - began
  call nas_timed(0)
  call verify(checksums)
  write (text, '(i0, "x", i0, "x", i0)') n1, n2, n3
  call nas_report(trim(text), iterations, seconds, operations())
  call nas_end()
end program
