/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The shared heap. Blocks lie one behind another; each begins with its own length and that of the block before it, so
 * that a free block joins its free neighbours. Free blocks hang in one list for each power of two.
 */
#include "arena.h"
#include "failure.h"

#define LISTS 48
#define GRAIN 32u
#define USED 0x7534a5e1u
#define UNUSED 0x15ee75a1u

struct block {
    size_t bytes;  /* this head included */
    size_t before; /* of the block before; 0 for the first */
    uint32_t mark;
    uint32_t padding;
    uint64_t more_padding;
};

struct free_block {
    struct block head;
    struct free_block *next;
    struct free_block *previous;
};

struct heap {
    char *end;
    struct free_block *list[LISTS];
};

static struct heap *heap;

static int list_for(size_t bytes)
{
    return 63 - __builtin_clzl(bytes);
}

static struct block *behind(struct block *block)
{
    struct block *next = (struct block *)(void *)((char *)block + block->bytes);
    return (char *)next < heap->end ? next : NULL;
}

static void link_in(struct block *block)
{
    struct free_block *freed = (struct free_block *)block;
    struct free_block **list = &heap->list[list_for(block->bytes)];
    block->mark = UNUSED;
    freed->previous = NULL;
    freed->next = *list;
    if (*list != NULL)
        (*list)->previous = freed;
    *list = freed;
}

static void unlink_it(struct block *block)
{
    struct free_block *freed = (struct free_block *)block;
    if (freed->previous != NULL)
        freed->previous->next = freed->next;
    else
        heap->list[list_for(block->bytes)] = freed->next;
    if (freed->next != NULL)
        freed->next->previous = freed->previous;
}

void heap_make(void *memory, size_t bytes)
{
    size_t head = (sizeof *heap + 63) & ~(size_t)63;
    heap = memory;
    heap->end = (char *)memory + bytes;
    /* The first block begins so that what is handed out lies at a multiple of 32 bytes. */
    struct block *first = (struct block *)(void *)((char *)memory + head);
    first->bytes = bytes - head;
    first->before = 0;
    link_in(first);
}

static void cut(struct block *block, size_t bytes)
{
    if (block->bytes - bytes < sizeof(struct free_block) + GRAIN)
        return;
    struct block *rest = (struct block *)(void *)((char *)block + bytes);
    rest->bytes = block->bytes - bytes;
    rest->before = bytes;
    block->bytes = bytes;
    struct block *next = behind(rest);
    if (next != NULL)
        next->before = rest->bytes;
    link_in(rest);
}

static struct block *find(size_t bytes)
{
    for (int list = list_for(bytes); list < LISTS; list++) {
        struct free_block *freed = heap->list[list];
        for (; freed != NULL; freed = freed->next) {
            if (freed->head.bytes >= bytes)
                return &freed->head;
        }
    }
    return NULL;
}

void *heap_take(size_t bytes)
{
    size_t whole = (bytes + sizeof(struct block) + GRAIN - 1) & ~(size_t)(GRAIN - 1);
    if (arena == NULL || bytes > arena->bytes)
        return NULL;
    if (whole < sizeof(struct free_block) + GRAIN / 2)
        whole = (sizeof(struct free_block) + GRAIN - 1) & ~(size_t)(GRAIN - 1);
    lock_take(&arena->heap_lock);
    struct block *block = find(whole);
    if (block != NULL) {
        unlink_it(block);
        cut(block, whole);
        block->mark = USED;
    }
    lock_drop(&arena->heap_lock);
    return block == NULL ? NULL : block + 1;
}

static int may_be_ours(const void *memory)
{
    const char *byte = memory;
    const char *first = (const char *)heap + sizeof *heap;
    return heap != NULL && byte >= first + sizeof(struct block) && byte < heap->end &&
           ((uintptr_t)memory & (GRAIN - 1)) == 0;
}

/* With the lock: joins a block with its free neighbours. */
static void join(struct block *block)
{
    struct block *next = behind(block);
    if (next != NULL && next->mark == UNUSED) {
        unlink_it(next);
        next->mark = 0;
        block->bytes += next->bytes;
    }
    struct block *before = block->before == 0 ? NULL : (struct block *)(void *)((char *)block - block->before);
    if (before != NULL && before->mark == UNUSED) {
        unlink_it(before);
        block->mark = 0;
        before->bytes += block->bytes;
        block = before;
    }
    next = behind(block);
    if (next != NULL)
        next->before = block->bytes;
    link_in(block);
}

int heap_give(void *memory)
{
    if (!may_be_ours(memory))
        return 0;
    struct block *block = (struct block *)memory - 1;
    lock_take(&arena->heap_lock);
    int ours = block->mark == USED;
    if (ours)
        join(block);
    lock_drop(&arena->heap_lock);
    return ours;
}
