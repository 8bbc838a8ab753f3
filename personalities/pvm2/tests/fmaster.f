C SPDX-License-Identifier: MIT OR Apache-2.0
C     The calls of PVM 2.4 from Fortran: a master and the program fworker.
      PROGRAM MASTER
      INTEGER INFO, INST, NCPU, MIXED, NBYTES, MTYPE, I(3), TYPES(2), N
      INTEGER*2 S(2)
      INTEGER*8 L(1)
      REAL F(2)
      DOUBLE PRECISION D(2)
      COMPLEX C(1)
      COMPLEX*16 Z(1)
      CHARACTER*32 NAME
      CHARACTER*40 TEXT
      CHARACTER*5 BYTES

      CALL FWHOAMI(NAME, INST, INFO)
      CALL IS('whoami before enrolling', INFO, -8)
      CALL FENROLL('a name of thirty-three characters', INFO)
      CALL IS('a long name', INFO, -4)
      CALL FENROLL('   ', INFO)
      CALL IS('no name', INFO, -2)
      CALL FENROLL('fmaster   ', INFO)
      CALL IS('enroll', INFO, 0)
      CALL FWHOAMI(NAME, INST, INFO)
      CALL IS('whoami', INFO, 0)
      CALL IS('whoami: name', INDEX(NAME, 'fmaster '), 1)
      CALL FPSTATUS(NCPU, MIXED, INFO)
      CALL IS('pstatus', INFO, 0)
      CALL FINITIATE('fworker'//CHAR(0), 'SUN4'//CHAR(0), INFO)
      CALL IS('initiate', INFO, 0)
      CALL FINITIATEM('fworker', 'nowhere', INFO)
      CALL IS('initiateM', INFO, -6)
      CALL FSTATUS('fworker', 0, INFO)
      CALL IS('status', INFO, 1)
      CALL FWAITUNTIL('fworker is ready', INFO)
      CALL IS('waituntil', INFO, 0)

      CALL FINITSEND(INFO)
      CALL IS('initsend', INFO, 0)
      I(1) = 1
      I(2) = -2
      I(3) = 3
      CALL FPUTNINT(I, 3, INFO)
      CALL IS('putnint', INFO, 0)
      S(1) = -7
      S(2) = 8
      CALL FPUTNSHORT(S, 2, INFO)
      L(1) = 5000000000_8
      CALL FPUTNLONG(L, 1, INFO)
      F(1) = 0.5
      F(2) = -1.5
      CALL FPUTNFLOAT(F, 2, INFO)
      D(1) = 1D300
      D(2) = -1D-300
      CALL FPUTNDFLOAT(D, 2, INFO)
      C(1) = (1.0, -1.0)
      CALL FPUTNCPLX(C, 1, INFO)
      Z(1) = (2D0, -2D0)
      CALL FPUTNDCPLX(Z, 1, INFO)
      CALL FPUTBYTES('bytes', 5, INFO)
      CALL FPUTSTRING('a text   ', INFO)
      CALL IS('putstring', INFO, 0)
      CALL FPUTNINT(I, -1, INFO)
      CALL IS('a count below 0', INFO, -2)
      CALL FSND('fworker', 0, 10, INFO)
      CALL IS('snd', INFO, 0)

      CALL FRCV(11, INFO)
      CALL IS('rcv', INFO, 11)
      CALL FRCVINFO(NBYTES, MTYPE, NAME, INST, INFO)
      CALL IS('rcvinfo', INFO, 0)
      CALL IS('rcvinfo: name', INDEX(NAME, 'fworker '), 1)
      CALL IS('rcvinfo: instance', INST, 0)
      CALL IS('rcvinfo: type', MTYPE, 11)
      CALL FGETNINT(I, 3, INFO)
      CALL IS('getnint', I(1) + 10 * I(2) + 100 * I(3), 281)
      CALL FGETNSHORT(S, 2, INFO)
      CALL IS('getnshort', S(1) + 0, -7)
      CALL FGETNLONG(L, 1, INFO)
      CALL IS('getnlong', INT(L(1) / 1000000000_8), 5)
      CALL FGETNFLOAT(F, 2, INFO)
      CALL IS('getnfloat', INT(F(1) * 2 + F(2) * 2), -2)
      CALL FGETNDFLOAT(D, 2, INFO)
      CALL IS('getndfloat', INT(D(1) * D(2)), -1)
      CALL FGETNCPLX(C, 1, INFO)
      CALL IS('getncplx', INT(AIMAG(C(1))), -1)
      CALL FGETNDCPLX(Z, 1, INFO)
      CALL IS('getndcplx', INT(DBLE(Z(1))), 2)
      CALL FGETBYTES(BYTES, 5, INFO)
      CALL IS('getbytes', INDEX(BYTES, 'bytes'), 1)
      TEXT = 'xxxxxxxxxxxxxxxxxxxxxxxxxxx'
      CALL FGETSTRING(TEXT, INFO)
      CALL IS('getstring', INFO, 0)
      CALL IS('getstring: length', LEN_TRIM(TEXT), 6)
      CALL FGETNINT(I, 1, INFO)
      CALL IS('short data', INFO, -5)

      CALL FVRCV(12, INFO)
      CALL IS('vrcv', INFO, 12)
      TYPES(1) = 14
      TYPES(2) = 13
      CALL FRCVMULTI(2, TYPES, INFO)
      CALL IS('rcvmulti', INFO, 13)
      CALL FVRCVMULTI(2, TYPES, INFO)
      CALL IS('vrcvmulti', INFO, 14)
      CALL FPROBE(-1, INFO)
      CALL IS('probe', INFO, -9)
      CALL FPROBEMULTI(2, TYPES, INFO)
      CALL IS('probemulti', INFO, -9)
      CALL FREADY('fmaster is ready', INFO)
      CALL IS('ready', INFO, 0)
      CALL FBARRIER('both', 2, INFO)
      CALL IS('barrier', INFO, 0)
      CALL FTERMINATE('fworker', 0, INFO)
      CALL IS('terminate', INFO, 0)
      DO 10 N = 1, 6000
        CALL FSTATUS('fworker', 0, INFO)
        IF (INFO .EQ. 0) GO TO 20
        CALL SLEEPQQ
 10   CONTINUE
 20   CALL IS('status of one that was terminated', INFO, 0)
      CALL FVSND('fworker', 0, 1, INFO)
      CALL IS('vsnd to nobody', INFO, -8)
      CALL FLEAVE(INFO)
      CALL IS('leave', INFO, 0)
      END

C     A hundredth of a second, about.
      SUBROUTINE SLEEPQQ
      CALL EXECUTE_COMMAND_LINE('sleep 0.01')
      END

      SUBROUTINE IS(WHAT, GOT, WANTED)
      CHARACTER*(*) WHAT
      INTEGER GOT, WANTED
      IF (GOT .EQ. WANTED) RETURN
      WRITE(0, *) 'not so: ', WHAT, ' is ', GOT, ', not ', WANTED
      STOP 1
      END
