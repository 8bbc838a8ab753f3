/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* start.c - the processes of a program: the first one, those of eval, and how all of them end. */
#include "linda.h"
#include "../include/linda.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The first argument of a process that eval has started; the name of the space and the first process follow. */
#define CHILD "--linda-eval"
/* The first fields of the runtime's own tuples. They are bytes, a type that only arrays of
 * structs have in a program. */
#define LIVE "neopvm linda: lives"
#define HALT "neopvm linda: ends"
/* Between two looks whether the processes of eval have ended: at first, and at last. */
#define LOOK_FIRST_NS 1000000L
#define LOOK_LAST_NS 50000000L
#define TERMINATE 15

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static neotuple_space space;
static char name[128];
static int32_t tid, parent, first;
static int child;

static void say(const char *place, const char *form, va_list values)
{
    fprintf(stderr, "linda: %s", place);
    vfprintf(stderr, form, values);
    fputc('\n', stderr);
}

/* The thread that ends the program, and whether there is one. */
static pthread_t ender;
static int ending;

/* True for the first thread that wants to end the program. */
static int begin_to_end(void)
{
    if (__atomic_load_n(&ending, __ATOMIC_ACQUIRE) || __atomic_exchange_n(&ending, 1, __ATOMIC_ACQ_REL))
        return 0;
    ender = pthread_self();
    __atomic_store_n(&ending, 2, __ATOMIC_RELEASE);
    return 1;
}

/* An error that the end of the program causes is not reported, and must not end it with another
 * status. */
static void wait_if_ending(void)
{
    while (__atomic_load_n(&ending, __ATOMIC_ACQUIRE) == 1)
        sched_yield(); /* Between two lines of begin_to_end. */
    while (__atomic_load_n(&ending, __ATOMIC_ACQUIRE) == 2 && !pthread_equal(ender, pthread_self()))
        pause();
}

_Noreturn void linda_die(const char *form, ...)
{
    va_list values;

    wait_if_ending();
    va_start(values, form);
    say("", form, values);
    va_end(values);
    lhalt(1);
    abort();
}

_Noreturn void linda_fail(const struct linda_operation *operation, const char *form, ...)
{
    static const char *const names[] = {"out", "eval", "in", "rd", "inp", "rdp"};
    char place[512];
    va_list values;

    wait_if_ending();
    snprintf(place, sizeof place, "%s:%d: %s: ", operation->file, operation->line, names[operation->kind]);
    va_start(values, form);
    say(place, form, values);
    va_end(values);
    lhalt(1);
    abort();
}

void linda_check(const struct linda_operation *operation, int32_t status, const char *what)
{
    if (status >= 0)
        return;
    if (child && (status == NEOTUPLE_NO_SPACE || status == NEOTUPLE_NO_MACHINE))
        _exit(1); /* The program is over, and nobody waits for this process. */
    if (operation && status == NEOTUPLE_TOO_LARGE && operation->kind <= EVAL)
        linda_fail(operation, "%s: the tuple is larger than the space may be; start the program with: ntsnet -limit BYTES",
                   what);
    if (operation)
        linda_fail(operation, "%s: %s", what, neotuple_text(status));
    linda_die("%s: %s", what, neotuple_text(status));
}

void *linda_memory(size_t bytes)
{
    void *memory = malloc(bytes ? bytes : 1);

    if (!memory)
        linda_die("no memory for %zu bytes", bytes);
    return memory;
}

/* A number of the environment; 0 if there is none. */
static uint64_t number_of(const char *variable, uint64_t most)
{
    const char *text = getenv(variable);
    char *end;
    unsigned long long number;

    if (!text)
        return 0;
    errno = 0;
    number = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno || number > most)
        linda_die("%s is %s; expected a number from 0 to %llu", variable, text, (unsigned long long)most);
    return number;
}

