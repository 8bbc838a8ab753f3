! SPDX-License-Identifier: MIT OR Apache-2.0
! flags: -std=legacy
! All calls of Fortran programs, in any number of processes.
      program every
      implicit none
      include 'p4f.h'
      integer me, all, right, left, rc, n, i, type, from, got, old
      integer first, last, masters(100)
      integer numbers(10), back(10)
      double precision d(5)
      real f(5)
      character*40 word
      external larger
      call p4init()
      n = command_argument_count()
      do i = 1, n
         call get_command_argument(i, word)
         if (word(1:3) .eq. '-p4')
     &   call wrong('an argument of p4 is left')
      end do
      call p4crpg()
      me = p4myid()
      all = p4ntotids()
      if (p4nslaves() .ne. all - 1) call wrong('p4nslaves')
      right = mod(me + 1, all)
      left = mod(me + all - 1, all)
      do i = 1, 10
         numbers(i) = 100 * me + i
      end do
      call p4send(1, right, numbers, 40, rc)
      if (rc .ne. 0) call wrong('p4send')
      call p4sendx(2, right, numbers, 20, P4INT, rc)
      if (rc .ne. 0) call wrong('p4sendx')
      type = 2
      from = -1
      call p4recv(type, from, back, 40, got, rc)
      if (rc .ne. 0 .or. from .ne. left .or. got .ne. 20)
     &   call wrong('p4recv')
      type = -1
      from = left
 10   call p4probe(type, from, rc)
      if (rc .eq. 0) goto 10
      if (type .ne. 1) call wrong('p4probe')
      call p4softerrs(1, old)
      call p4recv(type, from, back, 39, got, rc)
      if (old .ne. 0 .or. rc .ne. -1) call wrong('short buffer')
      call p4softerrs(0, old)
      if (old .ne. 1) call wrong('p4softerrs')
      call p4recv(type, from, back, 40, got, rc)
      if (got .ne. 40 .or. back(10) .ne. 100 * left + 10)
     &   call wrong('content')
      if (all .gt. 1) then
         if (me .eq. 0) then
            call p4sendr(3, 1, numbers, 4, rc)
            call p4sendrx(4, 1, numbers, 4, P4INT, rc)
            if (rc .ne. 0) call wrong('p4sendrx')
         else if (me .eq. 1) then
            type = 3
            from = 0
            call p4recv(type, from, back, 40, got, rc)
            type = 4
            call p4recv(type, from, back, 40, got, rc)
         end if
      end if
      if (me .eq. 0) then
         call p4brdcst(5, numbers, 8, rc)
         call p4brdcstx(6, numbers, 12, P4INT, rc)
      else
         type = 6
         from = 0
         call p4recv(type, from, back, 40, got, rc)
         if (got .ne. 12 .or. back(3) .ne. 3) call wrong('p4brdcstx')
         type = 5
         call p4recv(type, from, back, 40, got, rc)
         if (got .ne. 8) call wrong('p4brdcst')
      end if
      call p4globarr(7)
      do i = 1, 5
         d(i) = me + i
         f(i) = real(me + i)
         numbers(i) = -me - i
      end do
      call p4globop(8, d, 5, 8, p4dblsumop, P4DBL, rc)
      if (rc .ne. 0) call wrong('p4globop')
      call p4globop(8, f, 5, 4, p4fltmaxop, P4FLT, rc)
      call p4globop(8, numbers, 5, 4, p4intminop, P4INT, rc)
      do i = 1, 5
         if (d(i) .ne. all * (all - 1) / 2 + all * i) call wrong('sum')
         if (f(i) .ne. all - 1 + i) call wrong('maximum')
         if (numbers(i) .ne. -(all - 1) - i) call wrong('minimum')
      end do
      call rest(all)
      d(1) = me
      call p4globop(8, d, 1, 8, larger, P4DBL, rc)
      if (d(1) .ne. all - 1) call wrong('own operation')
      call p4getclids(first, last)
      if (me .lt. first .or. me .gt. last) call wrong('p4getclids')
      if (p4myclid() .ne. me - first) call wrong('p4myclid')
      if (p4nclids() .ne. last - first + 1) call wrong('p4nclids')
      call p4getclmasts(n, masters)
      if (n .lt. 1 .or. masters(1) .ne. 0) call wrong('p4getclmasts')
      if (p4clock() .lt. 0) call wrong('p4clock')
      if (p4ustimer() .gt. p4usrollover()) call wrong('p4ustimer')
      call p4setavlbuf(0, 32)
      if (me .eq. 0) call p4avlbufs()
      call p4flush()
      call alogfmaster(0, 0)
      call alogfsetup(0, 0)
      call alogfdefine(1, 'name', 'form')
      call alogflog(0, 1, 2, 'text')
      call alogfstatus(0)
      call alogfenable()
      call alogfdisable()
      call alogfsetdir('/tmp')
      call alogfoutput()
      call get_command_argument(1, word)
      if (word .eq. 'error' .and. me .eq. all - 1)
     &   call p4error('from Fortran', 33)
      if (me .eq. 0) write (*, '(a,i0)') 'ok ', all
      call p4cleanup()
      end

      subroutine larger(x, y, n)
      integer n, i
      double precision x(n), y(n)
      do i = 1, n
         x(i) = max(x(i), y(i))
      end do
      end

! The other operations, of which each is tried on one number.
      subroutine rest(all)
      implicit none
      include 'p4f.h'
      integer all
      call int_one(p4intsumop, all)
      call int_one(p4intmultop, 1)
      call int_one(p4intmaxop, 1)
      call int_one(p4intabsmaxop, 1)
      call int_one(p4intabsminop, 1)
      call dbl_one(p4dblmultop)
      call dbl_one(p4dblmaxop)
      call dbl_one(p4dblminop)
      call dbl_one(p4dblabsmaxop)
      call dbl_one(p4dblabsminop)
      call flt_one(p4fltmultop)
      call flt_one(p4fltminop)
      call flt_one(p4fltabsmaxop)
      call flt_one(p4fltabsminop)
      call flt_sum(p4fltsumop, all)
      end

      subroutine int_one(op, expected)
      implicit none
      include 'p4f.h'
      external op
      integer expected, x, rc
      x = 1
      call p4globop(9, x, 1, 4, op, P4INT, rc)
      if (x .ne. expected) call wrong('an integer operation')
      end

      subroutine dbl_one(op)
      implicit none
      include 'p4f.h'
      external op
      integer rc
      double precision x
      x = 1
      call p4globop(9, x, 1, 8, op, P4DBL, rc)
      if (x .ne. 1) call wrong('a double operation')
      end

      subroutine flt_one(op)
      implicit none
      include 'p4f.h'
      external op
      integer rc
      real x
      x = 1
      call p4globop(9, x, 1, 4, op, P4FLT, rc)
      if (x .ne. 1) call wrong('a real operation')
      end

      subroutine flt_sum(op, all)
      implicit none
      include 'p4f.h'
      external op
      integer all, rc
      real x
      x = 1
      call p4globop(9, x, 1, 4, op, P4FLT, rc)
      if (x .ne. all) call wrong('p4fltsumop')
      end

      subroutine wrong(what)
      character*(*) what
      write (0, *) 'not so: ', what
      call exit(1)
      end
