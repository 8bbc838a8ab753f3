/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * neopvm.h - messages of a NeoPVM machine with handles, 64-bit counts and time limits.
 *
 * The calls of pvm3.h work on a current send buffer and a current receive buffer. The calls here
 * name the buffer they mean; otherwise they do the same, on the same core, and both may be mixed
 * in one program. Language bindings stand on this file, which is why there are
 *   - only integers of fixed width and plain addresses, no callbacks and no variable arguments,
 *   - a status as the result of every call: 0, or one of the negative results of pvm3.h,
 *   - nothing printed and no global error variable,
 *   - no limits to threads: any call from any thread. Two threads that use one buffer at the same
 *     time take turns.
 * The names begin with neopvm_, so that they never meet a name of an old program.
 *
 * Buffers. A neopvm_buffer is a message being packed or being read. It is a buffer number of
 * pvm3.h, too: pvm_bufinfo, pvm_setsbuf, pvm_putinfo and so on take it. 0 is no buffer. Whoever gets a
 * buffer frees it with neopvm_free. A sent buffer stays and can be sent again.
 *
 * Types, encodings, results and flags are the numbers of pvm3.h; those that the calls here need stand
 * below under names of their own, so that this file needs no other.
 *
 * Texts that go in end with 0 unless a length goes with them; their bytes are taken as they are.
 * Pointers for answers may be null where the answer is not wanted, except where an answer is all that
 * a call is for.
 *
 * Time limits are nanoseconds: negative waits for ever, 0 does not wait. A limit that is over is no
 * error: the status is 0 and the buffer is 0.
 *
 * Wildcards: -1 as source or tag means any.
 * Contexts: NEOPVM_CURRENT_CONTEXT means the one that pvm_setcontext has set.
 *
 * Signals. A signal that the program handles does not end a wait: a runtime that wants to look at its
 * own flags waits with limits, or on neopvm_descriptor. A handler that has interrupted the library gets
 * PvmAlready from every call but neopvm_send and neopvm_multicast: up to 32 sends are kept and done
 * when the interrupted call leaves. Handlers may leave a waiting neopvm_receive, neopvm_get or neopvm_barrier by longjmp,
 * unless they are told PvmAlready: then the call is at its work, and they should return and try again.
 *
 * The last neopvm_leave, by whichever thread, ends the waits of all others with PvmSysErr.
 *
 * The calls of pvm3.h that are not repeated here (pvm_getopt, pvm_tidtohost, pvm_addhosts ...) can be
 * used beside these. They keep pvm_errno, and print unless pvm_setopt(PvmAutoErr, 0) was called.
 */
#ifndef NEOPVM_H
#define NEOPVM_H

#include <stdint.h>

/* Counts changes of this file that a caller could notice. */
#define NEOPVM_INTERFACE 7

#define NEOPVM_OK 0
#define NEOPVM_BAD_PARAMETER (-2)
#define NEOPVM_TOO_LARGE (-4)     /* the room is too small */
#define NEOPVM_END (-5)           /* of the message */
#define NEOPVM_DENIED (-8)
#define NEOPVM_NO_MEMORY (-10)
#define NEOPVM_NO_MACHINE (-14)   /* no daemon, or no longer */
#define NEOPVM_NO_BUFFER (-16)
#define NEOPVM_HOST_FAILED (-22)
#define NEOPVM_NO_PARENT (-23)
#define NEOPVM_NOT_POSSIBLE (-24)
#define NEOPVM_NO_ROOM (-27)      /* too much waits unread, or a limit is reached */
#define NEOPVM_ALREADY (-30)      /* a handler has interrupted the library */
#define NEOPVM_NO_TASK (-31)
#define NEOPVM_NOT_FOUND (-32)

#define NEOPVM_DEFAULT 0          /* converted for receivers of another kind */
#define NEOPVM_RAW 1              /* bytes as they are in memory */
#define NEOPVM_IN_PLACE 2         /* read from the program's memory by each send */

