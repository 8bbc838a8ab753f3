/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* tuple.c - operations: their fields, the space's answer, and where it goes. */
#include "linda.h"
#include <stdlib.h>
#include <string.h>

static struct linda_place *next_place(struct linda_operation *operation)
{
    return &operation->places[operation->added++];
}

EXPORT void *__linda_begin(const char *file, int line, int kind, int fields)
{
    struct linda_operation *operation = linda_memory(sizeof *operation);

    *operation = (struct linda_operation) {.file = file, .line = line, .kind = kind, .count = fields};
    operation->places = linda_memory((size_t)fields * sizeof *operation->places);
    memset(operation->places, 0, (size_t)fields * sizeof *operation->places);
    linda_space();
    linda_check(operation, neotuple_new(&operation->tuple), "a tuple");
    return operation;
}

static void add_value(struct linda_operation *operation, int type, const void *value, uint64_t bytes)
{
    int32_t status;

    if (type == NEOTUPLE_TEXT || type == NEOTUPLE_STRUCT)
        status = neotuple_add_bytes(operation->tuple, type, value, bytes);
    else
        status = neotuple_add(operation->tuple, type, value);
    linda_check(operation, status, "a field");
}

/* A string is given by the address of a pointer to it. */
static const char *string_at(const struct linda_operation *operation, const void *value)
{
    const char *text;

    memcpy(&text, value, sizeof text);
    if (!text)
        linda_fail(operation, "field %d is a null pointer in place of a string", operation->added + 1);
    return text;
}

EXPORT void __linda_actual(void *handle, int type, const void *value, unsigned long size)
{
    struct linda_operation *operation = handle;

    if (type == NEOTUPLE_TEXT) {
        const char *text = string_at(operation, value);
        add_value(operation, type, text, strlen(text));
    } else {
        add_value(operation, type, value, size);
    }
    next_place(operation);
}

EXPORT void __linda_array(void *handle, int type, const void *items, unsigned long size, long count)
{
    struct linda_operation *operation = handle;
    int32_t status;

    if (count < 0 || (unsigned long)count > SIZE_MAX / size)
        linda_fail(operation, "field %d has %ld items", operation->added + 1, count);
    if (!items && count > 0)
        linda_fail(operation, "field %d is a null pointer in place of an array", operation->added + 1);
    /* An array of char is a string without its end; structs are bytes. */
    if (type == NEOTUPLE_CHAR)
        status = neotuple_add_bytes(operation->tuple, NEOTUPLE_TEXT, items, (uint64_t)count);
    else if (type == NEOTUPLE_STRUCT)
        status = neotuple_add_bytes(operation->tuple, NEOTUPLE_BYTES, items, (uint64_t)count * size);
    else
        status = neotuple_add_array(operation->tuple, type, items, (uint64_t)count);
    linda_check(operation, status, "an array");
    next_place(operation);
}

EXPORT void __linda_formal(void *handle, int type, void *place, unsigned long size, int kind)
{
    struct linda_operation *operation = handle;

    linda_check(operation, neotuple_add_formal(operation->tuple, type, NEOTUPLE_SCALAR, size), "a formal");
    *next_place(operation) =
        (struct linda_place) {.type = type, .kind = kind, .place = place, .size = size, .room = (long)size};
}

EXPORT void __linda_formal_array(void *handle, int type, void *place, unsigned long size, long room, int kind)
{
    struct linda_operation *operation = handle;
    int kept = type == NEOTUPLE_CHAR ? NEOTUPLE_TEXT : type == NEOTUPLE_STRUCT ? NEOTUPLE_BYTES : type;

    linda_check(operation, neotuple_add_formal(operation->tuple, kept, NEOTUPLE_ARRAY, 0), "a formal");
    *next_place(operation) = (struct linda_place) {
        .type = kept, .kind = kind, .is_array = 1, .place = place, .size = size, .room = room};
}

