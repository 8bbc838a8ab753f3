C     The Fortran task of babel.c: doubles numbers, and tells the C++ one.
      program babelf
      include 'fpvm3.h'
      integer parent, info, n, i, peer, inum
      double precision x(100)
      character*6 text
      call pvmfparent(parent)
      if (parent .le. 0) stop 9
      call pvmfrecv(parent, 1, info)
      call pvmfunpack(INTEGER4, n, 1, 1, info)
      if (n .ne. 100) stop 8
      call pvmfunpack(REAL8, x, n, 1, info)
      call pvmfunpack(STRING, text, 6, 1, info)
      if (text .ne. 'from C') stop 7
      call pvmfunpack(INTEGER4, peer, 1, 1, info)
      do 10 i = 1, n
         x(i) = 2 * x(i)
 10   continue
      call pvmfinitsend(PVMDEFAULT, info)
      call pvmfpack(REAL8, x, n, 1, info)
      call pvmfpack(STRING, 'Fortran answers', 15, 1, info)
      call pvmfsend(parent, 2, info)
      if (info .ne. 0) stop 6
      call pvmfinitsend(PVMRAW, info)
      call pvmfpack(INTEGER4, 77, 1, 1, info)
      call pvmfsend(peer, 3, info)
      call pvmfjoingroup('babel', inum)
      if (inum .lt. 0) stop 5
      call pvmfbarrier('babel', 3, info)
      if (info .ne. 0) stop 4
      call pvmfexit(info)
      end
