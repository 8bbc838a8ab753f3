/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Message buffers. Freed buffers wait, by size, for their next use. A table has every address
 * that was given out, so a wrong address is reported and never read. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "failure.h"
#include "process.h"

#define SIZES 8
#define KEPT_BYTES (4u << 20)
#define KEPT_BUFFERS 64u

struct buffer {
    size_t room;
    struct buffer *next; /* of those that wait */
    int size;            /* index, -1: larger than all */
    int in_use;
    char alignment[8];
};

static size_t sizes[SIZES] = {64, 256, 1024, 4096, 16384, 65536, 262144, 1048576};
static struct buffer *waiting[SIZES];
static unsigned waiting_count[SIZES];

/* The table: open addressing, at most half full; its length is a power of two. */
static struct buffer **table;
static size_t table_length;
static size_t table_used;

static size_t place_of(const struct buffer *buffer)
{
    return (size_t)(((uintptr_t)buffer >> 4) * 0x9e3779b97f4a7c15ull >> 20) & (table_length - 1);
}

static void insert(struct buffer *buffer)
{
    size_t place = place_of(buffer);
    while (table[place] != NULL)
        place = (place + 1) & (table_length - 1);
    table[place] = buffer;
}

static int grow(void)
{
    size_t old_length = table_length;
    struct buffer **old = table;
    size_t length = old_length == 0 ? 256 : 2 * old_length;
    struct buffer **larger = calloc(length, sizeof *larger);
    if (larger == NULL)
        return 0;
    table = larger;
    table_length = length;
    for (size_t i = 0; i < old_length; i++) {
        if (old[i] != NULL)
            insert(old[i]);
    }
    free(old);
    return 1;
}

static int enter(struct buffer *buffer)
{
    if (2 * (table_used + 1) > table_length && !grow())
        return 0;
    insert(buffer);
    table_used++;
    return 1;
}

static struct buffer *find(const void *memory)
{
    const struct buffer *wanted = (const struct buffer *)((uintptr_t)memory - sizeof(struct buffer));
    if (table_length == 0)
        return NULL;
    for (size_t place = place_of(wanted); table[place] != NULL; place = (place + 1) & (table_length - 1)) {
        if (table[place] == wanted)
            return table[place];
    }
    return NULL;
}

/* Those behind the one that goes are put in again, because a search ends at the first empty place. */
static void strike(const struct buffer *buffer)
{
    size_t place = place_of(buffer);
    while (table[place] != buffer)
        place = (place + 1) & (table_length - 1);
    table[place] = NULL;
    table_used--;
    for (;;) {
        place = (place + 1) & (table_length - 1);
        struct buffer *moved = table[place];
        if (moved == NULL)
            return;
        table[place] = NULL;
        insert(moved);
    }
}

static int size_for(size_t bytes)
{
    for (int i = 0; i < SIZES; i++) {
        if (sizes[i] >= bytes)
            return i;
    }
    return -1;
}

static void *fresh(size_t bytes, int size)
{
    size_t room = size < 0 ? bytes : sizes[size];
    struct buffer *buffer = malloc(sizeof *buffer + room);
    if (buffer == NULL || !enter(buffer)) {
        free(buffer);
        return NULL;
    }
    buffer->room = room;
    buffer->size = size;
    buffer->in_use = 1;
    return buffer + 1;
}

void *buffer_take(size_t bytes)
{
    int size = size_for(bytes);
    struct buffer *buffer = size < 0 ? NULL : waiting[size];
    if (buffer == NULL)
        return fresh(bytes, size);
    waiting[size] = buffer->next;
    waiting_count[size]--;
    buffer->in_use = 1;
    return buffer + 1;
}

static void discard(struct buffer *buffer)
{
    strike(buffer);
    free(buffer);
}

int buffer_give(void *memory)
{
    struct buffer *buffer = find(memory);
    if (buffer == NULL || !buffer->in_use)
        return 0;
    int size = buffer->size;
    buffer->in_use = 0;
    if (size < 0 || buffer->room != sizes[size] || waiting_count[size] >= KEPT_BUFFERS ||
        (waiting_count[size] + 1) * buffer->room > KEPT_BYTES) {
        discard(buffer);
        return 1;
    }
    buffer->next = waiting[size];
    waiting[size] = buffer;
    waiting_count[size]++;
    return 1;
}

long buffer_room(const void *memory)
{
    const struct buffer *buffer = find(memory);
    return buffer == NULL || !buffer->in_use ? -1 : (long)buffer->room;
}

void buffers_print(void)
{
    for (int i = 0; i < SIZES; i++)
        printf("%s: %u buffers of %zu bytes are free\n", process_name(), waiting_count[i], sizes[i]);
    fflush(stdout);
}

static int fits_between(int index, int size)
{
    return (index == 0 || sizes[index - 1] < (size_t)size) && (index == SIZES - 1 || (size_t)size < sizes[index + 1]);
}

void buffers_set(int index, int size)
{
    if (index < 0 || index >= SIZES || size < 1 || !fits_between(index, size)) {
        (void)failed("p4_set_avail_buff: index %d, size %d: expected an index from 0 to %d and a size between its neighbours'",
                     index, size, SIZES - 1);
        return;
    }
    while (waiting[index] != NULL) {
        struct buffer *buffer = waiting[index];
        waiting[index] = buffer->next;
        discard(buffer);
    }
    waiting_count[index] = 0;
    sizes[index] = (size_t)size;
}

P4_API char *p4_msg_alloc(int len)
{
    char *memory = len < 0 ? NULL : buffer_take((size_t)len);
    if (memory == NULL)
        (void)failed("p4_msg_alloc: no buffer of %d bytes", len);
    return memory;
}

P4_API void p4_msg_free(char *msg)
{
    if (msg != NULL && !buffer_give(msg))
        (void)failed("p4_msg_free: %p is not from p4_msg_alloc, or was freed before", (void *)msg);
}

P4_API void p4_print_avail_buffs(void)
{
    buffers_print();
}

P4_API void p4_set_avail_buff(int index, int size)
{
    buffers_set(index, size);
}
