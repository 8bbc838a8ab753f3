c     Tasks and the machine in Fortran: spawn and its errors, config,
c     tasks, status, notify, signals, siblings, mcast, hosts, archcode.
      program ftasks
      implicit none
      include 'fpvm3.h'
      integer me, parent, tids(4), numt, info, buf, i, k, old, n
      integer nhost, narch, dtid, speed, tid, ptid, flag, code, sec
      integer usec, dsec, dusec, sib
      character*256 path, name, arch, aout

      call pvmfsetopt(PVMAUTOERR, 0, old)
      call pvmfmytid(me)
      call pvmfparent(parent)
      if (parent .gt. 0) then
c        a child: says how many siblings, waits to be told or killed
         call pvmfsiblings(n, -1, sib)
         k = 0
         do i = 0, n - 1
            call pvmfsiblings(n, i, sib)
            if (sib .eq. me) k = i
         end do
         call pvmfinitsend(PVMRAW, buf)
         call pvmfpack(INTEGER4, n, 1, 1, info)
         call pvmfpack(INTEGER4, k, 1, 1, info)
         call pvmfsend(parent, 1, info)
         call pvmfrecv(parent, 2, buf)
         call pvmfunpack(INTEGER4, i, 1, 1, info)
         i = i + k
         call pvmfpsend(parent, 3, i, 1, INTEGER4, info)
         call pvmfexit(info)
         stop
      end if
      print *, 'parent', parent
      call getarg(0, path)
      call pvmfspawn('no-such-file', PVMDEFAULT, '*', 2, tids, numt)
      print *, 'spawn', numt, tids(1), tids(2)
      call pvmfspawn(path, PVMTASKHOST, 'no-such-host', 1, tids, numt)
      print *, 'spawn', numt, tids(1)
      call pvmfspawn(path, PVMTASKARCH, 'LINUX64', 1, tids, numt)
      print *, 'spawn by architecture', numt
      call pvmfrecv(tids(1), 1, buf)
      call pvmfnotify(PVMTASKEXIT, 51, 1, tids, info)
      call pvmfkill(tids(1), info)
      print *, 'kill', info
c     It may take its time to end, and is counted below until then.
      call pvmfrecv(-1, 51, buf)
      call pvmfspawn(path, PVMTASKDEFAULT, '*', 3, tids, numt)
      print *, 'spawn', numt
      do i = 1, 3
         call pvmfrecv(tids(i), 1, buf)
         call pvmfunpack(INTEGER4, n, 1, 1, info)
         call pvmfunpack(INTEGER4, k, 1, 1, info)
         print *, 'siblings', n, ' number', k
         call pvmfpstat(tids(i), info)
         print *, 'pstat', info
      end do
      call pvmfnotify(PVMTASKEXIT, 50, 3, tids, info)
      print *, 'notify', info
      i = 100
      call pvmfinitsend(PVMDEFAULT, buf)
      call pvmfpack(INTEGER4, i, 1, 1, info)
      call pvmfmcast(3, tids, 2, info)
      print *, 'mcast', info
      do i = 1, 3
         call pvmfrecv(tids(i), 3, buf)
         call pvmfunpack(INTEGER4, k, 1, 1, info)
         print *, 'answer', k
      end do
      n = 0
      do i = 1, 3
         call pvmfrecv(-1, 50, buf)
         call pvmfunpack(INTEGER4, k, 1, 1, info)
         if (k .eq. tids(1)) n = n + 1
         if (k .eq. tids(2)) n = n + 2
         if (k .eq. tids(3)) n = n + 4
      end do
      print *, 'all three gone', n
      call pvmfpstat(tids(1), info)
      print *, 'pstat', info

      call pvmfconfig(nhost, narch, dtid, name, arch, speed, info)
      print *, 'config', info, nhost, narch, speed, ' ', arch(1:8)
      call pvmftidtohost(me, i)
      print *, 'same host', i .eq. dtid
      call pvmfmstat(name, info)
      print *, 'mstat', info
      call pvmfmstat('no-such-host', info)
      print *, 'mstat', info
      call pvmfarchcode('LINUX64', code)
      print *, 'archcode', code
      call pvmftasks(0, n, tid, ptid, dtid, flag, aout, info)
      print *, 'tasks', info, n, tid .eq. me, ptid, flag
      call pvmfsendsig(me, 0, info)
      print *, 'sendsig', info
      call pvmfhostsync(dtid, sec, usec, dsec, dusec, info)
      print *, 'hostsync', info
      call pvmfaddhost('no-such-host.invalid', info)
      print *, 'addhost fails', info .lt. 0
      call pvmfdelhost('no-such-host.invalid', info)
      print *, 'delhost', info
      call pvmfstartpvmd('', 0, info)
      print *, 'startpvmd', info
      call pvmfkill(0, info)
      print *, 'kill', info
      call pvmfnotify(99, 1, 1, tids, info)
      print *, 'notify', info
      call pvmfexit(info)
      print *, 'exit', info
      end
