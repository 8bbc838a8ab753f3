/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Receives that were posted before their messages came. Any thread that looks for messages
 * serves them, in order. */
#include "posted.h"

#include <stdlib.h>

#define FEW 16      /* above it they are many */
#define FEW_AGAIN 4 /* and at it they are few again */

/* Of a channel. Those in JOB_OWN are this folder's own, and always few. */
struct ring {
    struct posted head;
    int32_t count;
};

static struct ring rings[] = {
    [JOB_USER] = {.head = {.next = &rings[JOB_USER].head, .previous = &rings[JOB_USER].head}},
    [JOB_OWN] = {.head = {.next = &rings[JOB_OWN].head, .previous = &rings[JOB_OWN].head}},
};
static int are_many; /* in JOB_USER */
static struct job_index posted_index;
static uint64_t numbers;

/* ---- Few: who comes before whom ---- */

static int have_common_types(const struct job_select *one, const struct job_select *other)
{
    if (one->types != 0 && other->types != 0)
        return (one->types & other->types & ~JOB_TYPES) != 0;
    if (one->types != 0)
        return other->type == JOB_ANY || job_is_type(one, other->type);
    return one->type == JOB_ANY || job_is_type(other, one->type);
}

static int overlap(const struct job_select *one, const struct job_select *other)
{
    return (one->rank == JOB_ANY || other->rank == JOB_ANY || one->rank == other->rank) &&
           have_common_types(one, other);
}

static int wants_all_types(const struct job_select *one, const struct job_select *other)
{
    if (one->types == 0 && one->type == JOB_ANY)
        return 1;
    if (other->types != 0)
        return one->types != 0 && (other->types & ~one->types) == 0;
    return other->type != JOB_ANY && job_is_type(one, other->type);
}

/* Whether nothing that `other` wants is not wanted by `one`, too. */
static int covers(const struct job_select *one, const struct job_select *other)
{
    return (one->rank == JOB_ANY || one->rank == other->rank) && wants_all_types(one, other);
}

static void find_blocker(struct posted *posted)
{
    int channel = posted->select.channel;
    posted->blocker = NULL;
    for (struct posted *at = rings[channel].head.next; at != posted; at = at->next) {
        if (covers(&at->select, &posted->select)) {
            posted->blocker = at;
            return;
        }
        /* The functions of this file do not post overlapping receives for their own messages. */
        posted->mixed |= channel == JOB_USER && overlap(&at->select, &posted->select);
    }
}

int job_posted_overlaps(const struct posted *end, const struct job_select *select)
{
    const struct posted *head = &rings[select->channel].head;
    if (are_many && select->channel == JOB_USER)
        return 1;
    for (const struct posted *at = head->next; at != head && at != end; at = at->next)
        if (overlap(&at->select, select))
            return 1;
    return 0;
}

/* ---- Many: an index ---- */

static void leave_index(struct posted *posted)
{
    for (int32_t at = 0; at < posted->place_count; at++)
        job_index_remove(&posted_index, &posted->places[at]);
    free(posted->places);
    posted->places = NULL;
    posted->place_count = 0;
}

static int enter_line(struct posted *posted, int32_t type)
{
    const struct job_key key = {JOB_USER, posted->select.rank, type};
    return job_index_add(&posted_index, &posted->places[posted->place_count++], &key, posted);
}

/* In the queue of its type, or of each type of its set. */
static int enter_index(struct posted *posted)
{
    uint32_t types = posted->select.types & ~JOB_TYPES;
    int status = JOB_OK;
    int32_t most = posted->select.types != 0 ? __builtin_popcount(types) : 1;
    posted->places = calloc((size_t)most + 1, sizeof *posted->places);
    if (posted->places == NULL)
        return NEOPVM_NO_MEMORY;
    if (posted->select.types == 0)
        return enter_line(posted, posted->select.type);
    for (int32_t type = 0; type < 31 && status == JOB_OK; type++)
        if (types >> type & 1)
            status = enter_line(posted, type);
    return status;
}

static void become_few(void)
{
    struct posted *head = &rings[JOB_USER].head;
    are_many = 0;
    for (struct posted *at = head->next; at != head; at = at->next) {
        leave_index(at);
        find_blocker(at);
    }
}

/* Without the memory for it they stay few, and each message takes longer. */
static void become_many(void)
{
    struct posted *head = &rings[JOB_USER].head;
    are_many = 1;
    for (struct posted *at = head->next; at != head && are_many; at = at->next)
        if (enter_index(at) != JOB_OK)
            become_few();
}

static const struct posted *first_open(const struct job_key *key)
{
    const struct job_place *place = job_index_first(&posted_index, key);
    while (place != NULL && ((const struct posted *)place->owner)->stage != OPEN)
        place = place->next;
    return place != NULL ? place->owner : NULL;
}

