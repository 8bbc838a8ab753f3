/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * How the tasks come to be: all at once by `pvm run -n N` or the console's spawn (siblings), or by
 * one that was started alone and spawns the others. Then each has a rank, and who prints watches.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pvm3.h"

#include "internal.h"
#include "nas.h"
#include "start.h"

static char **arguments;
static int argument_count;
static int worker; /* spawned by the first task */
static int known_siblings = -1;
static int place;  /* among the siblings */
static char host_of[MOST_TASKS + 1][64];

void start_keep(int argc, char **argv)
{
    argument_count = argc;
    arguments = argv;
    for (int i = 1; i < argc; i++)
        worker |= strcmp(argv[i], "--worker") == 0;
    pvm_setopt(PvmAutoErr, 0);
}

/* The siblings' list is the same in each of them, so one's place in it is a rank. */
static void find_siblings(void)
{
    int *tids, me;
    known_siblings = 1;
    if (worker) {
        place = 1;
        return;
    }
    me = pvm_mytid();
    if (me < 0) {
        known_siblings = 1;
        nas_fail("no PVM is running here (%d): start one with `pvm`, or use `pvm run nas-%s ...`.",
                 me, nas_own.name);
    }
    known_siblings = pvm_siblings(&tids);
    if (known_siblings < 1)
        known_siblings = 1;
    for (int i = 0; known_siblings > 1 && i < known_siblings; i++) {
        if (i <= MOST_TASKS)
            nas_own.tids[i] = tids[i];
        if (tids[i] == me)
            place = i;
    }
}

int start_siblings(void)
{
    if (known_siblings < 0)
        find_siblings();
    return known_siblings;
}

/* 0: this task reports and complains. */
int start_place(void)
{
    start_siblings();
    return place;
}

int nas_tid(int rank)
{
    return nas_own.tids[rank + 1];
}

int nas_rank_of(int tid)
{
    int rank = nas.tasks - 1;
    while (rank >= 0 && nas_own.tids[rank + 1] != tid)
        rank--;
    return rank; /* NAS_MASTER if it is no worker's */
}

void nas_check(int answer, const char *call)
{
    if (answer < 0) {
        fprintf(stderr, "nas-%s: task %d: %s: result %d.\n", nas_own.name, nas.rank, call, answer);
        nas_abandon();
        exit(1);
    }
}

/* Spawned tasks get the same arguments and --worker. */
static char **worker_arguments(void)
{
    char **list = calloc((size_t)argument_count + 1, sizeof *list);
    if (list == NULL)
        nas_fail("no memory for the arguments.");
    for (int i = 1; i < argument_count; i++)
        list[i - 1] = arguments[i];
    list[argument_count - 1] = "--worker";
    return list;
}

/* Other hosts may have the program at the same place, or by its name in their spawn path. */
static int spawn_on(const char *where, const char *path, char **list, int count, int *tids)
{
    const char *base = strrchr(path, '/');
    int flag = where[0] == 0 ? PvmTaskDefault : PvmTaskHost;
    int started = pvm_spawn((char *)path, list, flag, (char *)where, count, tids), more;
    if (started < 0)
        started = 0;
    if (started == count || base == NULL || base[1] == 0)
        return started;
    more = pvm_spawn((char *)base + 1, list, flag, (char *)where, count - started, tids + started);
    return started + (more < 0 ? 0 : more);
}

/* One task for each host in turn, this host last: the first task is here already. */
static int spawn_in_turn(const char *path, char **list, int count, int *tids)
{
    struct pvmhostinfo *hosts;
    int number = 0, here = 0, started = 0;
    nas_check(pvm_config(&number, NULL, &hosts), "pvm_config");
    while (here < number && hosts[here].hi_tid != pvm_tidtohost(pvm_mytid()))
        here++;
    while (number > 1 && started < count) {
        const char *where = hosts[(here + 1 + started) % number].hi_name;
        if (spawn_on(where, path, list, 1, tids + started) != 1)
            break;
        started++;
    }
    return started + spawn_on("", path, list, count - started, tids + started);
}

