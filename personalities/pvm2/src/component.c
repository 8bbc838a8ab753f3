/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* enroll, leave and whoami; status, terminate and pstatus. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pvm2.h"

/* What initiate tells the program: "INSTANCE/NAME". Used once, so that a program which this one starts does not take it. */
static bool given_address(struct pvm2_address *address)
{
    const char *text = getenv(PVM2_VARIABLE);
    int read = 0;
    bool good = text && sscanf(text, "%9d/%n", &address->instance, &read) == 1 && read > 0 && address->instance >= 0
                && pvm2_check_name(text + read, PVM2_NAME_MAX) == PvmOk;

    if (good)
        strcpy(address->name, text + read);
    if (text)
        unsetenv(PVM2_VARIABLE);
    return good;
}

/* The instance that was reserved for us where it is of this name, else a new one. */
static int find_instance(const char *name)
{
    struct pvm2_address given;

    pvm2_self.also.instance = -1;
    if (given_address(&given) && pvm2_registry_claim(&given, pvm2_self.tid)) {
        if (!strcmp(given.name, name))
            return given.instance;
        pvm2_self.also = given;
    }
    return pvm2_registry_enter(name, pvm2_self.tid);
}

/* A message to oneself comes from somebody known. */
static int know_myself(void)
{
    struct pvm2_peer *me = pvm2_peer_of(pvm2_self.tid);

    if (!me)
        return PvmNoMem;
    me->greeted = me->known = me->watched = true;
    me->address = pvm2_self.address;
    return PvmOk;
}

/* Buffers are given back by a component alone. */
static void forget_everything(void)
{
    pvm2_incoming_clear();
    pvm2_receive_clear();
    pvm2_events_clear();
    pvm2_peers_clear();
    pvm2_self.enrolled = false;
}

/* The machine does not know the child of a fork: it has no messages, groups or events of its
 * own. */
static void be_nobody(void)
{
    pvm2_self.enrolled = false;
    forget_everything();
    pvm2_barriers_clear();
    pvm2_outgoing_abandon();
}

int pvm2_notice_forks(void)
{
    static bool noticed;

    if (!noticed && pthread_atfork(NULL, NULL, be_nobody) != 0)
        return PvmNoMem;
    noticed = true;
    return PvmOk;
}

int pvm2_enroll(const char *name)
{
    int32_t parent, status;
    int instance, code = pvm2_check_name(name, PVM2_NAME_MAX);

    if (code == PvmOk && pvm2_self.enrolled)
        code = PvmAlready;
    if (code == PvmOk)
        code = pvm2_notice_forks();
    if (code != PvmOk)
        return code;
    status = neopvm_enrol(&pvm2_self.tid, &parent);
    if (status < 0)
        return pvm2_code(status);
    instance = find_instance(name);
    if (instance < 0) {
        neopvm_leave();
        return instance;
    }
    strcpy(pvm2_self.address.name, name);
    pvm2_self.address.instance = instance;
    pvm2_self.enrolled = true;
    code = know_myself();
    if (code != PvmOk)
        pvm2_leave();
    return code != PvmOk ? code : instance;
}

/* The machine would remove our entries with us, but this process may go on as a task of PVM 3. */
int pvm2_leave(void)
{
    int code = pvm2_check_enrolled();

    if (code != PvmOk)
        return code;
    pvm2_registry_forget(&pvm2_self.address);
    if (pvm2_self.also.instance >= 0)
        pvm2_registry_forget(&pvm2_self.also);
    pvm2_peers_farewell();
    pvm2_barriers_clear();
    forget_everything();
    pvm2_outgoing_clear();
    return pvm2_code(neopvm_leave());
}

int pvm2_whoami(char *name, int *instance)
{
    int code = pvm2_check_enrolled();

    if (code != PvmOk)
        return code;
    if (name)
        strcpy(name, pvm2_self.address.name);
    if (instance)
        *instance = pvm2_self.address.instance;
    return PvmOk;
}

static int check_address(const char *name, int instance)
{
    int code = pvm2_check_name(name, PVM2_NAME_MAX);

    return code == PvmOk && instance < -1 ? PvmBadParam : code;
}

int pvm2_status(const char *name, int instance)
{
    struct pvm2_address address;
    struct pvm2_list list;
    int32_t tid;
    int active, code = check_address(name, instance);

    if (code == PvmOk)
        code = pvm2_reach_machine();
    if (code != PvmOk)
        return code;
    if (instance < 0) {
        code = pvm2_registry_list(name, &list);
        active = code == PvmOk && list.count > 0;
        free(code == PvmOk ? list.entries : NULL);
    } else {
        strcpy(address.name, name);
        address.instance = instance;
        code = pvm2_registry_find(&address, &tid);
        active = code == PvmOk;
        if (code == PvmNoComp) {
            pvm2_peers_gone(name, instance);
            code = PvmOk;
        }
    }
    return code == PvmOk ? active : code;
}

static int terminate_all(const char *name)
{
    struct pvm2_list list;
    size_t i, ended = 0;
    int code = pvm2_registry_list(name, &list);

    if (code != PvmOk)
        return code;
    for (i = 0; i < list.count; i++) {
        if (list.entries[i].tid == pvm2_self.tid || list.entries[i].tid == 0)
            continue;
        neopvm_signal(list.entries[i].tid, 15);
        ended++;
    }
    free(list.entries);
    return ended > 0 ? PvmOk : PvmNoComp;
}

int pvm2_terminate(const char *name, int instance)
{
    struct pvm2_peer *peer;
    int code = check_address(name, instance);

    if (code == PvmOk)
        code = pvm2_check_enrolled();
    if (code != PvmOk)
        return code;
    if (instance < 0)
        return terminate_all(name);
    pvm2_peers_look();
    code = pvm2_peers_find(name, instance, &peer);
    if (code != PvmOk)
        return code;
    if (peer->tid == pvm2_self.tid)
        return PvmBadParam;
    return pvm2_code(neopvm_signal(peer->tid, 15));
}

static int count_formats(const struct neopvm_host *hosts, uint64_t count)
{
    uint64_t i, k;
    int formats = 0;

    for (i = 0; i < count; i++) {
        for (k = 0; k < i && hosts[k].signature != hosts[i].signature; k++)
            continue;
        formats += k == i;
    }
    return formats;
}

int pvm2_hosts(struct neopvm_host **hosts, uint64_t *count)
{
    uint64_t room = 0;
    int32_t status;

    *hosts = NULL;
    do {
        room = room ? *count + 16 : 16;
        free(*hosts);
        *hosts = calloc(room, sizeof **hosts);
        if (!*hosts)
            return PvmNoMem;
        status = neopvm_hosts(*hosts, room, count);
    } while (status >= 0 && *count > room);
    if (status < 0) {
        free(*hosts);
        *hosts = NULL;
    }
    return pvm2_code(status);
}

int pvm2_pstatus(int *ncpu, int *mixed)
{
    struct neopvm_host *hosts;
    uint64_t count;
    int code = pvm2_reach_machine();

    if (code == PvmOk)
        code = pvm2_hosts(&hosts, &count);
    if (code != PvmOk)
        return code;
    if (ncpu)
        *ncpu = (int)count;
    if (mixed)
        *mixed = count_formats(hosts, count);
    free(hosts);
    return PvmOk;
}
