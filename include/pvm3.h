/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * pvm3.h - the C interface of NeoPVM, compatible with programs written for PVM 3.
 *
 * Old and new compilers read this file: C without prototypes, C89, today's C, and C++. Therefore
 * strings are plain `char *` and integers are `int`, as old programs expect.
 * A call returns a value >= 0, or one of the negative codes of section 1.
 * neopvm.h has calls with 64-bit counts, handles and timeouts; a program may include both files.
 */
#ifndef NEOPVM_PVM3_H
#define NEOPVM_PVM3_H
#define _PVM3_H_ /* Old sources look for this name. */

#include <sys/time.h>

#define PVM_MAJOR_VERSION 3
#define PVM_MINOR_VERSION 4
#define PVM_PATCH_VERSION 6
#define PVM_VER "3.4.6"

/* ---- 1. Results ---- */

#define PvmOk 0
#define PvmBadParam -2       /* an argument is invalid */
#define PvmMismatch -3       /* members of a group disagree */
#define PvmOverflow -4       /* a value does not fit its encoding */
#define PvmNoData -5         /* unpacking beyond the end of the message */
#define PvmNoHost -6         /* unknown host */
#define PvmNoFile -7         /* unknown program */
#define PvmDenied -8         /* another task owns the object */
#define PvmNoMem -10         /* out of memory */
#define PvmBadMsg -12        /* the message cannot be decoded */
#define PvmSysErr -14        /* the local daemon does not answer */
#define PvmNoBuf -15         /* no current buffer */
#define PvmNoSuchBuf -16     /* no buffer has this number */
#define PvmNullGroup -17     /* a group needs a name */
#define PvmDupGroup -18      /* already a member */
#define PvmNoGroup -19       /* unknown group */
#define PvmNotInGroup -20    /* not a member */
#define PvmNoInst -21        /* no member has this instance number */
#define PvmHostFail -22      /* a host failed or left */
#define PvmNoParent -23      /* not a spawned task */
#define PvmNotImpl -24       /* not available */
#define PvmDSysErr -25       /* the daemon failed */
#define PvmBadVersion -26    /* the library and the daemon have different versions */
#define PvmOutOfRes -27      /* a table is full */
#define PvmDupHost -28       /* the host is a member already */
#define PvmCantStart -29     /* the daemon could not be started */
#define PvmAlready -30       /* already in progress or already done */
#define PvmNoTask -31        /* unknown task */
#define PvmNotFound -32      /* there is no such entry */
#define PvmExists -33        /* the entry exists already */
#define PvmHostrNMstr -34    /* a hoster must run on the first host */
#define PvmParentNotSet -35  /* the task was spawned with PvmNoSpawnParent */
#define PvmIPLoopback -36    /* the first host is known as a loopback address */

/* Older names of three results. */
#define PvmNoEntry PvmNotFound
#define PvmDupEntry PvmDenied

/* ---- 2. Messages ---- */

/* The encodings of pvm_initsend and pvm_mkbuf. */
#define PvmDataDefault 0     /* readable by every architecture */
#define PvmDataRaw 1         /* bytes as they are in memory */
#define PvmDataInPlace 2     /* each send reads the items from the program's memory */
#define PvmDataTrace 4
#define PvmDataFoo PvmDataDefault

/* Types for pvm_psend, pvm_precv, pvm_reduce, pvm_scatter and pvm_gather. */
#define PVM_STR 0
#define PVM_BYTE 1
#define PVM_SHORT 2
#define PVM_INT 3
#define PVM_FLOAT 4
#define PVM_CPLX 5
#define PVM_DOUBLE 6
#define PVM_DCPLX 7
#define PVM_LONG 8
#define PVM_USHORT 9
#define PVM_UINT 10
#define PVM_ULONG 11

/* The context in which every program begins. */
#define PvmBaseContext 0

