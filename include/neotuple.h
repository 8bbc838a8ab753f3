/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * neotuple.h - tuple spaces of a NeoPVM machine.
 *
 * A tuple space holds typed tuples. Programs put tuples into it and take them out by templates:
 * a template is a tuple in which some fields are formals, which fit any value of their type. The
 * space is kept by server tasks of the machine, not by the tasks that use it. doc/tuples.md says
 * what a space guarantees.
 *
 * The rules are those of neopvm.h: integers of fixed width and plain addresses, no callbacks and no
 * variable arguments; each call returns a status, 0 or a negative number; no call prints anything;
 * any thread may make any call, and two threads that use one handle at the same time wait for one
 * another. All names begin with neotuple_ or NEOTUPLE_. The calls are in libpvm3.
 *
 * Handles. A neotuple_space is an open space, a neotuple is a tuple or a template. 0 means none.
 * The caller frees each neotuple that it gets, with neotuple_free. No operation frees or changes
 * the tuple or the template that is passed to it, so both can be used again.
 *
 * Time limits are in nanoseconds. A negative limit waits for ever, and 0 does not wait. A limit
 * that expires is not an error: the status is 0, and the result is 0. A limit of 0 makes
 * neotuple_in Linda's inp and neotuple_rd Linda's rdp: the answer is no tuple only if at one moment
 * during the call no tuple in the space fitted.
 *
 * When a limit has passed and the server does not say within half a second more what has become of
 * the call, because it is stopped or its host was lost a moment ago, the status is
 * NEOTUPLE_NO_ANSWER. A call that looks for tuples comes to nothing then: what the server takes for
 * it later is in the space again. A tuple that was to be put may be put later, once. A limit of 0
 * waits for the server's answer as long as there is a server.
 *
 * Matching. A tuple fits a template if both have the same number of fields and each pair of fields
 * has the same type and shape and, unless the template's field is a formal, equal values. There is
 * no promotion: an int never fits a long. Numbers are compared as C's == does; long doubles and
 * what is not a number are compared by their bytes. For NEOTUPLE_STRUCT the size is part of the
 * type. The length of an array is not part of its type: a formal array fits any length. A tuple
 * that is put must not have formals.
 */
#ifndef NEOTUPLE_H
#define NEOTUPLE_H

#include <stdint.h>

/* The version of this file: each change that a caller could notice raises it by one. */
#define NEOTUPLE_INTERFACE 4

/* Statuses. Those of neopvm.h can be returned as well; these have names of their own here. */
#define NEOTUPLE_OK 0
#define NEOTUPLE_BAD_PARAMETER (-2)  /* a bad handle, type, index or name; a formal in an out */
#define NEOTUPLE_MISMATCH (-3)       /* the field has another type or shape */
#define NEOTUPLE_TOO_LARGE (-4)      /* the caller's memory is too small, or the tuple too large */
#define NEOTUPLE_NO_SERVER (-7)      /* the program pvmtuples, which keeps spaces, was not found */
#define NEOTUPLE_NO_MEMORY (-10)
#define NEOTUPLE_NO_MACHINE (-14)    /* no daemon runs here, or it has ended */
#define NEOTUPLE_DISK (-15)          /* the disk under a durable space is full, or fails */
#define NEOTUPLE_LOST (-22)          /* the servers of the space and its tuples are gone */
#define NEOTUPLE_NO_ANSWER (-25)     /* the space's server does not answer: see Time limits */
#define NEOTUPLE_FULL (-27)          /* the space has reached its limit */
#define NEOTUPLE_CLAIM_OVER (-31)    /* the claim was done, given back, or its lease has ended */
#define NEOTUPLE_NO_SPACE (-32)      /* there is no space of this name */
#define NEOTUPLE_EXISTS (-33)        /* a space of this name exists */

#define NEOTUPLE_FOREVER (-1)

/* Types of fields. Those of C are C's own: `char` is neither `signed char` nor `unsigned char`. */
#define NEOTUPLE_CHAR 1
#define NEOTUPLE_SIGNED_CHAR 2
#define NEOTUPLE_UNSIGNED_CHAR 3
#define NEOTUPLE_SHORT 4
#define NEOTUPLE_UNSIGNED_SHORT 5
#define NEOTUPLE_INT 6
#define NEOTUPLE_UNSIGNED_INT 7
#define NEOTUPLE_LONG 8
#define NEOTUPLE_UNSIGNED_LONG 9
#define NEOTUPLE_LONG_LONG 10
#define NEOTUPLE_UNSIGNED_LONG_LONG 11
#define NEOTUPLE_FLOAT 12
#define NEOTUPLE_DOUBLE 13
#define NEOTUPLE_LONG_DOUBLE 14      /* its bytes: only hosts with the same format can read it */
#define NEOTUPLE_BOOL 15
#define NEOTUPLE_FLOAT_COMPLEX 16
#define NEOTUPLE_DOUBLE_COMPLEX 17
/* Types of one shape. */
#define NEOTUPLE_TEXT 32             /* a string; its bytes are not interpreted */
#define NEOTUPLE_BYTES 33            /* bytes of any number */
#define NEOTUPLE_STRUCT 34           /* a struct by value: its size is part of the type */

