/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Calls that all nodes make. */
#include "calls.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void call_brdcst(long type, void *data, long bytes, long root)
{
    must_have_begun("BRDCST");
    if (bytes < 0)
        job_fatal(1, "BRDCST: a length of %ld bytes", bytes);
    if (root < 0 || root >= job_size())
        job_fatal(1, "BRDCST: node %ld is not one of 0 to %d", root, (int)job_size() - 1);
    call_counts.together++;
    must(job_broadcast((int32_t)root, data, (uint64_t)bytes), "BRDCST", "type", type);
}

void call_synch(long type)
{
    must_have_begun("SYNCH");
    call_counts.together++;
    must(job_barrier(), "SYNCH", "type", type);
}

/* Compared by prefix, so that Fortran's blanks and missing ends are harmless: the longer ones come first. */
static const struct {
    const char *name;
    enum job_operation operation;
} operations[] = {
    {"+", JOB_SUM},        {"*", JOB_PRODUCT},    {"max", JOB_MAX},     {"min", JOB_MIN},     {"absmax", JOB_ABSMAX},
    {"absmin", JOB_ABSMIN}, {"or", JOB_BIT_OR},    {"&&", JOB_AND},      {"land", JOB_AND},    {"||", JOB_OR},
    {"lor", JOB_OR},       {"&", JOB_BIT_AND},    {"band", JOB_BIT_AND}, {"|", JOB_BIT_OR},   {"bor", JOB_BIT_OR},
};

/* Reads no further than the names agree: a Fortran text has no end. */
static int begins_with(const char *text, const char *name)
{
    while (*name != 0)
        if (*text++ != *name++)
            return 0;
    return 1;
}

static job_combine find_operation(const char *call, enum job_item item, const char *text)
{
    for (size_t at = 0; at < sizeof operations / sizeof *operations; at++) {
        job_combine found = job_combining(item, operations[at].operation);
        if (begins_with(text, operations[at].name) && found != NULL)
            return found;
    }
    job_fatal(1, "%s: no operation begins with '%c'", call, *text);
}

void call_gop(const char *call, long type, enum job_item item, void *x, long count, const char *operation)
{
    must_have_begun(call);
    if (count < 0 || (uint64_t)count > (uint64_t)LONG_MAX / job_item_bytes(item))
        job_fatal(1, "%s: %ld items", call, count);
    job_combine combine = find_operation(call, item, operation);
    call_counts.together++;
    /* One node's own values are what the operation makes of them: absmax is never negative. */
    if (job_size() == 1 && (combine == job_combining(item, JOB_ABSMAX) || combine == job_combining(item, JOB_ABSMIN)))
        combine(x, x, (uint64_t)count, NULL);
    must(job_reduce_reading(x, (uint64_t)count, job_item_bytes(item), combine, NULL), call, "type", type);
}

long call_nxtval(long mproc)
{
    int64_t value = 0;
    must_have_begun("NXTVAL");
    call_counts.numbers++;
    if (mproc == 0 || mproc < -job_size() || mproc > job_size())
        job_fatal(1, "NXTVAL: %ld processes, and there are %d", mproc, (int)job_size());
    int status = mproc > 0 ? job_counter_next(&value) : job_counter_meet((int32_t)-mproc);
    must(status, "NXTVAL", "processes", mproc);
    return (long)value;
}

/* ---- PFCOPY ---- */

#define PIECE 65536

struct piece {
    int64_t bytes; /* negative: errno of the node that reads */
    unsigned char data[PIECE];
};

static void send_file(const char *name, int32_t root)
{
    static struct piece piece;
    FILE *file = fopen(name, "rb");
    do {
        size_t got = file == NULL ? 0 : fread(piece.data, 1, PIECE, file);
        piece.bytes = file == NULL || ferror(file) ? -(int64_t)errno : (int64_t)got;
        must(job_broadcast(root, &piece, sizeof piece), "PFCOPY", "node", root);
    } while (piece.bytes > 0);
    if (file != NULL)
        fclose(file);
    if (piece.bytes < 0)
        job_fatal(1, "PFCOPY: %s cannot be read: %s", name, strerror((int)-piece.bytes));
}

static int receive_into(FILE *file, int32_t root)
{
    static struct piece piece;
    int failed = file == NULL ? errno : 0;
    for (;;) {
        must(job_broadcast(root, &piece, sizeof piece), "PFCOPY", "node", root);
        if (piece.bytes <= 0 || piece.bytes > PIECE)
            break;
        if (!failed && fwrite(piece.data, 1, (size_t)piece.bytes, file) != (size_t)piece.bytes)
            failed = errno;
    }
    if (file != NULL && fclose(file) != 0 && !failed)
        failed = errno;
    return failed;
}

/* Beside the file and renamed: it may be the one that is read. */
static void receive_file(const char *name, int32_t root)
{
    size_t room = strlen(name) + 32;
    char *beside = malloc(room);
    if (beside == NULL)
        job_fatal(1, "PFCOPY: no memory for the name of a file");
    snprintf(beside, room, "%s.node%d", name, (int)job_rank());
    int failed = receive_into(fopen(beside, "wb"), root);
    if (!failed && rename(beside, name) != 0)
        failed = errno;
    if (failed) {
        unlink(beside);
        job_fatal(1, "PFCOPY: %s cannot be written: %s", name, strerror(failed));
    }
    free(beside);
}

void call_pfcopy(long type, long node, const char *file)
{
    (void)type;
    must_have_begun("PFCOPY");
    if (node < 0 || node >= job_size())
        job_fatal(1, "PFCOPY: node %ld is not one of 0 to %d", node, (int)job_size() - 1);
    if (node == job_rank())
        send_file(file, (int32_t)node);
    else
        receive_file(file, (int32_t)node);
}
