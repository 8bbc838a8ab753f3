/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* snd and vsnd: to one instance or to all of a name. */
#include <stdlib.h>
#include <string.h>
#include "pvm2.h"

/* Tasks of one host share memory, whichever way is asked for. */
static int send_to(struct pvm2_peer *peer, int type, int route)
{
    int before, code = pvm2_peers_greet(peer);

    if (code != PvmOk)
        return code;
    if (peer->here)
        return pvm2_outgoing_send(peer->tid, type);
    before = pvm2_machine_route(route);
    code = pvm2_outgoing_send(peer->tid, type);
    pvm2_machine_unroute(before);
    return code;
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
    int code = PvmOk;

    /* It may end what is known of a peer. */
    if (pvm2_self.enrolled)
        pvm2_peers_look_now_and_then();
    peer = pvm2_peers_latest(name, instance);
    /* The name of the last peer is as long as it may be. */
    if (!peer)
        code = pvm2_check_name(name, PVM2_NAME_MAX);
    if (code != PvmOk)
        return code;
    if (!pvm2_self.enrolled)
        return PvmNoComp;
    if (instance < -1 || type < 0)
        return PvmBadParam;
    if (pvm2_outgoing_check() != PvmOk)
        return PvmNoMsg;
    if (instance < 0)
        return send_to_all(name, type, route);
    if (!peer)
        code = pvm2_peers_find(name, instance, &peer);
    return code == PvmOk ? send_to(peer, type, route) : code;
}