#define NEOPVM_BYTE 1             /*  1 byte each */
#define NEOPVM_SHORT 2            /*  2 */
#define NEOPVM_INT 3              /*  4 */
#define NEOPVM_FLOAT 4            /*  4 */
#define NEOPVM_COMPLEX 5          /*  8: two floats */
#define NEOPVM_DOUBLE 6           /*  8 */
#define NEOPVM_DOUBLE_COMPLEX 7   /* 16: two doubles */
#define NEOPVM_LONG 8             /*  8 where the library's C has longs of 8 */
#define NEOPVM_UNSIGNED_SHORT 9
#define NEOPVM_UNSIGNED_INT 10
#define NEOPVM_UNSIGNED_LONG 11

#define NEOPVM_FOREVER (-1)
#define NEOPVM_ANY (-1)
#define NEOPVM_CURRENT_CONTEXT (-1)

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t neopvm_buffer;

/* The head of a message. `bytes` is its length as pvm_bufinfo tells it, `left` what is unread. */
struct neopvm_info {
    int32_t source;
    int32_t destination;
    int32_t tag;
    int32_t context;
    int32_t encoding;
    int32_t wait_id;
    uint64_t bytes;
    uint64_t left;
};

struct neopvm_host {
    int32_t tid;
    int32_t speed;
    int32_t signature; /* data representation */
    uint32_t cores;
    char name[256]; /* ends with 0, cut if need be */
    char arch[64];
};

struct neopvm_task {
    int32_t tid;
    int32_t parent;
    int32_t host;
    int32_t flags;
    uint32_t pid;
    uint32_t reserved;
    char name[256];
};

/* ---- This task ---- */

/* NEOPVM_INTERFACE of the library. */
int32_t neopvm_interface(void);

/* The text of a status; never null. */
const char *neopvm_text(int32_t status);

/*
 * Enrols this process if need be. `parent` is an id, or PvmNoParent or PvmParentNotSet. Several runtimes in one process are
 * one task: each that has enrolled leaves once.
 */
int32_t neopvm_enrol(int32_t *tid, int32_t *parent);

/*
 * Leaves the machine when everybody who has enrolled has left; pvm_exit leaves at once. From then on no other call makes the
 * process a task again, as PVM's own calls do before: they return PvmSysErr until neopvm_enrol or pvm_mytid is called.
 */
int32_t neopvm_leave(void);

/* ---- Packing ---- */

int32_t neopvm_new(int32_t encoding, neopvm_buffer *buffer);

/* 0 is allowed and does nothing. */
int32_t neopvm_free(neopvm_buffer buffer);

/* Packs `count` items that lie `stride` items apart; 1 is one behind the other. */
int32_t neopvm_pack(neopvm_buffer buffer, int32_t type, const void *items, uint64_t count,
                    int64_t stride);

/* Packs `length` bytes as a text, as pvm_pkstr does. They hold no 0. */
int32_t neopvm_pack_text(neopvm_buffer buffer, const char *text, uint64_t length);

/* ---- Sending ---- */

int32_t neopvm_send(neopvm_buffer buffer, int32_t tid, int32_t tag, int32_t context);

/* To each of `count` tasks once, but never to this task. */
int32_t neopvm_multicast(neopvm_buffer buffer, const int32_t *tids, uint64_t count, int32_t tag,
                         int32_t context);

/* To all members of a group but this task, in the current context. `group` ends with 0. */
int32_t neopvm_broadcast(neopvm_buffer buffer, const char *group, int32_t tag);

/*
 * What sends of this task do when what they and others have sent waits unread beyond the limits of the
 * host (128 MiB of one sender, 256 MiB of all, a million messages to one receiver):
 *   NEOPVM_SPILL  messages go to an unlinked file; when that finds no room either, the send waits
 *   NEOPVM_BLOCK  the send waits; it takes in what arrives meanwhile
 *   NEOPVM_FAIL   the send fails with NEOPVM_NO_ROOM, and nothing is sent
 * A send that waits for receivers which wait in sends themselves, all for each other, fails with
 * NEOPVM_NO_ROOM for one of them; so does one that had to go to a full disk. `old` is what was set before;
 * a negative policy changes nothing. The variable PVM_SPILL (spill, block, error) is the start.
 */
