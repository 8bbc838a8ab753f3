/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Tasks and addresses that this component has dealt with.
 *
 * An address is asked of the machine once. From then on the task is watched; its notice removes the address, so the next
 * message to it asks again. Messages of two tasks stay in order whatever their contexts, so an introduction that is
 * sent first is there when a message is.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "pvm2.h"

enum { BUCKETS = 256 };

/* Where an address leads. */
struct route {
    struct route *next;
    struct pvm2_address address;
    struct pvm2_peer *peer;
};

static struct pvm2_peer *peers[BUCKETS];
static struct route *routes[BUCKETS];
static struct route *latest; /* the route used last */

static struct pvm2_peer **peer_bucket(int32_t tid)
{
    uint32_t mixed = (uint32_t)tid * 2654435761u;

    return &peers[mixed >> 24];
}

static struct route **route_bucket(const char *name, int instance)
{
    uint32_t mixed = (uint32_t)instance;

    while (*name)
        mixed = mixed * 31 + (unsigned char)*name++;
    return &routes[mixed * 2654435761u >> 24];
}

static struct pvm2_peer *find_peer(int32_t tid)
{
    struct pvm2_peer *peer = *peer_bucket(tid);

    while (peer && peer->tid != tid)
        peer = peer->next;
    return peer;
}

struct pvm2_peer *pvm2_peer_of(int32_t tid)
{
    struct pvm2_peer *peer = find_peer(tid), **bucket = peer_bucket(tid);

    if (peer)
        return peer;
    peer = calloc(1, sizeof *peer);
    if (!peer)
        return NULL;
    peer->tid = tid;
    peer->here = pvm2_machine_is_here(tid);
    peer->next = *bucket;
    return *bucket = peer;
}

static bool leads(const struct route *route, const char *name, int instance)
{
    return route->address.instance == instance && !strcmp(route->address.name, name);
}

static struct route *find_route(const char *name, int instance)
{
    struct route *route = *route_bucket(name, instance);

    while (route && !leads(route, name, instance))
        route = route->next;
    return route;
}

static void remove_routes(bool (*chosen)(const struct route *, const void *), const void *with)
{
    size_t i;

    latest = NULL;
    for (i = 0; i < BUCKETS; i++) {
        struct route **at = &routes[i];

        while (*at) {
            struct route *route = *at;

            if (chosen(route, with)) {
                *at = route->next;
                free(route);
            } else {
                at = &route->next;
            }
        }
    }
}

static bool leads_to(const struct route *route, const void *peer)
{
    return route->peer == peer;
}

static bool is_address(const struct route *route, const void *with)
{
    const struct pvm2_address *address = with;

    return leads(route, address->name, address->instance);
}

static bool is_any(const struct route *route, const void *with)
{
    (void)route;
    (void)with;
    return true;
}

void pvm2_peers_gone(const char *name, int instance)
{
    struct pvm2_address address;

    strncpy(address.name, name, PVM2_NAME_MAX);
    address.name[PVM2_NAME_MAX] = 0;
    address.instance = instance;
    remove_routes(is_address, &address);
}

/* Its number may be another task's one day, to which all this does not apply. What it sent before may still wait. */
static void forget(struct pvm2_peer *peer)
{
    struct pvm2_peer **at = peer_bucket(peer->tid);
    int32_t found = 0;

    remove_routes(leads_to, peer);
    peer->greeted = peer->watched = false;
    if (peer->tid == pvm2_self.sender_of_received || neopvm_probe(peer->tid, NEOPVM_ANY, CONTEXT_DATA, NULL, &found) < 0 || found)
        return;
    while (*at != peer)
        at = &(*at)->next;
    *at = peer->next;
    free(peer);
}

static void note_death(neopvm_buffer note)
{
    struct pvm2_peer *peer;
    struct route *route;
    int32_t tid;
    size_t i;

    if (neopvm_unpack(note, NEOPVM_INT, &tid, 1, 1) < 0 || !(peer = find_peer(tid)))
        return;
    for (i = 0; i < BUCKETS; i++) {
        for (route = routes[i]; route; route = route->next) {
            if (route->peer == peer)
                pvm2_registry_died(&route->address, tid);
        }
    }
    forget(peer);
}

/* Who has left may go on as a task of PVM 3, so no death tells it. */
static void note_leave(int32_t tid)
{
    struct pvm2_peer *peer = find_peer(tid);

    if (peer)
        remove_routes(leads_to, peer);
}

/* Ids of tasks are above 0; the machine's is not. */
static bool is_of_machine(const struct neopvm_info *info)
{
    return info->source <= 0;
}

void pvm2_peers_look(void)
{
    struct neopvm_info info;
    neopvm_buffer note = 0;

    while (neopvm_receive(NEOPVM_ANY, NEOPVM_ANY, CONTEXT_NOTES, 0, &note) >= 0 && note) {
        if (neopvm_info(note, &info) < 0)
            continue;
        if (info.tag == NOTE_DEATH && is_of_machine(&info))
            note_death(note);
        else if (info.tag == NOTE_EVENT)
            pvm2_events_note(note);
        else if (info.tag == NOTE_LEFT)
            note_leave(info.source);
        neopvm_free(note);
    }
}

/* Looking costs as much as a small message, the coarse clock next to nothing; it goes on every few milliseconds. */
void pvm2_peers_look_now_and_then(void)
{
    static struct timespec latest_look;
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    if (now.tv_nsec == latest_look.tv_nsec && now.tv_sec == latest_look.tv_sec)
        return;
    latest_look = now;
    pvm2_peers_look();
}

