! Compiled without -fdefault-integer-8 for the library of 8 bytes: it is told so.
      program narrow
      integer pair(2)
      call pbeginf
      pair(1) = 5
      pair(2) = 7
      call synch(pair)
      call pend
      end
