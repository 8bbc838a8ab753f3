/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * index.h - queues by channel, rank and type: the first one in a queue is found in a number of steps that does not
 * depend on how many elements there are. An element is in as many queues as it has places.
 */
#ifndef NEOPVM_JOB_INDEX_H
#define NEOPVM_JOB_INDEX_H

#include <stddef.h>
#include <stdint.h>

/* -1 is a value like any other here: "from any rank" has a queue of its own. */
struct job_key {
    int32_t channel;
    int32_t rank;
    int32_t type;
};

struct job_line;

struct job_place {
    struct job_place *next;
    struct job_place *previous;
    struct job_line *line; /* null: in no queue */
    void *owner;
};

/* All zero is an empty one. */
struct job_index {
    struct job_line **buckets;
    size_t room; /* 0, or a power of two */
    size_t lines;
};

/* Behind all that are in this queue. NEOPVM_NO_MEMORY: the place is in no queue. */
int job_index_add(struct job_index *index, struct job_place *place, const struct job_key *key, void *owner);
/* Nothing happens to a place that is in no queue. */
void job_index_remove(struct job_index *index, struct job_place *place);
/* Null: the queue is empty. The others follow by `next`. */
struct job_place *job_index_first(const struct job_index *index, const struct job_key *key);

#endif /* NEOPVM_JOB_INDEX_H */
