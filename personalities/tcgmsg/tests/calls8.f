! flags: -fdefault-integer-8
! Every call of Fortran, INTEGERs of 8 bytes.
      include 'calls.inc'
