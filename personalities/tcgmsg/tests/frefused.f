! flags: -fdefault-integer-8
! frefused WHAT: the last node makes one wrong call, and the other waits (tests/refused.sh).
      program frefused
      implicit none
      include 'tcgmsg.fh'
      integer got, from, me, n
      double precision x(8)
      character*32 what
      call get_command_argument(1, what)
      call pbeginf
      me = nodeid()
      if (me .eq. 0 .and. what .eq. 'short') call snd(9, x, 64, 1, 1)
      if (me .eq. 1) then
         if (what .eq. 'self') call snd(1, x, 8, me, 1)
         if (what .eq. 'node') call snd(1, x, 8, 2, 1)
         if (what .eq. 'length') call snd(1, x, -8, 0, 1)
         if (what .eq. 'short') call rcv(9, x, 8, got, 0, from, 1)
         if (what .eq. 'twice') call pbeginf
         if (what .eq. 'operation') call dgop(1, x, 1, 'or')
         if (what .eq. 'nxtval') n = nxtval(0)
         stop 98
      endif
      call rcv(1, x, 8, got, -1, from, 1)
      end
