/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The calls of Fortran: lower case with an underscore behind, INTEGERs of 4 bytes by address. */
#include "export.h"

#include <sched.h>
#include <stdlib.h>

#define OF_FORTRAN ((struct nx_called){.fortran = handler})
#define TEXT_MAX 4096

/* An info of Fortran is filled when the message is there: for irecvx that is later, and so it is not told there. */
static void narrow(int *info, const long *wide)
{
    for (int at = 0; at < 8; at++)
        info[at] = (int)wide[at];
}

INTEGER_FUNCTION(mynode, (void), ())
INTEGER_FUNCTION(numnodes, (void), ())
INTEGER_FUNCTION(nodedim, (void), ())
INTEGER_FUNCTION(myhost, (void), ())
INTEGER_FUNCTION(mypid, (void), ())
SUBROUTINE(setpid, (int *pid), (*pid))

SUBROUTINE(csend, (int *type, void *data, int *bytes, int *node, int *pid), (*type, data, *bytes, *node, *pid))
SUBROUTINE(crecv, (int *typesel, void *data, int *room), (*typesel, data, *room))
INTEGER_FUNCTION(csendrecv,
                 (int *type, void *out, int *bytes, int *node, int *pid, int *typesel, void *in, int *room),
                 (*type, out, *bytes, *node, *pid, *typesel, in, *room))
SUBROUTINE(cprobe, (int *typesel), (*typesel))
INTEGER_FUNCTION(iprobe, (int *typesel), (*typesel))
SUBROUTINE(flushmsg, (int *typesel, int *node, int *pid), (*typesel, *node, *pid))

static long crecvx_narrow(long typesel, void *data, long room, long node, int *info)
{
    long wide[8], status = core_crecvx(typesel, data, room, node, -1, wide);
    if (status >= 0)
        narrow(info, wide);
    return status;
}
#define core_crecvx(typesel, data, room, node, pid, info) crecvx_narrow(typesel, data, room, node, ((void)pid, info))
SUBROUTINE(crecvx, (int *typesel, void *data, int *room, int *node, int *pid, int *info),
           (*typesel, data, *room, *node, pid, info))

static long probex_narrow(long typesel, long node, int *info, int wait)
{
    long wide[8];
    long found = wait ? core_cprobex(typesel, node, -1, wide) : core_iprobex(typesel, node, -1, wide);
    if (found > 0)
        narrow(info, wide);
    return found;
}
#define core_cprobex(typesel, node, pid, info) probex_narrow(typesel, node, ((void)pid, info), 1)
#define core_iprobex(typesel, node, pid, info) probex_narrow(typesel, node, ((void)pid, info), 0)
SUBROUTINE(cprobex, (int *typesel, int *node, int *pid, int *info), (*typesel, *node, pid, info))
INTEGER_FUNCTION(iprobex, (int *typesel, int *node, int *pid, int *info), (*typesel, *node, pid, info))

static long gsendx_narrow(long type, const void *data, long bytes, const int *nodes, long count)
{
    long status = count < 0 ? nx_wrong(NEOPVM_BAD_PARAMETER, "%ld nodes", count) : JOB_OK;
    for (long at = 0; at < count && status >= 0; at++)
        status = core_csend(type, data, bytes, nodes[at], 0);
    return status;
}
#define core_gsendx gsendx_narrow
SUBROUTINE(gsendx, (int *type, void *data, int *bytes, int *nodes, int *count), (*type, data, *bytes, nodes, *count))

INTEGER_FUNCTION(isend, (int *type, void *data, int *bytes, int *node, int *pid), (*type, data, *bytes, *node, *pid))
INTEGER_FUNCTION(irecv, (int *typesel, void *data, int *room), (*typesel, data, *room))
#define core_irecvx(typesel, data, room, node, pid, info) core_irecvx(typesel, data, room, node, pid, ((void)info, NULL))
INTEGER_FUNCTION(irecvx, (int *typesel, void *data, int *room, int *node, int *pid, int *info),
                 (*typesel, data, *room, *node, *pid, info))
INTEGER_FUNCTION(isendrecv,
                 (int *type, void *out, int *bytes, int *node, int *pid, int *typesel, void *in, int *room),
                 (*type, out, *bytes, *node, *pid, *typesel, in, *room))
SUBROUTINE(msgwait, (int *id), (*id))
INTEGER_FUNCTION(msgdone, (int *id), (*id))
SUBROUTINE(msgcancel, (int *id), (*id))
SUBROUTINE(msgignore, (int *id), (*id))
INTEGER_FUNCTION(msgmerge, (int *one, int *other), (*one, *other))

#define core_hrecv(typesel, data, room, called) core_hrecvx(typesel, data, room, -1, called)
SUBROUTINE(hrecv, (int *typesel, void *data, int *room, nx_fortran_handler handler),
           (*typesel, data, *room, OF_FORTRAN))
SUBROUTINE(hrecvx, (int *typesel, void *data, int *room, int *node, int *pid, nx_fortran_handler handler),
           (*typesel, data, *room, ((void)pid, *node), OF_FORTRAN))
SUBROUTINE(hsend, (int *type, void *data, int *bytes, int *node, int *pid, nx_fortran_handler handler),
           (*type, data, *bytes, *node, *pid, OF_FORTRAN))
SUBROUTINE(hsendrecv,
           (int *type, void *out, int *bytes, int *node, int *pid, int *typesel, void *in, int *room,
            nx_fortran_handler handler),
           (*type, out, *bytes, *node, *pid, *typesel, in, *room, OF_FORTRAN))
INTEGER_FUNCTION(masktrap, (int *state), (*state))