static void spawn_others(int count, int *tids)
{
    char path[PATH_MAX] = "";
    char **list = worker_arguments();
    int started;
    if (readlink("/proc/self/exe", path, sizeof path - 1) < 0)
        snprintf(path, sizeof path, "%s", arguments[0]);
    started = count > 0 ? spawn_in_turn(path, list, count, tids) : 0;
    free(list);
    if (started < count) {
        int why = tids[started];
        for (int i = 0; i < started; i++)
            pvm_kill(tids[i]);
        nas_fail("%d of %d tasks could not be started (result %d): is the program on every host "
                 "(conf shows them)?", count - started, count, why);
    }
}

/* The first task tells the others who is who. */
static void tell_start(void)
{
    int others = nas.tasks - 1 + nas_own.mastered;
    if (others == 0)
        return;
    nas_check(pvm_initsend(PvmDataDefault), "pvm_initsend");
    pvm_pkint(nas_own.tids, nas.tasks + 1, 1);
    nas_check(pvm_mcast(nas_own.tids + (nas_own.mastered ? 1 : 2), others, TAG_START), "pvm_mcast");
}

static void start_alone(void)
{
    int me = pvm_mytid();
    nas_own.tids[0] = me; /* the master; without one, who reports */
    if (nas_own.mastered) {
        nas.rank = NAS_MASTER;
        spawn_others(nas.tasks, nas_own.tids + 1);
    } else {
        nas.rank = 0;
        nas_own.tids[1] = me;
        if (nas.tasks > 1)
            spawn_others(nas.tasks - 1, nas_own.tids + 2);
    }
    tell_start();
}

static void start_worker(void)
{
    nas_check(pvm_recv(pvm_parent(), TAG_START), "pvm_recv");
    nas_check(pvm_upkint(nas_own.tids, nas.tasks + 1, 1), "pvm_upkint");
    nas.rank = NAS_MASTER;
    for (int i = 1; i <= nas.tasks; i++)
        if (nas_own.tids[i] == pvm_mytid())
            nas.rank = i - 1;
}

static void start_sibling(void)
{
    nas.rank = place - nas_own.mastered;
    if (!nas_own.mastered) {
        memmove(nas_own.tids + 1, nas_own.tids, sizeof(int) * (size_t)nas.tasks);
    }
}

static void name_hosts(void)
{
    struct pvmhostinfo *hosts;
    int count, formats;
    if (pvm_config(&count, &formats, &hosts) < 0)
        return;
    for (int i = 0; i <= nas.tasks; i++)
        for (int h = 0; h < count; h++)
            if (hosts[h].hi_tid == pvm_tidtohost(nas_own.tids[i]))
                snprintf(host_of[i], sizeof host_of[i], "%s", hosts[h].hi_name);
}

/* Ends the other tasks: who reports does it; a worker's end is noticed by who reports. */
void nas_abandon(void)
{
    if (!nas.first)
        return;
    for (int i = 0; i <= nas.tasks; i++)
        if (nas_own.tids[i] != pvm_mytid() && nas_own.tids[i] > 0)
            pvm_kill(nas_own.tids[i]);
}

/* The loss of who reports is told by rank 0 or 1, any other by who reports. */
static void tell_loss(int tid, int rank)
{
    if (!nas.first && nas.rank != (nas_own.mastered ? 0 : 1))
        return;
    fprintf(stderr, "nas-%s: %s (rank %d, t%x on host %s) ended before its time, or its host "
            "did: the run is over; start it again on the hosts that are left.\n", nas_own.name,
            rank == NAS_MASTER ? "the master" : "a task", rank, (unsigned)tid, host_of[rank + 1]);
    fflush(stderr);
}

/* Runs inside whichever PVM call meets the news of a task's end: no receive waits for the dead. */
static int lost_task(int buffer)
{
    int tid = 0, kept;
    if (nas_own.leaving) {
        if (!nas.first)
            exit(0);
        return 0;
    }
    kept = pvm_setrbuf(buffer);
    pvm_upkint(&tid, 1, 1);
    pvm_setrbuf(kept);
    tell_loss(tid, nas_rank_of(tid));
    nas_own.leaving = 1;
    nas_abandon();
    pvm_exit();
    _exit(1);
}

