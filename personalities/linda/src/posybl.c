/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* posybl.c - fields that say their types, and workers that are programs of their own. */
#include "linda.h"
#include "../include/posybl.h"
#include <pvm3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef in
#undef inp
#undef out
#undef rd
#undef rdp

/* Shapes of fields. */
enum { ONE, MANY, ANY_ONE, ANY_MANY };

/* As many arguments has a worker at most. */
#define ARGUMENTS_MAX 1024

EXPORT struct posybl_field lchar(char value)
{
    return (struct posybl_field) {.type = NEOTUPLE_CHAR, .shape = ONE, .value.c = value};
}

EXPORT struct posybl_field lnchar(const char *values, int count)
{
    return (struct posybl_field) {.type = NEOTUPLE_CHAR, .shape = MANY, .value.items = values, .count = count};
}

EXPORT struct posybl_field qlchar(char *place)
{
    return (struct posybl_field) {.type = NEOTUPLE_CHAR, .shape = ANY_ONE, .value.place = place};
}

EXPORT struct posybl_field qlnchar(void *place, int *length)
{
    return (struct posybl_field) {.type = NEOTUPLE_CHAR, .shape = ANY_MANY, .value.place = place, .length = length};
}

EXPORT struct posybl_field lshort(short value)
{
    return (struct posybl_field) {.type = NEOTUPLE_SHORT, .shape = ONE, .value.s = value};
}

EXPORT struct posybl_field lnshort(const short *values, int count)
{
    return (struct posybl_field) {.type = NEOTUPLE_SHORT, .shape = MANY, .value.items = values, .count = count};
}

EXPORT struct posybl_field qlshort(short *place)
{
    return (struct posybl_field) {.type = NEOTUPLE_SHORT, .shape = ANY_ONE, .value.place = place};
}

EXPORT struct posybl_field qlnshort(void *place, int *length)
{
    return (struct posybl_field) {.type = NEOTUPLE_SHORT, .shape = ANY_MANY, .value.place = place, .length = length};
}

EXPORT struct posybl_field lint(int value)
{
    return (struct posybl_field) {.type = NEOTUPLE_INT, .shape = ONE, .value.i = value};
}

EXPORT struct posybl_field lnint(const int *values, int count)
{
    return (struct posybl_field) {.type = NEOTUPLE_INT, .shape = MANY, .value.items = values, .count = count};
}

EXPORT struct posybl_field qlint(int *place)
{
    return (struct posybl_field) {.type = NEOTUPLE_INT, .shape = ANY_ONE, .value.place = place};
}

EXPORT struct posybl_field qlnint(void *place, int *length)
{
    return (struct posybl_field) {.type = NEOTUPLE_INT, .shape = ANY_MANY, .value.place = place, .length = length};
}

EXPORT struct posybl_field llong(long value)
{
    return (struct posybl_field) {.type = NEOTUPLE_LONG, .shape = ONE, .value.l = value};
}

EXPORT struct posybl_field lnlong(const long *values, int count)
{
    return (struct posybl_field) {.type = NEOTUPLE_LONG, .shape = MANY, .value.items = values, .count = count};
}

EXPORT struct posybl_field qllong(long *place)
{
    return (struct posybl_field) {.type = NEOTUPLE_LONG, .shape = ANY_ONE, .value.place = place};
}

EXPORT struct posybl_field qlnlong(void *place, int *length)
{
    return (struct posybl_field) {.type = NEOTUPLE_LONG, .shape = ANY_MANY, .value.place = place, .length = length};
}

EXPORT struct posybl_field lfloat(float value)
{
    return (struct posybl_field) {.type = NEOTUPLE_FLOAT, .shape = ONE, .value.f = value};
}

EXPORT struct posybl_field lnfloat(const float *values, int count)
{
    return (struct posybl_field) {.type = NEOTUPLE_FLOAT, .shape = MANY, .value.items = values, .count = count};
}

EXPORT struct posybl_field qlfloat(float *place)
{
    return (struct posybl_field) {.type = NEOTUPLE_FLOAT, .shape = ANY_ONE, .value.place = place};
}

EXPORT struct posybl_field qlnfloat(void *place, int *length)
{
    return (struct posybl_field) {.type = NEOTUPLE_FLOAT, .shape = ANY_MANY, .value.place = place, .length = length};
}

EXPORT struct posybl_field ldouble(double value)
{
    return (struct posybl_field) {.type = NEOTUPLE_DOUBLE, .shape = ONE, .value.d = value};
}

EXPORT struct posybl_field lndouble(const double *values, int count)
{
    return (struct posybl_field) {.type = NEOTUPLE_DOUBLE, .shape = MANY, .value.items = values, .count = count};
}

EXPORT struct posybl_field qldouble(double *place)
{
    return (struct posybl_field) {.type = NEOTUPLE_DOUBLE, .shape = ANY_ONE, .value.place = place};
}

EXPORT struct posybl_field qlndouble(void *place, int *length)
{
    return (struct posybl_field) {.type = NEOTUPLE_DOUBLE, .shape = ANY_MANY, .value.place = place, .length = length};
}

