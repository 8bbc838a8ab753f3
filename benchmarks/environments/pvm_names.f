! SPDX-License-Identifier: MIT OR Apache-2.0
! The constants of fpvm3.h, which PVM 3.4.6 has in the fixed form only.
      module pvm_names
      implicit none
      include 'fpvm3.h'
      end module
