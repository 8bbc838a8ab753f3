! SPDX-License-Identifier: MIT OR Apache-2.0
! flags: -std=legacy
! The same calls from Fortran.
      program allf
      implicit none
      include 'cps.inc'
      integer me, n, i, right
      integer block(100), copy(100)
      integer answer(2), length
      external twice
      common /block/ block
      call acp_init()
      call acp_my_process(me, n)
      call acp_declare_block(block, 400, 1)
      call acp_declare_subroutine(twice, 2)
      call acp_sync(ACP_ALL_PROCESSES, 1)
      right = mod(me, n) + 1
      if (n .gt. 1) then
         do i = 1, 100
            copy(i) = 1000 * me + i
         end do
         call acp_send(right, copy, 400, 1, 0)
         call acp_wait_for_data(1, 1)
         if (block(100) .ne. 1000 * (mod(me + n - 2, n) + 1) + 100)
     &      call wrong('acp_send')
         call acp_sync(ACP_ALL_PROCESSES, 2)
         call acp_get(right, copy, 4, 1, 396)
         if (copy(1) .ne. 1000 * me + 100) call wrong('acp_get')
      end if
      length = 8
      call acp_call(right, 2, 21, 4, answer, length)
      if (length .ne. 4 .or. answer(1) .ne. 42) call wrong('acp_call')
      call acp_queue_process(5)
      call acp_dequeue_process(5, i)
      if (i .lt. 1 .or. i .gt. n) call wrong('queue')
      call acp_sync(ACP_ALL_PROCESSES, 3)
      call acp_queue_process(5)
      call acp_wait_queue(5, n)
      call acp_sleep(0)
      call acp_sync(ACP_ALL_PROCESSES, 4)
      if (me .eq. n) then
         write (*, '(a,i0)') 'ok ', n
         flush (6)
         call acp_stop_job()
      end if
      call acp_stop_process()
      end

      subroutine twice(values, length, answer, room)
      integer values(*), length, answer(*), room, i
      do i = 1, length / 4
         answer(i) = 2 * values(i)
      end do
      room = length
      end

      subroutine wrong(what)
      character*(*) what
      write (0, *) 'not so: ', what
      call exit(1)
      end
