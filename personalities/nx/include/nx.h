/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * nx.h - the message-passing calls of Intel's iPSC and Paragon, on a NeoPVM machine.
 *
 * Integers are longs. An error of a plain call ends the job; the call with an underscore in front returns -1 instead and
 * sets errno (EINVAL, EMSGSIZE for a message that is longer than the room, ENOMEM). A typesel of -1 is any type, and one
 * with the top bit (of 32) set is a mask of the types 0 to 30; node -1 is all other nodes of a send and any of a
 * receive. `info` has 8 elements: type, length, source.
 */
#ifndef NEOPVM_NX_H
#define NEOPVM_NX_H

#ifndef NEOPVM_ARGS
#if defined(__STDC__) || defined(__cplusplus)
#define NEOPVM_ARGS(list) list
#else
#define NEOPVM_ARGS(list) ()
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A call and its twin. */
#define NEOPVM_NX_CALL(name, list) \
    void name NEOPVM_ARGS(list);   \
    long _##name NEOPVM_ARGS(list);
#define NEOPVM_NX_FUNCTION(type, name, list) \
    type name NEOPVM_ARGS(list);             \
    type _##name NEOPVM_ARGS(list);

/* Who and where */
NEOPVM_NX_FUNCTION(long, mynode, (void))
NEOPVM_NX_FUNCTION(long, numnodes, (void))
NEOPVM_NX_FUNCTION(long, nodedim, (void))
NEOPVM_NX_FUNCTION(long, myhost, (void))
NEOPVM_NX_FUNCTION(long, mypid, (void))
NEOPVM_NX_FUNCTION(long, myptype, (void))
NEOPVM_NX_CALL(setpid, (long pid))
NEOPVM_NX_FUNCTION(long, setptype, (long ptype))
long _myphysnode NEOPVM_ARGS((void));

/* Messages */
NEOPVM_NX_CALL(csend, (long type, char *data, long bytes, long node, long ptype))
NEOPVM_NX_CALL(crecv, (long typesel, char *data, long room))
NEOPVM_NX_CALL(crecvx, (long typesel, char *data, long room, long nodesel, long ptypesel, long *info))
NEOPVM_NX_FUNCTION(long, csendrecv,
                   (long type, char *out, long bytes, long node, long ptype, long typesel, char *in, long room))
NEOPVM_NX_CALL(gsendx, (long type, char *data, long bytes, long *nodes, long count))
NEOPVM_NX_CALL(cprobe, (long typesel))
NEOPVM_NX_CALL(cprobex, (long typesel, long nodesel, long ptypesel, long *info))
NEOPVM_NX_FUNCTION(long, iprobe, (long typesel))
NEOPVM_NX_FUNCTION(long, iprobex, (long typesel, long nodesel, long ptypesel, long *info))
NEOPVM_NX_FUNCTION(long, infocount, (void))
NEOPVM_NX_FUNCTION(long, infonode, (void))
NEOPVM_NX_FUNCTION(long, infotype, (void))
NEOPVM_NX_FUNCTION(long, infopid, (void))
NEOPVM_NX_FUNCTION(long, infoptype, (void))
NEOPVM_NX_CALL(flushmsg, (long typesel, long nodesel, long ptypesel))

/* Asynchronous messages: an id is spent by msgwait, by msgdone that gives 1, and by msgcancel */
NEOPVM_NX_FUNCTION(long, isend, (long type, char *data, long bytes, long node, long ptype))
NEOPVM_NX_FUNCTION(long, irecv, (long typesel, char *data, long room))
NEOPVM_NX_FUNCTION(long, irecvx, (long typesel, char *data, long room, long nodesel, long ptypesel, long *info))
NEOPVM_NX_FUNCTION(long, isendrecv,
                   (long type, char *out, long bytes, long node, long ptype, long typesel, char *in, long room))
