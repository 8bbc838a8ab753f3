c     Mailboxes in Fortran, output of children that nobody catches.
      program fmailbox
      implicit none
      include 'fpvm3.h'
      integer me, parent, info, buf, index, i, k, old
      integer nclass, nentry, tid, numt
      integer indices(20), owners(20), flags(20)
      character*64 name
      character*256 path

      call pvmfsetopt(PVMAUTOERR, 0, old)
      call pvmfmytid(me)
      call pvmfparent(parent)
      if (parent .gt. 0) then
         print *, 'a line of the child'
         call pvmfexit(info)
         stop
      end if
      do i = 1, 2
         call pvmfinitsend(PVMDEFAULT, buf)
         call pvmfpack(INTEGER4, i, 1, 1, info)
         call pvmfputinfo('fbox', buf, PVMMBOXMULTIINSTANCE, index)
         print *, 'putinfo', index
      end do
      call pvmfputinfo('fbox2', buf, PVMMBOXDEFAULT, index)
      print *, 'putinfo', index
      call pvmfrecvinfo('fbox', 1, PVMMBOXDEFAULT, buf)
      call pvmfunpack(INTEGER4, k, 1, 1, info)
      print *, 'recvinfo', buf .gt. 0, k
      call pvmfrecvinfo('fbox', 7, PVMMBOXDEFAULT, buf)
      print *, 'recvinfo', buf
c     The original leaves the number of classes and info as they were,
c     and gives the same class again at a second call.
      info = -1
      call pvmfgetmboxinfo('fbox2', name, nclass, nentry,
     &     indices, owners, flags, info)
      print *, name(1:6), nentry, indices(1), owners(1) .eq. me,
     &     flags(1)
      call pvmfdelinfo('fbox', 0, PVMMBOXDEFAULT, info)
      print *, 'delinfo', info
      call pvmfdelinfo('fbox', 0, PVMMBOXDEFAULT, info)
      print *, 'delinfo', info

c     (pvmfaddmhf crashes in the original)
      call pvmfdelmhf(12345, info)
      print *, 'delmhf', info

      call pvmfcatchout(0, info)
      print *, 'catchout', info
      call getarg(0, path)
      call pvmfspawn(path, PVMDEFAULT, '*', 1, tid, numt)
      call pvmfnotify(PVMTASKEXIT, 40, 1, tid, info)
      call pvmfrecv(-1, 40, buf)
      call pvmfexit(info)
      print *, 'exit', info
      end
