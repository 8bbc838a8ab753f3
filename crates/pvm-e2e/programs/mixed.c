/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Tasks of machines with different layouts talk, each with each, in every type and encoding.
 *
 *   mixed HOST PROGRAM [HOST PROGRAM ...]
 *
 * starts one task on each host (`.` is this one), PROGRAM being this file compiled for it. Prints "N tasks agree"
 * and ends with 0.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "pvm3.h"

#define N 5         /* items of a message */
#define TASKS_MAX 8
#define GROUP "mixed"

/* Sizes with wide and with narrow longs, as PVM 3.4.6 has them on x86-64 and s390x, and on i386. */
#define SIZE(type, wide, narrow) \
    typedef char type##_has_its_size[sizeof(struct type) == (sizeof(long) == 8 ? wide : narrow) ? 1 : -1]
SIZE(pvmhostinfo, 32, 20);
SIZE(pvmtaskinfo, 32, 24);
SIZE(pvmminfo, 32, 32);
SIZE(pvmmboxinfo, 40, 20);

static int tids[TASKS_MAX], tasks, me, wrong;
static int long_bytes[TASKS_MAX], big[TASKS_MAX];

static void expect(int good, const char *what, int with, int type, int encoding)
{
    if (good)
        return;
    wrong++;
    fprintf(stderr, "task %d: %s: wrong with task %d, type %d, encoding %d\n", me, what, with, type, encoding);
}

/* The items of each type; the indices are PVM's numbers. */
static char bytes[N] = { 1, -2, 127, -128, 'x' };
static short shorts[N] = { 1, -2, 32767, -32768, 7 };
static int ints[N] = { 1, -2, 2147483647, -2147483647 - 1, 70000 };
static float floats[2 * N] = { 1.5f, -0.25f, 0.0f, 1e30f, -1e-30f, 2.0f, 3.0f, -4.0f, 5.5f, 6.0f };
static double doubles[2 * N] = { 1.5, -0.25, 0.0, 1e300, -1e-300, 0.1, 3.0, -4.0, 5.5, 6.0 };
static long longs[N] = { 1, -2, 2147483647L, -2147483647L - 1, 70000 };
static unsigned short ushorts[N] = { 1, 65535, 32768, 0, 7 };
static unsigned int uints[N] = { 1, 4294967295u, 3000000000u, 0, 7 };
static unsigned long ulongs[N] = { 1, 4294967295ul, 3000000000ul, 0, 7 };

