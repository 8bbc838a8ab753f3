/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* posted.h - the receives that wait for their messages. All with job_lock held. */
#ifndef NEOPVM_JOB_POSTED_H
#define NEOPVM_JOB_POSTED_H

#include "state.h"

enum { OPEN, BUSY, DONE };

struct posted {
    /* Open and busy receives in the order in which they were posted; those that are done in the
     * order in which that happened. */
    struct posted *next, *previous;
    struct posted *blocker;         /* an earlier one that wants all that this one wants: it comes first */
    int mixed;                      /* an earlier one wants some of what this one wants */
    struct job_place *places;       /* where there are many */
    int32_t place_count;
    uint64_t number; /* in the order in which they were posted */
    struct job_select select;
    void *data;
    uint64_t room;
    job_handler handler;
    void *with;
    int stage;
    int status;
    job_handle handle; /* 0: it has a handler */
    struct job_message message;
};

/* An open receive goes behind all others; it may be done when this returns. */
void job_posted_add(struct posted *posted);
void job_posted_remove(struct posted *posted);
/* Gives a message that was kept before to an open receive. */
void job_posted_settle(struct posted *posted);
/* Delivers its message: it is done, or its handler is made ready and the receive is removed. */
void job_posted_deliver(struct posted *posted, const struct job_message *message);
/* It waits to be asked for. */
void job_posted_done(struct posted *posted);
/* Whether one that was posted before `end` (null: any) could want what `select` wants. */
int job_posted_overlaps(const struct posted *end, const struct job_select *select);

#endif /* NEOPVM_JOB_POSTED_H */