/* Who reports watches all; the others watch who reports. */
void nas_watch(void)
{
    int others[MOST_TASKS + 1], count = 0;
    if (nas.tasks + nas_own.mastered == 1)
        return;
    if (!nas.first)
        others[count++] = nas_own.tids[0];
    for (int rank = 0; nas.first && rank < nas.tasks; rank++)
        if (rank != nas.rank)
            others[count++] = nas_tid(rank);
    nas_check(pvm_addmhf(-1, TAG_LOST, pvm_getcontext(), lost_task), "pvm_addmhf");
    nas_check(pvm_notify(PvmTaskExit, TAG_LOST, count, others), "pvm_notify");
}

/* MemAvailable of this host in bytes; 0 if it cannot be known. */
static double memory_available(void)
{
    FILE *file = fopen("/proc/meminfo", "r");
    char line[128];
    double kilobytes = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "MemAvailable: %lf", &kilobytes) == 1)
            break;
    if (file != NULL)
        fclose(file);
    return 1024 * kilobytes;
}

/* What all on this task's host need, if that is more than its host has; else 0. */
static double memory_lacking(double bytes_a_task)
{
    double available = memory_available();
    int here = 0, mine = pvm_tidtohost(pvm_mytid());
    for (int rank = 0; rank < nas.tasks; rank++)
        here += pvm_tidtohost(nas_tid(rank)) == mine;
    return available > 0 && here * bytes_a_task > available ? here * bytes_a_task : 0;
}

/* All know whether memory suffices everywhere before any allocates; who reports says it. */
static void require_memory(double bytes_a_task)
{
    double worst = 0;
    if (nas.rank >= 0) {
        worst = memory_lacking(bytes_a_task);
        nas_max(&worst, 1);
    }
    if (nas_own.mastered && nas.rank == 0)
        nas_send(NAS_MASTER, TAG_START, &worst, 1);
    if (nas.rank == NAS_MASTER)
        nas_recv(0, TAG_START, &worst, 1);
    if (worst == 0)
        return;
    if (nas.first)
        fprintf(stderr, "nas-%s: not enough memory: the tasks on one host need %.3f GB together, "
                "more than it has free: take a smaller class or size, or more hosts.\n",
                nas_own.name, worst / 1e9);
    nas_own.wrong = 1;
    nas_end();
}

void nas_begin(double bytes_a_task)
{
    int alone = start_siblings() == 1 && !worker;
    if (nas.tasks + nas_own.mastered > MOST_TASKS)
        nas_fail("at most %d tasks are possible.", MOST_TASKS);
    nas.first = start_place() == 0;
    if (alone)
        start_alone();
    else if (worker)
        start_worker();
    else
        start_sibling();
    if (nas_own.direct)
        pvm_setopt(PvmRoute, PvmRouteDirect);
    name_hosts();
    nas_watch();
    require_memory(bytes_a_task);
    nas_own.traffic = (struct nas_traffic){{0, 0}, 0, 0};
}

/* For long stretches without messages: news of lost tasks come in here. */
void nas_poll(void)
{
    if (nas.tasks > 1)
        pvm_probe(-1, TAG_GO);
}

/* Nobody leaves before who reports knows that all have come here. */
_Noreturn void nas_end(void)
{
    int i;
    if (nas.tasks + nas_own.mastered > 1 && nas.first) {
        for (i = nas_own.mastered ? 1 : 2; i <= nas.tasks; i++)
            nas_check(pvm_recv(nas_own.tids[i], TAG_DONE), "pvm_recv");
        nas_own.leaving = 1;
        pvm_initsend(PvmDataDefault);
        pvm_pkint(&nas_own.wrong, 1, 1);
        for (i = nas_own.mastered ? 1 : 2; i <= nas.tasks; i++)
            pvm_send(nas_own.tids[i], TAG_GO);
    } else if (!nas.first) {
        pvm_initsend(PvmDataDefault);
        pvm_send(nas_own.tids[0], TAG_DONE);
        nas_own.leaving = 1;
        if (pvm_recv(nas_own.tids[0], TAG_GO) >= 0)
            pvm_upkint(&nas_own.wrong, 1, 1);
    }
    pvm_exit();
    exit(nas.first ? nas_own.wrong : 0);
}