/* The part of a message's envelope that pvm_getminfo reads and pvm_setminfo writes. */
struct pvmminfo {
    int len; /* bytes */
    int ctx; /* context */
    int tag;
    int wid; /* wait id; a program copies it into its reply */
    int enc; /* encoding */
    int crc;
    int src; /* sender */
    int dst; /* receiver */
};

/* ---- 3. Tasks and hosts ---- */

/* Flags of pvm_spawn; a program adds them up. */
#define PvmTaskDefault 0
#define PvmTaskHost 1        /* `where` names a host */
#define PvmTaskArch 2        /* `where` names an architecture */
#define PvmTaskDebug 4       /* under a debugger */
#define PvmTaskTrace 8       /* with tracing */
#define PvmMppFront 16       /* on the front end of a parallel computer */
#define PvmHostCompl 32      /* on all hosts except those */
#define PvmNoSpawnParent 64  /* the task sees PvmParentNotSet */

/* Kinds of pvm_notify. A program adds PvmNotifyCancel to withdraw a request. */
#define PvmTaskExit 1
#define PvmHostDelete 2
#define PvmHostAdd 3
#define PvmRouteAdd 4
#define PvmRouteDelete 5
#define PvmNotifyCancel 256

struct pvmhostinfo {
    int hi_tid;    /* of the host's daemon */
    char *hi_name;
    char *hi_arch;
    int hi_speed;  /* relative: first host 1000, or sp= */
    int hi_dsig;   /* data representation */
};

struct pvmtaskinfo {
    int ti_tid;
    int ti_ptid;   /* parent */
    int ti_host;   /* tid of its host */
    int ti_flag;
    char *ti_a_out; /* program, never NULL */
    int ti_pid;
};

/* The setting of pvm_gettmask and pvm_settmask: that of the task, or that of its children. */
#define PvmTaskSelf 0
#define PvmTaskChild 1

/* ---- 4. Options of pvm_getopt and pvm_setopt ---- */

#define PvmRoute 1
#define PvmDebugMask 2
#define PvmAutoErr 3
#define PvmOutputTid 4
#define PvmOutputCode 5
#define PvmTraceTid 6
#define PvmTraceCode 7
#define PvmTraceBuffer 8
#define PvmTraceOptions 9
#define PvmFragSize 10
#define PvmResvTids 11
#define PvmSelfOutputTid 12
#define PvmSelfOutputCode 13
#define PvmSelfTraceTid 14
#define PvmSelfTraceCode 15
#define PvmSelfTraceBuffer 16
#define PvmSelfTraceOptions 17
#define PvmShowTids 18
#define PvmPollType 19
#define PvmPollTime 20
#define PvmOutputContext 21
#define PvmTraceContext 22
#define PvmSelfOutputContext 23
#define PvmSelfTraceContext 24
#define PvmNoReset 25

/* Values of PvmRoute. */
#define PvmDontRoute 1
#define PvmAllowDirect 2
#define PvmRouteDirect 3

/* Values of PvmTraceOptions. */
#define PvmTraceFull 1
#define PvmTraceTime 2
#define PvmTraceCount 3

/* Values of PvmPollType. */
#define PvmPollConstant 1
#define PvmPollSleep 2

/* ---- 5. Named messages ("mailboxes") ---- */

#define PvmMboxDefault 0
#define PvmMboxPersistent 1     /* stays when its owner ends */
#define PvmMboxMultiInstance 2  /* several entries under one name */
#define PvmMboxOverWritable 4   /* any task may replace it */
#define PvmMboxFirstAvail 8     /* the given index or the next one that exists */
#define PvmMboxReadAndDelete 16
#define PvmMboxWaitForInfo 32   /* wait until there is such an entry */
#define PvmMboxMaxFlag 512

/* The upper bits of the flags may contain an index. */
#define PvmMboxDirectIndexShift 10
#define PvmMboxMaxDirectIndex (1U << (31 - PvmMboxDirectIndexShift))
#define PvmMboxDirectIndex(_index) \
    ((_index) < PvmMboxMaxDirectIndex ? (_index) << PvmMboxDirectIndexShift : 0)
