/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * eval.c - eval: each field that is a call runs in a process of its own, of the same program. Its parent sends it one
 * message: the function, its arguments, and the other fields of the tuple. The process of the first call puts the
 * tuple; those of other calls of the same tuple hand it their results as tuples.
 */
#include "linda.h"
#include "../include/linda.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TAG 0x4c494e44
/* The longest wait for the parent's message, which is sent at once. A child whose parent was
 * killed must not wait for ever. */
#define PATIENCE_NS 60000000000LL
#define PART "neopvm linda: part"
/* A live field among the others of a message. */
#define IS_LIVE (-1)

/* As clc declares it, too. */
struct __linda_function {
    const char *name;
    void (*run)(void *);
    struct __linda_function *next;
};

static struct __linda_function *functions;

EXPORT void __linda_register(struct __linda_function *function)
{
    function->next = functions;
    functions = function;
}

EXPORT void __linda_call(void *handle, const char *name, int arguments)
{
    struct linda_operation *operation = handle;
    struct linda_live *live;

    operation->lives = realloc(operation->lives, (size_t)(operation->live_count + 1) * sizeof *operation->lives);
    if (!operation->lives)
        linda_fail(operation, "no memory for a call");
    live = &operation->lives[operation->live_count++];
    *live = (struct linda_live) {.field = operation->added, .name = name, .count = arguments};
    live->arguments = linda_memory((size_t)arguments * sizeof *live->arguments);
    /* The tuple keeps the field's place; its type is known when it has run. */
    linda_check(operation, neotuple_add_formal(operation->tuple, NEOTUPLE_INT, NEOTUPLE_SCALAR, 0), "a live field");
    operation->added++;
}

EXPORT void __linda_argument(void *handle, int type, const void *value, unsigned long size)
{
    struct linda_operation *operation = handle;
    struct linda_live *live = &operation->lives[operation->live_count - 1];
    struct linda_value *argument = &live->arguments[live->given];

    if (type == NEOTUPLE_TEXT) {
        const char *text;
        memcpy(&text, value, sizeof text);
        if (!text)
            linda_fail(operation, "argument %d of %s is a null pointer in place of a string", live->given + 1, live->name);
        value = text;
        size = strlen(text) + 1;
    }
    *argument = (struct linda_value) {.type = type, .size = size, .data = linda_memory(size)};
    memcpy(argument->data, value, size);
    live->given++;
}

/* ---- The parent ---- */

static void pack(const struct linda_operation *operation, neopvm_buffer buffer, const void *data, uint64_t bytes)
{
    if (bytes > 0)
        linda_check(operation, neopvm_pack(buffer, NEOPVM_BYTE, data, bytes, 1), "packing the work of eval");
}

static void pack_number(const struct linda_operation *operation, neopvm_buffer buffer, int64_t number)
{
    pack(operation, buffer, &number, sizeof number);
}

static void pack_text(const struct linda_operation *operation, neopvm_buffer buffer, const char *text)
{
    pack_number(operation, buffer, (int64_t)strlen(text));
    pack(operation, buffer, text, strlen(text));
}

static void pack_field(const struct linda_operation *operation, neopvm_buffer buffer, uint64_t index)
{
    struct neotuple_field field;

    linda_check(operation, neotuple_field(operation->tuple, index, &field), "a field of eval");
    if (field.formal) {
        pack_number(operation, buffer, IS_LIVE);
        return;
    }
    pack_number(operation, buffer, field.type);
    pack_number(operation, buffer, field.shape);
    pack_number(operation, buffer, (int64_t)field.count);
    pack_number(operation, buffer, (int64_t)field.bytes);
    pack(operation, buffer, field.data, field.bytes);
}

