/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * neopvm.h - messages of a NeoPVM machine with handles, 64-bit counts and timeouts.
 *
 * The calls of pvm3.h work on a current send buffer and a current receive buffer. Each call of this
 * file takes the buffer as an argument. Both kinds of calls use the same core, and one program may
 * use both. The file is made for language bindings:
 *   - There are only integers of fixed width and plain addresses, no callbacks and no variable
 *     arguments.
 *   - Every call returns a status: 0, or one of the negative results of pvm3.h.
 *   - No call prints anything or sets a global error variable.
 *   - Any thread may make any call. If two threads use one buffer at the same time, one of them
 *     waits for the other.
 * All names begin with neopvm_ or NEOPVM_, so they cannot clash with names of existing programs.
 *
 * Buffers. A neopvm_buffer is a message that is being packed or read. It is also a buffer number of
 * pvm3.h: pvm_bufinfo, pvm_setsbuf, pvm_putinfo and so on accept it. 0 means no buffer. The caller
 * frees each buffer that it gets, with neopvm_free. A send does not free its buffer, which can be
 * sent again.
 *
 * Types, encodings, results and flags are the numbers of pvm3.h. This file defines those that its
 * calls need under names of its own, so a program need not include pvm3.h.
 *
 * Strings that are passed in end with 0 unless a length is passed with them; their bytes are not
 * interpreted. A pointer for a result may be null if the caller does not need the result, except
 * where the call has no other purpose than this result.
 *
 * Timeouts are in nanoseconds. A negative timeout waits for ever, and 0 does not wait. A timeout
 * that expires is not an error: the status is 0 and the buffer is 0.
 *
 * Wildcards: -1 as source or tag means any.
 * Contexts: NEOPVM_CURRENT_CONTEXT means the context that pvm_setcontext has set.
 *
 * Signals. A signal that the program handles does not end a wait. A runtime that has to check its
 * own flags waits with timeouts, or on neopvm_descriptor. If a signal handler has interrupted a
 * call of the library, its own calls return PvmAlready, except neopvm_send and neopvm_multicast: up
 * to 32 sends are kept and are done when the interrupted call returns. A handler may leave a
 * waiting neopvm_receive, neopvm_get or neopvm_barrier by longjmp, unless its own calls returned
 * PvmAlready. Then the interrupted call is not waiting but working, and the handler should return
 * and the program try again later.
 *
 * The last neopvm_leave, from any thread, ends the waits of all other threads with PvmSysErr.
 *
 * The calls of pvm3.h that this file does not repeat (pvm_getopt, pvm_tidtohost, pvm_addhosts ...)
 * can be used, too. They set pvm_errno, and they print errors unless pvm_setopt(PvmAutoErr, 0) was
 * called.
 */
#ifndef NEOPVM_H
#define NEOPVM_H

#include <stdint.h>

/* The version of this file: each change that a caller could notice raises it by one. */
#define NEOPVM_INTERFACE 8

#define NEOPVM_OK 0
#define NEOPVM_BAD_PARAMETER (-2)
#define NEOPVM_TOO_LARGE (-4)     /* the caller's memory is too small for the result */
#define NEOPVM_END (-5)           /* the message has no more items */
#define NEOPVM_DENIED (-8)
#define NEOPVM_NO_MEMORY (-10)
#define NEOPVM_NO_MACHINE (-14)   /* no daemon runs here, or it has ended */
#define NEOPVM_NO_BUFFER (-16)
#define NEOPVM_HOST_FAILED (-22)
#define NEOPVM_NO_PARENT (-23)
#define NEOPVM_NOT_POSSIBLE (-24)
#define NEOPVM_NO_ROOM (-27)      /* too much is unread, or a limit is reached */
#define NEOPVM_ALREADY (-30)      /* a handler has interrupted the library */
#define NEOPVM_NO_TASK (-31)
#define NEOPVM_NOT_FOUND (-32)

