C     SPDX-License-Identifier: MIT OR Apache-2.0
C     The names of fpvm3.h as a module. In fixed form, because PVM
C     3.4.6 has its comments in that form alone.
      module nas_pvm
      implicit none
      include 'fpvm3.h'
      end module
