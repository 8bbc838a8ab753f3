c     Messages in Fortran: buffers, every pack type, strides, psend and
c     precv, probe, nrecv, trecv, contexts, bufinfo, message options.
      program fmessage
      implicit none
      include 'fpvm3.h'
      integer me, info, buf, old, bytes, tag, src, i, k, enc
      integer ii(4), io(4), na, ctx, got
      integer*2 i2(4), o2(4)
      real r(4), ro(4)
      double precision d(4), do(4)
      complex z(2), zo(2)
      complex*16 zz(2), zzo(2)
      character*12 text, back
      character*4 b, bo

      call pvmfsetopt(PVMAUTOERR, 0, old)
      call show('old AutoErr', old)
      call pvmfmytid(me)
      call pvmfgetsbuf(buf)
      call show('getsbuf', buf)
      call pvmfgetrbuf(buf)
      call show('getrbuf', buf)
      do enc = 0, 1
         do i = 1, 4
            ii(i) = 10 * i
            i2(i) = i
            r(i) = i + 0.5
            d(i) = i + 0.25
         end do
         z(1) = (1.0, 2.0)
         z(2) = (3.0, 4.0)
         zz(1) = (5d0, 6d0)
         zz(2) = (7d0, 8d0)
         text = 'hello world '
         b = 'byte'
         call pvmfinitsend(enc, buf)
         call sign1('initsend', buf)
         call pvmfpack(STRING, text, 11, 1, info)
         call show('pack string', info)
         call pvmfpack(BYTE1, b, 4, 1, info)
         call show('pack byte', info)
         call pvmfpack(INTEGER2, i2, 2, 2, info)
         call show('pack integer2', info)
         call pvmfpack(INTEGER4, ii, 2, 2, info)
         call show('pack integer4', info)
         call pvmfpack(REAL4, r, 4, 1, info)
         call show('pack real4', info)
         call pvmfpack(COMPLEX8, z, 2, 1, info)
         call show('pack complex8', info)
         call pvmfpack(REAL8, d, 4, 1, info)
         call show('pack real8', info)
         call pvmfpack(COMPLEX16, zz, 2, 1, info)
         call show('pack complex16', info)
         call pvmfpack(99, ii, 1, 1, info)
         call show('pack unknown', info)
         call pvmfpack(INTEGER4, ii, -1, 1, info)
         call show('pack negative', info)
         call pvmfsend(me, 7, info)
         call show('send', info)
         call pvmfrecv(-1, 7, buf)
         call sign1('recv', buf)
         call pvmfbufinfo(buf, bytes, tag, src, info)
         call show('bufinfo', info)
         call show('bytes', bytes)
         call show('tag', tag)
         call truth('from myself', src .eq. me)
         back = '............'
         call pvmfunpack(STRING, back, 11, 1, info)
         call show('unpack string', info)
         print *, '<', back(1:11), '>'
         call pvmfunpack(BYTE1, bo, 4, 1, info)
         print *, bo
         call pvmfunpack(INTEGER2, o2, 2, 1, info)
         call pvmfunpack(INTEGER4, io, 2, 1, info)
         print *, o2(1), o2(2), io(1), io(2)
         call pvmfunpack(REAL4, ro, 4, 1, info)
         call pvmfunpack(COMPLEX8, zo, 2, 1, info)
         call pvmfunpack(REAL8, do, 4, 1, info)
         call pvmfunpack(COMPLEX16, zzo, 2, 1, info)
         call show('unpack complex16', info)
         call truth('reals', ro(4) .eq. r(4) .and. do(4) .eq. d(4))
         call truth('complex', zo(2) .eq. z(2) .and. zzo(2) .eq. zz(2))
         call pvmfunpack(INTEGER4, io, 1, 1, info)
         call show('unpack past the end', info)
      end do

c     several buffers
      call pvmfmkbuf(PVMRAW, buf)
      call sign1('mkbuf', buf)
      call pvmfsetsbuf(buf, old)
      call sign1('setsbuf', old)
      call pvmffreebuf(old, info)
      call show('freebuf', info)
      call pvmffreebuf(old, info)
      call show('freebuf again', info)
      call pvmfsetrbuf(0, old)
      call sign1('setrbuf', old)
      call pvmfgetrbuf(i)
      call show('getrbuf', i)

c     psend and precv
      call pvmfpsend(me, 9, r, 4, REAL4, info)
      call show('psend', info)
      do i = 1, 4
         ro(i) = 0
      end do
      call pvmfprecv(-1, 9, ro, 4, REAL4, src, tag, na, info)
      call show('precv', info)
      call show('length', na)
      call show('tag', tag)
      call truth('psend data', ro(1) .eq. r(1) .and. ro(4) .eq. r(4))
      call pvmfpsend(me, 9, text, 5, STRING, info)
      call show('psend string', info)
      call pvmfpsend(me, 9, ii, 1, 99, info)
      call show('psend unknown', info)

c     nothing there
      call pvmfnrecv(-1, 11, buf)
      call show('nrecv', buf)
      call pvmfprobe(-1, 11, buf)
      call show('probe', buf)
      call pvmftrecv(-1, 11, 0, 1000, buf)
      call show('trecv', buf)
      call pvmfinitsend(PVMDEFAULT, buf)
      call pvmfsend(me, 11, info)
      call pvmftrecv(me, 11, 5, 0, buf)
      call sign1('trecv', buf)

c     contexts
      call pvmfgetcontext(ctx)
      call show('context', ctx)
      call pvmfnewcontext(ctx)
      call sign1('newcontext', ctx)
      call pvmfsetcontext(ctx, old)
      call show('setcontext', old)
      call pvmfinitsend(PVMDEFAULT, buf)
      call pvmfsend(me, 12, info)
      call pvmfsetcontext(0, old)
      call pvmftrecv(me, 12, 0, 20000, got)
      call show('in context 0', got)
      call pvmfsetcontext(ctx, old)
      call pvmfrecv(me, 12, got)
      call sign1('in the other', got)
      call pvmfsetcontext(0, old)
      call pvmffreecontext(ctx, info)
      call show('freecontext', info)

c     errors
      call pvmfsend(me, -1, info)
      call show('send with a bad tag', info)
      call pvmfinitsend(77, buf)
      call show('initsend 77', buf)
      call pvmfgetopt(PVMROUTE, k)
      call show('getopt route', k)
      call pvmfgetopt(77, k)
      call show('getopt 77', k)
      call pvmfexit(info)
      call show('exit', info)
      end

      subroutine show(what, n)
      character*(*) what
      integer n
      print *, what, ' ', n
      end

      subroutine sign1(what, n)
      character*(*) what
      integer n
      if (n .gt. 0) then
         print *, what, ' positive'
      else
         print *, what, ' ', n
      end if
      end

      subroutine truth(what, l)
      character*(*) what
      logical l
      print *, what, ' ', l
      end