/* Shapes of the types below 32. */
#define NEOTUPLE_SCALAR 0
#define NEOTUPLE_ARRAY 1

#define NEOTUPLE_FIELDS_MAX 255      /* fields of a tuple */

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t neotuple_space;
typedef int32_t neotuple;

/* Returns NEOTUPLE_INTERFACE as the library was built with it. */
int32_t neotuple_interface(void);

/* Returns a text that describes a status of these calls. It is never null. */
const char *neotuple_text(int32_t status);

/* ---- Spaces ---- */

#define NEOTUPLE_CREATE 1  /* open: make the space, with the default options, if there is none */
#define NEOTUPLE_NEW 2     /* with NEOTUPLE_CREATE: NEOTUPLE_EXISTS if there is one */
#define NEOTUPLE_OWNED 4   /* with NEOTUPLE_CREATE: the space is deleted when this task ends */

/* The options of a new space. A structure of zeros has the defaults. */
struct neotuple_options {
    uint32_t size;         /* sizeof(struct neotuple_options) */
    int32_t copies;        /* on other hosts, 0 to 2: how many hosts may die without a loss */
    uint64_t limit_bytes;  /* of all tuples; 0: 1 GiB */
    int32_t when_full;     /* an out waits (NEOTUPLE_WAIT), fails with NEOTUPLE_FULL (NEOTUPLE_FAIL), or
                              its tuple goes to a file of the server (NEOTUPLE_SPILL) */
    int32_t reserved;      /* 0 */
};

#define NEOTUPLE_WAIT 0
#define NEOTUPLE_FAIL 1
#define NEOTUPLE_SPILL 2

/*
 * Opens a space. `name` has 1 to 128 bytes. The first space on a host starts a tuple server there.
 * `options` may be null and counts only for a space that the call makes.
 */
int32_t neotuple_open(const char *name, int32_t flags, const struct neotuple_options *options,
                      neotuple_space *space);

/*
 * Makes a durable space: each server that keeps it writes a file in `directory` on its host, and
 * the space begins with the tuples of a file that is found there. A relative path begins in the
 * working directory of this process. `sync_every_ns` 0 answers an operation when it is on the disk,
 * and 10 ms to 60 s when the operating system has it: a power failure takes the operations of that
 * time. `options` may be null. If `note` is not null, its `room` bytes get what the server has to
 * say about a file that was damaged, in words, as much as fits with a 0 at its end; mostly none.
 * NEOTUPLE_EXISTS if there is a space of this name; neotuple_open opens that one.
 */
int32_t neotuple_create_durable(const char *name, const struct neotuple_options *options,
                                const char *directory, int64_t sync_every_ns, char *note,
                                uint64_t room, neotuple_space *space);

/*
 * Closes a space; it does nothing for 0. The space stays, and so do the claims of this task. A call
 * that waits in it in another thread ends with NEOTUPLE_NO_SPACE and has taken nothing.
 */
int32_t neotuple_close(neotuple_space space);

/* Deletes a space with all that is in it. Who waits in it gets NEOTUPLE_NO_SPACE. */
int32_t neotuple_delete(const char *name);

/* ---- Making a tuple or a template: its fields are added from the first to the last ---- */

int32_t neotuple_new(neotuple *tuple);
int32_t neotuple_free(neotuple tuple);

/* Takes all fields away, so that the handle can be used for the next tuple. */
int32_t neotuple_clear(neotuple tuple);

/* Adds one value of a type below 32. */
int32_t neotuple_add(neotuple tuple, int32_t type, const void *value);

/* Adds an array of `count` items of a type below 32. */
int32_t neotuple_add_array(neotuple tuple, int32_t type, const void *items, uint64_t count);

/* Adds `bytes` bytes as NEOTUPLE_TEXT, NEOTUPLE_BYTES or NEOTUPLE_STRUCT. */
int32_t neotuple_add_bytes(neotuple tuple, int32_t type, const void *data, uint64_t bytes);

/*
 * Adds a formal. `shape` counts only for types below 32, `bytes` only for NEOTUPLE_STRUCT, whose
 * size it is.
 */
