/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Published memory. A send is one message of the block's number: where in the block, then the data. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"

struct block {
    char *memory;
    uint64_t size;
    int number;
    struct block *next;
};

static struct block *blocks;
static pthread_mutex_t blocks_lock = PTHREAD_MUTEX_INITIALIZER;

static struct block *find(int number)
{
    pthread_mutex_lock(&blocks_lock);
    struct block *block = blocks;
    while (block != NULL && block->number != number)
        block = block->next;
    pthread_mutex_unlock(&blocks_lock);
    return block;
}

void block_declare(void *memory, const int *size, const int *number)
{
    static const char call[] = "acp_declare_block";
    need(call);
    uint64_t bytes = length_at(memory, size, call);
    int wanted = number_at(number, call);
    if (wanted < 0 || find(wanted) != NULL)
        fatal("%s: number %d %s", call, wanted, wanted < 0 ? "(at least 0)" : "is declared already");
    struct block *block = malloc(sizeof *block);
    if (block == NULL)
        fatal("%s: no memory", call);
    pthread_mutex_lock(&blocks_lock);
    *block = (struct block){memory, bytes, wanted, blocks};
    blocks = block;
    pthread_mutex_unlock(&blocks_lock);
}

static uint64_t offset_at(const int *offset, const char *call)
{
    int value = number_at(offset, call);
    if (value < 0)
        fatal("%s: offset %d", call, value);
    return (uint64_t)value;
}

static void send_to(int32_t rank, int block, const char *whole, uint64_t bytes)
{
    check(job_send(JOB_USER, rank, block, whole, bytes), "acp_send");
}

void block_send(const int *process, const void *data, const int *size, const int *block, const int *offset)
{
    static const char call[] = "acp_send";
    need(call);
    uint64_t bytes = length_at(data, size, call);
    uint64_t where = offset_at(offset, call);
    int number = number_at(block, call);
    if (number < 0)
        fatal("%s: block %d (at least 0)", call, number);
    char *whole = malloc(sizeof where + bytes);
    if (whole == NULL)
        fatal("%s: no memory for %llu bytes", call, (unsigned long long)bytes);
    memcpy(whole, &where, sizeof where);
    if (bytes > 0)
        memcpy(whole + sizeof where, data, bytes);
    if (number_at(process, call) == ACP_ALL_PROCESSES)
        check(job_size() == 1 ? JOB_OK : job_send_others(JOB_USER, number, whole, sizeof where + bytes), call);
    else
        send_to(rank_of(*process, call), number, whole, sizeof where + bytes);
    free(whole);
}

static void check_inside(const struct block *block, uint64_t offset, uint64_t bytes, int process, const char *call)
{
    if (offset > block->size || bytes > block->size - offset)
        fatal("%s: process %d wants %llu bytes at %llu of block %d, which has %llu", call, process,
              (unsigned long long)bytes, (unsigned long long)offset, block->number, (unsigned long long)block->size);
}

static void take_one(const struct block *block)
{
    static const char call[] = "acp_wait_for_data";
    const struct job_select select = {JOB_USER, JOB_ANY, block->number, 0};
    struct job_message message;
    uint64_t offset;
    check(job_take(&select, NEOPVM_FOREVER, &message), call);
    const char *data = job_bytes(&message);
    if (data == NULL || message.bytes < sizeof offset)
        fatal("%s: a message of process %d is not whole", call, process_of(message.source));
    memcpy(&offset, data, sizeof offset);
    uint64_t bytes = message.bytes - sizeof offset;
    check_inside(block, offset, bytes, process_of(message.source), call);
    if (bytes > 0)
        memcpy(block->memory + offset, data + sizeof offset, bytes);
    job_free(&message);
}

void block_wait(const int *count, const int *number)
{
    static const char call[] = "acp_wait_for_data";
    need(call);
    const struct block *block = find(number_at(number, call));
    if (block == NULL)
        fatal("%s: block %d is not declared here", call, *number);
    if (number_at(count, call) < 0)
        fatal("%s: %d sends", call, *count);
    for (int i = 0; i < *count; i++)
        take_one(block);
}

/* ---- Reading others' blocks ---- */

struct get {
    int32_t block;
    int32_t answer;
    uint64_t offset;
    uint64_t bytes;
};

static void serve_get(int32_t from, const unsigned char *data, uint64_t bytes)
{
    struct get get;
    if (bytes != sizeof get)
        return;
    memcpy(&get, data, sizeof get);
    const struct block *block = find(get.block);
    if (block == NULL)
        fatal("acp_get: process %d wants block %d, which process %d has not declared", process_of(from), (int)get.block,
              process_of(job_rank()));
    check_inside(block, get.offset, get.bytes, process_of(from), "acp_get");
    check(job_send(JOB_OWN, from, get.answer, block->memory + get.offset, get.bytes), "acp_get");
}

void blocks_serve(void)
{
    serve_type(TYPE_GET, serve_get);
}

static void get_own(void *data, uint64_t bytes, int number, uint64_t offset)
{
    const struct block *block = find(number);
    if (block == NULL)
        fatal("acp_get: block %d is not declared here", number);
    check_inside(block, offset, bytes, process_of(job_rank()), "acp_get");
    if (bytes > 0)
        memmove(data, block->memory + offset, bytes);
}

void block_get(const int *process, void *data, const int *size, const int *number, const int *offset)
{
    static const char call[] = "acp_get";
    need(call);
    struct get get = {number_at(number, call), answer_type(), offset_at(offset, call), length_at(data, size, call)};
    int32_t rank = rank_of(number_at(process, call), call);
    struct job_message message;
    if (rank == job_rank()) {
        get_own(data, get.bytes, *number, get.offset);
        return;
    }
    check(job_send(JOB_OWN, rank, TYPE_GET, &get, sizeof get), call);
    check(job_receive(JOB_OWN, rank, get.answer, data, get.bytes, &message), call);
}