int pvm2_peers_add(const struct pvm2_address *address, int32_t tid)
{
    struct route **bucket = route_bucket(address->name, address->instance), *route = malloc(sizeof *route);
    struct pvm2_peer *peer = pvm2_peer_of(tid);

    if (!route || !peer) {
        free(route);
        return PvmNoMem;
    }
    if (!peer->watched && tid != pvm2_self.tid)
        peer->watched = neopvm_notify(NEOPVM_TASK_EXIT, NOTE_DEATH, CONTEXT_NOTES, &tid, 1) >= 0;
    route->address = *address;
    route->peer = peer;
    route->next = *bucket;
    *bucket = route;
    latest = route;
    return PvmOk;
}

/* An instance that is being started by somebody has no task for a moment. */
static int ask(const struct pvm2_address *address, int32_t *tid)
{
    neopvm_buffer none = 0;
    int code;

    while ((code = pvm2_registry_find(address, tid)) == PvmOk && *tid == 0)
        neopvm_receive(pvm2_self.tid, 0, CONTEXT_NOTES, 1000000, &none);
    return code;
}

struct pvm2_peer *pvm2_peers_latest(const char *name, int instance)
{
    return name && latest && leads(latest, name, instance) ? latest->peer : NULL;
}

int pvm2_peers_find(const char *name, int instance, struct pvm2_peer **peer)
{
    struct pvm2_address address;
    int32_t tid;
    int code;

    if (!latest || !leads(latest, name, instance)) {
        latest = find_route(name, instance);
        if (!latest) {
            strcpy(address.name, name);
            address.instance = instance;
            code = ask(&address, &tid);
            if (code == PvmOk)
                code = pvm2_peers_add(&address, tid);
            if (code != PvmOk)
                return code;
        }
    }
    *peer = latest->peer;
    return PvmOk;
}

static int32_t introduce_to(const int32_t *tids, size_t count)
{
    const struct pvm2_address *me = &pvm2_self.address;
    neopvm_buffer buffer;
    int32_t status = neopvm_new(NEOPVM_DEFAULT, &buffer);

    if (status < 0)
        return status;
    neopvm_pack(buffer, NEOPVM_INT, &me->instance, 1, 1);
    neopvm_pack_text(buffer, me->name, strlen(me->name));
    status = count == 1 ? neopvm_send(buffer, tids[0], TAG_NAME, CONTEXT_NAMES)
                        : neopvm_multicast(buffer, tids, count, TAG_NAME, CONTEXT_NAMES);
    neopvm_free(buffer);
    return status;
}

int pvm2_peers_greet(struct pvm2_peer *peer)
{
    int32_t status = peer->greeted ? NEOPVM_OK : introduce_to(&peer->tid, 1);

    peer->greeted = status >= 0;
    return pvm2_code(status);
}

/* Tasks that are not watched may be others one day: nothing is noted of them. */
int pvm2_peers_greet_all(const int32_t *tids, size_t count)
{
    int32_t *new = malloc((count + 1) * sizeof *new), status = NEOPVM_OK;
    size_t i, found = 0;

    if (!new)
        return PvmNoMem;
    for (i = 0; i < count; i++) {
        struct pvm2_peer *peer = find_peer(tids[i]);

        if (!peer || !peer->greeted)
            new[found++] = tids[i];
    }
    if (found > 0)
        status = introduce_to(new, found);
    free(new);
    return pvm2_code(status);
}

/* What is not an introduction counts as none. */
static void introduce(struct pvm2_peer *peer, neopvm_buffer buffer)
{
    struct pvm2_address address = {{0}, 0};
    uint64_t length = 0;

    if (neopvm_unpack(buffer, NEOPVM_INT, &address.instance, 1, 1) < 0 || address.instance < 0)
        return;
    if (neopvm_unpack_text(buffer, address.name, PVM2_NAME_MAX, &length) < 0 || length == 0)
        return;
    peer->address = address;
    peer->known = true;
    /* The answer needs to ask nobody where it goes. */
    if (!find_route(address.name, address.instance))
        pvm2_peers_add(&address, peer->tid);
}

struct pvm2_peer *pvm2_peers_sender(int32_t tid, bool again)
{
    struct pvm2_peer *peer = find_peer(tid);
    neopvm_buffer buffer = 0;

    if (peer && peer->known && !again)
        return peer;
    while (neopvm_receive(tid, TAG_NAME, CONTEXT_NAMES, 0, &buffer) >= 0 && buffer) {
        peer = pvm2_peer_of(tid);
        if (peer)
            introduce(peer, buffer);
        neopvm_free(buffer);
    }
    return peer && peer->known ? peer : NULL;
}

void pvm2_peers_farewell(void)
{
    struct pvm2_peer *peer;
    neopvm_buffer nothing;
    size_t i;

    if (neopvm_new(NEOPVM_DEFAULT, &nothing) < 0)
        return;
    for (i = 0; i < BUCKETS; i++) {
        for (peer = peers[i]; peer; peer = peer->next) {
            if (peer->tid != pvm2_self.tid)
                neopvm_send(nothing, peer->tid, NOTE_LEFT, CONTEXT_NOTES);
        }
    }
    neopvm_free(nothing);
}

void pvm2_peers_clear(void)
{
    size_t i;

    remove_routes(is_any, NULL);
    for (i = 0; i < BUCKETS; i++) {
        while (peers[i]) {
            struct pvm2_peer *peer = peers[i];

            peers[i] = peer->next;
            free(peer);
        }
    }
}