int32_t neotuple_add_formal(neotuple tuple, int32_t type, int32_t shape, uint64_t bytes);

/* ---- Reading a tuple ---- */

struct neotuple_field {
    int32_t type;
    int32_t shape;
    int32_t formal;     /* 1 for a formal, which has no data */
    int32_t reserved;
    uint64_t count;     /* items; bytes of a text, of bytes or of a struct */
    uint64_t bytes;     /* of the data, in this host's format */
    const void *data;   /* aligned; valid until the tuple is freed, cleared or added to */
};

/* `count` becomes the number of fields. */
int32_t neotuple_fields(neotuple tuple, uint64_t *count);

/* Describes field `index`, counted from 0. */
int32_t neotuple_field(neotuple tuple, uint64_t index, struct neotuple_field *field);

/*
 * Copies the data of a field into `room` bytes. NEOTUPLE_MISMATCH if it has another type or shape.
 * `count` becomes its number of items, also with NEOTUPLE_TOO_LARGE, when nothing is copied. A text
 * gets no 0 at its end. `count` may be null.
 */
int32_t neotuple_get(neotuple tuple, uint64_t index, int32_t type, int32_t shape, void *data,
                     uint64_t room, uint64_t *count);

/* ---- Operations ---- */

/* Puts a tuple. `put` becomes 1, or 0 if the space stayed full until the limit; it may be null. */
int32_t neotuple_out(neotuple_space space, neotuple tuple, int64_t limit_ns, int32_t *put);

/* Puts `count` tuples in one step: others see all of them or none. */
int32_t neotuple_out_all(neotuple_space space, const neotuple *tuples, uint64_t count,
                         int64_t limit_ns, int32_t *put);

/*
 * neotuple_in takes a tuple that fits the template, neotuple_rd copies one. Of several tuples that
 * fit they choose the oldest. Callers that wait are served in the order in which they came. `tuple`
 * becomes a new handle, or 0 if the limit expired; if it is null, the tuple is dropped.
 */
int32_t neotuple_in(neotuple_space space, neotuple template_, int64_t limit_ns, neotuple *tuple);
int32_t neotuple_rd(neotuple_space space, neotuple template_, int64_t limit_ns, neotuple *tuple);

/* `count` becomes the number of tuples in the space that fit; claimed ones do not count. */
int32_t neotuple_count(neotuple_space space, neotuple template_, uint64_t *count);

/*
 * neotuple_collect takes all tuples that fit, at most `room` of them, in one step, the oldest
 * first; neotuple_copy copies them. `count` becomes their number; it is smaller than what fits also
 * if they have more than 64 MiB together (but at least one is given).
 */
int32_t neotuple_collect(neotuple_space space, neotuple template_, neotuple *tuples, uint64_t room,
                         uint64_t *count);
int32_t neotuple_copy(neotuple_space space, neotuple template_, neotuple *tuples, uint64_t room,
                      uint64_t *count);

/* ---- Claims ---- */

/*
 * Takes a tuple as neotuple_in does, but so that it comes back: when this task ends, when its host
 * is lost, when the lease ends (0 or less: it has no end), or by neotuple_give_back. It comes back
 * to its old place among the tuples. The handle `tuple` stands for the claim, too, until
 * neotuple_done or neotuple_give_back; to free it does not end the claim.
 */
int32_t neotuple_claim(neotuple_space space, neotuple template_, int64_t limit_ns,
                       int64_t lease_ns, neotuple *tuple);

/*
 * Ends a claim, which takes the tuple for good, and puts `count` tuples in the same step: others
 * see all of this or none. `tuples` may be null if `count` is 0. NEOTUPLE_CLAIM_OVER if the claim
 * is over; then nothing is put. The tuples are put even if the space is full.
 */
int32_t neotuple_done(neotuple_space space, neotuple claimed, const neotuple *tuples,
                      uint64_t count);

/* Ends a claim; the tuple is in the space again, and the count of its tries is one higher. */
int32_t neotuple_give_back(neotuple_space space, neotuple claimed);

/* Lets the lease of a claim begin anew. */
int32_t neotuple_renew(neotuple_space space, neotuple claimed, int64_t lease_ns);

/* Ends all claims of this task in the space and puts `count` tuples in the same step. */
int32_t neotuple_done_all(neotuple_space space, const neotuple *tuples, uint64_t count);

/* `tries` becomes how often a claim of this tuple came back before; 0 for one that was put. */
int32_t neotuple_tries(neotuple tuple, uint64_t *tries);

#ifdef __cplusplus
}
#endif

#endif /* NEOTUPLE_H */
