! SPDX-License-Identifier: MIT OR Apache-2.0
! flags: -std=legacy
! frefused WHAT: the last process makes one wrong call, and the other waits (tests/refused.sh).
      program frefused
      implicit none
      include 'p4f.h'
      integer rc, type, from, got, me
      double precision x(8)
      character*32 what
      call get_command_argument(1, what)
      call p4init()
      call p4crpg()
      me = p4myid()
      if (me .eq. 0 .and. what .eq. 'short')
     &   call p4send(9, 1, x, 64, rc)
      type = 9
      from = -1
      if (me .eq. 1) then
         if (what .eq. 'to') call p4send(1, 2, x, 8, rc)
         if (what .eq. 'type') call p4send(-3, 0, x, 8, rc)
         if (what .eq. 'length') call p4send(1, 0, x, -8, rc)
         if (what .eq. 'datatype') call p4sendx(1, 0, x, 8, 77, rc)
         if (what .eq. 'short') call p4recv(type, from, x, 8, got, rc)
         if (what .eq. 'room') call p4recv(type, from, x, -8, got, rc)
         if (what .eq. 'from') then
            from = 2
            call p4recv(type, from, x, 8, got, rc)
         endif
         stop 98
      endif
      call p4recv(type, from, x, 64, got, rc)
      end