NEOPVM_NX_CALL(msgwait, (long id))
NEOPVM_NX_FUNCTION(long, msgdone, (long id))
NEOPVM_NX_CALL(msgcancel, (long id))
NEOPVM_NX_CALL(msgignore, (long id))
NEOPVM_NX_FUNCTION(long, msgmerge, (long one, long other))

/* Handlers run in a thread of their own, one at a time, while the program computes; masktrap(1) holds them */
NEOPVM_NX_CALL(hrecv,
               (long typesel, char *data, long room, void (*handler)(long type, long count, long node, long ptype)))
NEOPVM_NX_CALL(hrecvx, (long typesel, char *data, long room, long nodesel, long ptypesel,
                        void (*handler)(long type, long count, long node, long ptype)))
NEOPVM_NX_CALL(hsend, (long type, char *data, long bytes, long node, long ptype,
                       void (*handler)(long type, long count, long node, long ptype)))
NEOPVM_NX_CALL(hsendrecv, (long type, char *out, long bytes, long node, long ptype, long typesel, char *in, long room,
                           void (*handler)(long type, long count, long node, long ptype)))
NEOPVM_NX_FUNCTION(long, masktrap, (long state))

/* All nodes together; `work` has the room of x and is not used */
NEOPVM_NX_CALL(gsync, (void))
#define NEOPVM_NX_REDUCTION(name, type) NEOPVM_NX_CALL(name, (type * x, long count, type * work))
NEOPVM_NX_REDUCTION(gdsum, double)
NEOPVM_NX_REDUCTION(gdprod, double)
NEOPVM_NX_REDUCTION(gdhigh, double)
NEOPVM_NX_REDUCTION(gdlow, double)
NEOPVM_NX_REDUCTION(gssum, float)
NEOPVM_NX_REDUCTION(gsprod, float)
NEOPVM_NX_REDUCTION(gshigh, float)
NEOPVM_NX_REDUCTION(gslow, float)
NEOPVM_NX_REDUCTION(gisum, long)
NEOPVM_NX_REDUCTION(giprod, long)
NEOPVM_NX_REDUCTION(gihigh, long)
NEOPVM_NX_REDUCTION(gilow, long)
NEOPVM_NX_REDUCTION(giand, long)
NEOPVM_NX_REDUCTION(gior, long)
NEOPVM_NX_REDUCTION(gixor, long)
NEOPVM_NX_REDUCTION(gland, long)
NEOPVM_NX_REDUCTION(glor, long)
NEOPVM_NX_CALL(gopf, (char *x, long bytes, char *work, void (*function)(void *x, void *other)))
NEOPVM_NX_CALL(gcol, (char *x, long bytes, char *y, long room, long *count))
NEOPVM_NX_CALL(gcolx, (char *x, long *bytes, char *y))

/* Clocks and odds */
NEOPVM_NX_FUNCTION(long, mclock, (void))
NEOPVM_NX_FUNCTION(double, dclock, (void))
NEOPVM_NX_FUNCTION(long, flick, (void))
NEOPVM_NX_FUNCTION(long, led, (long state))

/* Host programs */
void getcube NEOPVM_ARGS((char *name, char *type, char *server, long keep));
long _getcube NEOPVM_ARGS((char *name, char *type, char *server, long keep));
NEOPVM_NX_CALL(attachcube, (char *name))
NEOPVM_NX_CALL(relcube, (char *name))
NEOPVM_NX_CALL(load, (char *file, long node, long pid))
NEOPVM_NX_CALL(waitcube, (void))
NEOPVM_NX_CALL(waitall, (long node, long pid))
NEOPVM_NX_CALL(waitone, (long node, long pid, long *from, long *from_pid, long *code))
NEOPVM_NX_CALL(killcube, (long node, long pid))
NEOPVM_NX_CALL(killproc, (long node, long pid))

#ifdef __cplusplus
}
#endif

#endif /* NEOPVM_NX_H */