static int32_t make_space(void)
{
    struct neotuple_options options = {
        .size = sizeof options,
        .copies = (int32_t)number_of(LINDA_COPIES, 2),
        .limit_bytes = number_of(LINDA_LIMIT, INT64_MAX),
    };

    return neotuple_open(name, NEOTUPLE_CREATE | NEOTUPLE_NEW | NEOTUPLE_OWNED, &options, &space);
}

static void open_space(void)
{
    int32_t status = neopvm_enrol(&tid, &parent);
    const char *inherited;

    if (status == NEOPVM_NO_MACHINE) {
        fprintf(stderr, "linda: no machine runs here; start the program with: ntsnet PROGRAM\n");
        exit(1);
    }
    linda_check(NULL, status, "joining the machine");
    inherited = child ? NULL : getenv(LINDA_SPACE);
    if (inherited) {
        child = 1;
        snprintf(name, sizeof name, "%s", inherited);
    }
    if (!child) {
        first = tid;
        snprintf(name, sizeof name, "linda-%x-%lx", (unsigned)tid, (unsigned long)getpid());
    }
    status = child ? neotuple_open(name, 0, NULL, &space) : make_space();
    linda_check(NULL, status, "opening the tuple space");
}

neotuple_space linda_space(void)
{
    pthread_mutex_lock(&opening);
    if (!space)
        open_space();
    pthread_mutex_unlock(&opening);
    return space;
}

const char *linda_space_name(void)
{
    return name;
}

int32_t linda_tid(void)
{
    return tid;
}

int linda_is_child(void)
{
    return child;
}

/* A tuple of the runtime: its name and an int, or a template for it; with a text or a formal for one. */
static neotuple note(const char *what, const int *number, const char *text, int formal_text)
{
    neotuple tuple;

    linda_check(NULL, neotuple_new(&tuple), "a note");
    neotuple_add_bytes(tuple, NEOTUPLE_BYTES, what, strlen(what));
    if (number)
        neotuple_add(tuple, NEOTUPLE_INT, number);
    else
        neotuple_add_formal(tuple, NEOTUPLE_INT, NEOTUPLE_SCALAR, 0);
    if (formal_text)
        neotuple_add_formal(tuple, NEOTUPLE_TEXT, NEOTUPLE_SCALAR, 0);
    else if (text)
        neotuple_add_bytes(tuple, NEOTUPLE_TEXT, text, strlen(text));
    return tuple;
}

void linda_note_live(int32_t task, const char *label)
{
    neotuple tuple = note(LIVE, &task, label, 0);

    linda_check(NULL, neotuple_out(linda_space(), tuple, NEOTUPLE_FOREVER, 0), "noting a process");
    neotuple_free(tuple);
}

int linda_forget_live(int32_t task, char *label, size_t room)
{
    neotuple template = note(LIVE, &task, NULL, 1), got = 0;
    struct neotuple_field field;

    linda_check(NULL, neotuple_in(linda_space(), template, 0, &got), "noting an end");
    if (got && label && neotuple_field(got, 2, &field) == 0)
        snprintf(label, room, "%.*s", (int)field.count, (const char *)field.data);
    neotuple_free(template);
    neotuple_free(got);
    return got != 0;
}

uint64_t linda_live_tasks(int32_t *tids, uint64_t room)
{
    neotuple template = note(LIVE, NULL, NULL, 1), *all = linda_memory(room * sizeof *all);
    uint64_t count = 0, i;

    linda_check(NULL, neotuple_copy(linda_space(), template, all, room, &count), "looking for processes");
    for (i = 0; i < count; i++) {
        neotuple_get(all[i], 1, NEOTUPLE_INT, NEOTUPLE_SCALAR, &tids[i], sizeof *tids, NULL);
        neotuple_free(all[i]);
    }
    neotuple_free(template);
    free(all);
    return count;
}

