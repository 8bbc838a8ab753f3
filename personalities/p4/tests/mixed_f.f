! A process in Fortran of a job whose master is in C (mixed_c.c).
      program mixed
      implicit none
      include 'p4f.h'
      integer rc, me, n, length, type, from
      double precision x(2)
      call p4init()
      call p4crpg()
      me = p4myid()
      type = 3
      from = 0
      call p4recv(type, from, n, 4, length, rc)
      if (rc .ne. 0 .or. length .ne. 4 .or. n .ne. 4711) stop 11
      x(1) = me
      x(2) = 1
      call p4globop(4, x, 2, 8, p4dblsumop, P4DBL, rc)
      if (rc .ne. 0 .or. x(2) .ne. p4ntotids()) stop 12
      x(1) = me + 0.5d0
      call p4send(5, 0, x, 8, rc)
      if (rc .ne. 0) stop 13
      call p4globarr(6)
      call p4cleanup()
      end
