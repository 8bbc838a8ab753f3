! A host program in Fortran: fhost NODE-PROGRAM, of two nodes.
      program fhost
      implicit none
      include 'fcube.h'
      character*256 name
      integer value(2), from, pid, code
      call getarg(1, name)
      call getcube('cube', '2', ' ', 0)
      call attachcube('cube')
      call load(name, 0, 0)
      call load(name, 1, 0)
      value(1) = 5
      value(2) = 0
      call csend(1, value, 8, -1, 0)
      call crecv(2, value, 8)
      call crecv(2, value, 8)
      call killproc(1, 0)
      call waitone(1, 0, from, pid, code)
      if (from .ne. 1) stop 3
      call killcube(-1, 0)
      call waitall(-1, 0)
      call waitcube
      call relcube('cube')
      print *, 'ok'
      end