static void send_work(const struct linda_operation *operation, int which, const char *id, int32_t to)
{
    const struct linda_live *live = &operation->lives[which];
    neopvm_buffer buffer;
    int i;

    linda_check(operation, neopvm_new(NEOPVM_RAW, &buffer), "the work of eval");
    pack_text(operation, buffer, live->name);
    pack_text(operation, buffer, id);
    pack_number(operation, buffer, which);
    pack_number(operation, buffer, live->count);
    for (i = 0; i < live->count; i++) {
        pack_number(operation, buffer, live->arguments[i].type);
        pack_number(operation, buffer, (int64_t)live->arguments[i].size);
        pack(operation, buffer, live->arguments[i].data, live->arguments[i].size);
    }
    pack_number(operation, buffer, operation->count);
    for (i = 0; i < operation->count; i++)
        pack_field(operation, buffer, (uint64_t)i);
    linda_check(operation, neopvm_send(buffer, to, TAG, NEOPVM_CURRENT_CONTEXT), "sending the work of eval");
    neopvm_free(buffer);
}

static int32_t start(const struct linda_operation *operation, const char *program, const char *label)
{
    char first[16];
    const char *arguments[] = {"--linda-eval", linda_space_name(), first, getenv(LINDA_CLAIM) ? "claim" : "-", NULL};
    int32_t outcome = 0, started = 0;
    int32_t status;

    snprintf(first, sizeof first, "%x", (unsigned)linda_tid());
    status = neopvm_spawn(program, arguments, NEOPVM_LEAST_LOADED, NULL, 1, &outcome, &started);
    linda_check(operation, status < 0 ? status : started == 1 ? 0 : outcome, "starting a process of this program");
    linda_note_live(outcome, label);
    return outcome;
}

void linda_eval(struct linda_operation *operation)
{
    static unsigned counter;
    char program[PATH_MAX], id[64];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    int i;

    if (operation->live_count == 0) {
        /* No field is a call, so this is an out. */
        linda_check(operation, linda_settle(operation->tuple), "the tuple space");
        return;
    }
    if (length < 0)
        linda_fail(operation, "the file of this program is not known");
    program[length] = 0;
    snprintf(id, sizeof id, "%x.%u", (unsigned)linda_tid(), __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED));
    for (i = 0; i < operation->live_count; i++)
        send_work(operation, i, id, start(operation, program, operation->lives[i].name));
}

/* ---- The process of a call ---- */

struct work {
    neopvm_buffer buffer;
    char *name;
    char *id;
    int which;
    int count;
    struct linda_value *arguments;
    struct linda_value result;
};

static void unpack(const struct work *work, void *data, uint64_t bytes)
{
    if (bytes > 0)
        linda_check(NULL, neopvm_unpack(work->buffer, NEOPVM_BYTE, data, bytes, 1), "reading the work of eval");
}

static int64_t unpack_number(const struct work *work)
{
    int64_t number;

    unpack(work, &number, sizeof number);
    return number;
}

/* Allocates memory for data that a message announces; they are not longer than the message. */
static void *unpack_new(const struct work *work, int64_t bytes)
{
    struct neopvm_info info;
    char *data;

    linda_check(NULL, neopvm_info(work->buffer, &info), "reading the work of eval");
    if (bytes < 0 || (uint64_t)bytes > info.left)
        linda_die("the work of eval announces %lld bytes and has %llu", (long long)bytes, (unsigned long long)info.left);
    data = linda_memory((size_t)bytes + 1);
    unpack(work, data, (uint64_t)bytes);
    data[bytes] = 0;
    return data;
}

static struct work receive(int32_t parent)
{
    struct work work = {0};
    int64_t count;
    int i;

    linda_check(NULL, neopvm_receive(parent, TAG, NEOPVM_CURRENT_CONTEXT, PATIENCE_NS, &work.buffer), "waiting for work");
    if (!work.buffer)
        linda_die("t%x has sent no work for this process", (unsigned)parent);
    work.name = unpack_new(&work, unpack_number(&work));
    work.id = unpack_new(&work, unpack_number(&work));
    work.which = (int)unpack_number(&work);
    count = unpack_number(&work);
    if (count < 0 || count > INT_MAX / (int)sizeof *work.arguments)
        linda_die("the work of eval has %lld arguments", (long long)count);
    work.count = (int)count;
    work.arguments = linda_memory((size_t)count * sizeof *work.arguments);
    for (i = 0; i < work.count; i++) {
        work.arguments[i].type = (int)unpack_number(&work);
        work.arguments[i].size = (unsigned long)unpack_number(&work);
        work.arguments[i].data = unpack_new(&work, (int64_t)work.arguments[i].size);
    }
    return work;
}