/* The address for the bytes of a field. A null pointer gets memory, which the program owns. */
static void *target(const struct linda_operation *operation, int index, uint64_t bytes)
{
    struct linda_place *place = &operation->places[index];
    void *to = place->place;

    if (place->kind == POINTER) {
        memcpy(&to, place->place, sizeof to);
        if (!to) {
            to = linda_memory(bytes + 1);
            memcpy(place->place, &to, sizeof to);
        }
    } else if (place->room >= 0 && bytes > (uint64_t)place->room) {
        linda_fail(operation, "field %d: %llu bytes have come for an array of %ld", index + 1,
                   (unsigned long long)bytes, place->room);
    } else if (!to) {
        linda_fail(operation, "field %d is a null pointer in place of an array", index + 1);
    }
    return to;
}

static void store_text(const struct linda_operation *operation, int index, const struct neotuple_field *field)
{
    const struct linda_place *place = &operation->places[index];
    /* A string has its 0; an array of char has one where there is room. */
    int ends = !place->is_array || place->kind == POINTER ? 1 : place->room > (long)field->count;
    char *to = target(operation, index, field->count + (uint64_t)(place->is_array ? 0 : 1));

    memcpy(to, field->data, field->count);
    if (ends && !(place->is_array && place->kind == POINTER))
        to[field->count] = 0;
}

static void store(struct linda_operation *operation, int index, neotuple got)
{
    struct linda_place *place = &operation->places[index];
    struct neotuple_field field;

    linda_check(operation, neotuple_field(got, (uint64_t)index, &field), "a field");
    place->count = place->is_array ? field.bytes / place->size : 1;
    if (place->is_array && field.bytes % place->size != 0)
        linda_fail(operation, "field %d: %llu bytes have come for an array of items of %lu", index + 1,
                   (unsigned long long)field.bytes, place->size);
    if (!place->place)
        return;
    if (place->type == NEOTUPLE_TEXT)
        store_text(operation, index, &field);
    else if (place->is_array && field.bytes > 0)
        memcpy(target(operation, index, field.bytes), field.data, field.bytes);
    else if (!place->is_array && field.bytes == place->size)
        memcpy(place->place, field.data, field.bytes);
    else if (!place->is_array)
        linda_fail(operation, "field %d: %llu bytes have come for %lu", index + 1,
                   (unsigned long long)field.bytes, place->size);
}

static void ask(struct linda_operation *operation)
{
    int64_t limit = operation->kind == INP || operation->kind == RDP ? 0 : NEOTUPLE_FOREVER;
    int copies = operation->kind == RD || operation->kind == RDP, i;
    neotuple_space space = linda_space();
    neotuple got = 0;
    int32_t status;

    if (copies)
        status = neotuple_rd(space, operation->tuple, limit, &got);
    else if (linda_claims())
        status = neotuple_claim(space, operation->tuple, limit, 0, &got);
    else
        status = neotuple_in(space, operation->tuple, limit, &got);

    linda_check(operation, status, "the tuple space");
    operation->result = got != 0;
    for (i = 0; got && i < operation->count; i++)
        if (operation->places[i].type)
            store(operation, i, got);
    if (got && !copies && linda_claims())
        linda_note_claim();
    neotuple_free(got);
}

EXPORT int __linda_do(void *handle)
{
    struct linda_operation *operation = handle;

    if (operation->kind == OUT) {
        linda_check(operation, linda_settle(operation->tuple), "the tuple space");
        operation->result = 1;
    } else if (operation->kind == EVAL) {
        linda_eval(operation);
        operation->result = 1;
    } else {
        ask(operation);
    }
    return operation->result;
}

EXPORT long __linda_length(void *handle, int field)
{
    struct linda_operation *operation = handle;

    return (long)operation->places[field].count;
}

EXPORT int __linda_end(void *handle)
{
    struct linda_operation *operation = handle;
    int result = operation->result, i, j;

    neotuple_free(operation->tuple);
    for (i = 0; i < operation->live_count; i++) {
        for (j = 0; j < operation->lives[i].given; j++)
            free(operation->lives[i].arguments[j].data);
        free(operation->lives[i].arguments);
    }
    free(operation->lives);
    free(operation->places);
    free(operation);
    return result;
}
