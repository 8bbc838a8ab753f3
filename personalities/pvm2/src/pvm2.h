/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the parts of the library know of one another.
 *
 * A component is a named message "neopvm.pvm2.component.NAME" at its instance number (registry.c). Its first message to
 * another one is preceded by an introduction, so that the receiver knows the sender's name without asking anybody, and
 * drops what strangers send (peers.c). The library never calls its own public names: a program may have functions
 * that are called so.
 */
#ifndef PVM2_H
#define PVM2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <neopvm.h>

#include "machine.h"
#include "pvmuser.h"

/* The calls of the interface: all that is seen from outside. */
#define PVM2_CALL __attribute__((visibility("default")))

#define PVM2_NAME_MAX 32   /* characters of a component's name */
#define PVM2_EVENT_MAX 255 /* of an event or a barrier */
#define PVM2_CLASS_ROOM 320 /* bytes of the longest name of a named message or group that we make */

/* Contexts of our own. The machine gives out none below 2^18, so no program meets these by chance. */
enum { CONTEXT_DATA = 0x25001, CONTEXT_NAMES = 0x25002, CONTEXT_NOTES = 0x25003 };

/* Tells a program that initiate started which instance it is. */
#define PVM2_VARIABLE "NEOPVM_COMPONENT"

/* Tags in CONTEXT_NOTES. */
enum { NOTE_DEATH = 1, NOTE_EVENT = 2, NOTE_LEFT = 3 };

/* Tags in CONTEXT_NAMES: introductions, and messages to oneself. */
enum { TAG_NAME, TAG_OWN };

struct pvm2_address {
    char name[PVM2_NAME_MAX + 1];
    int32_t instance;
};

/* A task that we have dealt with. */
struct pvm2_peer {
    struct pvm2_peer *next;
    int32_t tid;
    bool greeted; /* it knows who we are */
    bool known;   /* we know who it is: `address` */
    bool watched; /* we are told when it ends */
    bool here;    /* on this host */
    struct pvm2_address address;
};

struct pvm2_self {
    bool enrolled; /* false in the child of a fork, which is no component */
    int32_t tid;
    struct pvm2_address address;
    struct pvm2_address also; /* the instance that initiate gave, where it has another name; instance -1: none */
    int32_t sender_of_received; /* 0: nothing was received yet */
};

extern struct pvm2_self pvm2_self;

/* codes.c */

/* Bytes of an item of one of the types that programs of PVM 2 pack. */
size_t pvm2_item_bytes(int32_t type);
/* The code of PVM 2.4 for a status of neopvm.h. */
int pvm2_code(int32_t status);
/* PvmBadParam for none or an empty one, PvmTooLong, or PvmOk. */
int pvm2_check_name(const char *name, size_t longest);
/* PvmNoComp where the caller is no component. */
int pvm2_check_enrolled(void);

/* Before a call that needs the machine and no component: after a leave this process is no task any more. */
int pvm2_reach_machine(void);

/* component.c */

/* From now on the child of a fork knows that it is no component. */
int pvm2_notice_forks(void);
/* The table of hosts, to be freed. */
int pvm2_hosts(struct neopvm_host **hosts, uint64_t *count);

/* registry.c: who is who in the machine */

struct pvm2_entry {
    struct pvm2_address address;
    int32_t tid; /* 0 while it is being started */
};

struct pvm2_list {
    struct pvm2_entry *entries;
    size_t count;
};