#define NEOPVM_DEFAULT 0          /* items are converted for receivers with another data format */
#define NEOPVM_RAW 1              /* bytes as they are in memory */
#define NEOPVM_IN_PLACE 2         /* each send reads the items from the program's memory */

#define NEOPVM_BYTE 1             /*  1 byte for each item */
#define NEOPVM_SHORT 2            /*  2 */
#define NEOPVM_INT 3              /*  4 */
#define NEOPVM_FLOAT 4            /*  4 */
#define NEOPVM_COMPLEX 5          /*  8: two floats */
#define NEOPVM_DOUBLE 6           /*  8 */
#define NEOPVM_DOUBLE_COMPLEX 7   /* 16: two doubles */
#define NEOPVM_LONG 8             /*  8 bytes, or as many as the C compiler's long has */
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

/*
 * The envelope of a message. `bytes` is the length that pvm_bufinfo reports, and `left` says how
 * many of these bytes are not unpacked yet.
 */
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
    int32_t signature; /* data format */
    uint32_t cores;
    char name[256]; /* ends with 0; longer names are cut */
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

/* Returns NEOPVM_INTERFACE as the library was built with it. */
int32_t neopvm_interface(void);

/* Returns a text that describes a status. It is never null. */
const char *neopvm_text(int32_t status);

/*
 * Makes this process a task if it is none yet. `parent` becomes a task id, PvmNoParent or
 * PvmParentNotSet. Several runtimes in one process are one task; each runtime that has called
 * neopvm_enrol calls neopvm_leave once.
 */
int32_t neopvm_enrol(int32_t *tid, int32_t *parent);

/*
 * Undoes one neopvm_enrol. The last neopvm_leave ends the task; pvm_exit ends it at once. From then
 * on calls that need a task return PvmSysErr until neopvm_enrol or pvm_mytid makes the process a
 * task again. (Before, such calls make the process a task by themselves.)
 */
int32_t neopvm_leave(void);

/* ---- Packing ---- */

/* Makes an empty buffer. */
int32_t neopvm_new(int32_t encoding, neopvm_buffer *buffer);

/* Frees a buffer. The call does nothing for buffer 0. */
int32_t neopvm_free(neopvm_buffer buffer);

/* Packs `count` items that lie `stride` items apart; with a stride of 1 they are contiguous. */
int32_t neopvm_pack(neopvm_buffer buffer, int32_t type, const void *items, uint64_t count,
                    int64_t stride);

/* Packs `length` bytes as a string, as pvm_pkstr does. PvmBadParam if one of the bytes is 0. */
int32_t neopvm_pack_text(neopvm_buffer buffer, const char *text, uint64_t length);

/* ---- Sending ---- */

/* Sends the message to a task. */
int32_t neopvm_send(neopvm_buffer buffer, int32_t tid, int32_t tag, int32_t context);

/* Sends the message once to each of `count` tasks, except to this task. */
int32_t neopvm_multicast(neopvm_buffer buffer, const int32_t *tids, uint64_t count, int32_t tag,
                         int32_t context);

/* Sends the message to all members of a group except this task, in the current context. */
int32_t neopvm_broadcast(neopvm_buffer buffer, const char *group, int32_t tag);

/*
 * Sets the policy of this task for sends that exceed the host's limits for unread messages
 * (128 MiB of one sender, 256 MiB of all, a million messages to one receiver):
 *   NEOPVM_SPILL The message is written to an unlinked file. If the file is full, too, the send
 *   waits. NEOPVM_BLOCK The send waits, and takes in the messages that arrive meanwhile.
 *   NEOPVM_FAIL The send fails with NEOPVM_NO_ROOM, and nothing is sent.
 * If tasks wait in sends for one another in a circle, the send of one of them fails with
 * NEOPVM_NO_ROOM. So does a send that has to write to a full disk. `old` becomes the policy that
 * was set before; a negative policy changes nothing. At the start the policy is that of the
 * environment variable PVM_SPILL (spill, block or error).
 */