#define PvmMboxDirectIndexOf(_flags) \
    (((_flags) >> PvmMboxDirectIndexShift) & (PvmMboxMaxDirectIndex - 1))

/* Names of entries that the machine itself makes. */
#define PVMNORESETCLASS "###_PVM_NO_RESET_###"
#define PVMHOSTERCLASS "###_PVM_HOSTER_###"
#define PVMTASKERCLASS "###_PVM_TASKER_###"
#define PVMTRACERCLASS "###_PVM_TRACER_###"
#define PVMRMCLASS "###_PVM_RM_###"

struct pvmmboxinfo {
    char *mi_name;
    int mi_nentries;
    int *mi_indices; /* these three have mi_nentries elements */
    int *mi_owners;
    int *mi_flags;
};

/* ---- 6. Other definitions that old programs use ---- */

#define PVMTMPNAMLEN 128
#define PVMTMPNAMFUN(x) tmpnam(x)

/* NEOPVM_ARGS((...)) expands to a prototype, or to () for compilers without prototypes. */
#ifndef NEOPVM_ARGS
#if defined(__STDC__) || defined(__cplusplus)
#define NEOPVM_ARGS(list) list
#else
#define NEOPVM_ARGS(list) ()
#endif
#endif

#ifndef __ProtoGlarp__ /* the name of this macro in PVM 3, which programs use */
#define __ProtoGlarp__(list) NEOPVM_ARGS(list)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * ---- 7. Data ----
 * The libraries also export `int pvm_errno` (the last negative result), `char *pvm_errlist[]`
 * (indexed by the negated result) and `int pvm_nerr`. Programs declare these variables themselves.
 * This file does not, because the declarations in existing programs differ.
 */

/* ---- 8. Calls, by subject ---- */

/* This task */
int pvm_mytid NEOPVM_ARGS((void));
int pvm_parent NEOPVM_ARGS((void));
int pvm_siblings NEOPVM_ARGS((int **tids));
int pvm_exit NEOPVM_ARGS((void));
int pvm_perror NEOPVM_ARGS((char *text));
char *pvm_strerror NEOPVM_ARGS((void));
char *pvm_version NEOPVM_ARGS((void));
int pvm_getopt NEOPVM_ARGS((int option));
int pvm_setopt NEOPVM_ARGS((int option, int value));
int pvm_export NEOPVM_ARGS((char *variable));
int pvm_unexport NEOPVM_ARGS((char *variable));
int pvm_getfds NEOPVM_ARGS((int **fds));

/* Other tasks */
int pvm_spawn NEOPVM_ARGS((char *program, char **argv, int flag, char *where, int count,
                           int *tids));
int pvm_kill NEOPVM_ARGS((int tid));
int pvm_sendsig NEOPVM_ARGS((int tid, int signal));
int pvm_pstat NEOPVM_ARGS((int tid));
int pvm_tasks NEOPVM_ARGS((int where, int *count, struct pvmtaskinfo **tasks));
int pvm_tidtohost NEOPVM_ARGS((int tid));
int pvm_notify NEOPVM_ARGS((int kind, int tag, int count, int *tids));
#if defined(EOF) /* <stdio.h> came first, so FILE is known */
int pvm_catchout NEOPVM_ARGS((FILE * stream));
#endif

/* Hosts */
int pvm_config NEOPVM_ARGS((int *hosts, int *formats, struct pvmhostinfo **table));
int pvm_addhosts NEOPVM_ARGS((char **names, int count, int *results));
int pvm_delhosts NEOPVM_ARGS((char **names, int count, int *results));
int pvm_mstat NEOPVM_ARGS((char *host));
int pvm_archcode NEOPVM_ARGS((char *architecture));
int pvm_hostsync NEOPVM_ARGS((int host, struct timeval *clock, struct timeval *delta));
int pvm_start_pvmd NEOPVM_ARGS((int argc, char **argv, int block));
int pvm_halt NEOPVM_ARGS((void));
int pvm_tickle NEOPVM_ARGS((int count, int *args, int *nresults, int *results));
int pvm_getnoresets NEOPVM_ARGS((int **tids, int *count));

