/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * pvmuser.h - the calls of PVM 2.4 on a NeoPVM machine.
 *
 * A program is a component: a name (up to 32 characters) and an instance number, counted from 0 among the components of
 * that name. Messages have a type, a number from 0 on; there is one current message to send and one received last.
 * A result below zero is one of the codes below. What each call does, and which of that is known of PVM 2.4 and which
 * is our own definition: neopvm-pvm2(7) and doc/interfaces.md.
 *
 * Not beside pvm3.h in one source file: the codes have the same names and other numbers.
 */
#ifndef NEOPVM_PVMUSER_H
#define NEOPVM_PVMUSER_H

#ifdef NEOPVM_PVM3_H
#error "pvmuser.h and pvm3.h exclude each other: their codes have the same names and other numbers"
#endif

#define PvmOk 0
#define PvmSysErr (-1)    /* the machine does not answer */
#define PvmBadParam (-2)
#define PvmMismatch (-3)  /* the members of a barrier disagree on their number */
#define PvmTooLong (-4)   /* a name has more than 32 characters */
#define PvmNoData (-5)    /* the message has fewer items left */
#define PvmNoHost (-6)
#define PvmNoFile (-7)    /* no such program */
#define PvmNoComp (-8)    /* no such component, or the caller is none */
#define PvmNoMsg (-9)     /* no message */
#define PvmNoMem (-10)
#define PvmAlready (-11)  /* enrolled already */

#define PvmSyserr PvmSysErr /* an older spelling */

/* PVM2_ARGS((...)) is a prototype for compilers that know prototypes, else an empty list. */
#if defined(__STDC__) || defined(__cplusplus)
#define PVM2_ARGS(list) list
#else
#define PVM2_ARGS(list) ()
#endif

/* C++ does not let a literal be a char *; C programs may have declared these calls themselves, with char *. */
#ifdef __cplusplus
#define PVM2_IN const
extern "C" {
#else
#define PVM2_IN
#endif

/* This component */
int enroll PVM2_ARGS((PVM2_IN char *name));
int leave PVM2_ARGS((void));
int whoami PVM2_ARGS((char *name, int *instance));

/* Other components; instance -1 is all of the name. */
int initiate PVM2_ARGS((PVM2_IN char *file, PVM2_IN char *arch));
int initiateM PVM2_ARGS((PVM2_IN char *file, PVM2_IN char *host));
int initiatem PVM2_ARGS((PVM2_IN char *file, PVM2_IN char *host));
int terminate PVM2_ARGS((PVM2_IN char *name, int instance));
int status PVM2_ARGS((PVM2_IN char *name, int instance));
int pstatus PVM2_ARGS((int *hosts, int *formats));

/* The message to send */
int initsend PVM2_ARGS((void));
int putnint PVM2_ARGS((PVM2_IN int *items, int count));
int putnshort PVM2_ARGS((PVM2_IN short *items, int count));
int putnlong PVM2_ARGS((PVM2_IN long *items, int count));
int putnfloat PVM2_ARGS((PVM2_IN float *items, int count));
int putndfloat PVM2_ARGS((PVM2_IN double *items, int count));
int putncplx PVM2_ARGS((PVM2_IN float *items, int count));
int putndcplx PVM2_ARGS((PVM2_IN double *items, int count));
int putbytes PVM2_ARGS((PVM2_IN char *bytes, int count));
int putstring PVM2_ARGS((PVM2_IN char *text));

/* The message received last */
int getnint PVM2_ARGS((int *items, int count));
int getnshort PVM2_ARGS((short *items, int count));
int getnlong PVM2_ARGS((long *items, int count));
int getnfloat PVM2_ARGS((float *items, int count));
int getndfloat PVM2_ARGS((double *items, int count));
int getncplx PVM2_ARGS((float *items, int count));
int getndcplx PVM2_ARGS((double *items, int count));
int getbytes PVM2_ARGS((char *bytes, int count));
int getstring PVM2_ARGS((char *text));

/* Messages by way of the daemons; type -1 is any. */
int snd PVM2_ARGS((PVM2_IN char *name, int instance, int type));
int rcv PVM2_ARGS((int type));
int rcvmulti PVM2_ARGS((int count, PVM2_IN int *types));
int probe PVM2_ARGS((int type));
int probemulti PVM2_ARGS((int count, PVM2_IN int *types));
int rcvinfo PVM2_ARGS((int *bytes, int *type, char *name, int *instance));

/* The same by a direct connection */
int vsnd PVM2_ARGS((PVM2_IN char *name, int instance, int type));
int vrcv PVM2_ARGS((int type));
int vrcvmulti PVM2_ARGS((int count, PVM2_IN int *types));

/* Waiting for one another */
int barrier PVM2_ARGS((PVM2_IN char *name, int count));
int ready PVM2_ARGS((PVM2_IN char *event));
int waituntil PVM2_ARGS((PVM2_IN char *event));

#ifdef __cplusplus
}
#endif

#endif /* NEOPVM_PVMUSER_H */
