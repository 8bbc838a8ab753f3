! SPDX-License-Identifier: MIT OR Apache-2.0
! The functions of NX; good in fixed and in free form. All are INTEGERs of 4 bytes but dclock.
      integer mynode, numnodes, nodedim, myhost, mypid, myptype
      integer csendrecv, iprobe, iprobex, isend, irecv, irecvx
      integer isendrecv, msgdone, msgmerge, masktrap, mclock
      integer infocount, infonode, infotype, infopid, infoptype
      double precision dclock
      external mynode, numnodes, nodedim, myhost, mypid, myptype
      external csendrecv, iprobe, iprobex, isend, irecv, irecvx
      external isendrecv, msgdone, msgmerge, masktrap, mclock
      external infocount, infonode, infotype, infopid, infoptype
      external dclock
