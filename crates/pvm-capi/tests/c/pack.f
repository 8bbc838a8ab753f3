! SPDX-License-Identifier: MIT OR Apache-2.0
! What works for Fortran without a machine.
      program pack
      include 'fpvm3.h'
      external pvmsum
      integer info, bufid, bytes, tag, tid, old
      integer a(4), b(4), wrong
      real*8 d(2)
      character*12 text
      wrong = 0
      call pvmfsetopt(PVMAUTOERR, 0, info)
      call pvmfinitsend(PVMRAW, bufid)
      if (bufid .le. 0) wrong = wrong + 1
      a(1) = 5
      a(2) = 6
      a(3) = 7
      a(4) = 8
      d(1) = 1.5d0
      d(2) = 2.5d0
      call pvmfpack(INTEGER4, a, 2, 2, info)
      if (info .ne. PvmOk) wrong = wrong + 2
      call pvmfpack(REAL8, d, 2, 1, info)
      call pvmfpack(STRING, 'hello', 5, 1, info)
      call pvmfbufinfo(bufid, bytes, tag, tid, info)
      if (bytes .ne. 29) wrong = wrong + 4
      call pvmfsetsbuf(0, old)
      call pvmfsetrbuf(old, info)
      call pvmfunpack(INTEGER4, b, 2, 1, info)
      if (b(1) .ne. 5 .or. b(2) .ne. 7) wrong = wrong + 8
      d(2) = 0
      call pvmfunpack(REAL8, d, 2, 1, info)
      if (d(2) .ne. 2.5d0) wrong = wrong + 16
      text = ' '
      call pvmfunpack(STRING, text, 5, 1, info)
      if (text .ne. 'hello') wrong = wrong + 32
      call pvmsum(INTEGER4, a, b, 2, info)
      if (a(1) .ne. 10 .or. a(2) .ne. 13) wrong = wrong + 64
      call pvmfpack(99, a, 1, 1, info)
      if (info .ne. PvmBadParam) wrong = wrong + 128
      if (wrong .ne. 0) then
        print *, 'wrong:', wrong
        stop 1
      end if
      end
