! flags: -ltcg4
! Every call of Fortran, INTEGERs of 4 bytes.
      include 'calls.inc'
