C     Answers a message of every type of fpvm3.h, each value one larger.
      program answer
      include 'fpvm3.h'
      integer parent, info
      integer*2 halves(2)
      integer*4 fulls(2)
      real*4 single
      real*8 doubles(2)
      complex*8 small
      complex*16 large
      character*5 text
      call pvmfparent(parent)
      call pvmfrecv(parent, 5, info)
      call pvmfunpack(INTEGER2, halves, 2, 1, info)
      call pvmfunpack(INTEGER4, fulls, 2, 1, info)
      call pvmfunpack(REAL4, single, 1, 1, info)
      call pvmfunpack(REAL8, doubles, 2, 1, info)
      call pvmfunpack(COMPLEX8, small, 1, 1, info)
      call pvmfunpack(COMPLEX16, large, 1, 1, info)
      call pvmfunpack(STRING, text, 5, 1, info)
      if (info .lt. 0) stop 1
      halves(1) = halves(1) + 1_2
      fulls(2) = fulls(2) + 1
      single = single + 1
      doubles(2) = doubles(2) + 1
      small = small + 1
      large = large + 1
      text(5:5) = '!'
      call pvmfinitsend(PVMDEFAULT, info)
      call pvmfpack(INTEGER2, halves, 2, 1, info)
      call pvmfpack(INTEGER4, fulls, 2, 1, info)
      call pvmfpack(REAL4, single, 1, 1, info)
      call pvmfpack(REAL8, doubles, 2, 1, info)
      call pvmfpack(COMPLEX8, small, 1, 1, info)
      call pvmfpack(COMPLEX16, large, 1, 1, info)
      call pvmfpack(STRING, text, 5, 1, info)
      call pvmfsend(parent, 6, info)
      if (info .lt. 0) stop 2
      call pvmfexit(info)
      end
