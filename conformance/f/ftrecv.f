c     pvmftrecv: -1 seconds wait for ever, other times below zero not.
      program ftrecv
      implicit none
      include 'fpvm3.h'
      integer me, parent, info, buf, tid, numt
      character*256 path

      call pvmfsetopt(PVMAUTOERR, 0, info)
      call pvmfmytid(me)
      call pvmfparent(parent)
      if (parent .gt. 0) then
         call pvmfrecv(parent, 1, buf)
         call pvmfsleep(1)
         call pvmfinitsend(PVMDEFAULT, buf)
         call pvmfsend(parent, 2, info)
         call pvmfexit(info)
         stop
      end if
      call getarg(0, path)
      call pvmfspawn(path, PVMDEFAULT, '*', 1, tid, numt)
      call pvmftrecv(tid, 2, -2, 0, buf)
      print *, '-2 seconds', buf
      call pvmftrecv(tid, 2, 0, -1, buf)
      print *, '-1 microseconds', buf
      call pvmftrecv(tid, 2, 0, 0, buf)
      print *, 'no time', buf
      call pvmfinitsend(PVMDEFAULT, buf)
      call pvmfsend(tid, 1, info)
      call pvmftrecv(tid, 2, -1, 0, buf)
      print *, '-1 seconds', buf .gt. 0
      call pvmfexit(info)
      end