/* Buffers */
int pvm_initsend NEOPVM_ARGS((int encoding));
int pvm_mkbuf NEOPVM_ARGS((int encoding));
int pvm_freebuf NEOPVM_ARGS((int buffer));
int pvm_getsbuf NEOPVM_ARGS((void));
int pvm_setsbuf NEOPVM_ARGS((int buffer));
int pvm_getrbuf NEOPVM_ARGS((void));
int pvm_setrbuf NEOPVM_ARGS((int buffer));
int pvm_bufinfo NEOPVM_ARGS((int buffer, int *bytes, int *tag, int *tid));
int pvm_getminfo NEOPVM_ARGS((int buffer, struct pvmminfo *info));
int pvm_setminfo NEOPVM_ARGS((int buffer, struct pvmminfo *info));

/* Packing */
int pvm_packf NEOPVM_ARGS((const char *format, ...));
int pvm_pkbyte NEOPVM_ARGS((char *items, int count, int stride));
int pvm_pkshort NEOPVM_ARGS((short *items, int count, int stride));
int pvm_pkushort NEOPVM_ARGS((unsigned short *items, int count, int stride));
int pvm_pkint NEOPVM_ARGS((int *items, int count, int stride));
int pvm_pkuint NEOPVM_ARGS((unsigned int *items, int count, int stride));
int pvm_pklong NEOPVM_ARGS((long *items, int count, int stride));
int pvm_pkulong NEOPVM_ARGS((unsigned long *items, int count, int stride));
int pvm_pkfloat NEOPVM_ARGS((float *items, int count, int stride));
int pvm_pkdouble NEOPVM_ARGS((double *items, int count, int stride));
int pvm_pkcplx NEOPVM_ARGS((float *items, int count, int stride));
int pvm_pkdcplx NEOPVM_ARGS((double *items, int count, int stride));
int pvm_pkstr NEOPVM_ARGS((char *text));
int pvm_pkmesg NEOPVM_ARGS((int buffer));
int pvm_pkmesgbody NEOPVM_ARGS((int buffer));

/* Unpacking */
int pvm_unpackf NEOPVM_ARGS((const char *format, ...));
int pvm_upkbyte NEOPVM_ARGS((char *items, int count, int stride));
int pvm_upkshort NEOPVM_ARGS((short *items, int count, int stride));
int pvm_upkushort NEOPVM_ARGS((unsigned short *items, int count, int stride));
int pvm_upkint NEOPVM_ARGS((int *items, int count, int stride));
int pvm_upkuint NEOPVM_ARGS((unsigned int *items, int count, int stride));
int pvm_upklong NEOPVM_ARGS((long *items, int count, int stride));
int pvm_upkulong NEOPVM_ARGS((unsigned long *items, int count, int stride));
int pvm_upkfloat NEOPVM_ARGS((float *items, int count, int stride));
int pvm_upkdouble NEOPVM_ARGS((double *items, int count, int stride));
int pvm_upkcplx NEOPVM_ARGS((float *items, int count, int stride));
int pvm_upkdcplx NEOPVM_ARGS((double *items, int count, int stride));
int pvm_upkstr NEOPVM_ARGS((char *text));
int pvm_upkmesg NEOPVM_ARGS((void));

/* Sending */
int pvm_send NEOPVM_ARGS((int tid, int tag));
int pvm_mcast NEOPVM_ARGS((int *tids, int count, int tag));
int pvm_psend NEOPVM_ARGS((int tid, int tag, void *items, int count, int type));