SUBROUTINE(gsync, (void), ())
SUBROUTINE(gopf, (void *x, int *bytes, void *work, void (*function)(void *, void *)), (x, *bytes, work, function))

static long gcol_narrow(const void *x, long bytes, void *y, long room, int *count)
{
    long total = 0, status = core_gcol(x, bytes, y, room, &total);
    *count = (int)total;
    return status;
}
#define core_gcol gcol_narrow
SUBROUTINE(gcol, (void *x, int *bytes, void *y, int *room, int *count), (x, *bytes, y, *room, count))

static long gcolx_narrow(const void *x, const int *bytes, void *y)
{
    long nodes = core_numnodes();
    if (nodes < 0)
        return nodes;
    long *wide = calloc((size_t)nodes, sizeof *wide);
    if (wide == NULL)
        return nx_wrong(NEOPVM_NO_MEMORY, "%ld nodes", nodes);
    for (long node = 0; node < nodes; node++)
        wide[node] = bytes[node];
    long status = core_gcolx(x, wide, y);
    free(wide);
    return status;
}
#define core_gcolx gcolx_narrow
SUBROUTINE(gcolx, (void *x, int *bytes, void *y), (x, bytes, y))

#define REDUCTION(name, type, item, operation)                                            \
    EXPORTED void name##_(type *x, int *count, type *work)                                \
    {                                                                                     \
        (void)work;                                                                       \
        nx_plain(#name, nx_combine(item, operation, x, *count));                          \
    }                                                                                     \
    EXPORTED int _##name##_(type *x, int *count, type *work)                              \
    {                                                                                     \
        (void)work;                                                                       \
        return (int)nx_quiet(nx_combine(item, operation, x, *count));                     \
    }

#define REDUCTIONS(letter, type, item)                  \
    REDUCTION(g##letter##sum, type, item, JOB_SUM)      \
    REDUCTION(g##letter##prod, type, item, JOB_PRODUCT) \
    REDUCTION(g##letter##high, type, item, JOB_MAX)     \
    REDUCTION(g##letter##low, type, item, JOB_MIN)

REDUCTIONS(d, double, JOB_DOUBLE)
REDUCTIONS(s, float, JOB_FLOAT)
REDUCTIONS(i, int, JOB_INT)
REDUCTION(giand, int, JOB_INT, JOB_BIT_AND)
REDUCTION(gior, int, JOB_INT, JOB_BIT_OR)
REDUCTION(gixor, int, JOB_INT, JOB_BIT_XOR)
REDUCTION(gland, int, JOB_INT, JOB_AND)
REDUCTION(glor, int, JOB_INT, JOB_OR)

/* The hidden lengths of texts stand behind all arguments. */
static long getcube_text(const char *type, size_t length)
{
    char text[TEXT_MAX];
    return core_getcube(job_fortran_text(type, length, text, sizeof text));
}
static long load_text(const char *file, size_t length, long node, long pid)
{
    char text[TEXT_MAX];
    return core_load(job_fortran_text(file, length, text, sizeof text), node, pid);
}
static long waitone_narrow(long node, long pid, int *from, int *from_pid, int *code)
{
    long wide[3] = {0, 0, 0}, status = core_waitone(node, pid, &wide[0], &wide[1], &wide[2]);
    *from = (int)wide[0], *from_pid = (int)wide[1], *code = (int)wide[2];
    return status;
}
#define core_getcube(name, type, server, keep, n, t, s) \
    ((void)name, (void)server, (void)keep, (void)n, (void)s, getcube_text(type, t))
#define core_load(file, node, pid, length) load_text(file, length, node, pid)
#define core_waitone waitone_narrow
#define core_attachcube(name, length) ((void)name, (void)length, 0)
#define core_relcube(name, length) ((void)name, (void)length, 0)
#define core_waitcube() core_waitall(-1, -1)
#define core_killproc(node, pid) core_killcube(node, pid)
SUBROUTINE(getcube, (char *name, char *type, char *server, int *keep, size_t n, size_t t, size_t s),
           (name, type, server, keep, n, t, s))
SUBROUTINE(attachcube, (char *name, size_t length), (name, length))
SUBROUTINE(relcube, (char *name, size_t length), (name, length))
SUBROUTINE(waitcube, (void), ())
SUBROUTINE(load, (char *file, int *node, int *pid, size_t length), (file, *node, *pid, length))
SUBROUTINE(waitall, (int *node, int *pid), (*node, *pid))
SUBROUTINE(waitone, (int *node, int *pid, int *from, int *from_pid, int *code), (*node, *pid, from, from_pid, code))
SUBROUTINE(killcube, (int *node, int *pid), (*node, *pid))
SUBROUTINE(killproc, (int *node, int *pid), (*node, *pid))

#define SIMPLE(type, name, parameters, expression) \
    EXPORTED type name##_ parameters               \
    {                                              \
        return expression;                         \
    }                                              \
    EXPORTED type _##name##_ parameters            \
    {                                              \
        return expression;                         \
    }

SIMPLE(int, infocount, (void), (int)nx_last()->count)
SIMPLE(int, infonode, (void), (int)nx_last()->node)
SIMPLE(int, infotype, (void), (int)nx_last()->type)
SIMPLE(int, infopid, (void), (int)nx_last()->pid)
SIMPLE(int, infoptype, (void), (int)nx_last()->pid)
SIMPLE(int, myptype, (void), (int)core_mypid())
SIMPLE(int, setptype, (int *pid), (int)core_setpid(*pid))
SIMPLE(int, mclock, (void), (int)(job_seconds() * 1000))
SIMPLE(double, dclock, (void), job_seconds())
SIMPLE(int, flick, (void), sched_yield())
SIMPLE(int, led, (int *state), 0 * *state)