struct type {
    void *items;
    int size;
    int (*pack)(void *, int, int);
    int (*unpack)(void *, int, int);
};
#define TYPE(items, size, name) \
    { items, size, (int (*)(void *, int, int))pvm_pk##name, (int (*)(void *, int, int))pvm_upk##name }
static struct type types[] = {
    { 0, 0, 0, 0 },
    TYPE(bytes, 1, byte),
    TYPE(shorts, sizeof(short), short),
    TYPE(ints, sizeof(int), int),
    TYPE(floats, sizeof(float), float),
    TYPE(floats, 2 * sizeof(float), cplx),
    TYPE(doubles, sizeof(double), double),
    TYPE(doubles, 2 * sizeof(double), dcplx),
    TYPE(longs, sizeof(long), long),
    TYPE(ushorts, sizeof(short), ushort),
    TYPE(uints, sizeof(int), uint),
    TYPE(ulongs, sizeof(long), ulong),
};

static int is_long(int type)
{
    return type == PVM_LONG || type == PVM_ULONG;
}

/* Raw bytes of that task mean the same here. */
static int readable(int task, int type)
{
    if (type == PVM_BYTE)
        return 1;
    return big[task] == big[me] && (!is_long(type) || long_bytes[task] == long_bytes[me]);
}

/* Every third place of an array, and back. */
static void spread(char *to, const char *from, int size)
{
    int i;
    for (i = 0; i < N; i++)
        memcpy(to + 3 * i * size, from + i * size, size);
}

static void send_types(void)
{
    static char apart[3 * N * 16];
    int encoding, type, to;

    for (encoding = PvmDataDefault; encoding <= PvmDataInPlace; encoding++)
        for (type = PVM_BYTE; type <= PVM_ULONG; type++) {
            struct type *t = &types[type];
            spread(apart, t->items, t->size);
            pvm_initsend(encoding);
            if (encoding == PvmDataInPlace)
                t->pack(t->items, N, 1);
            else
                t->pack(apart, N, 3);
            for (to = 0; to < tasks; to++)
                if (to != me)
                    pvm_send(tids[to], 1000 + 100 * encoding + type);
        }
    for (type = PVM_BYTE; type <= PVM_ULONG; type++)
        for (to = 0; to < tasks; to++)
            if (to != me)
                pvm_psend(tids[to], 2000 + type, types[type].items, N, type);
}

static void receive_types(int from)
{
    char got[3 * N * 16], wanted[3 * N * 16];
    int encoding, type, length, tid, tag, code;

    for (encoding = PvmDataDefault; encoding <= PvmDataInPlace; encoding++)
        for (type = PVM_BYTE; type <= PVM_ULONG; type++) {
            struct type *t = &types[type];
            int good = encoding == PvmDataDefault || readable(from, type);
            memset(got, 99, sizeof got);
            memset(wanted, 99, sizeof wanted);
            if (good)
                spread(wanted, t->items, t->size);
            pvm_recv(tids[from], 1000 + 100 * encoding + type);
            code = t->unpack(got, N, 3);
            expect(code == (good ? 0 : PvmBadMsg), "result of unpack", from, type, encoding);
            expect(!memcmp(got, wanted, sizeof got), "items", from, type, encoding);
            if (good) {
                code = t->unpack(got, 1, 1);
                expect(code == PvmNoData, "end of message", from, type, encoding);
            }
        }
    for (type = PVM_BYTE; type <= PVM_ULONG; type++) {
        struct type *t = &types[type];
        memset(got, 99, sizeof got);
        code = pvm_precv(tids[from], 2000 + type, got, N, type, &tid, &tag, &length);
        expect(code == 0 && length == N * t->size && tid == tids[from], "psend", from, type, -1);
        expect(!memcmp(got, t->items, N * t->size), "items of psend", from, type, -1);
    }
}

/* Several types in one message, by format, read in part as other types. */
static void send_formats(void)
{
    int to;

    pvm_packf("%+ %d %3ld %lf %s %2x %hd", PvmDataDefault, 42, longs, 0.1, "text", floats, -7);
    for (to = 0; to < tasks; to++)
        if (to != me)
            pvm_send(tids[to], 3000);
    pvm_initsend(PvmDataDefault);
    pvm_pklong(longs + 1, 1, 1);
    pvm_pkshort(shorts + 1, 1, 1);
    pvm_pkint(ints, 1, 1);
    pvm_pkbyte(bytes, 5, 1);
    pvm_pkdouble(doubles, 1, 1);
    for (to = 0; to < tasks; to++)
        if (to != me)
            pvm_send(tids[to], 3001);
}

static void receive_formats(int from)
{
    int d = 0, words[6];
    long l[3] = { 0 };
    double lf = 0;
    char s[16] = "", b[8];
    float x[4] = { 0 };
    short h = 0;

    pvm_recv(tids[from], 3000);
    expect(pvm_unpackf("%d %3ld %lf %s %2x %hd", &d, l, &lf, s, x, &h) == 0, "unpackf", from, 0, 0);
    expect(d == 42 && lf == 0.1 && h == -7 && !strcmp(s, "text"), "formatted items", from, 0, 0);
    expect(!memcmp(l, longs, sizeof l) && !memcmp(x, floats, sizeof x), "formatted arrays", from, 0, 0);
    pvm_recv(tids[from], 3001);
    memset(words, 0, sizeof words);
    expect(pvm_upkint(words, 3, 1) == 0, "other types", from, 0, 0);
    expect(words[0] == -2 && words[1] == -2 && words[2] == 1, "long and short as ints", from, 0, 0);
    expect(pvm_upkbyte(b, 5, 1) == 0 && !memcmp(b, bytes, 5), "bytes", from, 0, 0);
    expect(pvm_upkint(words, 2, 1) == 0 && words[0] == 0x3ff80000 && words[1] == 0, "double as ints", from, 0, 0);
}

/* A message goes through all tasks, as it is and inside of another, and keeps what it held. */
static void relay(void)
{
    int next = (me + 1) % tasks, previous = (me + tasks - 1) % tasks;
    long l[2] = { -5, 70000 }, got[2] = { 0 };
    double d = 0.1, d2 = 0;

    /* What a narrow long cannot hold comes through a task that has no other. */
    if (sizeof(long) == 8)
        memcpy(l, "\x12\x34\x56\x78\x9a\xbc\xde\x0f", 8);
    if (me == 0) {
        pvm_initsend(PvmDataDefault);
        pvm_pklong(l, 2, 1);
        pvm_pkdouble(&d, 1, 1);
        pvm_send(tids[next], 4000);
    }
    pvm_recv(tids[previous], 4000);
    expect(pvm_upklong(got, 2, 1) == 0 && pvm_upkdouble(&d2, 1, 1) == 0, "relayed", previous, 0, 0);
    if (me != 0) {
        pvm_setsbuf(pvm_getrbuf());
        pvm_send(tids[next], 4000);
        pvm_setsbuf(0);
    }
    expect(d2 == d && got[1] == 70000, "relayed items", previous, 0, 0);
    if (me == 0)
        expect(got[0] == l[0], "relayed long", previous, 0, 0);

    if (me == 0) {
        pvm_initsend(PvmDataDefault);
        pvm_packf("%2ld %lf", l, d);
        pvm_send(tids[next], 4001);
    }
    got[1] = 0;
    pvm_recv(tids[previous], previous == 0 ? 4001 : 4002);
    if (previous != 0)
        pvm_setrbuf(pvm_upkmesg());
    if (me != 0) {
        int inner = pvm_getrbuf();
        pvm_initsend(PvmDataDefault);
        pvm_pkmesg(inner);
        pvm_send(tids[next], 4002);
    }
    expect(pvm_upklong(got, 2, 1) == 0 && pvm_upkdouble(&d2, 1, 1) == 0, "inner", previous, 0, 0);
    expect(d2 == d && got[1] == 70000, "inner items", previous, 0, 0);
    if (me == 0)
        expect(got[0] == l[0], "inner long", previous, 0, 0);
}

static void mailboxes(void)
{
    char name[32];
    int task;
    long l;
    short h;

    sprintf(name, "mixed.%d", me);
    pvm_initsend(PvmDataDefault);
    pvm_pklong(longs + 1, 1, 1);
    pvm_pkshort(shorts + 3, 1, 1);
    pvm_putinfo(name, pvm_getsbuf(), PvmMboxDefault);
    pvm_barrier(GROUP, tasks);
    for (task = 0; task < tasks; task++) {
        sprintf(name, "mixed.%d", task);
        expect(pvm_recvinfo(name, 0, PvmMboxDefault) >= 0, "mailbox", task, 0, 0);
        l = h = 0;
        expect(pvm_upklong(&l, 1, 1) == 0 && pvm_upkshort(&h, 1, 1) == 0, "mailbox", task, 0, 0);
        expect(l == -2 && h == -32768, "items of a mailbox", task, 0, 0);
    }
    pvm_barrier(GROUP, tasks);
}

static void groups(void)
{
    int root, i, instance = pvm_getinst(GROUP, tids[me]), code;
    double d[2], all_d[2 * TASKS_MAX];
    long l[2], all_l[2 * TASKS_MAX];
    short h[2];

    for (root = 0; root < tasks; root++) {
        d[0] = instance + 0.5, d[1] = -instance;
        l[0] = -instance, l[1] = 100000L * instance;
        h[0] = instance, h[1] = -instance;
        code = pvm_reduce(PvmSum, d, 2, PVM_DOUBLE, 5000, GROUP, root);
        code |= pvm_reduce(PvmMin, l, 2, PVM_LONG, 5001, GROUP, root);
        code |= pvm_reduce(PvmMax, h, 2, PVM_SHORT, 5002, GROUP, root);
        expect(code == 0, "reduce", root, 0, 0);
        if (instance == root) {
            expect(d[0] == tasks * (tasks - 1) / 2 + tasks * 0.5, "sum of doubles", root, 0, 0);
            expect(l[0] == -(tasks - 1) && l[1] == 0, "least long", root, 0, 0);
            expect(h[0] == tasks - 1 && h[1] == 0, "greatest short", root, 0, 0);
        }
        d[0] = instance + 0.25, d[1] = -1;
        l[0] = -1 - instance, l[1] = 70000;
        code = pvm_gather(all_d, d, 2, PVM_DOUBLE, 5003, GROUP, root);
        code |= pvm_gather(all_l, l, 2, PVM_LONG, 5004, GROUP, root);
        expect(code == 0, "gather", root, 0, 0);
        for (i = 0; i < tasks && instance == root; i++) {
            expect(all_d[2 * i] == i + 0.25 && all_d[2 * i + 1] == -1, "gathered doubles", i, 0, 0);
            expect(all_l[2 * i] == -1 - i && all_l[2 * i + 1] == 70000, "gathered longs", i, 0, 0);
        }
        d[0] = d[1] = l[0] = l[1] = 0;
        for (i = 0; i < tasks; i++) {
            all_d[2 * i] = i + 0.125, all_d[2 * i + 1] = root;
            all_l[2 * i] = -i, all_l[2 * i + 1] = root;
        }
        code = pvm_scatter(d, all_d, 2, PVM_DOUBLE, 5005, GROUP, root);
        code |= pvm_scatter(l, all_l, 2, PVM_LONG, 5006, GROUP, root);
        expect(code == 0, "scatter", root, 0, 0);
        expect(d[0] == instance + 0.125 && d[1] == root, "scattered doubles", root, 0, 0);
        expect(l[0] == -instance && l[1] == root, "scattered longs", root, 0, 0);
        pvm_barrier(GROUP, tasks);
    }
}

/* The machine's own answers: hosts, tasks, clocks. */
static void machine(void)
{
    struct pvmhostinfo *host;
    struct pvmtaskinfo *task;
    struct timeval clock, ahead, limit = { 0, 10000 };
    int hosts, formats, number, i;

    expect(pvm_config(&hosts, &formats, &host) == 0, "config", 0, 0, 0);
    for (i = 0; i < hosts; i++) {
        int known = !strcmp(host[i].hi_arch, "LINUX64") && host[i].hi_dsig == 0x408c41
            || !strcmp(host[i].hi_arch, "LINUX") && host[i].hi_dsig == 0x408841
            || !strcmp(host[i].hi_arch, "LINUXS390") && host[i].hi_dsig == 0x658ef59;
        expect(known, "architecture", i, 0, 0);
        if (me == 0)
            printf("%s %s 0x%08x\n", host[i].hi_name, host[i].hi_arch, (unsigned)host[i].hi_dsig);
        expect(pvm_hostsync(host[i].hi_tid, &clock, &ahead) == 0, "hostsync", i, 0, 0);
        expect(clock.tv_sec > 1000000000 && ahead.tv_sec >= -60 && ahead.tv_sec < 60, "clock", i, 0, 0);
        expect(ahead.tv_usec >= 0 && ahead.tv_usec < 1000000, "microseconds", i, 0, 0);
    }
    expect(pvm_tasks(0, &number, &task) == 0 && number > 0, "tasks", 0, 0, 0);
    for (i = 0; i < number; i++)
        expect(strlen(task[i].ti_a_out) < 4096 && task[i].ti_pid > 0, "a task", i, 0, 0);
    expect(pvm_trecv(-1, 9999, &limit) == 0, "trecv", 0, 0, 0);
}

/* Who is who, and how everybody lays out numbers. */
static void meet(void)
{
    int facts[2], one = 1, task;

    facts[0] = sizeof(long);
    facts[1] = *(char *)&one == 0;
    for (me = 0; tids[me] != pvm_mytid(); me++)
        ;
    pvm_initsend(PvmDataDefault);
    pvm_pkint(facts, 2, 1);
    pvm_mcast(tids, tasks, 900);
    for (task = 0; task < tasks; task++) {
        if (task != me) {
            pvm_recv(tids[task], 900);
            expect(pvm_upkint(facts, 2, 1) == 0, "facts", task, 0, 0);
        }
        long_bytes[task] = task == me ? (int)sizeof(long) : facts[0];
        big[task] = task == me ? *(char *)&one == 0 : facts[1];
    }
    /* Instances in the order of the tasks. */
    for (task = 0; task < tasks; task++) {
        if (task == me)
            pvm_joingroup(GROUP);
        while (pvm_gettid(GROUP, task) < 0)
            ;
    }
}

static void start(int hosts, char **words)
{
    int i, code;

    tids[0] = pvm_mytid();
    if (tids[0] < 0) {
        fprintf(stderr, "no task: %d\n", tids[0]);
        exit(3);
    }
    tasks = 1 + hosts;
    for (i = 0; i < hosts; i++) {
        code = pvm_spawn(words[2 * i + 1], 0, PvmTaskHost, words[2 * i], 1, &tids[i + 1]);
        if (code != 1) {
            fprintf(stderr, "cannot start %s on %s: %d\n", words[2 * i + 1], words[2 * i], tids[i + 1]);
            exit(2);
        }
    }
    pvm_notify(PvmTaskExit, 901, hosts, tids + 1);
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&tasks, 1, 1);
    pvm_pkint(tids, tasks, 1);
    pvm_mcast(tids + 1, hosts, 902);
}