/* Receiving */
int pvm_recv NEOPVM_ARGS((int tid, int tag));
int pvm_nrecv NEOPVM_ARGS((int tid, int tag));
int pvm_trecv NEOPVM_ARGS((int tid, int tag, struct timeval *timeout));
int pvm_probe NEOPVM_ARGS((int tid, int tag));
int pvm_precv NEOPVM_ARGS((int tid, int tag, void *items, int count, int type, int *from_tid,
                           int *from_tag, int *length));
int (*pvm_recvf NEOPVM_ARGS((int (*match)(int buffer, int tid, int tag))))
    NEOPVM_ARGS((int buffer, int tid, int tag));
int pvm_addmhf NEOPVM_ARGS((int source, int tag, int context, int (*handler)(int buffer)));
int pvm_delmhf NEOPVM_ARGS((int handler));

/* Contexts */
int pvm_getcontext NEOPVM_ARGS((void));
int pvm_newcontext NEOPVM_ARGS((void));
int pvm_setcontext NEOPVM_ARGS((int context));
int pvm_freecontext NEOPVM_ARGS((int context));

/* Named messages */
int pvm_putinfo NEOPVM_ARGS((char *name, int buffer, int flags));
int pvm_recvinfo NEOPVM_ARGS((char *name, int index, int flags));
int pvm_delinfo NEOPVM_ARGS((char *name, int index, int flags));
int pvm_getmboxinfo NEOPVM_ARGS((char *pattern, int *count, struct pvmmboxinfo **classes));

/* Groups */
int pvm_joingroup NEOPVM_ARGS((char *group));
int pvm_lvgroup NEOPVM_ARGS((char *group));
int pvm_gettid NEOPVM_ARGS((char *group, int instance));
int pvm_getinst NEOPVM_ARGS((char *group, int tid));
int pvm_gsize NEOPVM_ARGS((char *group));
int pvm_barrier NEOPVM_ARGS((char *group, int count));
int pvm_bcast NEOPVM_ARGS((char *group, int tag));
int pvm_freezegroup NEOPVM_ARGS((char *group, int size));
int pvm_reduce NEOPVM_ARGS((void (*operation)(int *, void *, void *, int *, int *), void *data,
                            int count, int type, int tag, char *group, int root));
int pvm_scatter NEOPVM_ARGS((void *result, void *data, int count, int type, int tag, char *group,
                             int root));
int pvm_gather NEOPVM_ARGS((void *result, void *data, int count, int type, int tag, char *group,
                            int root));
void PvmMax NEOPVM_ARGS((int *type, void *x, void *y, int *count, int *info));
void PvmMin NEOPVM_ARGS((int *type, void *x, void *y, int *count, int *info));
void PvmSum NEOPVM_ARGS((int *type, void *x, void *y, int *count, int *info));
void PvmProduct NEOPVM_ARGS((int *type, void *x, void *y, int *count, int *info));

/* A task takes over a part of the daemon's work; pvmsdpro.h describes the messages. */
int pvm_reg_hoster NEOPVM_ARGS((void));
int pvm_reg_tasker NEOPVM_ARGS((void));
int pvm_reg_rm NEOPVM_ARGS((struct pvmhostinfo **host));
int pvm_reg_tracer NEOPVM_ARGS((int trace_context, int trace_tag, int output_context,
                                int output_tag, char *mask, int buffer, int options));

/* Internal functions of PVM 3 that programs use */
char *pvmgetrsh NEOPVM_ARGS((void));
char *pvmgettmp NEOPVM_ARGS((void));

/* Calls of PVM 3.3, implemented with named messages */
int pvm_insert NEOPVM_ARGS((char *name, int request, int data));
int pvm_lookup NEOPVM_ARGS((char *name, int request, int *data));
int pvm_delete NEOPVM_ARGS((char *name, int request));
int pvm_getmwid NEOPVM_ARGS((int buffer));
int pvm_setmwid NEOPVM_ARGS((int buffer, int wait_id));

#ifdef __cplusplus
}
#endif

#endif /* NEOPVM_PVM3_H */
