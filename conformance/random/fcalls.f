C     Random calls in Fortran from a seed, one line each; see calls.c.
C
C        fcalls SEED COUNT [STEP...]    the STEPs are left out
C
      program fcalls
      implicit none
      include 'fpvm3.h'
      integer seed, n, step, i, number, me
      logical out
      character*20 word
      integer*8 state
      common /random/ state
      common /task/ me

      call getarg(1, word)
      read (word, *) seed
      call getarg(2, word)
      read (word, *) n
      call alarm_in(6)
      call pvmfsetopt(PvmAutoErr, 0, i)
      call pvmfmytid(me)
      do 20 step = 1, n
         state = seed * 1000003_8 + step * 7919_8 + 88172645463325252_8
         do 5 i = 1, 8
            call draw(2, number)
    5    continue
         out = .false.
         do 10 i = 3, iargc()
            call getarg(i, word)
            read (word, *) number
            if (number .eq. step) out = .true.
   10    continue
         if (.not. out) call one(step)
   20 continue
      print '(a)', 'end'
      call pvmfexit(i)
      end

C     A number from 0 to n - 1.
      subroutine draw(n, number)
      implicit none
      integer n, number
      integer*8 state
      common /random/ state
      state = ieor(state, ishft(state, -12))
      state = ieor(state, ishft(state, 25))
      state = ieor(state, ishft(state, -27))
      number = int(mod(ishft(state, -33), int(n, 8)))
      end

      subroutine alarm_in(seconds)
      implicit none
      integer seconds, was
      external gave_up
      call alarm(seconds, gave_up, was)
      end

      subroutine gave_up
      call exit(142)
      end

C     Only the sign of a handle is promised.
      integer function handle(cc)
      integer cc
      handle = min(cc, 1)
      end

      subroutine a_task(tid)
      implicit none
      integer tid, number, me
      common /task/ me
      call draw(5, number)
      tid = me
      if (number .eq. 1) tid = -1
      if (number .eq. 2) tid = me + 900
      end

      subroutine show_taken(bytes, n)
      implicit none
      integer n, i
      integer*1 bytes(n)
      integer*8 total
      total = 0
      do 10 i = 1, n
         total = mod(total * 31 + iand(int(bytes(i), 8), 255_8),
     +      1000000007_8)
   10 continue
      print '(a,i12)', '  taken', total
      end

      subroutine one(step)
      implicit none
      include 'fpvm3.h'
      integer step, which, kind, n, s, cc, tid, tag, bytes, enc, buf, me
      integer handle, i, other
      character*8 groups(0:2)
      character*40 text
      integer*1 data(4096), taken(4096)
      common /task/ me
      common /memory/ data, taken
      data groups /'g       ', 'h       ', '        '/

      call draw(24, which)
      call draw(11, kind)
      call draw(8, n)
      call draw(3, s)
      call draw(4, tag)
      call draw(4, enc)
      call a_task(tid)
      n = n - 1
      tag = tag - 1
      do 5 i = 1, 4096
         call draw(100, other)
         data(i) = int(other, 1)
         taken(i) = 90
    5 continue
      write (*, '(i0,a,6i12)') step, ' call', which, kind, n, s, tag,
     +   enc
      goto (100, 110, 110, 110, 120, 120, 120, 130, 130, 140, 150, 160,
     +      170, 180, 190, 200, 210, 220, 230, 240, 250, 260, 270, 280)
     +   which + 1
  100 call pvmfinitsend(enc - 1, cc)
      print *, ' initsend', handle(cc)
      return
  110 call pvmfpack(kind, data, n, s, cc)
      print *, ' pack', cc
      return
  120 call pvmfunpack(kind, taken, n, s, cc)
      print *, ' unpack', cc
      if (cc .ge. 0 .and. kind .ne. STRING) call show_taken(taken, 256)
      return
  130 call pvmfsend(tid, tag, cc)
      print *, ' send', cc
      call pvmfconfig(i, other, bytes, text, text, n, cc)
      return
  140 call pvmfnrecv(-1, tag, buf)
      print *, ' nrecv', handle(buf)
      return
  150 call pvmfprobe(-1, tag, buf)
      print *, ' probe', handle(buf)
      return
  160 call pvmfgetrbuf(buf)
      call pvmfbufinfo(buf, bytes, other, i, cc)
      print *, ' bufinfo', handle(buf), cc
      if (cc .ge. 0) print *, bytes, other, i .eq. me
      return
  170 call pvmfpsend(me, tag, data, n, INTEGER4, cc)
      print *, ' psend', cc
      call pvmfconfig(i, other, bytes, text, text, n, cc)
      return
  180 call pvmfprobe(-1, tag, buf)
      if (buf .le. 0) return
      call pvmfprecv(-1, tag, taken, 8, INTEGER4, i, other, bytes, cc)
      print *, ' precv', cc, i .eq. me, other, bytes
      return
  190 call pvmfjoingroup(groups(s), cc)
      print *, ' joingroup ', groups(s), cc
      return
  200 call pvmflvgroup(groups(s), cc)
      print *, ' lvgroup ', groups(s), cc
      return
  210 call pvmfgetinst(groups(s), tid, cc)
      print *, ' getinst ', groups(s), cc
      call pvmfgsize(groups(s), cc)
      print *, ' gsize ', groups(s), cc
      return
  220 call pvmfgettid(groups(s), tag, cc)
      print *, ' gettid ', groups(s), handle(cc)
      return
  230 call pvmfbarrier(groups(s), min(tag, 1), cc)
      print *, ' barrier ', groups(s), cc
      return
  240 call pvmfbcast(groups(s), tag, cc)
      print *, ' bcast ', groups(s), cc
      return
  250 call pvmfpstat(tid, cc)
      print *, ' pstat', cc
      call pvmfparent(cc)
      print *, ' parent', cc
      return
  260 call pvmfmstat('nowhere', cc)
      print *, ' mstat', cc
      call pvmfgetopt(PvmRoute, cc)
      print *, ' getopt', cc
      return
  270 text = 'words in a text'
      call pvmfpack(STRING, text, n + 4, 1, cc)
      print *, ' pack text', cc
      return
  280 text = ' '
      call pvmfunpack(STRING, text, 15, 1, cc)
      print *, ' unpack text', cc
      if (cc .ge. 0) print *, text
      return
      end
