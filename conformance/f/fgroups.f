c     Groups in Fortran: joining, barrier, broadcast, reduction with the
c     operators and an own function as EXTERNAL, scatter, gather, freeze.
      program fgroups
      implicit none
      include 'fpvm3.h'
      external PvmMax, PvmMin, PvmSum, PvmProduct, mine
      integer N
      parameter (N = 3)
      integer me, parent, tids(N), numt, info, inst, i, k, buf
      integer v(2), all(2*N), size, t
      double precision d(2)
      real r(2)
      complex*16 z(1)
      character*256 path

      call pvmfsetopt(PVMAUTOERR, 0, info)
      call pvmfmytid(me)
      call pvmfparent(parent)
      if (parent .lt. 0) then
         call getarg(0, path)
         call pvmfjoingroup('fgroup', inst)
         print *, 'joined as', inst
         call pvmfjoingroup('fgroup', i)
         print *, 'joined again', i
         call pvmfgsize('nogroup', size)
         print *, 'no group', size
         do k = 1, N - 1
            call pvmfspawn(path, PVMDEFAULT, '*', 1, tids, numt)
            if (numt .ne. 1) print *, 'cannot spawn', tids(1)
            call pvmfrecv(tids(1), 1, buf)
         end do
         do k = 1, N - 1
            call pvmfgettid('fgroup', k, t)
            call pvmfinitsend(PVMDEFAULT, buf)
            call pvmfsend(t, 2, info)
         end do
      else
         call pvmfjoingroup('fgroup', inst)
         call pvmfinitsend(PVMDEFAULT, buf)
         call pvmfsend(parent, 1, info)
         call pvmfrecv(parent, 2, buf)
      end if

      call pvmfgsize('fgroup', size)
      call pvmfgetinst('fgroup', me, i)
      if (inst .eq. 0) print *, 'size', size, ' instance', i
      call pvmfgettid('fgroup', 9, t)
      if (inst .eq. 0) print *, 'gettid 9', t
      call pvmfbarrier('fgroup', N, info)
      if (inst .eq. 0) print *, 'barrier', info

      v(1) = inst + 1
      v(2) = 10 - inst
      call pvmfreduce(PvmSum, v, 2, INTEGER4, 10, 'fgroup', 0, info)
      if (inst .eq. 0) print *, 'sum', info, v(1), v(2)
      v(1) = inst + 1
      v(2) = 10 - inst
      call pvmfreduce(PvmMax, v, 2, INTEGER4, 11, 'fgroup', 0, info)
      if (inst .eq. 0) print *, 'max', info, v(1), v(2)
      d(1) = inst + 1.5
      d(2) = 10 - inst
      call pvmfreduce(PvmMin, d, 2, REAL8, 12, 'fgroup', 0, info)
      if (inst .eq. 0) print '(a,i3,2f8.3)', ' min', info, d(1), d(2)
      r(1) = inst + 1.5
      r(2) = 2.0
      call pvmfreduce(PvmProduct, r, 2, REAL4, 13, 'fgroup', 0, info)
      if (inst .eq. 0) print '(a,i3,2f8.3)', ' prod', info, r(1), r(2)
      z(1) = dcmplx(inst, 1)
      call pvmfreduce(PvmSum, z, 1, COMPLEX16, 14, 'fgroup', 0, info)
      if (inst .eq. 0) print '(a,i3,2f8.3)', ' csum', info, z(1)
      call pvmfbarrier('fgroup', N, info)
      v(1) = 100 + inst
      call pvmfreduce(mine, v, 1, INTEGER4, 15, 'fgroup', 0, info)
      if (inst .eq. 0) print *, 'own function', info, v(1)

      do i = 1, 2 * N
         all(i) = i
      end do
      call pvmfscatter(v, all, 2, INTEGER4, 16, 'fgroup', 0, info)
      v(1) = v(1) * 10 + inst
      v(2) = v(2) * 10 + inst
      call pvmfgather(all, v, 2, INTEGER4, 17, 'fgroup', 0, info)
      if (inst .eq. 0) print *, 'gathered', info, (all(i), i = 1, 2*N)

      if (inst .eq. 0) then
         v(1) = 77
         call pvmfinitsend(PVMDEFAULT, buf)
         call pvmfpack(INTEGER4, v, 1, 1, info)
         call pvmfbcast('fgroup', 18, info)
         print *, 'bcast', info
         do k = 1, N - 1
            call pvmfrecv(-1, 19, buf)
            call pvmfunpack(INTEGER4, i, 1, 1, info)
            print *, 'they got', i
         end do
      else
         call pvmfrecv(-1, 18, buf)
         call pvmfunpack(INTEGER4, i, 1, 1, info)
         call pvmfinitsend(PVMDEFAULT, buf)
         call pvmfpack(INTEGER4, i, 1, 1, info)
         call pvmfgettid('fgroup', 0, t)
         call pvmfsend(t, 19, info)
      end if
      call pvmffreezegroup('fgroup', N, info)
      if (inst .eq. 0) print *, 'freezegroup', info
      call pvmfbarrier('fgroup', N, info)
      call pvmflvgroup('fgroup', info)
      if (inst .eq. 0) print *, 'lvgroup', info
      call pvmfexit(info)
      end

      subroutine mine(type, x, y, num, info)
      integer type, num, info, x(*), y(*), i
      do i = 1, num
         if (mod(y(i), 2) .eq. 1) x(i) = x(i) + 1000 * mod(y(i), 100)
      end do
      info = 0
      end
