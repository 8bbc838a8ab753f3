C     marks_f: sends a number to itself, and says of itself what it does.
      program marksf
      include 'fpvm3.h'
      integer me, n, info
      n = 7
      call pvmfmytid(me)
      call neopvmfstate('sorting', info)
      if (info .ne. 0) stop 1
      call pvmfinitsend(PVMDEFAULT, info)
      call pvmfpack(INTEGER4, n, 1, 1, info)
      call pvmfsend(me, 3, info)
      call pvmfrecv(me, 3, info)
      call neopvmfprogress('rows', 40, 100, info)
      if (info .ne. 0) stop 2
      call neopvmfstate(' ', info)
      call neopvmfmark('done', -7, info)
      if (info .ne. 0) stop 3
      call pvmfexit(info)
      end