EXPORT struct posybl_field lstring(const char *value)
{
    return (struct posybl_field) {.type = NEOTUPLE_TEXT, .shape = ONE, .value.items = value};
}

EXPORT struct posybl_field qlstring(char **place)
{
    return (struct posybl_field) {.type = NEOTUPLE_TEXT, .shape = ANY_ONE, .value.place = place};
}

static unsigned long size_of(int type)
{
    switch (type) {
    case NEOTUPLE_CHAR: return sizeof(char);
    case NEOTUPLE_SHORT: return sizeof(short);
    case NEOTUPLE_INT: return sizeof(int);
    case NEOTUPLE_LONG: return sizeof(long);
    case NEOTUPLE_FLOAT: return sizeof(float);
    case NEOTUPLE_DOUBLE: return sizeof(double);
    default: return sizeof(char *);
    }
}

/* Memory of its own for what comes: the pointer is a null pointer until then. */
static void *emptied(void *place)
{
    if (place)
        memset(place, 0, sizeof(void *));
    return place;
}

static void add(void *operation, const struct posybl_field *field)
{
    unsigned long size = size_of(field->type);
    int is_text = field->type == NEOTUPLE_TEXT;

    switch (field->shape) {
    case ONE:
        __linda_actual(operation, field->type, &field->value, size);
        break;
    case MANY:
        __linda_array(operation, field->type, field->value.items, size, field->count);
        break;
    case ANY_ONE:
        __linda_formal(operation, field->type, is_text ? emptied(field->value.place) : field->value.place, size,
                       is_text ? POINTER : PLACE);
        break;
    default:
        __linda_formal_array(operation, field->type, emptied(field->value.place), size, -1, POINTER);
    }
}

EXPORT int posybl_operation(const char *file, int line, int kind, const struct posybl_field *fields, int count)
{
    struct linda_operation *operation = __linda_begin(file, line, kind, count);
    int i, result;

    for (i = 0; i < count; i++) {
        if (kind == OUT && fields[i].shape >= ANY_ONE)
            linda_fail(operation, "field %d: out puts values", i + 1);
        add(operation, &fields[i]);
    }
    result = __linda_do(operation);
    for (i = 0; result && i < count; i++)
        if (fields[i].length)
            *fields[i].length = (int)__linda_length(operation, i);
    __linda_end(operation);
    return result;
}

/* The name of the machine's host with a number, counted from 1 and around. */
static void host_of(long number, char *host, size_t room)
{
    struct neopvm_host *hosts;
    uint64_t count = 0;

    linda_check(NULL, neopvm_hosts(NULL, 0, &count), "the hosts of the machine");
    hosts = linda_memory(count * sizeof *hosts);
    linda_check(NULL, neopvm_hosts(hosts, count, &count), "the hosts of the machine");
    if (count > 0)
        snprintf(host, room, "%s", hosts[(uint64_t)(number - 1) % count].name);
    free(hosts);
}

/* Starts a worker; a number below 1 is any host. */
static int start_worker(long number, const char *path, char *const arguments[])
{
    char host[sizeof ((struct neopvm_host *)0)->name] = "";
    int tid = -1;

    linda_space();
    if (number >= 1)
        host_of(number, host, sizeof host);
    setenv(LINDA_SPACE, linda_space_name(), 1);
    pvm_export(LINDA_SPACE);
    if (pvm_spawn((char *)path, (char **)arguments, host[0] ? PvmTaskHost : NEOPVM_LEAST_LOADED, host, 1, &tid) == 1)
        return tid;
    fprintf(stderr, "posybl: eval of %s%s%s has failed: %s\n", path, host[0] ? " on " : "", host, neopvm_text(tid));
    return -1;
}

EXPORT int eval_nv(int host, const char *path, char *const arguments[])
{
    return start_worker(host, path, arguments);
}

/* "#N/PATH" is the program PATH on host N. */
EXPORT int eval_v(const char *path, char *const arguments[])
{
    char *end;
    long number;

    if (path[0] == '#' && (number = strtol(path + 1, &end, 10)) >= 1 && *end == '/')
        return start_worker(number, end + 1, arguments);
    return start_worker(0, path, arguments);
}

/* Arguments up to a null pointer. */
static void list(char *arguments[ARGUMENTS_MAX + 1], va_list rest)
{
    int count = 0;

    while (count < ARGUMENTS_MAX && (arguments[count] = va_arg(rest, char *)))
        count++;
    arguments[count] = NULL;
}

EXPORT int eval_l(const char *path, ...)
{
    char *arguments[ARGUMENTS_MAX + 1];
    va_list rest;

    va_start(rest, path);
    list(arguments, rest);
    va_end(rest);
    return eval_v(path, arguments);
}

EXPORT int eval_nl(int host, const char *path, ...)
{
    char *arguments[ARGUMENTS_MAX + 1];
    va_list rest;

    va_start(rest, path);
    list(arguments, rest);
    va_end(rest);
    return eval_nv(host, path, arguments);
}

/* The first operation opens the space, so nothing is left to do. A program may have an init of its own: no header
 * declares this one, and it is weak. */
extern int init(int argc, char **argv);
EXPORT __attribute__((weak)) int init(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    return 0;
}
