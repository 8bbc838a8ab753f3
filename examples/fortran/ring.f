C     SPDX-License-Identifier: MIT OR Apache-2.0
C     ring in Fortran: a token of 4032 bytes goes round a ring of four
C     tasks, twice. Every task but the first adds one to each word, so
C     the first task can check that all of them have had the token.
      program ring
      implicit none
      include 'fpvm3.h'
      integer ntasks, rounds, tag, words
      parameter (ntasks = 4, rounds = 2, tag = 7, words = 4032 / 4)
      integer mytid, parent, me, right, left, nstart, info, i, round
      integer tids(ntasks), token(words), wrong
      character*1024 path

      call pvmfmytid(mytid)
      if (mytid .lt. 0) stop 1
      call pvmfparent(parent)
      call pvmfjoingroup('foo-f', me)
      if (parent .le. 0) then
         call getarg(0, path)
         call pvmfspawn(path, PVMDEFAULT, '*', ntasks - 1, tids, nstart)
         if (nstart .ne. ntasks - 1) then
            print '(a,i3,a)', 'ring: only ', nstart, ' tasks started'
            call pvmfexit(info)
            stop 1
         end if
      end if
      call pvmfbarrier('foo-f', ntasks, info)
      call pvmfgettid('foo-f', mod(me + 1, ntasks), right)
      call pvmfgettid('foo-f', mod(me + ntasks - 1, ntasks), left)

      do 10 i = 1, words
         token(i) = 0
   10 continue
      do 30 round = 1, rounds
         if (me .eq. 0) call passon(right, tag, token, words)
         call pvmfrecv(left, tag, info)
         call pvmfunpack(INTEGER4, token, words, 1, info)
         if (me .ne. 0) then
            do 20 i = 1, words
               token(i) = token(i) + 1
   20       continue
            call passon(right, tag, token, words)
         end if
   30 continue

      wrong = 0
      if (me .eq. 0) then
         do 40 i = 1, words
            if (token(i) .ne. rounds * (ntasks - 1)) wrong = wrong + 1
   40    continue
         print '(a,i2,a,i2,a,i5,a)', 'ring of ', ntasks, ' tasks, ',
     &         rounds, ' rounds: ', wrong, ' words damaged'
      end if
      call pvmfbarrier('foo-f', ntasks, info)
      call pvmflvgroup('foo-f', info)
      call pvmfexit(info)
      if (wrong .ne. 0) stop 1
      end

      subroutine passon(to, tag, token, words)
      implicit none
      include 'fpvm3.h'
      integer to, tag, words, token(words), info
      call pvmfinitsend(PVMDEFAULT, info)
      call pvmfpack(INTEGER4, token, words, 1, info)
      call pvmfsend(to, tag, info)
      end
