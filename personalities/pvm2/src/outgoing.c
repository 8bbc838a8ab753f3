/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The message to send. While it is one put of a few bytes it is kept here and sent by one call, which costs less than a
 * buffer; more makes it a buffer of the machine. It stays when it was sent, and can be sent again.
 */
#include <string.h>
#include "pvm2.h"

static struct {
    bool begun;
    neopvm_buffer buffer; /* 0 while `few` is all */
    int32_t type;         /* of `few`; 0: nothing was put yet */
    int count;
    unsigned char few[NEOPVM_ITEMS_MAX];
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

int pvm2_initsend(void)
{
    pvm2_outgoing_clear();
    outgoing.begun = true;
    return PvmOk;
}

/* Makes a buffer of what was put so far. */
static int32_t make_buffer(void)
{
    int32_t status;

    if (outgoing.buffer)
        return NEOPVM_OK;
    status = neopvm_new(NEOPVM_DEFAULT, &outgoing.buffer);
    if (status >= 0 && outgoing.type)
        status = neopvm_pack(outgoing.buffer, outgoing.type, outgoing.few, (uint64_t)outgoing.count, 1);
    return status;
}

int pvm2_put(int32_t type, const void *items, int count)
{
    int32_t status;

    if (count < 0 || (count > 0 && !items))
        return PvmBadParam;
    if (!outgoing.begun)
        return PvmNoMsg;
    if (count == 0)
        return PvmOk;
    if (!outgoing.buffer && !outgoing.type && (size_t)count <= sizeof outgoing.few / pvm2_item_bytes(type)) {
        memcpy(outgoing.few, items, (size_t)count * pvm2_item_bytes(type));
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
        return pvm2_code(neopvm_send_items(NEOPVM_DEFAULT, outgoing.type, outgoing.few, (uint64_t)outgoing.count, tid,
                                           type, CONTEXT_DATA));
    status = make_buffer();
    if (status >= 0)
        status = neopvm_send(outgoing.buffer, tid, type, CONTEXT_DATA);
    return pvm2_code(status);
}
