! SPDX-License-Identifier: MIT OR Apache-2.0
!
! The names of fpvm3.h as a module. PVM 3.4.6 writes that file in
! fixed form, so the source that includes it has fixed form, too.
      module nas_pvm
      implicit none
      include 'fpvm3.h'
      end module nas_pvm
