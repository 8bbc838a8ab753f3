! Every call of a node in Fortran.
      program fcalls
      implicit none
      include 'fnx.h'
      integer me, all, next, prev, info(8), id, other, n, i
      integer ibuf(4), iwork(4), lens(64), nodes(64)
      real s(2), swork(2)
      double precision x(4), y(64), work(4)
      external handle, larger
      integer heard
      common /hear/ heard
      me = mynode()
      all = numnodes()
      if (2**nodedim() .lt. all .or. myhost() .ne. all) stop 1
      call setpid(3)
      if (mypid() .ne. 3 .or. myptype() .ne. 3) stop 2
      call setptype(0)
      next = mod(me + 1, all)
      prev = mod(me + all - 1, all)
      x(1) = me
      call csend(5, x, 8, next, 0)
      call cprobe(5)
      if (iprobe(5) .ne. 1 .or. infocount() .ne. 8) stop 3
      if (infonode() .ne. prev .or. infotype() .ne. 5) stop 4
      if (infopid() .ne. 0 .or. infoptype() .ne. 0) stop 5
      call crecv(5, y, 8)
      if (y(1) .ne. prev) stop 6
      call csend(6, x, 8, next, 0)
      call cprobex(6, -1, -1, info)
      if (iprobex(6, prev, -1, info) .ne. 1) stop 7
      call crecvx(6, y, 8, prev, 0, info)
      if (info(1) .ne. 6 .or. info(2) .ne. 8) stop 8
      if (info(3) .ne. prev) stop 9
      if (csendrecv(7, x, 8, next, 0, 7, y, 8) .ne. 8) stop 10
      call csend(8, x, 8, next, 0)
      call cprobe(8)
      call flushmsg(8, -1, -1)
      if (iprobe(-1) .ne. 0) stop 11
      call gsync
      id = irecv(11, y, 8)
      other = irecvx(12, y(2), 8, prev, -1, info)
      call msgwait(isend(11, x, 8, next, 0))
      call msgignore(isend(12, x, 8, next, 0))
      call msgwait(msgmerge(id, other))
      if (y(1) .ne. prev .or. y(2) .ne. prev) stop 12
      id = isendrecv(13, x, 8, next, 0, 13, y, 8)
 10   if (msgdone(id) .eq. 0) then
         call flick
         goto 10
      endif
      id = irecv(14, y, 8)
      call msgcancel(id)
      heard = 0
      if (masktrap(0) .ne. 0) stop 13
      call hrecv(21, y, 8, handle)
      call hrecvx(22, y(2), 8, prev, -1, handle)
      call gsync
      call csend(21, x, 8, next, 0)
      call hsend(22, x, 8, next, 0, handle)
      call hsendrecv(23, x, 8, next, 0, 23, y(3), 8, handle)
      call await(4)
      call gsync
      x(1) = me + 1
      call gdsum(x, 1, work)
      if (x(1) .ne. all * (all + 1) / 2) stop 15
      call gdprod(x, 0, work)
      call gdhigh(x, 1, work)
      call gdlow(x, 1, work)
      s(1) = me
      call gshigh(s, 1, swork)
      if (s(1) .ne. all - 1) stop 16
      call gssum(s, 1, swork)
      call gsprod(s, 0, swork)
      call gslow(s, 1, swork)
      ibuf(1) = me
      ibuf(2) = 1
      call gisum(ibuf, 2, iwork)
      if (ibuf(1) .ne. all * (all - 1) / 2) stop 17
      if (ibuf(2) .ne. all) stop 18
      call giprod(ibuf(3), 0, iwork)
      ibuf(3) = 1
      call gihigh(ibuf(3), 1, iwork)
      call gilow(ibuf(3), 1, iwork)
      call giand(ibuf(3), 1, iwork)
      call gior(ibuf(3), 1, iwork)
      call gland(ibuf(3), 1, iwork)
      call glor(ibuf(3), 1, iwork)
      call gixor(ibuf(3), 1, iwork)
      if (ibuf(3) .ne. mod(all, 2)) stop 19
      x(1) = me
      call gopf(x, 8, work, larger)
      if (x(1) .ne. all - 1) stop 20
      call gcol(x, 8, y, 512, n)
      if (n .ne. 8 * all .or. y(all) .ne. all - 1) stop 21
      do i = 1, all
         lens(i) = 8
         nodes(i) = i - 1
      enddo
      call gcolx(x, lens, y)
      if (me .eq. 0) call gsendx(31, x, 8, nodes, all)
      call crecv(31, y, 8)
      call led(1)
      if (mclock() .lt. 0 .or. dclock() .le. 0d0) stop 22
      call gsync
      if (me .eq. 0) print *, 'ok'
      end

      subroutine await(count)
      integer count, heard
      common /hear/ heard
      volatile heard
      integer*8 i
      do i = 1, 20000000000_8
         if (heard .ge. count) return
      enddo
      stop 14
      end

      subroutine handle(type, count, node, pid)
      integer type, count, node, pid, heard
      common /hear/ heard
      if (count .ne. 8) stop 23
      heard = heard + 1
      end

      subroutine larger(x, other)
      double precision x, other
      if (other .gt. x) x = other
      end