#define NEOPVM_SPILL 0
#define NEOPVM_BLOCK 1
#define NEOPVM_FAIL 2

int32_t neopvm_when_full(int32_t policy, int32_t *old);

/* ---- Receiving ---- */

/* Takes the first message that matches, and waits for one until the timeout expires. */
int32_t neopvm_receive(int32_t source, int32_t tag, int32_t context, int64_t limit_ns,
                       neopvm_buffer *buffer);

/* Describes the first message that matches, without taking it. `found` becomes 1 or 0. */
int32_t neopvm_probe(int32_t source, int32_t tag, int32_t context, struct neopvm_info *info,
                     int32_t *found);

/* Describes the message in a buffer. */
int32_t neopvm_info(neopvm_buffer buffer, struct neopvm_info *info);

/* ---- A few items of one type in one call, for bindings for which each call is expensive ---- */

/*
 * Does what neopvm_new, neopvm_pack, neopvm_send and neopvm_free do. The call returns PvmAlready in
 * a signal handler that has interrupted the library.
 */
int32_t neopvm_send_items(int32_t encoding, int32_t type, const void *items, uint64_t count,
                          int32_t tid, int32_t tag, int32_t context);

#define NEOPVM_ITEMS_MAX 64

/*
 * If `type` is not 0, the message consisted of `count` items of that type. They are in `items`, and
 * `buffer` is 0, so there is nothing to free. Floats are reported as NEOPVM_INT, because a message
 * does not distinguish the two types of four bytes; raw data are reported as bytes. If `type` is 0,
 * `buffer` is the message, or 0 if none arrived. `info` is the envelope of the message.
 */
struct neopvm_received {
    neopvm_buffer buffer;
    int32_t type;
    uint64_t count;
    struct neopvm_info info;
    unsigned char items[NEOPVM_ITEMS_MAX];
};

/* Does what neopvm_receive does, and unpacks a message of at most NEOPVM_ITEMS_MAX bytes. */
int32_t neopvm_receive_items(int32_t source, int32_t tag, int32_t context, int64_t limit_ns,
                             struct neopvm_received *received);

/* ---- Unpacking ---- */

/*
 * Unpacks `count` items. PvmNoData if fewer are left; as in PVM, the call has then unpacked these,
 * and the message is at its end.
 */
int32_t neopvm_unpack(neopvm_buffer buffer, int32_t type, void *items, uint64_t count,
                      int64_t stride);

/*
 * Unpacks a string into `room` bytes and stores its length in `length`. The call adds no 0.
 * PvmOverflow if `room` is too small; then `length` is the size that is needed, and the string is
 * not read. PvmMismatch if the next items of a message in default encoding are not a string; then
 * nothing is read.
 */
int32_t neopvm_unpack_text(neopvm_buffer buffer, char *text, uint64_t room, uint64_t *length);

/* Moves the read position back to the first item. */
int32_t neopvm_rewind(neopvm_buffer buffer);

/*
 * Returns the address of all bytes of a message, without a copy. PvmNotImpl unless the data have
 * this host's format and the message is in PvmDataRaw, or in PvmDataDefault with items of one type.
 * The address is valid until the buffer is freed, and the bytes must not be written. The bytes may
 * lie in memory that a sender on this host can still write: copy a value before you check it.
 * PvmNoData if the sender died before the message was complete.
 */
int32_t neopvm_view(neopvm_buffer buffer, const void **data, uint64_t *bytes);

/*
 * Returns the address of the next `count` items and moves the read position behind them, as
 * neopvm_unpack does. The address need not be aligned. PvmNotImpl if the items would have to be
 * converted (they were packed as another type, or in PvmDataRaw on a host with another data format)
 * or are not contiguous; PvmNoData if fewer are left. In both cases nothing is read, and
 * neopvm_unpack can still be used. The address is valid until the buffer is freed. The child of a
 * fork must not use it.
 */