#define NEOPVM_SPILL 0
#define NEOPVM_BLOCK 1
#define NEOPVM_FAIL 2

int32_t neopvm_when_full(int32_t policy, int32_t *old);

/* ---- Receiving ---- */

/* Takes the first message that fits, waiting for it if the limit allows. */
int32_t neopvm_receive(int32_t source, int32_t tag, int32_t context, int64_t limit_ns,
                       neopvm_buffer *buffer);

/* Tells of the first message that fits without taking it; `found` becomes 1 or 0. */
int32_t neopvm_probe(int32_t source, int32_t tag, int32_t context, struct neopvm_info *info,
                     int32_t *found);

int32_t neopvm_info(neopvm_buffer buffer, struct neopvm_info *info);

/* ---- Few items of one type, sent or received in one call: for bindings, to which each call costs ---- */

/* As neopvm_new, neopvm_pack, neopvm_send and neopvm_free. PvmAlready in a handler. */
int32_t neopvm_send_items(int32_t encoding, int32_t type, const void *items, uint64_t count, int32_t tid,
                          int32_t tag, int32_t context);

#define NEOPVM_ITEMS_MAX 64

/* Where `type` is not 0, the message was `count` items of that type (a float is told as NEOPVM_INT: both are four
 * bytes; raw data are bytes), they are in `items`, and `buffer` is 0: there is nothing to free. Else `buffer` has the
 * message, or is 0 where none came. `info` is the head of a message that came. */
struct neopvm_received {
    neopvm_buffer buffer;
    int32_t type;
    uint64_t count;
    struct neopvm_info info;
    unsigned char items[NEOPVM_ITEMS_MAX];
};

/* As neopvm_receive, and takes the items out of a message that has no more of them than find room here. */
int32_t neopvm_receive_items(int32_t source, int32_t tag, int32_t context, int64_t limit_ns,
                             struct neopvm_received *received);

/* ---- Unpacking ---- */

/* PvmNoData if the message has fewer items left: those are read, and the message is at its end, as in PVM. */
int32_t neopvm_unpack(neopvm_buffer buffer, int32_t type, void *items, uint64_t count,
                      int64_t stride);

/*
 * Unpacks a text into `room` bytes and tells its length; no 0 is added. If the room is too small the
 * status is PvmOverflow, `length` tells how much is needed, and the text is not read. PvmMismatch if the next
 * items, of the default encoding, were packed as something else; then nothing is read.
 */
int32_t neopvm_unpack_text(neopvm_buffer buffer, char *text, uint64_t room, uint64_t *length);

/* Reads again from the first item. */
int32_t neopvm_rewind(neopvm_buffer buffer);

/*
 * The data where they lie, without a copy: all bytes of a message in PvmDataRaw, or of one in
 * PvmDataDefault whose items are all of one type. Otherwise PvmNotImpl. They stay until the buffer
 * is freed and must not be written. Data of a task that shares this host's memory can change while
 * that task misbehaves: check what you read once you have read it. PvmNoData if the sender died before the
 * message was whole.
 */
int32_t neopvm_view(neopvm_buffer buffer, const void **data, uint64_t *bytes);

/*
 * The next `count` items where they lie, instead of unpacking them: the same order, the same end. The
 * address need not be aligned. PvmNotImpl where items would have to be converted (packed as another type,
 * or in PvmDataRaw on a machine of another layout) or do not all lie behind one another; PvmNoData where
 * there are fewer. Then nothing is read and neopvm_unpack can still do it. For how long, see neopvm_view.
 * A view ends with its message, by neopvm_free at the latest; a task that dies holds nothing. The child of
 * a fork has no views.
 */
