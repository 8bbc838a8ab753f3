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

C     A current buffer that is freed now: its number may come again.
      subroutine forget_current
      implicit none
      integer buf, context, number
      logical in_place
      common /kept/ buf, context, in_place
      call pvmfgetsbuf(number)
      if (number .eq. buf) buf = 0
      call pvmfgetrbuf(number)
      if (number .eq. buf) buf = 0
      end

C     Whether the send buffer is packed in place, or may be.
      subroutine now_packs(there)
      implicit none
      logical there, in_place
      integer buf, context
      common /kept/ buf, context, in_place
      in_place = there
      end

C     See calls.c.
      subroutine give_up_broken
      implicit none
      integer number, cc
      call forget_current
      call pvmfsetrbuf(0, number)
      call pvmffreebuf(number, cc)
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

      subroutine short_longs(bytes, n)
      implicit none
      integer n, i
      integer*1 bytes(n)
      do 10 i = 1, n
         if (mod(i - 1, 8) .ge. 4) bytes(i) = 0
   10 continue
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

      call draw(32, which)
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
      if (which .ge. 24) then
         call another(step, kind, n, s, tag, enc, tid)
         return
      end if
      write (*, '(i0,a,6i12)') step, ' call', which, kind, n, s, tag,
     +   enc
      goto (100, 110, 110, 110, 120, 120, 120, 130, 130, 140, 150, 160,
     +      170, 180, 190, 200, 210, 220, 230, 240, 250, 260, 270, 280)
     +   which + 1
  100 call forget_current
      call pvmfinitsend(enc - 1, cc)
      call now_packs(cc .gt. 0 .and. enc .eq. 3)
      print *, ' initsend', handle(cc)
      return
C     The original keeps 32 bits of INTEGER8 in default encoding.
  110 if (kind .eq. INTEGER8) call short_longs(data, 4096)
      call pvmfpack(kind, data, n, s, cc)
      print *, ' pack', cc
      return
  120 call pvmfunpack(kind, taken, n, s, cc)
      print *, ' unpack', cc
      if (cc .ge. 0 .and. kind .ne. STRING) call show_taken(taken, 256)
      if (cc .eq. PvmNoData .and. kind .le. BYTE1) call give_up_broken
      return
  130 call pvmfsend(tid, tag, cc)
      print *, ' send', cc
      call pvmfconfig(i, other, bytes, text, text, n, cc)
      return
  140 call forget_current
      call pvmfnrecv(-1, tag, buf)
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
C     In the original a count below 1 sticks to the group.
  230 call pvmfgsize(groups(s), other)
      if (other .gt. 0) tag = 1
      call pvmfbarrier(groups(s), min(tag, 1), cc)
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
      if (cc .eq. PvmNoData) call give_up_broken
      if (cc .ge. 0) print *, text
      return
      end

C     The other calls, of which each is rarer: which one is drawn anew.
      subroutine another(step, kind, n, s, tag, enc, tid)
      implicit none
      include 'fpvm3.h'
      integer step, kind, n, s, tag, enc, tid, which, cc, me, i, j, k
      integer old, buf, handle, length_of, context, tids(2), list(20)
      integer owners(20), flags(20), m, seconds
      external PvmMax, PvmMin, PvmSum, PvmProduct
      logical in_place
      character*8 groups(0:2)
      character*12 names(0:2)
      character*64 text
      integer*1 data(4096), taken(4096)
      common /task/ me
      common /memory/ data, taken
      common /kept/ buf, context, in_place
      data groups /'g       ', 'h       ', '        '/
      data names /'name', 'another', ' '/

      call draw(36, which)
      write (*, '(i0,a,6i12)') step, ' other', which, kind, n, s, tag,
     +   enc
      goto (100, 110, 120, 130, 140, 150, 160, 170, 180, 190, 200, 210,
     +   220, 230, 240, 250, 260, 270, 280, 290, 300, 310, 320, 330,
     +   340, 350, 360, 370, 380, 390, 400, 410, 420, 430, 440, 450)
     +   which + 1
  100 call pvmfmkbuf(enc - 1, cc)
      print *, ' mkbuf', handle(cc)
      if (cc .gt. 0) buf = cc
      return
  110 call pvmffreebuf(buf, cc)
      print *, ' freebuf', handle(buf), cc
      buf = 0
      return
  120 call pvmfgetsbuf(cc)
      print *, ' getsbuf', handle(cc)
      return
C     Numbers of buffers that are gone come again in another order.
  130 if (length_of(buf) .lt. 0) buf = 0
      call pvmfsetsbuf(buf, cc)
      print *, ' setsbuf', handle(buf), handle(cc)
      in_place = .true.
      return
  140 if (length_of(buf) .lt. 0) buf = 0
      call pvmfsetrbuf(buf, cc)
      print *, ' setrbuf', handle(buf), handle(cc)
      return
  150 tids(1) = tid
      tids(2) = me
      call pvmfmcast(min(n, 2), tids, tag, cc)
      print *, ' mcast', cc
      return
  160 call forget_current
      call pvmftrecv(-1, tag, 0, 1000, cc)
      print *, ' trecv', handle(cc)
      return
  170 call forget_current
      call pvmftrecv(tid, 77, 0, 0, cc)
      print *, ' trecv', handle(cc)
      return
  180 call pvmfprobe(-1, tag, cc)
      if (cc .le. 0) return
      call forget_current
      call pvmfrecv(-1, tag, cc)
      print *, ' recv', handle(cc)
      return
  190 call pvmfkill(me + 900, cc)
      print *, ' kill', cc
      return
  200 call pvmfsendsig(me + 900, n, cc)
      print *, ' sendsig', cc
      return
