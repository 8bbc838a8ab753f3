/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The pool of work. A process that finds none waits in queue 0; when all wait, the work is
 * exhausted. A result other than work is given to each of nprocs processes once: they wait for
 * one another in queue 1, so that a process that comes back early does not get it twice. */
#include "arena.h"
#include "export.h"
#include "failure.h"

enum { FOR_WORK, FOR_OTHERS };

static void need(const p4_askfor_monitor_t *af, const char *call)
{
    if (af == NULL)
        fatal("%s: a null pointer", call);
}

P4_API void p4_askfor_init(p4_askfor_monitor_t *af)
{
    need(af, "p4_askfor_init");
    memset(af, 0, sizeof *af);
    monitor_make(&af->m, 2);
}

static int tell_ended(p4_askfor_monitor_t *af)
{
    monitor_continue(&af->m, monitor_waits(&af->m, FOR_WORK) ? FOR_WORK : FOR_OTHERS);
    return -1;
}

static int tell_result(p4_askfor_monitor_t *af, int nprocs, P4_FUNCTION(void, reset, (void)))
{
    int result = af->p4_result;
    if (++af->p4_leaving < nprocs) {
        monitor_delay_for(&af->m, FOR_OTHERS, FOR_WORK);
        if (af->p4_ended)
            return tell_ended(af);
    } else {
        af->p4_leaving = 0;
        af->p4_result = 0;
        if (reset != NULL)
            reset();
    }
    monitor_continue(&af->m, FOR_OTHERS);
    return result;
}

P4_API int p4_askfor(p4_askfor_monitor_t *af, int nprocs, P4_FUNCTION(int, getprob, (void *)), void *problem,
                     P4_FUNCTION(void, reset, (void)))
{
    need(af, "p4_askfor");
    if (nprocs < 1 || getprob == NULL)
        fatal("p4_askfor: nprocs %d, getprob %s", nprocs, getprob == NULL ? "null" : "given");
    monitor_enter(&af->m);
    for (;;) {
        if (af->p4_ended)
            return tell_ended(af);
        if (af->p4_result != 0)
            return tell_result(af, nprocs, reset);
        if (getprob(problem) == 0) {
            monitor_continue(&af->m, FOR_WORK);
            return 0;
        }
        if (++af->p4_waiting < nprocs)
            monitor_delay(&af->m, FOR_WORK);
        else
            af->p4_result = 1;
        af->p4_waiting--;
    }
}

P4_API int p4_update(p4_askfor_monitor_t *af, P4_FUNCTION(int, putprob, (void *)), void *problem)
{
    need(af, "p4_update");
    if (putprob == NULL)
        fatal("p4_update: putprob is null");
    monitor_enter(&af->m);
    int result = af->p4_ended ? -1 : af->p4_result;
    if (result == 0)
        putprob(problem);
    monitor_continue(&af->m, FOR_WORK);
    return result;
}

P4_API void p4_probend(p4_askfor_monitor_t *af, int code)
{
    need(af, "p4_probend");
    if (code < 1)
        fatal("p4_probend: code %d (at least 1)", code);
    monitor_enter(&af->m);
    af->p4_result = code;
    monitor_continue(&af->m, FOR_WORK);
}

P4_API void p4_progend(p4_askfor_monitor_t *af)
{
    need(af, "p4_progend");
    monitor_enter(&af->m);
    af->p4_ended = 1;
    (void)tell_ended(af);
}
