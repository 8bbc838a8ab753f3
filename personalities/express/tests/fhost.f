! SPDX-License-Identifier: MIT OR Apache-2.0
! flags: -std=legacy
! fhost PROGRAM: a host program in Fortran with two nodes.
      program fhost
      implicit none
      include 'express.inc'
      character*200 program
      integer handle, rc, i, src, kind, value, error
      call get_command_argument(1, program)
      handle = KXOPEN('/dev/nodes', 2, error)
      if (error .ne. 0) call exit(1)
      rc = KXLOAD(handle, program, IALNOD)
      rc = KXSTAR(handle, IALNOD)
      do i = 0, 1
         value = 100 * i
         rc = KXWRIT(value, 4, i, 1)
      end do
      do i = 0, 1
         src = i
         kind = NOCARE
         rc = KXREAD(value, 4, src, kind)
         if (value .ne. 101 .or. kind .ne. 1) call exit(1)
      end do
      write (*, '(a)') 'ok host'
      rc = KXCLOS(handle)
      end