int32_t neopvm_view_items(neopvm_buffer buffer, int32_t type, uint64_t count, const void **data);

/*
 * Packs `count` items that the program writes to `items` later, before it sends the message. More
 * than 4096 bytes lie in shared memory: they are sent without a copy to other tasks of this host,
 * and can be sent several times. The address is valid until more is packed into the buffer or the
 * buffer is freed. Behind items of other types it need not be aligned. After a send the program
 * must not change the items while neopvm_is_being_read reports 1. To send other items, free the
 * buffer and allocate again: the library reuses the memory when its last reader is done. PvmNoMem
 * if there is no shared memory.
 */
int32_t neopvm_allocate(neopvm_buffer buffer, int32_t type, uint64_t count, void **items);

/*
 * Reports whether what was sent is still being read: `reading` becomes 1 while a receiver, or the
 * link to another host, reads it, else 0.
 */
int32_t neopvm_is_being_read(neopvm_buffer buffer, int32_t *reading);

/* The older name of neopvm_is_being_read. */
int32_t neopvm_is_read(neopvm_buffer buffer, int32_t *reading);

/* ---- Exposed memory: other tasks read and write it, and its owner makes no call for that ---- */

#define NEOPVM_MAY_READ 1
#define NEOPVM_MAY_WRITE 3            /* and read */

/*
 * Exposes `bytes` bytes of new memory, all 0, under a number that this task chooses. The owner may
 * always write the memory. `rights` says what all other tasks may do; on the owner's host the
 * kernel enforces it. The address is valid until neopvm_withdraw or the end of the task. The child
 * of a fork must not use it. PvmAlready if the number is in use, PvmNoMem, PvmNotImpl for
 * NEOPVM_MAY_READ before Linux 5.1.
 */
int32_t neopvm_expose(uint32_t number, uint64_t bytes, int32_t rights, void **address);

/* Ends the exposure. The address becomes invalid, and other tasks get PvmNotFound. */
int32_t neopvm_withdraw(uint32_t number);

/* Returns the size of the memory that a task exposes under a number, and the rights of others. */
int32_t neopvm_exposed(int32_t tid, uint32_t number, uint64_t *bytes, int32_t *rights);

/*
 * Copy `bytes` bytes from or to the memory that `tid` exposes, beginning at `offset`. The copy is
 * complete when the call returns, and nothing is converted. On one host, 4 bytes at a multiple of 4
 * and 8 bytes at a multiple of 8 are read and written as a whole, and a task that reads a value
 * that another task put also sees what that task put before. Apart from that, tasks that write the
 * same bytes at the same time must synchronise by other means. Between hosts the daemons transfer
 * the bytes; there, too, the owner makes no call. PvmNotFound: the task exposes nothing under this
 * number. PvmNoTask: the owner has ended. PvmHostFail: the owner's host has left. PvmBadParam: the
 * bytes are not all inside the memory. PvmDenied: the memory may not be written.
 */
int32_t neopvm_get_memory(int32_t tid, uint32_t number, uint64_t offset, void *data,
                          uint64_t bytes);
int32_t neopvm_put_memory(int32_t tid, uint32_t number, uint64_t offset, const void *data,
                          uint64_t bytes);

/*
 * Change a word of `bytes` bytes (4 or 8) atomically. neopvm_add_memory adds to it, modulo 2^32 or
 * 2^64; neopvm_exchange_memory sets it to `wanted` if it is `expected`. `*before` becomes the
 * previous value, sign-extended, so the exchange took place if that is `expected`; `before` may be
 * null. On one host the change is one instruction. Between hosts it is one request to the owner's
 * host, which is done once for each call that returns 0, even if daemons die meanwhile. Such words
 * should be written only by neopvm_put_memory and by these calls. The errors are those above;
 * PvmBadParam also if the word is not aligned to its size or a value does not fit. After
 * PvmHostFail it is unknown whether the word was changed.
 */
