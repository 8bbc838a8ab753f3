C     SPDX-License-Identifier: MIT OR Apache-2.0
C     TCGMSG: nodes take strips from a shared counter, and DGOP adds up.
      program pi
      implicit none
      include 'msgtypesf.h'
      integer nnodes, nodeid, nxtval
      integer me, all, task, strip, tasks, each
      parameter (tasks = 100, each = 10000)
      double precision x, total

      call pbeginf
      me = nodeid()
      all = nnodes()
      total = 0
      task = nxtval(all)
 10   if (task .lt. tasks) then
         do 20 strip = task * each, (task + 1) * each - 1
            x = (strip + 0.5d0) / (tasks * each)
            total = total + 4 / (1 + x * x)
 20      continue
         task = nxtval(all)
         goto 10
      end if
      task = nxtval(-all)
      call dgop(msgdbl, total, 1, '+')
      if (me .eq. 0) write(*, '(A, F10.8, A, I3, A)') 'TCGMSG: pi is ',
     &   total / (tasks * each), ' by', all, ' nodes'
      call pend
      end
