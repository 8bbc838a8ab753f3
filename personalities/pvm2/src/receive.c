/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * rcv, rcvmulti, probe, probemulti and rcvinfo. The machine selects one type or any; for several types the messages
 * that come first and are of none of them are put aside here, and are looked through before the machine is asked.
 */
#include <stdlib.h>
#include <string.h>
#include "pvm2.h"

struct aside {
    struct aside *next;
    neopvm_buffer buffer;
    struct neopvm_info head;
};

static struct aside *first, **last = &first;

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

static int keep(neopvm_buffer buffer, const struct neopvm_info *head)
{
    if (pvm2_self.has_received)
        neopvm_free(pvm2_self.received);
    pvm2_self.received = buffer;
    pvm2_self.has_received = true;
    pvm2_self.head = *head;
    return head->tag;
}

/* The first that was put aside and is wanted. */
static struct aside **find_aside(int count, const int *types)
{
    struct aside **at = &first;

    while (*at && !is_wanted((*at)->head.tag, count, types))
        at = &(*at)->next;
    return *at ? at : NULL;
}

static int take_aside(struct aside **at)
{
    struct aside *found = *at;
    int type = keep(found->buffer, &found->head);

    *at = found->next;
    if (!found->next)
        last = at;
    free(found);
    return type;
}

static int put_aside(neopvm_buffer buffer, const struct neopvm_info *head)
{
    struct aside *aside = malloc(sizeof *aside);

    if (!aside)
        return PvmNoMem;
    aside->next = NULL;
    aside->buffer = buffer;
    aside->head = *head;
    *last = aside;
    last = &aside->next;
    return PvmOk;
}

/* The next message of a type from a component; what strangers sent is dropped. */
static int next(int type, neopvm_buffer *buffer, struct neopvm_info *head)
{
    for (;;) {
        int32_t status = neopvm_receive(NEOPVM_ANY, type, CONTEXT_DATA, NEOPVM_FOREVER, buffer);

        if (status >= 0)
            status = neopvm_info(*buffer, head);
        if (status < 0)
            return pvm2_code(status);
        if (pvm2_peers_sender(head->source, false))
            return PvmOk;
        neopvm_free(*buffer);
    }
}

int pvm2_receive(int count, const int *types)
{
    struct aside **aside;
    struct neopvm_info head;
    neopvm_buffer buffer;
    int code = check(count, types);

    if (code != PvmOk)
        return code;
    aside = first ? find_aside(count, types) : NULL;
    if (aside)
        return take_aside(aside);
    for (;;) {
        code = next(count == 1 ? types[0] : NEOPVM_ANY, &buffer, &head);
        if (code != PvmOk)
            return code;
        if (count == 1 || is_wanted(head.tag, count, types))
            return keep(buffer, &head);
        code = put_aside(buffer, &head);
        if (code != PvmOk)
            return code;
    }
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
    struct aside **aside;
    int i, code = check(count, types);

    if (code != PvmOk)
        return code;
    aside = first ? find_aside(count, types) : NULL;
    if (aside)
        return (*aside)->head.tag;
    code = PvmNoMsg;
    for (i = 0; i < count && code == PvmNoMsg; i++)
        code = look(types[i]);
    return code;
}

int pvm2_rcvinfo(int *bytes, int *type, char *name, int *instance)
{
    struct pvm2_peer *sender;

    if (!pvm2_self.has_received)
        return PvmNoMsg;
    sender = pvm2_peers_sender(pvm2_self.head.source, true);
    if (bytes)
        *bytes = pvm2_self.head.bytes > INT32_MAX ? INT32_MAX : (int)pvm2_self.head.bytes;
    if (type)
        *type = pvm2_self.head.tag;
    if (name)
        strcpy(name, sender ? sender->address.name : "");
    if (instance)
        *instance = sender ? sender->address.instance : -1;
    return PvmOk;
}

void pvm2_receive_clear(void)
{
    while (first) {
        struct aside *aside = first;

        first = aside->next;
        neopvm_free(aside->buffer);
        free(aside);
    }
    last = &first;
}
