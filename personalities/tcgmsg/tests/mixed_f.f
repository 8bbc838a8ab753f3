! flags: -fdefault-integer-8
! A node in Fortran of a job that has others in C (mixed_c.c).
      program mixed
      implicit none
      include 'tcgmsg.fh'
      integer me, all, next, prev, got, from, n
      double precision x(2), y(2)
      call pbeginf
      me = nodeid()
      all = nnodes()
      next = mod(me + 1, all)
      prev = mod(me + all - 1, all)
      n = 0
      if (me .eq. 0) n = 4711
      call brdcst(1, n, mitob(1), 0)
      if (n .ne. 4711) stop 11
      x(1) = me
      x(2) = 1
      call dgop(1, x, 2, '+')
      if (x(1) .ne. all * (all - 1) / 2 .or. x(2) .ne. all) stop 12
      x(1) = 0.5d0 + me
      x(2) = -x(1)
      call snd(1, x, mdtob(2), next, 1)
      call rcv(1, y, mdtob(2), got, prev, from, 1)
      if (got .ne. mdtob(2) .or. from .ne. prev) stop 13
      if (y(1) .ne. 0.5d0 + prev .or. y(2) .ne. -y(1)) stop 14
      if (nxtval(all) .lt. 0) stop 15
      call synch(1)
      if (me .eq. 0) print *, 'ok', all, 'nodes'
      call pend
      end