int32_t neopvm_view_items(neopvm_buffer buffer, int32_t type, uint64_t count, const void **data);

/*
 * Packs `count` items that the program writes to `items` later, before it sends. More than 4096 bytes lie in
 * shared memory, are sent without a copy to tasks of this host, and can be sent several times. The address is
 * good until more is packed into the buffer or it is freed, and need not be aligned behind items of other
 * types. Once sent, the items must not be changed while neopvm_is_read says 1. To send other items, free the
 * buffer and allocate again: the memory is used again when its last reader has done with it.
 * PvmNoMem where there is no shared memory.
 */
int32_t neopvm_allocate(neopvm_buffer buffer, int32_t type, uint64_t count, void **items);

/* `reading` becomes 1 while a receiver (or the way to another host) holds what was sent, else 0. */
int32_t neopvm_is_read(neopvm_buffer buffer, int32_t *reading);

/* ---- Exposed memory: read and written by other tasks without their owner's taking part ---- */

#define NEOPVM_MAY_READ 1
#define NEOPVM_MAY_WRITE 3            /* and read */

/*
 * Exposes `bytes` bytes of fresh memory, all 0, under a number of this task's own. Its owner may always
 * write it. `rights` are those of all other tasks; on one host the kernel keeps them. The address is good
 * until neopvm_withdraw or the end of the task, not in the child of a fork, which must not touch it.
 * PvmAlready for a number in use, PvmNoMem, PvmNotImpl for NEOPVM_MAY_READ before Linux 5.1.
 */
int32_t neopvm_expose(uint32_t number, uint64_t bytes, int32_t rights, void **address);

/* The address is of no more use; others are told PvmNotFound. */
int32_t neopvm_withdraw(uint32_t number);

/* Size of what a task exposes under a number, and the rights to it. */
int32_t neopvm_exposed(int32_t tid, uint32_t number, uint64_t *bytes, int32_t *rights);

/*
 * Copies `bytes` bytes from or to what `tid` exposes, from `offset` on. Done when it returns. Bytes are
 * bytes: nothing is converted. On one host, 4 or 8 bytes at a multiple of their number are read and written
 * as a whole, and whoever reads what a put wrote also sees what was put before; otherwise tasks that
 * write the same bytes at the same time must agree by other means. Between hosts the daemons carry the
 * bytes; the owner's program takes no part there either.
 * PvmNotFound: nothing is exposed there. PvmNoTask: its owner is gone. PvmHostFail: its host is.
 * PvmBadParam: not all inside. PvmDenied: may not be written.
 */
int32_t neopvm_get_memory(int32_t tid, uint32_t number, uint64_t offset, void *data,
                          uint64_t bytes);
int32_t neopvm_put_memory(int32_t tid, uint32_t number, uint64_t offset, const void *data,
                          uint64_t bytes);

/*
 * Change a word of `bytes` bytes (4 or 8, at a multiple of their number) in one indivisible step: add to it,
 * modulo 2^32 or 2^64, or set it to `wanted` if it is `expected`. `*before` (or NULL) gets its value before, with
 * its sign, so an exchange took place if that is `expected`. On one host it is one instruction; between hosts
 * one request to the owner's host, done once for each call that returns 0, also where daemons die meanwhile.
 * Words that are changed should be written by neopvm_put_memory or by these alone.
 * Errors as above; PvmBadParam also for a word that is not aligned and for a value that does not fit.
 * After PvmHostFail the word may have been changed or not.
 */
int32_t neopvm_add_memory(int32_t tid, uint32_t number, uint64_t offset, uint32_t bytes,
                          int64_t add, int64_t *before);
int32_t neopvm_exchange_memory(int32_t tid, uint32_t number, uint64_t offset, uint32_t bytes,
                               int64_t expected, int64_t wanted, int64_t *before);

/* ---- Probe points: what the library does, noted as it does it ---- */

