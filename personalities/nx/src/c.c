/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The calls of C. */
#include "export.h"

#include "nx.h"
#include <sched.h>

#define OF_C ((struct nx_called){.handler = handler})

FUNCTION(mynode, (void), ())
FUNCTION(numnodes, (void), ())
FUNCTION(nodedim, (void), ())
FUNCTION(myhost, (void), ())
FUNCTION(mypid, (void), ())
CALL(setpid, (long pid), (pid))

CALL(csend, (long type, char *data, long bytes, long node, long pid), (type, data, bytes, node, pid))
CALL(crecv, (long typesel, char *data, long room), (typesel, data, room))
CALL(crecvx, (long typesel, char *data, long room, long node, long pid, long *info),
     (typesel, data, room, node, pid, info))
FUNCTION(csendrecv,
         (long type, char *out, long bytes, long node, long pid, long typesel, char *in, long room),
         (type, out, bytes, node, pid, typesel, in, room))
CALL(gsendx, (long type, char *data, long bytes, long *nodes, long count), (type, data, bytes, nodes, count))
CALL(cprobe, (long typesel), (typesel))
CALL(cprobex, (long typesel, long node, long pid, long *info), (typesel, node, pid, info))
FUNCTION(iprobe, (long typesel), (typesel))
FUNCTION(iprobex, (long typesel, long node, long pid, long *info), (typesel, node, pid, info))
CALL(flushmsg, (long typesel, long node, long pid), (typesel, node, pid))

FUNCTION(isend, (long type, char *data, long bytes, long node, long pid), (type, data, bytes, node, pid))
FUNCTION(irecv, (long typesel, char *data, long room), (typesel, data, room))
FUNCTION(irecvx, (long typesel, char *data, long room, long node, long pid, long *info),
         (typesel, data, room, node, pid, info))
FUNCTION(isendrecv,
         (long type, char *out, long bytes, long node, long pid, long typesel, char *in, long room),
         (type, out, bytes, node, pid, typesel, in, room))
CALL(msgwait, (long id), (id))
FUNCTION(msgdone, (long id), (id))
CALL(msgcancel, (long id), (id))
CALL(msgignore, (long id), (id))
FUNCTION(msgmerge, (long one, long other), (one, other))

#define core_hrecv(typesel, data, room, called) core_hrecvx(typesel, data, room, -1, called)
CALL(hrecv, (long typesel, char *data, long room, void (*handler)(long, long, long, long)),
     (typesel, data, room, OF_C))
CALL(hrecvx,
     (long typesel, char *data, long room, long node, long pid, void (*handler)(long, long, long, long)),
     (typesel, data, room, ((void)pid, node), OF_C))
CALL(hsend,
     (long type, char *data, long bytes, long node, long pid, void (*handler)(long, long, long, long)),
     (type, data, bytes, node, pid, OF_C))
CALL(hsendrecv,
     (long type, char *out, long bytes, long node, long pid, long typesel, char *in, long room,
      void (*handler)(long, long, long, long)),
     (type, out, bytes, node, pid, typesel, in, room, OF_C))
FUNCTION(masktrap, (long state), (state))

CALL(gsync, (void), ())
CALL(gopf, (char *x, long bytes, char *work, void (*function)(void *, void *)), (x, bytes, work, function))
CALL(gcol, (char *x, long bytes, char *y, long room, long *count), (x, bytes, y, room, count))
CALL(gcolx, (char *x, long *bytes, char *y), (x, bytes, y))

#define REDUCTION(name, type, item, operation)                                                                \
    EXPORTED void name(type *x, long count, type *work)                                                       \
    {                                                                                                         \
        (void)work;                                                                                           \
        nx_plain(#name, nx_combine(item, operation, x, count));                                               \
    }                                                                                                         \
    EXPORTED long _##name(type *x, long count, type *work)                                                    \
    {                                                                                                         \
        (void)work;                                                                                           \
        return nx_quiet(nx_combine(item, operation, x, count));                                               \
    }

#define REDUCTIONS(letter, type, item)               \
    REDUCTION(g##letter##sum, type, item, JOB_SUM)      \
    REDUCTION(g##letter##prod, type, item, JOB_PRODUCT) \
    REDUCTION(g##letter##high, type, item, JOB_MAX)     \
    REDUCTION(g##letter##low, type, item, JOB_MIN)

REDUCTIONS(d, double, JOB_DOUBLE)
REDUCTIONS(s, float, JOB_FLOAT)
REDUCTIONS(i, long, JOB_LONG)
REDUCTION(giand, long, JOB_LONG, JOB_BIT_AND)
REDUCTION(gior, long, JOB_LONG, JOB_BIT_OR)
REDUCTION(gixor, long, JOB_LONG, JOB_BIT_XOR)
REDUCTION(gland, long, JOB_LONG, JOB_AND)
REDUCTION(glor, long, JOB_LONG, JOB_OR)

#define core_getcube_c(name, type, server, keep) ((void)name, (void)server, (void)keep, core_getcube(type))
EXPORTED void getcube(char *name, char *type, char *server, long keep)
{
    nx_plain("getcube", core_getcube_c(name, type, server, keep));
}
EXPORTED long _getcube(char *name, char *type, char *server, long keep)
{
    return nx_quiet(core_getcube_c(name, type, server, keep));
}

/* A cube is this job's own, from getcube to the end of the host program. */
#define core_attachcube(name) ((void)name, 0)
#define core_relcube(name) ((void)name, 0)
#define core_waitcube() core_waitall(-1, -1)
#define core_killproc(node, pid) core_killcube(node, pid)
CALL(attachcube, (char *name), (name))
CALL(relcube, (char *name), (name))
CALL(waitcube, (void), ())
CALL(load, (char *file, long node, long pid), (file, node, pid))
CALL(waitall, (long node, long pid), (node, pid))
CALL(waitone, (long node, long pid, long *from, long *from_pid, long *code), (node, pid, from, from_pid, code))
CALL(killcube, (long node, long pid), (node, pid))
CALL(killproc, (long node, long pid), (node, pid))

/* ---- What cannot fail ---- */

#define SIMPLE(type, name, parameters, expression) \
    EXPORTED type name parameters                  \
    {                                              \
        return expression;                         \
    }                                              \
    EXPORTED type _##name parameters               \
    {                                              \
        return expression;                         \
    }

SIMPLE(long, infocount, (void), nx_last()->count)
SIMPLE(long, infonode, (void), nx_last()->node)
SIMPLE(long, infotype, (void), nx_last()->type)
SIMPLE(long, infopid, (void), nx_last()->pid)
SIMPLE(long, infoptype, (void), nx_last()->pid)
SIMPLE(long, myptype, (void), core_mypid())
SIMPLE(long, setptype, (long pid), core_setpid(pid))
SIMPLE(long, mclock, (void), (long)(job_seconds() * 1000))
SIMPLE(double, dclock, (void), job_seconds())
SIMPLE(long, flick, (void), sched_yield())
SIMPLE(long, led, (long state), 0 * state)

EXPORTED long _myphysnode(void)
{
    return nx_quiet(core_mynode());
}