int32_t neopvm_add_memory(int32_t tid, uint32_t number, uint64_t offset, uint32_t bytes,
                          int64_t add, int64_t *before);
int32_t neopvm_exchange_memory(int32_t tid, uint32_t number, uint64_t offset, uint32_t bytes,
                               int64_t expected, int64_t wanted, int64_t *before);

/* ---- Recording: what the library does, noted as it does it ---- */

/*
 * A call of the library is one record, noted at its end. What happens within it (a wait, a copy, a receiver of a
 * multicast) is a part: a record that comes before that of its call. A message that is the only one of its call
 * is told by the call's own record.
 */
#define NEOPVM_RECORD_CALL 1          /* a call with no kind of its own; `bytes` it packed or unpacked */
#define NEOPVM_RECORD_WAIT 2          /* `way` is NEOPVM_WAIT_..., `more` processor time in ns if it slept */
#define NEOPVM_RECORD_SEND 3          /* a message to `peer`; `more` is its bytes with what is around them */
#define NEOPVM_RECORD_RECEIVE 4       /* a message from `peer` was taken */
#define NEOPVM_RECORD_POLL 5          /* a look for a message that found none */
#define NEOPVM_RECORD_COPY 6          /* `bytes` of the program's data are copied */
#define NEOPVM_RECORD_CHUNK 7         /* a piece of a message */
#define NEOPVM_RECORD_GROUP 8         /* `name`, `members`, `instance`, `root`; `number` is the count */
#define NEOPVM_RECORD_SPAWN 9         /* `number` tasks, the first of which is `peer` */
#define NEOPVM_RECORD_MARK 10         /* neopvm_mark: `number` is the value */
#define NEOPVM_RECORD_STATE 11        /* neopvm_state */
#define NEOPVM_RECORD_PROGRESS 12     /* neopvm_progress: `number` of `more` */
#define NEOPVM_RECORD_ROUTE 13        /* direct route to `peer`: `way` 1 asked, 2 stands, 3 refused, 4 broke */
#define NEOPVM_RECORD_NAME 14         /* the number `name` got its name, which only a trace file has */

#define NEOPVM_RECORD_PART 1          /* `flags`: a part, not a call */
#define NEOPVM_RECORD_SLEPT 2         /* the wait really slept */
#define NEOPVM_RECORD_ANY_SOURCE 4    /* the receive asked for any sender, */
#define NEOPVM_RECORD_ANY_TAG 8       /* for any tag */

#define NEOPVM_WAY_MEMORY 1           /* shared memory of one host */
#define NEOPVM_WAY_DIRECT 2           /* a direct route between hosts */
#define NEOPVM_WAY_DAEMONS 3          /* the daemons' links between hosts */
#define NEOPVM_WAY_OWN 4              /* a message to the task itself */

#define NEOPVM_WAIT_MESSAGE 0
#define NEOPVM_WAIT_ANSWER 1          /* of the task's host */
#define NEOPVM_WAIT_GROUP 2
#define NEOPVM_WAIT_ROOM 3            /* for what is sent */

struct neopvm_record {
    uint64_t begin_ns;  /* CLOCK_MONOTONIC of the task's host */
    uint64_t length_ns;
    uint64_t bytes;
    uint64_t number;    /* of the messages of this pair of tasks, from 1 on; else see the kinds */
    uint64_t more;
    int32_t kind;
    int32_t call;       /* its TEV_ number (pvmtev.h), from 1024 on a call of this header; -1 for none */
    int32_t result;
    uint32_t flags;
    uint32_t depth;     /* calls around this one, of the same thread */
    uint32_t thread;
    int32_t peer;
    int32_t tag;
    int32_t context;
    int32_t way;
    int32_t hops;       /* daemons on the way */
    int32_t encoding;
    int32_t name;       /* number of a group, a mark, a state or a text of progress */
    int32_t members;
    int32_t instance;
    int32_t root;       /* -1 for none */
};