#define NEOPVM_POINT_ENTER 1          /* a call begins: `call` is its TEV_ number (pvmtev.h) */
#define NEOPVM_POINT_LEAVE 2          /* it ends with `result` */
#define NEOPVM_POINT_WAIT_BEGIN 3
#define NEOPVM_POINT_WAIT_END 4
#define NEOPVM_POINT_SEND_BEGIN 5     /* a message is put on its way to `peer` */
#define NEOPVM_POINT_SEND_END 6
#define NEOPVM_POINT_RECEIVED 7       /* a message was taken: from whom, and what was asked for */
#define NEOPVM_POINT_COPY_BEGIN 8     /* the program's data are copied */
#define NEOPVM_POINT_COPY_END 9
#define NEOPVM_POINT_ROUTE 10         /* direct route: `result` 1 asked, 2 stands, 3 refused, 4 broke */

#define NEOPVM_WAY_MEMORY 1           /* of one host */
#define NEOPVM_WAY_DIRECT 2           /* a direct route between hosts */
#define NEOPVM_WAY_DAEMONS 3
#define NEOPVM_WAY_OWN 4              /* to the task itself */

struct neopvm_record {
    uint64_t time_ns;  /* CLOCK_MONOTONIC of the task's host */
    uint64_t bytes;
    uint64_t sequence; /* of the messages of this pair of tasks; 0 where it is not known */
    int32_t point;
    int32_t way;
    int32_t hops;      /* daemons on the way */
    uint32_t thread;
    int32_t peer;
    int32_t tag;
    int32_t context;
    int32_t asked_source; /* of a receive; NEOPVM_ANY */
    int32_t asked_tag;
    int32_t call;
    int32_t result;
    uint32_t reserved;
};

/* Switches the probe points of a task of the machine on (1) or off (0). The task takes no part. */
int32_t neopvm_set_probes(int32_t tid, int32_t on);

/*
 * Takes up to `room` records of a task of this host, oldest first, each once; one reader at a time. `dropped`
 * is how many found no room so far: 16384 are kept. PvmNotFound before the first one.
 */
int32_t neopvm_read_records(int32_t tid, struct neopvm_record *records, uint64_t room,
                            uint64_t *count, uint64_t *dropped);

/* ---- Waiting for messages beside other things ---- */

/*
 * A descriptor for poll, select, epoll: readable when something has arrived that no receive or probe has
 * looked at. After it became readable, call neopvm_receive with limit 0 until there is nothing. It
 * belongs to the library; nobody else reads from it or closes it.
 */
int32_t neopvm_descriptor(int32_t *descriptor);

/*
 * For a runtime whose threads wait in a place of their own, such as Java's. `*seen` counts what has arrived for
 * this task, whoever of its threads took it in; 0 at the start will do. Returns when there is more than that, and
 * then counts it. One thread calls this again and again and has the others look after each return; what comes
 * behind their look ends the next call at once. A limit that is over leaves `*seen` as it was. PvmSysErr if this
 * process is not, or no longer, a task: this call does not enrol it.
 */
int32_t neopvm_wait(uint32_t *seen, int64_t limit_ns);

/* ---- Named messages (pvm_putinfo and its kin) ---- */

#define NEOPVM_NAME_PERSISTENT 1      /* stays when its owner has gone */
#define NEOPVM_NAME_MANY 2            /* several under one name, each with an index */
#define NEOPVM_NAME_OVERWRITABLE 4    /* by other tasks */
#define NEOPVM_NAME_FIRST 8           /* get: the first at or behind the index */
#define NEOPVM_NAME_TAKE 16           /* get: and remove it */
#define NEOPVM_NAME_WAIT 32           /* get: wait until it is there */

/* The message of `buffer` under a name; `index` tells its place. */
int32_t neopvm_put(const char *name, neopvm_buffer buffer, int32_t flags, int32_t *index);

/* PvmNotFound if there is none and none is waited for. */
int32_t neopvm_get(const char *name, int32_t index, int32_t flags, neopvm_buffer *buffer);