/* Converts a number of any type into one that can hold it, because C converts arguments to the
 * types of parameters. */
static long double as_number(const struct linda_value *value, int *is_number)
{
#define CASE(number, type) \
    case number: { type item; memcpy(&item, value->data, sizeof item); return (long double)item; }
    *is_number = 1;
    switch (value->type) {
        CASE(NEOTUPLE_CHAR, char)
        CASE(NEOTUPLE_SIGNED_CHAR, signed char)
        CASE(NEOTUPLE_UNSIGNED_CHAR, unsigned char)
        CASE(NEOTUPLE_SHORT, short)
        CASE(NEOTUPLE_UNSIGNED_SHORT, unsigned short)
        CASE(NEOTUPLE_INT, int)
        CASE(NEOTUPLE_UNSIGNED_INT, unsigned)
        CASE(NEOTUPLE_LONG, long)
        CASE(NEOTUPLE_UNSIGNED_LONG, unsigned long)
        CASE(NEOTUPLE_LONG_LONG, long long)
        CASE(NEOTUPLE_UNSIGNED_LONG_LONG, unsigned long long)
        CASE(NEOTUPLE_FLOAT, float)
        CASE(NEOTUPLE_DOUBLE, double)
        CASE(NEOTUPLE_LONG_DOUBLE, long double)
        CASE(NEOTUPLE_BOOL, _Bool)
    default:
        *is_number = 0;
        return 0;
    }
#undef CASE
}

static int put_number(long double number, int type, void *place)
{
#define CASE(name, kind, through) \
    case name: { kind item = (kind)(through)number; memcpy(place, &item, sizeof item); return 1; }
    switch (type) {
        CASE(NEOTUPLE_CHAR, char, long long)
        CASE(NEOTUPLE_SIGNED_CHAR, signed char, long long)
        CASE(NEOTUPLE_UNSIGNED_CHAR, unsigned char, long long)
        CASE(NEOTUPLE_SHORT, short, long long)
        CASE(NEOTUPLE_UNSIGNED_SHORT, unsigned short, long long)
        CASE(NEOTUPLE_INT, int, long long)
        CASE(NEOTUPLE_UNSIGNED_INT, unsigned, long long)
        CASE(NEOTUPLE_LONG, long, long double)
        CASE(NEOTUPLE_UNSIGNED_LONG, unsigned long, long double)
        CASE(NEOTUPLE_LONG_LONG, long long, long double)
        CASE(NEOTUPLE_UNSIGNED_LONG_LONG, unsigned long long, long double)
        CASE(NEOTUPLE_FLOAT, float, long double)
        CASE(NEOTUPLE_DOUBLE, double, long double)
        CASE(NEOTUPLE_LONG_DOUBLE, long double, long double)
        CASE(NEOTUPLE_BOOL, _Bool, long double)
    default:
        return 0;
    }
#undef CASE
}

EXPORT void __linda_parameter(void *handle, int number, int type, void *place, unsigned long size)
{
    struct work *work = handle;
    struct linda_value *argument = &work->arguments[number];
    int is_number;
    long double value;

    if (number >= work->count)
        linda_die("eval of %s: no argument %d has come", work->name, number + 1);
    if (argument->type == NEOTUPLE_TEXT && type == NEOTUPLE_TEXT) {
        memcpy(place, &argument->data, sizeof argument->data);
        return;
    }
    if (argument->type == type && argument->size == size) {
        memcpy(place, argument->data, size);
        return;
    }
    value = as_number(argument, &is_number);
    if (!is_number || !put_number(value, type, place))
        linda_die("eval of %s: argument %d is of another type than the parameter", work->name, number + 1);
}

EXPORT void __linda_result(void *handle, int type, const void *value, unsigned long size)
{
    struct work *work = handle;
    const char *text = value;

    if (type == NEOTUPLE_TEXT) {
        memcpy(&text, value, sizeof text);
        if (!text)
            linda_die("eval of %s: it has returned a null pointer in place of a string", work->name);
        size = strlen(text);
    }
    work->result = (struct linda_value) {.type = type, .size = size, .data = linda_memory(size)};
    memcpy(work->result.data, text, size);
}

