! SPDX-License-Identifier: MIT OR Apache-2.0
!
! p4f.h - names for Fortran programs of p4 on a NeoPVM machine.
! Both source forms include it: comments begin with an exclamation mark in column 1,
! statements in column 7, and no line is continued.

! Data types.
      integer P4NOX
      parameter (P4NOX = 0)
      integer P4INT
      parameter (P4INT = 1)
      integer P4LNG
      parameter (P4LNG = 2)
      integer P4FLT
      parameter (P4FLT = 3)
      integer P4DBL
      parameter (P4DBL = 4)

! Functions.
      integer p4myid
      external p4myid
      integer p4ntotids
      external p4ntotids
      integer p4nslaves
      external p4nslaves
      integer p4myclid
      external p4myclid
      integer p4nclids
      external p4nclids
      integer p4clock
      external p4clock
      integer p4ustimer
      external p4ustimer
      integer p4usrollover
      external p4usrollover

! Operations of p4globop.
      external p4intsumop
      external p4intmultop
      external p4intmaxop
      external p4intminop
      external p4intabsmaxop
      external p4intabsminop
      external p4dblsumop
      external p4dblmultop
      external p4dblmaxop
      external p4dblminop
      external p4dblabsmaxop
      external p4dblabsminop
      external p4fltsumop
      external p4fltmultop
      external p4fltmaxop
      external p4fltminop
      external p4fltabsmaxop
      external p4fltabsminop
