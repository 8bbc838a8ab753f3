/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * The variadic calls. This file only fetches arguments; src/format.rs reads the format and says,
 * step by step, which argument comes next, and packs or unpacks it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "pvm3.h"

/* What the next argument is. The numbers are those of `Step::action` in src/format.rs. */
enum action { FINISH = 0, INIT = 1, ITEMS = 2, WRONG = 3 };

struct step {
    int action;
    int type;         /* PVM_INT and so on */
    int by_value;     /* the argument is the item, not its address */
    int count_given;  /* by the format; else an int argument precedes */
    int count;
    int stride_given;
    int stride;
};

/* In src/format.rs */
int _neopvm_format_step(const char *format, size_t *at, int packing, struct step *step);
int _neopvm_format_call(const char *format, int packing, int (*work)(void *), void *state);
int _neopvm_format_begin(const char *format, int packing);
int _neopvm_format_init(int encoding);
int _neopvm_format_pack(int type, void *items, int count, int stride, int by_value);
int _neopvm_format_unpack(int type, void *items, int count, int stride);
int _neopvm_format_fail(int packing, int code);
int _neopvm_log(const char *text);

/* An item that was passed as a value, with the promotions of C undone. */
union value {
    char c;
    short h;
    int d;
    long l;
    float f;
    double lf;
    void *pointer;
};

int pvm_vpackf(const char *format, va_list arguments);
int pvm_vunpackf(const char *format, va_list arguments);
int pvmlogprintf(const char *format, ...);
int vpvmlogprintf(const char *format, va_list arguments);

static void fetch_counts(struct step *step, int *counts)
{
    counts[0] = step->count;
    counts[1] = step->stride;
}

/* What a call is about: it is made by _neopvm_format_call, which may tell of it. */
struct work {
    const char *format;
    va_list arguments;
};

static int pack(void *work)
{
    const char *format = ((struct work *)work)->format;
    struct step step;
    size_t at = 0;
    int code = _neopvm_format_begin(format, 1);

    while (code >= 0) {
        union value value;
        void *items = &value;
        int counts[2];

        if (_neopvm_format_step(format, &at, 1, &step) == FINISH)
            return PvmOk;
        if (step.action == WRONG)
            return _neopvm_format_fail(1, PvmBadParam);
        if (step.action == INIT) {
            int encoding = va_arg(((struct work *)work)->arguments, int);
            code = _neopvm_format_init(encoding);
            continue;
        }
        fetch_counts(&step, counts);
        if (!step.count_given)
            counts[0] = va_arg(((struct work *)work)->arguments, int);
        if (!step.stride_given)
            counts[1] = va_arg(((struct work *)work)->arguments, int);
        if (!step.by_value) {
            items = va_arg(((struct work *)work)->arguments, void *);
        } else {
            switch (step.type) {
            case PVM_BYTE:
                value.c = (char)va_arg(((struct work *)work)->arguments, int);
                break;
            case PVM_SHORT:
            case PVM_USHORT:
                value.h = (short)va_arg(((struct work *)work)->arguments, int);
                break;
            case PVM_LONG:
            case PVM_ULONG:
                value.l = va_arg(((struct work *)work)->arguments, long);
                break;
            case PVM_FLOAT:
                value.f = (float)va_arg(((struct work *)work)->arguments, double);
                break;
            case PVM_DOUBLE:
                value.lf = va_arg(((struct work *)work)->arguments, double);
                break;
            default:
                value.d = va_arg(((struct work *)work)->arguments, int);
                break;
            }
        }
        code = _neopvm_format_pack(step.type, items, counts[0], counts[1], step.by_value);
    }
    return _neopvm_format_fail(1, code);
}

static int unpack(void *work)
{
    const char *format = ((struct work *)work)->format;
    struct step step;
    size_t at = 0;
    int code = _neopvm_format_begin(format, 0);

    while (code >= 0) {
        int counts[2];

        if (_neopvm_format_step(format, &at, 0, &step) == FINISH)
            return PvmOk;
        if (step.action != ITEMS)
            return _neopvm_format_fail(0, PvmBadParam);
        fetch_counts(&step, counts);
        if (!step.count_given)
            counts[0] = va_arg(((struct work *)work)->arguments, int);
        if (!step.stride_given)
            counts[1] = va_arg(((struct work *)work)->arguments, int);
        code = _neopvm_format_unpack(step.type, va_arg(((struct work *)work)->arguments, void *), counts[0], counts[1]);
    }
    return _neopvm_format_fail(0, code);
}

int pvm_vpackf(const char *format, va_list arguments)
{
    struct work work;
    int code;

    work.format = format;
    va_copy(work.arguments, arguments);
    code = _neopvm_format_call(format, 1, pack, &work);
    va_end(work.arguments);
    return code;
}

int pvm_vunpackf(const char *format, va_list arguments)
{
    struct work work;
    int code;

    work.format = format;
    va_copy(work.arguments, arguments);
    code = _neopvm_format_call(format, 0, unpack, &work);
    va_end(work.arguments);
    return code;
}

int pvm_packf(const char *format, ...)
{
    va_list arguments;
    int code;

    va_start(arguments, format);
    code = pvm_vpackf(format, arguments);
    va_end(arguments);
    return code;
}

int pvm_unpackf(const char *format, ...)
{
    va_list arguments;
    int code;

    va_start(arguments, format);
    code = pvm_vunpackf(format, arguments);
    va_end(arguments);
    return code;
}

int vpvmlogprintf(const char *format, va_list arguments)
{
    char text[1024];

    vsnprintf(text, sizeof text, format, arguments);
    return _neopvm_log(text);
}

int pvmlogprintf(const char *format, ...)
{
    va_list arguments;
    int code;

    va_start(arguments, format);
    code = vpvmlogprintf(format, arguments);
    va_end(arguments);
    return code;
}