static void add(neotuple tuple, const struct linda_value *value)
{
    int is_bytes = value->type == NEOTUPLE_TEXT || value->type == NEOTUPLE_STRUCT;

    linda_check(NULL, is_bytes ? neotuple_add_bytes(tuple, value->type, value->data, value->size)
                               : neotuple_add(tuple, value->type, value->data), "the result of eval");
}

/* The tuple in which the process of another call than the first hands over its result, or a template for it. */
static neotuple part(const struct work *work, int which, const struct linda_value *result)
{
    neotuple tuple;

    linda_check(NULL, neotuple_new(&tuple), "a part of a tuple");
    neotuple_add_bytes(tuple, NEOTUPLE_BYTES, PART, strlen(PART));
    neotuple_add_bytes(tuple, NEOTUPLE_TEXT, work->id, strlen(work->id));
    neotuple_add(tuple, NEOTUPLE_INT, &which);
    if (result) {
        neotuple_add(tuple, NEOTUPLE_INT, &result->type);
        neotuple_add_bytes(tuple, NEOTUPLE_BYTES, result->data, result->size);
    } else {
        neotuple_add_formal(tuple, NEOTUPLE_INT, NEOTUPLE_SCALAR, 0);
        neotuple_add_formal(tuple, NEOTUPLE_BYTES, NEOTUPLE_SCALAR, 0);
    }
    return tuple;
}

static void add_part(const struct work *work, int which, neotuple tuple)
{
    neotuple template = part(work, which, NULL), got;
    struct neotuple_field field;
    struct linda_value value = {0};

    linda_check(NULL, neotuple_in(linda_space(), template, NEOTUPLE_FOREVER, &got), "waiting for another call");
    neotuple_get(got, 3, NEOTUPLE_INT, NEOTUPLE_SCALAR, &value.type, sizeof value.type, NULL);
    neotuple_field(got, 4, &field);
    value.size = field.bytes;
    value.data = linda_memory(field.bytes);
    memcpy(value.data, field.data, field.bytes);
    add(tuple, &value);
    free(value.data);
    neotuple_free(template);
    neotuple_free(got);
}

static void add_other(const struct work *work, int type, neotuple tuple)
{
    int shape = (int)unpack_number(work);
    uint64_t count = (uint64_t)unpack_number(work);
    void *data = unpack_new(work, unpack_number(work));
    int32_t status;

    if (type >= NEOTUPLE_TEXT)
        status = neotuple_add_bytes(tuple, type, data, count);
    else
        status = shape == NEOTUPLE_ARRAY ? neotuple_add_array(tuple, type, data, count) : neotuple_add(tuple, type, data);
    linda_check(NULL, status, "a field of eval");
    free(data);
}

/* Puts the tuple of which this process has run the first call. */
static void put_whole(const struct work *work)
{
    int64_t count = unpack_number(work), i;
    int which = 0;
    neotuple tuple;

    linda_check(NULL, neotuple_new(&tuple), "the tuple of eval");
    for (i = 0; i < count; i++) {
        int type = (int)unpack_number(work);
        if (type != IS_LIVE)
            add_other(work, type, tuple);
        else if (which++ == 0)
            add(tuple, &work->result);
        else
            add_part(work, which - 1, tuple);
    }
    linda_check(NULL, linda_settle(tuple), "the tuple space");
}

_Noreturn void linda_run_live(int32_t parent)
{
    struct work work = receive(parent);
    struct __linda_function *function = functions;

    while (function && strcmp(function->name, work.name) != 0)
        function = function->next;
    if (!function)
        linda_die("this program has no %s; are all hosts' files of one build?", work.name);
    function->run(&work);
    if (work.which == 0) {
        put_whole(&work);
    } else {
        neotuple tuple = part(&work, work.which, &work.result);
        linda_check(NULL, linda_settle(tuple), "the tuple space");
    }
    lexit(0);
    abort();
}
