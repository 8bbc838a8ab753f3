/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * rcv, rcvmulti, probe, probemulti and rcvinfo. The machine selects one type or any; for several types the messages
 * that come first and are of none of them are put aside here, and are looked through before the machine is asked.
 */
#include <stdlib.h>
#include <string.h>
#include "pvm2.h"
#include "../../common/src/index.h"

struct aside {
    struct aside *next, *previous; /* in the order in which they came */
    uint64_t number;
    struct job_place place; /* among those of its type */
    struct neopvm_received message;
};

static struct aside ring = {.next = &ring, .previous = &ring};
static struct job_index by_type;

static bool is_wanted(int type, int count, const int *types)
{
    int i;

    for (i = 0; i < count; i++) {
        if (types[i] == -1 || types[i] == type)
            return true;
    }
    return false;
}

static int check(int count, const int *types)
{
    int i, code = pvm2_check_enrolled();

    if (code != PvmOk)
        return code;
    if (count < 1 || !types)
        return PvmBadParam;
    for (i = 0; i < count; i++) {
        if (types[i] < -1)
            return PvmBadParam;
    }
    return PvmOk;
}

static struct aside *first_of(int type)
{
    const struct job_key key = {.type = type};
    const struct job_place *place = type == -1 ? NULL : job_index_first(&by_type, &key);

    if (type == -1)
        return ring.next != &ring ? ring.next : NULL;
    return place ? place->owner : NULL;
}

/* The first that was put aside and is wanted: however many there are, it is found by its type. */
static struct aside *find_aside(int count, const int *types)
{
    struct aside *found = NULL;
    int i;

    for (i = 0; i < count; i++) {
        struct aside *aside = first_of(types[i]);

        if (aside && (!found || aside->number < found->number))
            found = aside;
    }
    return found;
}

static void unlink_aside(struct aside *aside)
{
    aside->next->previous = aside->previous;
    aside->previous->next = aside->next;
    job_index_remove(&by_type, &aside->place);
    free(aside);
}

static int take_aside(struct aside *found)
{
    int type = found->message.info.tag;

    pvm2_incoming_keep(&found->message);
    unlink_aside(found);
    return type;
}

static int put_aside(const struct neopvm_received *message)
{
    static uint64_t numbers;
    const struct job_key key = {.type = message->info.tag};
    struct aside *aside = calloc(1, sizeof *aside);

    if (!aside || job_index_add(&by_type, &aside->place, &key, aside) < 0) {
        free(aside);
        return PvmNoMem;
    }
    aside->message = *message;
    aside->number = numbers++;
    aside->next = &ring;
    aside->previous = ring.previous;
    ring.previous->next = aside;
    ring.previous = aside;
    return PvmOk;
}

static void drop(const struct neopvm_received *message)
{
    if (message->buffer)
        neopvm_free(message->buffer);
}

/* The next message of a type from a component; what strangers sent is dropped. */
static int next(int type, struct neopvm_received *message)
{
    for (;;) {
        int32_t status = neopvm_receive_items(NEOPVM_ANY, type, CONTEXT_DATA, NEOPVM_FOREVER, message);

        if (status < 0)
            return pvm2_code(status);
        if (pvm2_peers_sender(message->info.source, false))
            return PvmOk;
        drop(message);
    }
}

/* For several types: what comes before one of them is put aside. */
static int receive_one_of(int count, const int *types, struct neopvm_received *room)
{
    int code;

    for (;;) {
        code = next(NEOPVM_ANY, room);
        if (code != PvmOk || is_wanted(room->info.tag, count, types))
            return code;
        code = put_aside(room);
        if (code != PvmOk)
            return code;
    }
}

int pvm2_receive(int count, const int *types)
{
    struct neopvm_received *room;
    struct aside *aside;
    int code = check(count, types);

    if (code != PvmOk)
        return code;
    /* Before the wait, so that the sender can use its memory for the next message while the cache still knows it. */
    room = pvm2_incoming_clear();
    aside = find_aside(count, types);
    if (aside)
        return take_aside(aside);
    code = count > 1 ? receive_one_of(count, types, room) : next(types[0], room);
    if (code != PvmOk) {
        *room = (struct neopvm_received){0};
        return code;
    }
    pvm2_incoming_taken();
    return room->info.tag;
}

/* The type of a message that waits, or PvmNoMsg. */
static int look(int type)
{
    struct neopvm_info head;
    neopvm_buffer buffer;
    int32_t status, found = 0;

    for (;;) {
        status = neopvm_probe(NEOPVM_ANY, type, CONTEXT_DATA, &head, &found);
        if (status < 0)
            return pvm2_code(status);
        if (!found)
            return PvmNoMsg;
        if (pvm2_peers_sender(head.source, false))
            return head.tag;
        if (neopvm_receive(head.source, type, CONTEXT_DATA, 0, &buffer) >= 0)
            neopvm_free(buffer);
    }
}

int pvm2_probe(int count, const int *types)
{
    struct aside *aside;
    int i, code = check(count, types);

    if (code != PvmOk)
        return code;
    aside = find_aside(count, types);
    if (aside)
        return aside->message.info.tag;
    code = PvmNoMsg;
    for (i = 0; i < count && code == PvmNoMsg; i++)
        code = look(types[i]);
    return code;
}

int pvm2_rcvinfo(int *bytes, int *type, char *name, int *instance)
{
    const struct neopvm_info *head = pvm2_incoming_head();
    struct pvm2_peer *sender;

    if (!head)
        return PvmNoMsg;
    sender = pvm2_peers_sender(head->source, true);
    if (bytes)
        *bytes = head->bytes > INT32_MAX ? INT32_MAX : (int)head->bytes;
    if (type)
        *type = head->tag;
    if (name)
        strcpy(name, sender ? sender->address.name : "");
    if (instance)
        *instance = sender ? sender->address.instance : -1;
    return PvmOk;
}

void pvm2_receive_clear(void)
{
    while (ring.next != &ring) {
        if (pvm2_self.enrolled)
            drop(&ring.next->message);
        unlink_aside(ring.next);
    }
}
