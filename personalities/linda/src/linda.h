/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* linda.h - declarations that the files of the runtime share. The __linda_ calls are those that
 * clc writes (crates/pvm-clc/src/emit.rs). */
#ifndef LINDA_INTERNAL_H
#define LINDA_INTERNAL_H

#include <neopvm.h>
#include <neotuple.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

/* As clc numbers the operations. */
enum { OUT, EVAL, IN, RD, INP, RDP };

/* In the environment of a POSYBL worker: the space of the program that has started it. */
#define LINDA_SPACE "NEOPVM_LINDA_SPACE"

/* In the environment of a program's processes: those of eval claim what they take. */
#define LINDA_CLAIM "NEOPVM_LINDA_CLAIM"

/* There, too: the limit of the program's space in bytes, and its copies on other hosts. */
#define LINDA_LIMIT "NEOPVM_LINDA_LIMIT"
#define LINDA_COPIES "NEOPVM_LINDA_COPIES"

/* The calls that clc writes, which POSYBL makes, too. */
void *__linda_begin(const char *file, int line, int kind, int fields);
void __linda_actual(void *, int type, const void *value, unsigned long size);
void __linda_array(void *, int type, const void *items, unsigned long size, long count);
void __linda_formal(void *, int type, void *place, unsigned long size, int kind);
void __linda_formal_array(void *, int type, void *place, unsigned long size, long room, int kind);
int __linda_do(void *);
long __linda_length(void *, int field);
int __linda_end(void *);

/* A formal: where the field is put. */
enum { PLACE, POINTER };

struct linda_place {
    int type;            /* of neotuple.h; 0 for an actual */
    int kind;
    int is_array;
    void *place;         /* null: it is dropped */
    unsigned long size;  /* of an item, or of what is at `place` */
    long room;           /* bytes of the array at `place`; negative: unknown */
    uint64_t count;      /* items that came */
};

struct linda_value {
    int type;
    unsigned long size;
    void *data;
};

/* A field that eval runs in a process of its own. */
struct linda_live {
    int field;
    const char *name;
    int count;
    int given;
    struct linda_value *arguments;
};

struct linda_operation {
    const char *file;
    int line;
    int kind;
    int count;   /* fields there will be */
    int added;   /* fields there are */
    int result;
    neotuple tuple;
    struct linda_place *places;
    struct linda_live *lives;
    int live_count;
};

/* The job's space, opened by the first use; this process is a task then. */
neotuple_space linda_space(void);
const char *linda_space_name(void);
int32_t linda_tid(void);
/* True in a process that eval has started. */
int linda_is_child(void);

/* True in a process of eval whose tuples come back if it dies (ntsnet -claim). */
int linda_claims(void);
/* Notes that such a process has taken a tuple, which it keeps claimed until its next out, or its
 * end. */
void linda_note_claim(void);
/* Ends the claims of this process and puts a tuple, unless it is 0, in one step. */
int32_t linda_settle(neotuple tuple);

/* Prints the place and the reason, and ends the program. */
_Noreturn void linda_fail(const struct linda_operation *operation, const char *form, ...)
    __attribute__((format(printf, 2, 3)));
/* As linda_fail for what has no operation. */
_Noreturn void linda_die(const char *form, ...) __attribute__((format(printf, 1, 2)));
/* Calls linda_fail for a negative status. A process of eval ends quietly instead if the program
 * has ended. */
void linda_check(const struct linda_operation *operation, int32_t status, const char *what);

void *linda_memory(size_t bytes);

/* Starts the processes of an eval. */
void linda_eval(struct linda_operation *operation);
/* What a process of eval does, from the message of its parent to its end. */
_Noreturn void linda_run_live(int32_t parent);

/* The tasks that eval has started and that have not ended: their number, and their ids. */
uint64_t linda_live_tasks(int32_t *tids, uint64_t room);
void linda_note_live(int32_t tid, const char *name);
/* Takes the note of a task away; 0 if there was none. */
int linda_forget_live(int32_t tid, char *name, size_t room);

#endif
