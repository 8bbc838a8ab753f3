! flags: -ltcg4
! f4refused WHAT: what an INTEGER of 4 bytes does not hold was cut without a word (tests/refused.sh).
      program narrow
      implicit none
      include 'tcgmsg.fh'
      integer n, got, from
      double precision x(8)
      character*32 what
      call get_command_argument(1, what)
      call pbeginf
      if (nodeid() .eq. 1) then
         if (what .eq. 'mdtob') n = mdtob(300000000)
         if (what .eq. 'mitob') n = mitob(2147483647)
         if (what .eq. 'length') call snd(1, x, -2147483647, 0, 1)
         stop 98
      endif
      call rcv(1, x, 8, got, -1, from, 1)
      end
