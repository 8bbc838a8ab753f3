C     SPDX-License-Identifier: MIT OR Apache-2.0
C     hello in Fortran: starts a second copy of itself, which sends a
C     greeting back.
      program hello
      implicit none
      include 'fpvm3.h'
      integer greet, length
      parameter (greet = 1, length = 25)
      integer mytid, parent, other, nstart, info, buffer
      character*(length) text
      character*1024 path

      call pvmfmytid(mytid)
      if (mytid .lt. 0) stop 1
      call pvmfparent(parent)

      if (parent .gt. 0) then
         text = 'hello from a Fortran task'
         call pvmfinitsend(PVMDEFAULT, info)
         call pvmfpack(STRING, text, length, 1, info)
         call pvmfsend(parent, greet, info)
      else
         call getarg(0, path)
         call pvmfspawn(path, PVMDEFAULT, '*', 1, other, nstart)
         if (nstart .ne. 1) then
            print '(a,a,a,i4)', 'cannot start ', trim(path),
     &            ', code ', other
            call pvmfexit(info)
            stop 1
         end if
         call pvmfrecv(other, greet, buffer)
         call pvmfunpack(STRING, text, length, 1, info)
         print '(a,z5.5,a,z5.5,a,a)', 't', mytid, ' hears from t',
     &         other, ': ', text
      end if
      call pvmfexit(info)
      end
