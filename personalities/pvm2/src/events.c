/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * ready and waituntil. Each component counts by itself: every call of ready lets one waituntil of it pass, whether it
 * comes before or after. A call of ready is told to all components that there are, by a message; who comes later finds it in
 * the named message "neopvm.pvm2.event.NAME" that the caller of ready owns, so it is forgotten with its caller and
 * never meets the program's next run. Calls are numbered, from the time of the first one on: nothing is counted twice.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "pvm2.h"

#define CLASS "neopvm.pvm2.event."

/* How often a component has called ready, as far as we know. */
struct signaller {
    struct signaller *next;
    int32_t tid;
    uint64_t latest;
};

struct event {
    struct event *next;
    struct signaller *signallers;
    uint64_t passes; /* how often waituntil may pass */
    bool asked;      /* for what was made ready before we were a component */
    bool own;        /* we have made it ready: */
    int32_t index;
    uint64_t first, latest;
    char name[PVM2_EVENT_MAX + 1];
};

static struct event *events;

static struct event *event_of(const char *name)
{
    struct event *event = events;

    while (event && strcmp(event->name, name))
        event = event->next;
    if (event)
        return event;
    event = calloc(1, sizeof *event);
    if (!event)
        return NULL;
    strcpy(event->name, name);
    event->next = events;
    return events = event;
}

/* Counts what is new of a component's calls `first` to `latest`. */
static int count_calls(struct event *event, int32_t tid, uint64_t first, uint64_t latest)
{
    struct signaller *signaller = event->signallers;

    while (signaller && signaller->tid != tid)
        signaller = signaller->next;
    if (!signaller) {
        signaller = calloc(1, sizeof *signaller);
        if (!signaller)
            return PvmNoMem;
        signaller->tid = tid;
        signaller->next = event->signallers;
        event->signallers = signaller;
    }
    if (first <= signaller->latest)
        first = signaller->latest + 1;
    if (latest >= first) {
        event->passes += latest - first + 1;
        signaller->latest = latest;
    }
    return PvmOk;
}

/* first, latest, name */
static int32_t pack(neopvm_buffer buffer, const struct event *event)
{
    uint64_t calls[2] = {event->first, event->latest};

    neopvm_pack(buffer, NEOPVM_UNSIGNED_LONG, calls, 2, 1);
    return neopvm_pack_text(buffer, event->name, strlen(event->name));
}

/* A record in the registry, or a message: what a component has packed. */
static void take(neopvm_buffer buffer, int32_t source)
{
    char name[PVM2_EVENT_MAX + 1] = {0};
    uint64_t calls[2], length = 0;
    struct event *event;

    if (neopvm_unpack(buffer, NEOPVM_UNSIGNED_LONG, calls, 2, 1) < 0)
        return;
    if (neopvm_unpack_text(buffer, name, PVM2_EVENT_MAX, &length) < 0 || calls[1] < calls[0])
        return;
    event = event_of(name);
    if (event)
        count_calls(event, source, calls[0], calls[1]);
}

void pvm2_events_note(neopvm_buffer note)
{
    struct neopvm_info head;

    if (neopvm_info(note, &head) >= 0 && pvm2_peers_sender(head.source, false))
        take(note, head.source);
}