/* A new instance number for a task; PvmNoMem and so on below 0. */
int pvm2_registry_enter(const char *name, int32_t tid);
/* A number for a program that is about to be started, then its task, or nothing if it did not start. */
int pvm2_registry_reserve(const char *name);
void pvm2_registry_started(const struct pvm2_address *address, int32_t tid);
void pvm2_registry_forget(const struct pvm2_address *address);
/* The number that was reserved for this task becomes its own, for as long as it lives. */
bool pvm2_registry_claim(const struct pvm2_address *address, int32_t tid);
/* PvmNoComp, or PvmOk and the task. */
int pvm2_registry_find(const struct pvm2_address *address, int32_t *tid);
/* All instances of a name, or of every name where it is null. */
int pvm2_registry_list(const char *name, struct pvm2_list *list);
/* A reservation of a task that died before it enrolled is given back. */
void pvm2_registry_died(const struct pvm2_address *address, int32_t tid);
/* peers.c: tasks and addresses that we have dealt with */

/* The peer of a task; null without memory. */
struct pvm2_peer *pvm2_peer_of(int32_t tid);
/* Takes in who has died and which events became ready. */
void pvm2_peers_look(void);
void pvm2_peers_look_now_and_then(void);
/* The peer that was found last, if this is its address; else null. */
struct pvm2_peer *pvm2_peers_latest(const char *name, int instance);
/* The task at an address, from memory or from the registry. */
int pvm2_peers_find(const char *name, int instance, struct pvm2_peer **peer);
/* Watches a task that was just started for an address. */
int pvm2_peers_add(const struct pvm2_address *address, int32_t tid);
/* Tells a task who we are, before the first message to it. */
int pvm2_peers_greet(struct pvm2_peer *peer);
/* Tells it to all tasks that do not know it. */
int pvm2_peers_greet_all(const int32_t *tids, size_t count);
/* Who the sender of a message is; null if it never introduced itself. */
struct pvm2_peer *pvm2_peers_sender(int32_t tid, bool again);
/* Nobody is at an address any more. */
void pvm2_peers_gone(const char *name, int instance);
/* Tells all that know us that we are no component any more. */
void pvm2_peers_farewell(void);
void pvm2_peers_clear(void);

/* outgoing.c: the message to send */
int pvm2_outgoing_check(void);
int pvm2_outgoing_send(int32_t tid, int type);
void pvm2_outgoing_clear(void);
/* In the child of a fork, whose buffers those of its parent are not. */
void pvm2_outgoing_abandon(void);

/* incoming.c: the message received last */

/* Takes over what neopvm_receive_items gave. */
void pvm2_incoming_keep(const struct neopvm_received *message);
/* Null: none. */
const struct neopvm_info *pvm2_incoming_head(void);
/* There is none any more. What comes next may be received straight into the room; pvm2_incoming_taken says that it was. */
struct neopvm_received *pvm2_incoming_clear(void);
void pvm2_incoming_taken(void);

/* receive.c */
void pvm2_receive_clear(void);

/* events.c */
/* What a call of ready tells. A task that is no component says nothing. */
void pvm2_events_note(neopvm_buffer note);
void pvm2_events_clear(void);

/* barrier.c */
void pvm2_barriers_clear(void);

/* The calls themselves, for the Fortran half (fortran.c). */
int pvm2_enroll(const char *name);
int pvm2_leave(void);
int pvm2_whoami(char *name, int *instance);
int pvm2_initiate(const char *file, const char *arch);
int pvm2_initiate_on(const char *file, const char *host);
int pvm2_terminate(const char *name, int instance);
int pvm2_status(const char *name, int instance);
int pvm2_pstatus(int *hosts, int *formats);
int pvm2_initsend(void);
int pvm2_put(int32_t type, const void *items, int count);
int pvm2_put_text(const char *text, size_t length);
int pvm2_get(int32_t type, void *items, int count);
/* With room for `room` characters; a text that does not fit is cut. */
int pvm2_get_text(char *text, size_t room, size_t *length);
int pvm2_send(const char *name, int instance, int type, int route);
int pvm2_receive(int count, const int *types);
int pvm2_probe(int count, const int *types);
int pvm2_rcvinfo(int *bytes, int *type, char *name, int *instance);
int pvm2_barrier(const char *name, int count);
int pvm2_ready(const char *event);
int pvm2_waituntil(const char *event);

#endif
