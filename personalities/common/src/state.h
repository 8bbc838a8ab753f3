/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the files of common know of each other. */
#ifndef NEOPVM_JOB_STATE_H
#define NEOPVM_JOB_STATE_H

#include "index.h"
#include "job.h"
#include <pthread.h>
#include <stdatomic.h>

/* Tags in JOB_OWN. The other side of the first two groups is run/job/words.rs of pvm-cli. */
enum {
    TAG_TABLE = 1,
    TAG_ANSWER = 2,
    TAG_HEARD = 3,
    TAG_ENTERED = 16,
    TAG_LEFT = 17,
    TAG_FATAL = 18,
    TAG_FORKED = 19,
    TAG_START = 20,
    TAG_EXITED = 21,
    TAG_KILL = 22,
    TAG_ENDED = 33, /* notices of the machine */
    TAG_TAKEN = 32,   /* an acknowledged message was taken */
    TAG_BARRIER = 64, /* and a number for each round */
    TAG_BROADCAST = 128,
    TAG_REDUCE = 129,
    TAG_COLLECT = 130
};

/* No object is larger: a count of bytes above it is wrong, and is never used. */
#define JOB_BYTES_MAX ((uint64_t)PTRDIFF_MAX - 1)

/* Each rank keeps a table of all (struct job_rank_entry): 3.2 GB in the ranks of the largest job together. */
#define JOB_RANKS_MAX 16384
#define JOB_FOREVER (-1)

/* The longest wait of a thread without a look into the queue, while it is the only one that receives. */
#define JOB_ALONE_NS 1000000000

/* The time after which a process that waits for a rank asks whether the rank is alive. */
#define JOB_PATIENCE_NS 1000000000

struct job_rank_entry {
    int32_t tid;
    int32_t cluster;
    int32_t host;
};

struct job {
    int began;
    int state;                  /* enum job_state */
    int told;                   /* the table is known */
    atomic_int left;
    atomic_int failing;
    struct job_options options;
    int32_t tid;
    int32_t keeper;
    int32_t contexts[2];        /* by enum job_channel */
    int32_t cluster;            /* of this process, as the keeper said */
    int32_t first;              /* rank of that cluster */
    int32_t wanted;             /* ranks to be in one process's memory */
    int32_t rank;
    int32_t together_first; /* the first rank of collective calls */
    int32_t size;
    int32_t cluster_count;
    int32_t *cluster_first;     /* cluster_count + 1 of them */
    struct job_rank_entry *ranks;
    char **hosts;
    int32_t host_count;
    uint32_t places_mask;       /* of the table from tids to ranks */
    int32_t *places;            /* rank + 1, or 0 */
    atomic_int kept;            /* messages in the queue, and posted receives: if not 0, receives take the long way */
    atomic_int has_others;      /* a second thread receives: the program's, or that of handlers */
};

extern struct job job_this;

/* keeper.c */
int job_find_keeper(void);
int job_say(int32_t tag, neopvm_buffer buffer); /* frees the buffer */
/* Like the call above, but waits until the keeper has the message: the news of this process's
 * end must not come before it. */
int job_say_last(int32_t tag, neopvm_buffer buffer);
neopvm_buffer job_word(void);
void job_word_number(neopvm_buffer buffer, int32_t number);
void job_word_text(neopvm_buffer buffer, const char *text);
int32_t job_read_number(neopvm_buffer buffer, int32_t least, int32_t most, int *failed);
char *job_read_text(neopvm_buffer buffer);
void job_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* table.c */
int job_read_table(neopvm_buffer buffer);
int job_alone_table(void);

/* message.c: one attempt at the core. JOB_OK, JOB_NONE or an error. Messages of tasks outside
 * the job are dropped. */
int job_core_take(const struct job_select *select, int64_t limit_ns, struct job_message *message);
int job_core_probe(const struct job_select *select, struct job_message *message);
/* job_free, but the memory is given back before the next receive; for what was read as a whole. */
void job_free_later(struct job_message *message);
/* In a forked process, which has no buffers of its parent. */
void job_forget_spent(void);
int job_check(const struct job_select *select);
/* Notes the calling thread as one that receives. */
void job_note_thread(void);
/* The time to wait at once of `left`. */
int64_t job_alone_slice(int64_t left);
/* What is wrong with a message that a program wants to send. */
int job_check_send(int32_t rank, int32_t type, uint64_t bytes);
/* A message that was checked. */
int job_core_send(int channel, int32_t rank, int32_t type, const void *data, uint64_t bytes);
/* True if this process is still the task to which the ranks listen. */
int job_is_rank(void);
/* In JOB_OWN, from and to a rank, between functions of this folder. */
int job_own_send(int32_t rank, int32_t tag, const void *data, uint64_t bytes);
int job_own_receive(int32_t rank, int32_t tag, void *data, uint64_t bytes);
/* Asks the machine. */
int job_has_ended(int32_t rank);
/* Takes a message in JOB_OWN from a rank; JOB_ENDED if the rank has ended and has sent none. */
int job_take_of(int32_t rank, int32_t tag, struct job_message *message);

/* many.c: in JOB_OWN to the ranks `first` to `end` - 1 but this one. */
int job_own_send_range(int32_t first, int32_t end, int32_t tag, const void *data, uint64_t bytes);

/* queue.c: all with job_lock held. */
extern pthread_mutex_t job_lock;
/* Puts a message into the queue, or gives it to a posted receive that accepts it. */
int job_keep(int channel, const struct job_message *message);
/* Takes from the queue or the core, without waiting; messages that the core cannot select are
 * kept. `leave`: the message stays where it is. */
int job_try(const struct job_select *select, struct job_message *message, int leave);
/* Takes from the queue alone. */
int job_try_kept(const struct job_select *select, struct job_message *message, int leave);
/* Like job_try, but after the posted receives: a message that came meanwhile and fits one of
 * them is not for the caller. */
int job_try_behind(const struct job_select *select, struct job_message *message, int leave);
/* Takes all messages of JOB_USER that have come, for the posted receives and into the queue:
 * JOB_NONE, or an error. */
int job_drain(void);
/* Waits for something to arrive; gives the lock back meanwhile. JOB_OK, JOB_NOBODY or an error. */
int job_pause(uint32_t *seen, int64_t limit_ns);
/* What this thread has taken from the core may be for another one. */
void job_wake_others(void);
int job_fits(const struct job_select *select, int channel, const struct job_message *message);
int job_is_type(const struct job_select *select, int32_t type);
/* A message is found by rank and type, by either of them, and by none. */
#define JOB_KINDS 4
struct job_key job_key_of(int channel, const struct job_message *message, int kind);

/* posted.c: with job_lock held. */
void job_advance(void);
int job_offer(int channel, const struct job_message *message); /* 1 if a posted receive took it */
int job_overlaps(const struct job_select *select);             /* with one that is posted */

/* handler.c: with job_lock held. The message has been received. */
void job_ready(job_handler handler, const struct job_message *message, void *with);
int job_handler_threads(void); /* started if need be */

/* look.c: gets the result of each look for a message that does not wait, and returns it. */
int job_looked(int status);

/* clock.c */
int64_t job_now_ns(void);
int64_t job_deadline(int64_t limit_ns); /* negative for ever */
int64_t job_left(int64_t deadline);

#endif /* NEOPVM_JOB_STATE_H */
