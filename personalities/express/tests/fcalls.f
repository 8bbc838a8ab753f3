! SPDX-License-Identifier: MIT OR Apache-2.0
! flags: -std=legacy
! All calls of Fortran programs between nodes, and output in the order of nodes.
      program allf
      implicit none
      include 'express.inc'
      integer env(5), me, n, right, left, i, src, kind, status, rc
      integer a(10), b(10), sizes(64), list(64)
      double precision x(3)
      external add, taken
      integer add, handled
      common /count/ handled
      volatile status, handled
      call KXINIT()
      call KXPARA(env)
      me = env(1)
      n = env(2)
      right = mod(me + 1, n)
      left = mod(me + n - 1, n)
      do i = 1, 10
         a(i) = 100 * me + i
      end do
      rc = KXWRIT(a, 40, right, 1)
      src = left
      kind = NOCARE
      rc = KXREAD(b, 40, src, kind)
      if (rc .ne. 40 .or. kind .ne. 1 .or. src .ne. left
     &   .or. b(10) .ne. 100 * left + 10) call wrong('KXREAD')
      src = left
      kind = 2
      status = 0
      rc = KXRECV(b, 8, src, kind, status)
      rc = KXSEND(a, 8, right, 2, i)
      if (i .ne. 8) call wrong('KXSEND')
      do while (status .lt. 0)
         i = 0
      end do
      if (status .ne. 8) call wrong('KXRECV')
      src = NOCARE
      kind = 3
      if (KXTEST(src, kind) .ge. 0) call wrong('KXTEST')
      src = left
      kind = 4
      if (KXCHAN(b, 40, src, kind, a, 12, right, 4) .ne. 12)
     &   call wrong('KXCHAN')
      kind = 5
      if (KXVCHA(b, 4, 4, 5, src, kind, a, 4, 8, 5, right, 5) .ne. 20
     &   .or. b(2) .ne. 100 * left + 3) call wrong('KXVCHA')
      rc = KXVWRI(a, 4, 8, 5, right, 6)
      kind = 6
      if (KXVREA(b, 4, 8, 5, src, kind) .ne. 20
     &   .or. b(9) .ne. 100 * left + 9) call wrong('KXVREA')
      handled = 0
      rc = KXHAND(taken, NOCARE, 9)
      rc = KXWRIT(a, 4, right, 9)
      do while (handled .eq. 0)
         i = 0
      end do
      if (me .eq. 0) b(1) = 4711
      rc = KXBROD(b, 0, 4, IALNOD, list, i, 10)
      if (b(1) .ne. 4711 .or. i .ne. 4) call wrong('KXBROD')
      do i = 1, 3
         x(i) = me + i
      end do
      rc = KXCOMB(x, add, 8, 3, IALNOD, list, 11)
      if (x(3) .ne. n * (n - 1) / 2 + 3 * n) call wrong('KXCOMB')
      rc = KXCONC(me, 4, list, 256, sizes, IALNOD, list, 12)
      if (rc .ne. 4 * n .or. list(n) .ne. n - 1 .or. sizes(1) .ne. 4)
     &   call wrong('KXCONC')
      rc = KXSYNC()
      rc = KXGDIN(1, -n)
      if (KXGDNO(me, 0, 1) .ne. right) call wrong('KXGDNO')
      rc = KXGDIN(1, n)
      if (KXGDNO(n - 1, 0, 1) .ne. NONODE) call wrong('NONODE')
      rc = KXGDCO(me, a)
      if (KXGDPR(a) .ne. me) call wrong('KXGDPR')
      rc = KXGDSI(me, 7 * n, a, b)
      if (a(1) .ne. 7 .or. b(1) .ne. 7 * me) call wrong('KXGDSI')
      if (KXUNGR(KXGRAY(me)) .ne. me) call wrong('KXGRAY')
      if (KXTIME() .le. 0) call wrong('KXTIME')
      write (*, '(a)') 'single'
      rc = KMULTI(6)
      write (*, '(a,i0)') 'multi ', me
      rc = KFLUSH(6)
      rc = KASYNC(6)
      rc = KSINGL(6)
      write (*, '(a,i0)') 'ok ', n
      end

      integer function add(p1, p2, size)
      double precision p1, p2
      integer size
      p1 = p1 + p2
      add = size
      end

      subroutine taken(buf, length, src, kind)
      integer buf, length, src, kind, handled
      common /count/ handled
      handled = handled + 1
      end

      subroutine wrong(what)
      character*(*) what
      write (0, *) 'not so: ', what
      call exit(1)
      end
