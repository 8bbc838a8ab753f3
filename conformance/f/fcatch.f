c     pvmfcatchout: what children print comes out at the parent.
      program fcatch
      implicit none
      include 'fpvm3.h'
      integer me, parent, info, tid, numt, buf, old
      character*256 path

      call pvmfsetopt(PVMAUTOERR, 0, old)
      call pvmfmytid(me)
      call pvmfparent(parent)
      if (parent .gt. 0) then
         print *, 'a line of the child'
         print *, 'another'
         call flush(6)
         call pvmfexit(info)
         stop
      end if
      call pvmfsetopt(PVMSHOWTIDS, 0, old)
      print *, 'before'
      call flush(6)
      call pvmfcatchout(1, info)
      call getarg(0, path)
      call pvmfspawn(path, PVMDEFAULT, '*', 1, tid, numt)
      call pvmfnotify(PVMTASKEXIT, 40, 1, tid, info)
      call pvmfrecv(-1, 40, buf)
      call pvmfexit(info)
      print *, 'after', info
      call pvmfperror('text', info)
      call flush(6)
      end