/* Switches the recording of a task of the machine on (1) or off (0). The task takes no part. */
int32_t neopvm_set_probes(int32_t tid, int32_t on);

/*
 * Takes up to `room` records of a task of this host, oldest first, each once; one reader at a time. `dropped`
 * is how many found no room so far. A ring begins with 1 MiB (32768 cells; a record has one to three) and grows
 * to 64 MiB while all of a host have less than 512 MiB. PvmNotFound before the first record,
 * PvmAlready while the host's recorder reads the rings (`pvm trace record`, `pvm run --trace`).
 */
int32_t neopvm_read_records(int32_t tid, struct neopvm_record *records, uint64_t room,
                            uint64_t *count, uint64_t *dropped);

/*
 * What a program says of itself to those who record it: a mark with a value, what it does from now on (NULL for
 * nothing more), and how far it is. While nobody records it they do nothing; all return 0. Names are kept: use
 * few different ones.
 */
int32_t neopvm_mark(const char *name, int64_t value);
int32_t neopvm_state(const char *name);
int32_t neopvm_progress(const char *text, uint64_t done, uint64_t total);

/* ---- Waiting for messages beside other things ---- */

/*
 * Returns a descriptor for poll, select or epoll. It is readable when a message has arrived that no
 * receive or probe has examined. When it is readable, call neopvm_receive with timeout 0 until
 * there is no more message. The program must not read from it or close it: it belongs to the
 * library.
 */
int32_t neopvm_descriptor(int32_t *descriptor);

/*
 * Waits for arrivals on behalf of all threads of a runtime whose threads wait by other means, as
 * Java's do. `*seen` is the number of arrivals that the caller knows of, at first 0. The call
 * returns when there have been more, in whichever thread, and stores their number. One thread calls
 * this in a loop, and after each return the runtime has its waiting threads try their receives
 * again; arrivals after that end the next call at once. If the timeout expires, `*seen` is
 * unchanged. PvmSysErr if this process is not a task; the call does not make it one.
 */
int32_t neopvm_wait(uint32_t *seen, int64_t limit_ns);

/* ---- Named messages (pvm_putinfo and its kin) ---- */

#define NEOPVM_NAME_PERSISTENT 1      /* put: the entry stays when its owner ends */
#define NEOPVM_NAME_MANY 2            /* put: several entries under one name, each with an index */
#define NEOPVM_NAME_OVERWRITABLE 4    /* put: other tasks may replace or delete the entry */
#define NEOPVM_NAME_FIRST 8           /* get: the first entry at or behind the index */
#define NEOPVM_NAME_TAKE 16           /* get: and remove the entry */
#define NEOPVM_NAME_WAIT 32           /* get: wait until there is such an entry */

/* Stores the message of `buffer` under a name. `index` becomes the index of the new entry. */
int32_t neopvm_put(const char *name, neopvm_buffer buffer, int32_t flags, int32_t *index);

/* Gets the message under a name. PvmNotFound if there is none and NEOPVM_NAME_WAIT is not set. */
int32_t neopvm_get(const char *name, int32_t index, int32_t flags, neopvm_buffer *buffer);

/*
 * Does what neopvm_get does, but can be cancelled. It ends when the timeout expires, or when
 * `*give_up` is not 0 any more: another thread writes it atomically and then calls neopvm_wake.
 * `give_up` may be null. Then the buffer is 0, and no entry is taken, now or later.
 */
int32_t neopvm_get_until(const char *name, int32_t index, int32_t flags, int64_t limit_ns,
                         const int32_t *give_up, neopvm_buffer *buffer);

/* Wakes all waiting threads of this task, so that they check their `give_up`. */
int32_t neopvm_wake(void);

/* Deletes the entry of a name. */
int32_t neopvm_delete(const char *name, int32_t index);

/* ---- Groups ---- */

