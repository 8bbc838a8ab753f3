c SPDX-License-Identifier: MIT OR Apache-2.0
c Or-ed to a message type: what the message is made of.
      integer msgdbl, msgint, msgchr
      parameter (msgdbl=65536, msgint=131072, msgchr=262144)
c The library sees at PBEGINF how wide this program's INTEGERs are.
      integer neopvm_tcgmsg_integer
      common /neopvm_tcgmsg_integer/ neopvm_tcgmsg_integer