static struct posted *find_by_index(const struct job_message *message)
{
    const struct posted *found = NULL;
    for (int kind = 0; kind < JOB_KINDS; kind++) {
        const struct job_key key = job_key_of(JOB_USER, message, kind);
        const struct posted *open = first_open(&key);
        if (open != NULL && (found == NULL || open->number < found->number))
            found = open;
    }
    return (struct posted *)(uintptr_t)found;
}

/* ---- In order ---- */

static void link_last(struct ring *ring, struct posted *posted)
{
    posted->number = ++numbers;
    posted->next = &ring->head;
    posted->previous = ring->head.previous;
    ring->head.previous->next = posted;
    ring->head.previous = posted;
    ring->count++;
    atomic_fetch_add(&job_this.kept, 1);
}

void job_posted_settle(struct posted *posted)
{
    struct job_message message;
    if (posted->stage == OPEN && job_try_kept(&posted->select, &message, 0) == JOB_OK)
        job_posted_deliver(posted, &message);
}

void job_posted_add(struct posted *posted)
{
    struct ring *ring = &rings[posted->select.channel];
    posted->stage = OPEN;
    link_last(ring, posted);
    if (posted->select.channel != JOB_USER || (!are_many && ring->count <= FEW)) {
        find_blocker(posted);
        return;
    }
    if (!are_many)
        become_many();
    else if (enter_index(posted) != JOB_OK)
        become_few();
    /* A message that came and that no receive wanted is kept: earlier receives have been asked. */
    if (are_many)
        job_posted_settle(posted);
}

static void unblock(const struct posted *gone, const struct posted *head)
{
    for (struct posted *at = gone->next; at != head; at = at->next)
        if (at->blocker == gone)
            find_blocker(at);
}

void job_posted_remove(struct posted *posted)
{
    struct ring *ring = &rings[posted->select.channel];
    int was_many = are_many && posted->select.channel == JOB_USER;
    posted->next->previous = posted->previous;
    posted->previous->next = posted->next;
    ring->count--;
    atomic_fetch_sub(&job_this.kept, 1);
    leave_index(posted);
    if (!was_many)
        unblock(posted, &ring->head);
    else if (ring->count <= FEW_AGAIN)
        become_few();
}

static void hand_over(struct posted *posted)
{
    job_ready(posted->handler, &posted->message, posted->with);
    free(posted);
}

void job_posted_deliver(struct posted *posted, const struct job_message *message)
{
    posted->message = *message;
    if (posted->data != NULL || posted->handler == NULL)
        posted->status = job_put(&posted->message, posted->data, posted->room);
    posted->stage = DONE;
    job_posted_remove(posted);
    if (posted->handler != NULL)
        hand_over(posted);
    else
        job_posted_done(posted);
}

static struct posted *find_by_order(int channel, const struct job_message *message)
{
    struct posted *head = &rings[channel].head;
    for (struct posted *at = head->next; at != head; at = at->next)
        if (at->stage == OPEN && job_fits(&at->select, channel, message))
            return at;
    return NULL;
}

int job_offer(int channel, const struct job_message *message)
{
    int by_index = are_many && channel == JOB_USER;
    struct posted *found = by_index ? find_by_index(message) : find_by_order(channel, message);
    if (found != NULL)
        job_posted_deliver(found, message);
    return found != NULL;
}

int job_overlaps(const struct job_select *select)
{
    return job_posted_overlaps(NULL, select);
}

/* Between two looks at the core a message may come that both receives accept. So if an earlier
 * receive accepts all that a later one accepts, the later one does not look. If it accepts a
 * part of that, all messages are taken in the order in which they came, and offered to the
 * earliest receive first. */
static void advance_each(struct ring *ring)
{
    struct posted *next;
    int mixed = 0;
    for (struct posted *at = ring->head.next; at != &ring->head; at = next) {
        struct job_message message;
        next = at->next;
        if (at->stage != OPEN || at->blocker != NULL)
            continue;
        mixed |= at->mixed;
        /* A message that it does not accept may be offered to other receives meanwhile, but not
         * to it. */
        at->stage = BUSY;
        int found = (at->mixed ? job_try_kept(&at->select, &message, 0) : job_try(&at->select, &message, 0)) == JOB_OK;
        next = at->next;
        at->stage = OPEN;
        if (found)
            job_posted_deliver(at, &message);
    }
    if (mixed)
        job_drain();
}

void job_advance(void)
{
    advance_each(&rings[JOB_OWN]);
    if (are_many)
        job_drain();
    else
        advance_each(&rings[JOB_USER]);
}