static int runs(int32_t task)
{
    struct neopvm_task found;
    uint64_t count = 0;

    return neopvm_tasks(task, &found, 1, &count) == 0 && count > 0;
}

/* Waits for the processes of eval. If one has ended without its tuple, this is reported, and the
 * program's status is not 0. */
static int wait_for_all(void)
{
    enum { ROOM = 4096 };
    int32_t *tids = linda_memory(ROOM * sizeof *tids);
    struct timespec pause = {0, LOOK_FIRST_NS};
    int status = 0;
    uint64_t count, i;

    while ((count = linda_live_tasks(tids, ROOM)) > 0) {
        for (i = 0; i < count; i++) {
            char label[256] = "";
            if (!runs(tids[i]) && linda_forget_live(tids[i], label, sizeof label)) {
                fprintf(stderr, "linda: t%x, eval of %s, has ended without its tuple\n", (unsigned)tids[i], label);
                status = getenv(LINDA_CLAIM) ? status : 1; /* Under claims others do its work. */
            }
        }
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < LOOK_LAST_NS)
            pause.tv_nsec *= 2;
    }
    free(tids);
    return status;
}

static void kill_all(void)
{
    enum { ROOM = 4096 };
    int32_t *tids = linda_memory(ROOM * sizeof *tids);
    uint64_t count = linda_live_tasks(tids, ROOM), i;

    for (i = 0; i < count; i++)
        if (tids[i] != tid)
            neopvm_signal(tids[i], TERMINATE);
    free(tids);
}

static _Noreturn void leave(int status)
{
    fflush(NULL);
    neopvm_leave();
    exit(status);
}

EXPORT void lexit(int status)
{
    if (space && !child) {
        int bad = wait_for_all();
        wait_if_ending();
        leave(status ? status : bad);
    }
    if (child) {
        linda_settle(0);
        linda_forget_live(tid, NULL, 0);
    }
    leave(status);
}

EXPORT void lhalt(int status)
{
    /* Errors while this thread ends the program are not reported any more. */
    if (!space || !begin_to_end()) {
        wait_if_ending();
        fflush(NULL);
        _exit(status);
    }
    if (child) {
        neotuple tuple = note(HALT, &status, NULL, 0);
        neotuple_out(space, tuple, NEOTUPLE_FOREVER, NULL);
        leave(status);
    }
    kill_all();
    leave(status);
}

/* Waits, in the first process, for a process of eval that ends the program. */
static void *watch(void *unused)
{
    neotuple template = note(HALT, NULL, NULL, 0), got = 0;
    int status = 1;

    if (neotuple_in(space, template, NEOTUPLE_FOREVER, &got) != 0 || !got)
        return unused;
    neotuple_get(got, 1, NEOTUPLE_INT, NEOTUPLE_SCALAR, &status, sizeof status, NULL);
    if (!begin_to_end())
        wait_if_ending();
    kill_all();
    fflush(NULL);
    neopvm_leave();
    _exit(status);
}

EXPORT int lprocs(void)
{
    neotuple template;
    uint64_t count = 0;

    linda_space();
    template = note(LIVE, NULL, NULL, 1);
    linda_check(NULL, neotuple_count(space, template, &count), "counting processes");
    neotuple_free(template);
    return (int)count + 1;
}

EXPORT int __linda_main(int argc, char **argv, int (*real_main)(int, char **))
{
    pthread_t thread;

    if (argc == 5 && strcmp(argv[1], CHILD) == 0) {
        child = 1;
        if (strcmp(argv[4], "claim") == 0)
            setenv(LINDA_CLAIM, "1", 1);
        snprintf(name, sizeof name, "%s", argv[2]);
        first = (int32_t)strtol(argv[3], NULL, 16);
        linda_space();
        linda_run_live(parent);
    }
    linda_space();
    if (pthread_create(&thread, NULL, watch, NULL) == 0)
        pthread_detach(thread);
    lexit(real_main(argc, argv));
    return 0;
}
