/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The message to send: initsend, put*, snd and vsnd; and the items of the one received last: get*. */
#include <stdlib.h>
#include <string.h>
#include "pvm2.h"

int pvm2_initsend(void)
{
    neopvm_buffer fresh;
    int32_t status = neopvm_new(NEOPVM_DEFAULT, &fresh);

    if (status < 0)
        return pvm2_code(status);
    if (pvm2_self.sending)
        neopvm_free(pvm2_self.sending);
    pvm2_self.sending = fresh;
    return PvmOk;
}

int pvm2_put(int32_t type, const void *items, int count)
{
    if (count < 0 || (count > 0 && !items))
        return PvmBadParam;
    if (!pvm2_self.sending)
        return PvmNoMsg;
    return pvm2_code(neopvm_pack(pvm2_self.sending, type, items, (uint64_t)count, 1));
}

int pvm2_put_text(const char *text, size_t length)
{
    if (!text)
        return PvmBadParam;
    if (!pvm2_self.sending)
        return PvmNoMsg;
    return pvm2_code(neopvm_pack_text(pvm2_self.sending, text, length));
}

int pvm2_get(int32_t type, void *items, int count)
{
    if (count < 0 || (count > 0 && !items))
        return PvmBadParam;
    if (!pvm2_self.has_received)
        return PvmNoMsg;
    return pvm2_code(neopvm_unpack(pvm2_self.received, type, items, (uint64_t)count, 1));
}

/* The length is asked for first: the caller of getstring tells no room. */
int pvm2_get_text(char *text, size_t room, size_t *length)
{
    uint64_t needed = 0;
    char none, *whole;
    int32_t status;

    if (!text)
        return PvmBadParam;
    if (!pvm2_self.has_received)
        return PvmNoMsg;
    status = neopvm_unpack_text(pvm2_self.received, &none, 0, &needed);
    *length = needed;
    if (status >= 0 || status != NEOPVM_TOO_LARGE)
        return pvm2_code(status);
    if (needed <= room)
        return pvm2_code(neopvm_unpack_text(pvm2_self.received, text, needed, &needed));
    whole = malloc(needed);
    if (!whole)
        return PvmNoMem;
    status = neopvm_unpack_text(pvm2_self.received, whole, needed, &needed);
    if (status >= 0)
        memcpy(text, whole, room);
    free(whole);
    return pvm2_code(status);
}

/* Tasks of one host share memory, whichever way is asked for. */
static int send_to(struct pvm2_peer *peer, int type, int route)
{
    int before = 0, code = pvm2_peers_greet(peer);
    int32_t status;

    if (code != PvmOk)
        return code;
    if (!peer->here)
        before = pvm2_machine_route(route);
    status = neopvm_send(pvm2_self.sending, peer->tid, type, CONTEXT_DATA);
    if (!peer->here)
        pvm2_machine_unroute(before);
    return pvm2_code(status);
}

/* To all instances of a name but this one. */
static int send_to_all(const char *name, int type, int route)
{
    struct pvm2_list list;
    size_t i;
    int code = pvm2_registry_list(name, &list);

    if (code != PvmOk)
        return code;
    code = list.count > 0 ? PvmOk : PvmNoComp;
    for (i = 0; i < list.count; i++) {
        const struct pvm2_address *to = &list.entries[i].address;
        struct pvm2_peer *peer;
        int one;

        if (list.entries[i].tid == pvm2_self.tid)
            continue;
        one = pvm2_peers_find(to->name, to->instance, &peer);
        if (one == PvmOk)
            one = send_to(peer, type, route);
        if (one != PvmOk && one != PvmNoComp)
            code = one;
    }
    free(list.entries);
    return code;
}

int pvm2_send(const char *name, int instance, int type, int route)
{
    struct pvm2_peer *peer;
    int code = pvm2_check_name(name, PVM2_NAME_MAX);

    if (code != PvmOk)
        return code;
    if (!pvm2_self.enrolled)
        return PvmNoComp;
    if (instance < -1 || type < 0)
        return PvmBadParam;
    if (!pvm2_self.sending)
        return PvmNoMsg;
    pvm2_peers_look();
    if (instance < 0)
        return send_to_all(name, type, route);
    code = pvm2_peers_find(name, instance, &peer);
    return code == PvmOk ? send_to(peer, type, route) : code;
}
