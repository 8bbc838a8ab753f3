/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The message to send. While it is one put of up to KEPT_MAX bytes it is kept here and sent by one call, which costs less
 * than a buffer; more makes it a buffer of the machine. It stays when it was sent, and can be sent again.
 */
#include <stdlib.h>
#include <string.h>
#include "pvm2.h"

#define KEPT_MAX 65536

static struct {
    bool begun;
    neopvm_buffer buffer; /* 0 while `kept` is all */
    int32_t type;         /* of `kept`; 0: nothing was put yet */
    int count;
    size_t room;
    unsigned char *kept;
} outgoing;

int pvm2_outgoing_check(void)
{
    return outgoing.begun ? PvmOk : PvmNoMsg;
}

void pvm2_outgoing_clear(void)
{
    if (outgoing.buffer)
        neopvm_free(outgoing.buffer);
    outgoing.buffer = 0;
    outgoing.type = 0;
    outgoing.begun = false;
}

void pvm2_outgoing_abandon(void)
{
    outgoing.buffer = 0;
    pvm2_outgoing_clear();
}

int pvm2_initsend(void)
{
    int code = pvm2_notice_forks();

    pvm2_outgoing_clear();
    outgoing.begun = code == PvmOk;
    return code;
}

/* Makes a buffer of what was put so far. */
static int32_t make_buffer(void)
{
    int32_t status;

    if (outgoing.buffer)
        return NEOPVM_OK;
    status = neopvm_new(NEOPVM_DEFAULT, &outgoing.buffer);
    if (status >= 0 && outgoing.type)
        status = neopvm_pack(outgoing.buffer, outgoing.type, outgoing.kept, (uint64_t)outgoing.count, 1);
    return status;
}

/* Whether there is room for so many bytes, if need be more than before. */
static bool has_room(size_t bytes)
{
    unsigned char *kept;

    if (bytes <= outgoing.room)
        return true;
    kept = bytes <= KEPT_MAX ? realloc(outgoing.kept, bytes) : NULL;
    if (!kept)
        return false;
    outgoing.kept = kept;
    outgoing.room = bytes;
    return true;
}

int pvm2_put(int32_t type, const void *items, int count)
{
    size_t bytes;
    int32_t status;

    if (count < 0 || (count > 0 && !items))
        return PvmBadParam;
    if (!outgoing.begun)
        return PvmNoMsg;
    if (count == 0)
        return PvmOk;
    bytes = (size_t)count * pvm2_item_bytes(type);
    if (!outgoing.buffer && !outgoing.type && has_room(bytes)) {
        memcpy(outgoing.kept, items, bytes);
        outgoing.type = type;
        outgoing.count = count;
        return PvmOk;
    }
    status = make_buffer();
    if (status >= 0)
        status = neopvm_pack(outgoing.buffer, type, items, (uint64_t)count, 1);
    return pvm2_code(status);
}

int pvm2_put_text(const char *text, size_t length)
{
    int32_t status;

    if (!text)
        return PvmBadParam;
    if (!outgoing.begun)
        return PvmNoMsg;
    status = make_buffer();
    if (status >= 0)
        status = neopvm_pack_text(outgoing.buffer, text, length);
    return pvm2_code(status);
}

int pvm2_outgoing_send(int32_t tid, int type)
{
    int32_t status;

    if (!outgoing.buffer && outgoing.type)
        return pvm2_code(neopvm_send_items(NEOPVM_DEFAULT, outgoing.type, outgoing.kept, (uint64_t)outgoing.count, tid,
                                           type, CONTEXT_DATA));
    status = make_buffer();
    if (status >= 0)
        status = neopvm_send(outgoing.buffer, tid, type, CONTEXT_DATA);
    return pvm2_code(status);
}