C     (who receives what was packed in place cannot read it there)
  210 call pvmfgetsbuf(cc)
      if (cc .le. 0 .or. in_place) return
C     In the original an entry keeps the tag that its buffer was sent with.
      call pvmfbufinfo(cc, j, k, m, i)
      if (k .ne. 0) return
      call pvmfputinfo(names(s), cc, enc * 2, i)
      print *, ' putinfo ', names(s), i
      return
  220 call forget_current
      call pvmfrecvinfo(names(s), tag, enc * 8, cc)
      print *, ' recvinfo ', names(s), handle(cc)
      if (cc .gt. 0) print *, length_of(cc)
      return
  230 call pvmfdelinfo(names(s), tag, PvmMboxDefault, cc)
      print *, ' delinfo ', names(s), cc
      return
  240 call pvmfdelinfo(names(s), 0, PvmMboxDefault, cc)
      print *, ' delinfo ', names(s), cc
      return
  250 call pvmfnewcontext(context)
      print *, ' newcontext', handle(context)
      return
  260 call pvmfsetcontext(context, old)
      call pvmfgetcontext(i)
      print *, ' setcontext', handle(context), handle(old), handle(i)
      return
C     (pvmffreecontext sets the context in the original)
  270 call pvmfgetcontext(cc)
      print *, ' getcontext', handle(cc)
      return
C     The root's result alone is defined.
  280 do 285 i = 1, 256
         taken(i) = data(i)
  285 continue
      if (kind .le. 1) kind = INTEGER4
      if (s .eq. 0) call pvmfreduce(PvmSum, taken, n, kind, 3,
     +   groups(0), 0, cc)
      if (s .eq. 1) call pvmfreduce(PvmSum, taken, n, kind, 3,
     +   groups(1), tag, cc)
      if (s .eq. 2) call pvmfreduce(PvmMax, taken, n, INTEGER4, 3,
     +   groups(0), 0, cc)
      print *, ' reduce', cc
      if (cc .ge. 0 .and. s .eq. 2) call show_taken(taken, 256)
      return
  290 call pvmfgather(taken, data, n, kind, 3, groups(s), 0, cc)
      print *, ' gather', cc
      call show_taken(taken, 256)
      return
C     The original spoils the root's send buffer.
  300 call pvmfscatter(taken, data, n, kind, 3, groups(s), 0, cc)
      print *, ' scatter', cc
      call show_taken(taken, 256)
      call forget_current
      call pvmfsetsbuf(0, old)
      call pvmffreebuf(old, cc)
      return
  310 tids(1) = tid
      call pvmfnotify(PvmTaskExit, tag, min(n, 1), tids, cc)
      print *, ' notify', cc
      call pvmfmstat('nowhere', cc)
      return
  320 tids(1) = 0
      call pvmfnotify(PvmHostAdd, tag, n, tids, cc)
      print *, ' notify', cc
      return
  330 call pvmfarchcode('LINUX64', cc)
      call pvmfarchcode(names(s), i)
      print *, ' archcode', cc, i
      return
  340 call pvmftidtohost(tid, cc)
      print *, ' tidtohost', cc
      return
  350 m = 0
      call pvmftasks(tid, m, i, j, k, old, text, cc)
C     Of a task that there is none of, the original leaves all as it is.
      if (tid .eq. me) print *, ' tasks', cc, m
      return
  360 call pvmfsiblings(m, 0, i)
      print *, ' siblings', m, i .eq. me
      return
  370 call pvmfspawn('no-such-program', PvmTaskDefault, '*', 1, i, cc)
      print *, ' spawn', cc, i
      return
  380 call pvmfspawn('no-such-program', PvmTaskDefault, '*', -1, i, cc)
      print *, ' spawn', cc
      return
  390 call pvmfhostsync(tid, seconds, i, j, k, cc)
      print *, ' hostsync', cc
      return
C     In the original a count below 1 sticks to the group here, too.
  400 call pvmfgsize(groups(s), i)
      if (i .gt. 0) n = 1
      call pvmffreezegroup(groups(s), n, cc)
      print *, ' freezegroup ', groups(s), cc
      return
  410 call pvmfdelmhf(999, cc)
      print *, ' delmhf', cc
      return
  420 call pvmfcatchout(0, cc)
      print *, ' catchout', cc
      return
  430 call pvmfsetopt(PvmRoute, enc, cc)
      print *, ' setopt', cc
      call pvmfgetopt(kind, cc)
      if (cc .ne. me) print *, ' getopt', cc
      return
  440 call pvmfsendsig(me + 900, 0, cc)
      print *, ' sendsig', cc
      return
  450 call pvmfstartpvmd('', 0, cc)
      print *, ' startpvmd', cc
      return
      end

C     The length of a buffer, below 0 if there is none.
      integer function length_of(number)
      implicit none
      integer number, bytes, tag, tid, cc
      call pvmfbufinfo(number, bytes, tag, tid, cc)
      length_of = cc
      if (cc .ge. 0) length_of = bytes
      end