/*
 * The same for who may give up: when the limit is over, or when `*give_up` (may be null; written atomically by
 * another thread, which then calls neopvm_wake) is no longer 0. Then the buffer is 0, and nothing is taken now
 * or later.
 */
int32_t neopvm_get_until(const char *name, int32_t index, int32_t flags, int64_t limit_ns,
                         const int32_t *give_up, neopvm_buffer *buffer);

/* Has all threads of this task that wait look at their `give_up`. */
int32_t neopvm_wake(void);

int32_t neopvm_delete(const char *name, int32_t index);

/* ---- Groups ---- */

/* `instance` is this task's number in the group. */
int32_t neopvm_join(const char *group, int32_t *instance);
int32_t neopvm_leave_group(const char *group);

/* Fills up to `room` ids, by instance number, 0 where nobody is, and tells how many there are. */
int32_t neopvm_members(const char *group, int32_t *tids, uint64_t room, uint64_t *count);

/* Waits until `count` members have called it; -1 means all. */
int32_t neopvm_barrier(const char *group, int32_t count);

/* The same for who may give up (neopvm_get_until). `met` is 1, or 0 if it was left and does not count this task. */
int32_t neopvm_barrier_until(const char *group, int32_t count, int64_t limit_ns,
                             const int32_t *give_up, int32_t *met);

/*
 * Waits until `size` members want the group frozen, -1 meaning all: nobody joins it then. `members` tells how many
 * it has, or is -1 if it was left (`give_up` as for neopvm_get_until) and does not count this task.
 */
int32_t neopvm_freeze_until(const char *group, int32_t size, const int32_t *give_up, int32_t *members);

/* ---- Contexts: messages of one are not seen in another ---- */

int32_t neopvm_new_context(int32_t *context);
int32_t neopvm_free_context(int32_t context);

/* ---- The machine ---- */

#define NEOPVM_ON_HOST 1              /* `place` is a host, "." this one */
#define NEOPVM_ON_ARCH 2              /* `place` is an architecture */
#define NEOPVM_ON_OTHERS 32           /* every host but those */
#define NEOPVM_LEAST_LOADED 65536     /* of the hosts that fit, those with the fewest tasks for their cores and speed */

/*
 * Starts programs. `args` ends with null and may be null; `place` may be null. `outcomes` has `count`
 * elements: ids first, then the results of those that failed; `started` tells how many are ids.
 */
int32_t neopvm_spawn(const char *program, const char *const *args, int32_t flags,
                     const char *place, int32_t count, int32_t *outcomes, int32_t *started);

/*
 * The same for who may give up (neopvm_get_until): then `started` is -1 and none of the programs runs, or some run
 * already and are told, and the others have failed.
 */
int32_t neopvm_spawn_until(const char *program, const char *const *args, int32_t flags,
                           const char *place, int32_t count, const int32_t *give_up,
                           int32_t *outcomes, int32_t *started);

/* A task that does not exist is no error. Signal 15 is what pvm_kill sends. */
int32_t neopvm_signal(int32_t tid, int32_t number);

#define NEOPVM_TASK_EXIT 1
#define NEOPVM_HOST_DELETE 2
#define NEOPVM_HOST_ADD 3
#define NEOPVM_CANCEL 256             /* added to one of them */

/*
 * Asks for messages under `tag` when one of the `count` tasks or hosts ends: one int, its id. For
 * NEOPVM_HOST_ADD `tids` is null and `count` tells how many messages are wanted, -1 being all: each
 * has the number of new hosts and their ids.
 */
int32_t neopvm_notify(int32_t kind, int32_t tag, int32_t context, const int32_t *tids,
                      int32_t count);

/* Fills up to `room` entries and tells how many there are. `where`: 0 is all, or a host, or a task. */
int32_t neopvm_hosts(struct neopvm_host *hosts, uint64_t room, uint64_t *count);
int32_t neopvm_tasks(int32_t where, struct neopvm_task *tasks, uint64_t room, uint64_t *count);

#ifdef __cplusplus
}
#endif

#endif /* NEOPVM_H */