/* Joins a group. `instance` becomes this task's instance number in the group. */
int32_t neopvm_join(const char *group, int32_t *instance);
int32_t neopvm_leave_group(const char *group);

/*
 * Stores up to `room` task ids, in the order of instance numbers, with 0 for a number that no
 * member has. `count` becomes the number of all entries.
 */
int32_t neopvm_members(const char *group, int32_t *tids, uint64_t room, uint64_t *count);

/* Waits until `count` members of the group have called it; -1 means all members. */
int32_t neopvm_barrier(const char *group, int32_t count);

/*
 * Does what neopvm_barrier does, but can be cancelled, as neopvm_get_until. `met` becomes 1, or 0
 * if the call was cancelled; then the barrier does not count this task.
 */
int32_t neopvm_barrier_until(const char *group, int32_t count, int64_t limit_ns,
                             const int32_t *give_up, int32_t *met);

/*
 * Waits until `size` members of the group have called it (-1 means all) and freezes the group: no
 * task can join it any more. `members` becomes the number of members, or -1 if the call was
 * cancelled by `give_up`, as neopvm_get_until; then the freeze does not count this task.
 */
int32_t neopvm_freeze_until(const char *group, int32_t size, const int32_t *give_up,
                            int32_t *members);

/* ---- Contexts: a receive in one context does not match messages of another ---- */

/* Makes a context that no other task has, and gives one back. */

int32_t neopvm_new_context(int32_t *context);
int32_t neopvm_free_context(int32_t context);

/* ---- The machine ---- */

#define NEOPVM_ON_HOST 1              /* `place` is the name of a host; "." is this host */
#define NEOPVM_ON_ARCH 2              /* `place` is an architecture */
#define NEOPVM_ON_OTHERS 32           /* all hosts except those that `place` names */
#define NEOPVM_LEAST_LOADED 65536     /* hosts with the fewest tasks for their cores and speed */

/*
 * Starts `count` tasks of a program. `args` ends with null and may be null; `place` may be null.
 * `outcomes` has `count` elements: first the ids of the tasks that were started, then a negative
 * result for each one that was not. `started` becomes the number of ids.
 */
int32_t neopvm_spawn(const char *program, const char *const *args, int32_t flags,
                     const char *place, int32_t count, int32_t *outcomes, int32_t *started);

/*
 * Does what neopvm_spawn does, but can be cancelled, as neopvm_get_until. If no program runs yet,
 * `started` becomes -1 and none will be started. If some run already, the call reports them, and
 * failures for the others.
 */
int32_t neopvm_spawn_until(const char *program, const char *const *args, int32_t flags,
                           const char *place, int32_t count, const int32_t *give_up,
                           int32_t *outcomes, int32_t *started);

/* Sends a signal to a task. It is no error if the task does not exist. pvm_kill sends signal 15. */
int32_t neopvm_signal(int32_t tid, int32_t number);

#define NEOPVM_TASK_EXIT 1
#define NEOPVM_HOST_DELETE 2
#define NEOPVM_HOST_ADD 3
#define NEOPVM_CANCEL 256             /* added to one of these kinds: withdraws the request */

/*
 * Requests a message with this tag for each of the `count` tasks or hosts when it ends. The message
 * contains one int, the id. For NEOPVM_HOST_ADD `tids` is null and `count` is the number of
 * messages that are wanted, -1 for all; each contains the number of new hosts and their ids.
 */
int32_t neopvm_notify(int32_t kind, int32_t tag, int32_t context, const int32_t *tids,
                      int32_t count);

/*
 * Store up to `room` entries; `count` becomes the number of all. `where` is the tid of a host or of
 * a task, or 0 for all tasks.
 */
int32_t neopvm_hosts(struct neopvm_host *hosts, uint64_t room, uint64_t *count);
int32_t neopvm_tasks(int32_t where, struct neopvm_task *tasks, uint64_t room, uint64_t *count);

#ifdef __cplusplus
}
#endif

#endif /* NEOPVM_H */