/* Numbers grow from one life of a task id to the next. */
static uint64_t first_call(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int32_t record(struct event *event, neopvm_buffer buffer)
{
    char class[PVM2_CLASS_ROOM];
    int32_t flags = event->own ? pvm2_machine_at(event->index) : NEOPVM_NAME_MANY, status;

    snprintf(class, sizeof class, CLASS "%s", event->name);
    status = neopvm_put(class, buffer, flags, &event->index);
    event->own = event->own || status >= 0;
    return status;
}

/* To all components but us; one that dies meanwhile does not miss it. */
static int tell(neopvm_buffer buffer)
{
    struct pvm2_list list;
    int32_t *tids, status = 0;
    size_t i, count = 0;
    int code = pvm2_registry_list(NULL, &list);

    if (code != PvmOk)
        return code;
    tids = malloc((list.count + 1) * sizeof *tids);
    for (i = 0; tids && i < list.count; i++) {
        if (list.entries[i].tid != 0 && list.entries[i].tid != pvm2_self.tid)
            tids[count++] = list.entries[i].tid;
    }
    code = tids ? pvm2_peers_greet_all(tids, count) : PvmNoMem;
    if (code == PvmOk && count > 0)
        status = neopvm_multicast(buffer, tids, count, NOTE_EVENT, CONTEXT_NOTES);
    free(list.entries);
    free(tids);
    return code == PvmOk ? pvm2_code(status) : code;
}

static int check(const char *name)
{
    int code = pvm2_check_name(name, PVM2_EVENT_MAX);

    return code == PvmOk ? pvm2_check_enrolled() : code;
}

int pvm2_ready(const char *name)
{
    struct event *event;
    neopvm_buffer buffer;
    int32_t status;
    int code = check(name);

    if (code != PvmOk)
        return code;
    event = event_of(name);
    if (!event)
        return PvmNoMem;
    event->latest = event->own ? event->latest + 1 : first_call();
    if (!event->own)
        event->first = event->latest;
    status = neopvm_new(NEOPVM_DEFAULT, &buffer);
    if (status < 0)
        return pvm2_code(status);
    status = pack(buffer, event);
    if (status >= 0)
        status = record(event, buffer);
    code = status < 0 ? pvm2_code(status) : tell(buffer);
    neopvm_free(buffer);
    return code == PvmOk ? count_calls(event, pvm2_self.tid, event->first, event->latest) : code;
}

struct asking {
    struct event *event;
    int32_t *indices;
    size_t count;
    bool failed;
};

static bool ask_one(const struct pvm2_named *named, void *with)
{
    struct asking *asking = with;
    int32_t *more;

    if (strncmp(named->class, CLASS, strlen(CLASS)) || strcmp(named->class + strlen(CLASS), asking->event->name))
        return true;
    more = realloc(asking->indices, (asking->count + 1) * sizeof *more);
    asking->failed = !more;
    if (!more)
        return false;
    asking->indices = more;
    more[asking->count++] = named->index;
    return true;
}

static int ask(struct event *event)
{
    char class[PVM2_CLASS_ROOM];
    struct asking asking = {event, NULL, 0, false};
    size_t i;
    int code;

    snprintf(class, sizeof class, CLASS "%s", event->name);
    code = pvm2_code(pvm2_machine_each(class, ask_one, &asking));
    for (i = 0; code == PvmOk && i < asking.count; i++) {
        neopvm_buffer buffer = 0;
        struct neopvm_info head;

        if (neopvm_get(class, asking.indices[i], 0, &buffer) >= 0 && neopvm_info(buffer, &head) >= 0)
            take(buffer, head.source);
        neopvm_free(buffer);
    }
    free(asking.indices);
    if (code == PvmOk && asking.failed)
        code = PvmNoMem;
    event->asked = code == PvmOk;
    return code;
}

int pvm2_waituntil(const char *name)
{
    struct event *event;
    neopvm_buffer note;
    int32_t status;
    int code = check(name);

    if (code != PvmOk)
        return code;
    event = event_of(name);
    if (!event)
        return PvmNoMem;
    pvm2_peers_look();
    if (event->passes == 0 && !event->asked) {
        code = ask(event);
        if (code != PvmOk)
            return code;
    }
    while (event->passes == 0) {
        status = neopvm_receive(NEOPVM_ANY, NOTE_EVENT, CONTEXT_NOTES, NEOPVM_FOREVER, &note);
        if (status < 0)
            return pvm2_code(status);
        pvm2_events_note(note);
        neopvm_free(note);
    }
    event->passes--;
    return PvmOk;
}

static void withdraw(const struct event *event)
{
    char class[PVM2_CLASS_ROOM];

    snprintf(class, sizeof class, CLASS "%s", event->name);
    neopvm_delete(class, event->index);
}

void pvm2_events_clear(void)
{
    while (events) {
        struct event *event = events;

        events = event->next;
        if (event->own && pvm2_self.enrolled)
            withdraw(event);
        while (event->signallers) {
            struct signaller *signaller = event->signallers;

            event->signallers = signaller->next;
            free(signaller);
        }
        free(event);
    }
}
