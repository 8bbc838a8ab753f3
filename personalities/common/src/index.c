/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "index.h"

#include <neopvm.h>
#include <stdlib.h>

struct job_line {
    struct job_line *next; /* of the same bucket */
    struct job_key key;
    struct job_place *first, *last;
};

#define LEAST_ROOM 64

static size_t bucket_of(const struct job_key *key, size_t room)
{
    uint64_t mixed = ((uint64_t)(uint32_t)key->rank << 32 | (uint32_t)key->type) * 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ mixed >> 32 ^ (uint32_t)key->channel) * 0x9e3779b97f4a7c15u;
    return (size_t)(mixed >> 32) & (room - 1);
}

static int is_key(const struct job_line *line, const struct job_key *key)
{
    return line->key.type == key->type && line->key.rank == key->rank && line->key.channel == key->channel;
}

static struct job_line *find_line(const struct job_index *index, const struct job_key *key)
{
    struct job_line *line = index->room == 0 ? NULL : index->buckets[bucket_of(key, index->room)];
    while (line != NULL && !is_key(line, key))
        line = line->next;
    return line;
}

static void put_line(struct job_line **buckets, size_t room, struct job_line *line)
{
    struct job_line **bucket = &buckets[bucket_of(&line->key, room)];
    line->next = *bucket;
    *bucket = line;
}

/* Without memory for more buckets the lines in each become more. */
static void make_room(struct job_index *index)
{
    size_t room = index->room == 0 ? LEAST_ROOM : 2 * index->room;
    if (index->lines < index->room)
        return;
    struct job_line **buckets = calloc(room, sizeof(struct job_line *));
    if (buckets == NULL)
        return;
    for (size_t at = 0; at < index->room; at++) {
        struct job_line *line = index->buckets[at], *next;
        for (; line != NULL; line = next) {
            next = line->next;
            put_line(buckets, room, line);
        }
    }
    free(index->buckets);
    index->buckets = buckets;
    index->room = room;
}

static struct job_line *new_line(struct job_index *index, const struct job_key *key)
{
    make_room(index);
    struct job_line *line = index->room == 0 ? NULL : calloc(1, sizeof *line);
    if (line == NULL)
        return NULL;
    line->key = *key;
    put_line(index->buckets, index->room, line);
    index->lines++;
    return line;
}

int job_index_add(struct job_index *index, struct job_place *place, const struct job_key *key, void *owner)
{
    struct job_line *line = find_line(index, key);
    if (line == NULL)
        line = new_line(index, key);
    *place = (struct job_place){.line = line, .owner = owner};
    if (line == NULL)
        return NEOPVM_NO_MEMORY;
    place->previous = line->last;
    *(line->last != NULL ? &line->last->next : &line->first) = place;
    line->last = place;
    return NEOPVM_OK;
}

static void free_line(struct job_index *index, struct job_line *line)
{
    struct job_line **at = &index->buckets[bucket_of(&line->key, index->room)];
    while (*at != line)
        at = &(*at)->next;
    *at = line->next;
    free(line);
    if (--index->lines > 0)
        return;
    free(index->buckets);
    *index = (struct job_index){0};
}

void job_index_remove(struct job_index *index, struct job_place *place)
{
    struct job_line *line = place->line;
    if (line == NULL)
        return;
    *(place->previous != NULL ? &place->previous->next : &line->first) = place->next;
    *(place->next != NULL ? &place->next->previous : &line->last) = place->previous;
    place->line = NULL;
    if (line->first == NULL)
        free_line(index, line);
}

struct job_place *job_index_first(const struct job_index *index, const struct job_key *key)
{
    struct job_line *line = find_line(index, key);
    return line != NULL ? line->first : NULL;
}
