! frefused WHAT: the last node makes one wrong call, and the other waits (tests/refused.sh).
      program frefused
      implicit none
      include 'fnx.h'
      integer id, info(8), me
      double precision x(8)
      character*32 what
      call get_command_argument(1, what)
      me = mynode()
      if (me .eq. 0 .and. what .eq. 'short') call csend(9, x, 64, 1, 0)
      if (me .eq. 1) then
         if (what .eq. 'node') call csend(1, x, 8, 2, 0)
         if (what .eq. 'type') call csend(-3, x, 8, 0, 0)
         if (what .eq. 'length') call csend(1, x, -2147483647, 0, 0)
         if (what .eq. 'crecvx') call crecvx(1, x, 8, 99, 0, info)
         if (what .eq. 'short') call crecv(9, x, 8)
         if (what .eq. 'count') call gdsum(x, -1, x)
         id = isend(2, x, 8, me, 0)
         call msgwait(id)
         if (what .eq. 'spent') call msgwait(id)
         if (what .eq. 'never') call msgcancel(2147483647)
         stop 98
      endif
      call crecv(1, x, 8)
      end