int main(int argc, char **argv)
{
    int parent = pvm_parent(), task, ended, bad;

    pvm_setopt(PvmAutoErr, 0);
    if (parent > 0) {
        pvm_recv(parent, 902);
        pvm_upkint(&tasks, 1, 1);
        pvm_upkint(tids, tasks, 1);
    } else {
        start((argc - 1) / 2, argv + 1);
    }
    meet();
    send_types();
    send_formats();
    for (task = 0; task < tasks; task++)
        if (task != me) {
            receive_types(task);
            receive_formats(task);
        }
    relay();
    mailboxes();
    groups();
    machine();
    if (parent > 0) {
        pvm_initsend(PvmDataDefault);
        pvm_pkint(&wrong, 1, 1);
        pvm_send(parent, 903);
        pvm_exit();
        return 0;
    }
    for (task = 1; task < tasks; task++) {
        pvm_recv(tids[task], 903);
        pvm_upkint(&bad, 1, 1);
        wrong += bad;
    }
    for (task = 1; task < tasks; task++) {
        pvm_recv(-1, 901);
        expect(pvm_upkint(&ended, 1, 1) == 0 && ended > 0, "notice", task, 0, 0);
    }
    if (wrong == 0)
        printf("%d tasks agree\n", tasks);
    pvm_exit();
    return wrong != 0;
}
