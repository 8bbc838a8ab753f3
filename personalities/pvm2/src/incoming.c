/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The message received last. The machine gives a few items of one type without a buffer. They are read from there as
 * what they are; for whoever reads them as something else, the machine makes a buffer of them after all: a
 * message to this task itself.
 */
#include <stdlib.h>
#include <string.h>
#include "pvm2.h"

static struct neopvm_received incoming;
static uint64_t items_read;

void pvm2_incoming_keep(const struct neopvm_received *message)
{
    if (incoming.buffer)
        neopvm_free(incoming.buffer);
    incoming = *message;
    pvm2_incoming_taken();
}

void pvm2_incoming_taken(void)
{
    items_read = 0;
    pvm2_self.sender_of_received = incoming.info.source;
}

const struct neopvm_info *pvm2_incoming_head(void)
{
    return pvm2_self.sender_of_received ? &incoming.info : NULL;
}

struct neopvm_received *pvm2_incoming_clear(void)
{
    if (incoming.buffer && pvm2_self.enrolled)
        neopvm_free(incoming.buffer);
    incoming.buffer = 0;
    incoming.type = 0;
    pvm2_self.sender_of_received = 0;
    return &incoming;
}

/* Has a buffer made of the items, and reads it as far as they were read. */
static int32_t make_buffer(void)
{
    unsigned char read[NEOPVM_ITEMS_MAX];
    int32_t status;

    if (!incoming.type)
        return NEOPVM_OK;
    status = neopvm_send_items(NEOPVM_DEFAULT, incoming.type, incoming.items, incoming.count, pvm2_self.tid, TAG_OWN,
                               CONTEXT_NAMES);
    if (status >= 0)
        status = neopvm_receive(pvm2_self.tid, TAG_OWN, CONTEXT_NAMES, NEOPVM_FOREVER, &incoming.buffer);
    if (status >= 0 && items_read > 0)
        status = neopvm_unpack(incoming.buffer, incoming.type, read, items_read, 1);
    if (status >= 0)
        incoming.type = 0;
    return status;
}

/* A float is told as an int. Bytes are rounded up by each call, so they are taken as a whole or not at all. */
static bool can_copy(int32_t type, uint64_t count)
{
    if (type == NEOPVM_FLOAT)
        type = NEOPVM_INT;
    if (incoming.type != type || incoming.count - items_read < count)
        return false;
    return type == NEOPVM_INT || type == NEOPVM_DOUBLE || type == NEOPVM_LONG
           || (type == NEOPVM_BYTE && items_read == 0 && count == incoming.count);
}

int pvm2_get(int32_t type, void *items, int count)
{
    size_t size = pvm2_item_bytes(type);
    int32_t status;

    if (count < 0 || (count > 0 && !items))
        return PvmBadParam;
    if (!pvm2_self.sender_of_received)
        return PvmNoMsg;
    if (incoming.type && can_copy(type, (uint64_t)count)) {
        memcpy(items, incoming.items + items_read * size, (size_t)count * size);
        items_read += (uint64_t)count;
        return PvmOk;
    }
    status = make_buffer();
    if (status >= 0)
        status = neopvm_unpack(incoming.buffer, type, items, (uint64_t)count, 1);
    return pvm2_code(status);
}

static int get_cut(char *text, size_t room, uint64_t length)
{
    char *whole = malloc(length);
    int32_t status;

    if (!whole)
        return PvmNoMem;
    status = neopvm_unpack_text(incoming.buffer, whole, length, &length);
    if (status >= 0)
        memcpy(text, whole, room);
    free(whole);
    return pvm2_code(status);
}

/* What stands there is no text: PvmMismatch is of barriers alone. */
static int text_code(int32_t status)
{
    int code = pvm2_code(status);

    return code == PvmMismatch ? PvmNoData : code;
}

/* The length is asked for first: the caller of getstring tells no room. */
int pvm2_get_text(char *text, size_t room, size_t *length)
{
    uint64_t needed = 0;
    char none;
    int32_t status;

    if (!text)
        return PvmBadParam;
    if (!pvm2_self.sender_of_received)
        return PvmNoMsg;
    status = make_buffer();
    if (status >= 0)
        status = neopvm_unpack_text(incoming.buffer, &none, 0, &needed);
    *length = needed;
    if (status != NEOPVM_TOO_LARGE)
        return text_code(status);
    if (needed > room)
        return get_cut(text, room, needed);
    return text_code(neopvm_unpack_text(incoming.buffer, text, needed, &needed));
}
