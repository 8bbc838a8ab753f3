/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The calls of Fortran programs: lower case with an underscore, arguments by reference, hidden lengths last. */
#include <limits.h>
#include <stdio.h>

#include "export.h"
#include "failure.h"
#include "job.h"
#include "process.h"

/* Of the Fortran runtime, where the program has one. */
extern void _gfortran_set_args(int argc, char **argv) __attribute__((weak));
extern void _gfortran_flush_i4(const int *unit) __attribute__((weak));

void output_flush(void)
{
    if (_gfortran_flush_i4 != NULL)
        _gfortran_flush_i4(NULL);
    fflush(NULL);
}

static char *empty[] = {NULL};

static void start(void)
{
    int count = 0;
    char **list = job_arguments();
    if (list == NULL)
        list = empty;
    while (list[count] != NULL)
        count++;
    (void)process_begin(&count, list);
    if (_gfortran_set_args != NULL && count > 0)
        _gfortran_set_args(count, list);
}

#define SUBROUTINE(name, arguments)                                                                                    \
    P4_API void name arguments;                                                                                        \
    P4_API void name arguments
#define FUNCTION(name, arguments)                                                                                      \
    P4_API int name arguments;                                                                                         \
    P4_API int name arguments

SUBROUTINE(p4init_, (void))
{
    start();
}

SUBROUTINE(p4crpg_, (void))
{
    (void)process_create_group();
}

SUBROUTINE(p4cleanup_, (void))
{
    output_flush();
    (void)process_end();
}

FUNCTION(p4myid_, (void))
{
    return process_id();
}

FUNCTION(p4ntotids_, (void))
{
    return (int)job_size();
}

FUNCTION(p4nslaves_, (void))
{
    return (int)job_size() - 1;
}

FUNCTION(p4myclid_, (void))
{
    return cluster_id();
}

FUNCTION(p4nclids_, (void))
{
    return (int)job_cluster_size(job_cluster_of(job_rank()));
}

SUBROUTINE(p4getclids_, (int *first, int *last))
{
    cluster_ids(first, last);
}

SUBROUTINE(p4getclmasts_, (int *count, int *ids))
{
    cluster_masters(count, ids);
}

SUBROUTINE(p4send_, (const int *type, const int *to, const void *msg, const int *len, int *rc))
{
    *rc = send_message(*type, *to, msg, *len, P4NOX, 0, "p4send");
}

SUBROUTINE(p4sendr_, (const int *type, const int *to, const void *msg, const int *len, int *rc))
{
    *rc = send_message(*type, *to, msg, *len, P4NOX, 1, "p4sendr");
}

SUBROUTINE(p4sendx_, (const int *type, const int *to, const void *msg, const int *len, const int *data_type, int *rc))
{
    *rc = send_message(*type, *to, msg, *len, *data_type, 0, "p4sendx");
}

SUBROUTINE(p4sendrx_, (const int *type, const int *to, const void *msg, const int *len, const int *data_type, int *rc))
{
    *rc = send_message(*type, *to, msg, *len, *data_type, 1, "p4sendrx");
}

SUBROUTINE(p4recv_, (int *type, int *from, void *buf, const int *buflen, int *msglen, int *rc))
{
    *rc = receive_into(type, from, buf, *buflen, msglen);
}

SUBROUTINE(p4probe_, (int *type, int *from, int *rc))
{
    *rc = message_available(type, from);
}

SUBROUTINE(p4brdcst_, (const int *type, const void *data, const int *len, int *rc))
{
    *rc = broadcast_message(*type, data, *len, P4NOX);
}

SUBROUTINE(p4brdcstx_, (const int *type, const void *data, const int *len, const int *data_type, int *rc))
{
    *rc = broadcast_message(*type, data, *len, *data_type);
}

/* Fortran's operation wants the count by reference. There is one global operation at a time. */
static void (*fortran_operation)(void *x, void *y, const int *nelem);

static void call_fortran(char *x, char *y, int nelem)
{
    fortran_operation(x, y, &nelem);
}

SUBROUTINE(p4globop_, (const int *type, void *x, const int *nelem, const int *size,
                       void (*op)(void *, void *, const int *), const int *data_type, int *rc))
{
    (void)type;
    fortran_operation = op;
    *rc = global_operation(x, *nelem, *size, call_fortran, *data_type);
}

SUBROUTINE(p4globarr_, (const int *type))
{
    (void)type;
    (void)global_barrier();
}

FUNCTION(p4clock_, (void))
{
    return clock_milliseconds();
}

/* Fortran's integers have 31 bits, so the microseconds of a thousand seconds. */
#define FORTRAN_ROLLOVER 1000000000ul

FUNCTION(p4ustimer_, (void))
{
    return (int)(clock_microseconds() % FORTRAN_ROLLOVER);
}

FUNCTION(p4usrollover_, (void))
{
    return (int)FORTRAN_ROLLOVER;
}

SUBROUTINE(p4error_, (const char *what, const int *value, size_t length))
{
    char text[400];
    output_flush();
    failure_error(job_fortran_text(what, length, text, sizeof text), *value);
}

SUBROUTINE(p4softerrs_, (const int *on, int *old))
{
    *old = failure_soft(*on);
}

SUBROUTINE(p4avlbufs_, (void))
{
    buffers_print();
}

SUBROUTINE(p4setavlbuf_, (const int *index, const int *size))
{
    buffers_set(*index, *size);
}

SUBROUTINE(p4flush_, (void))
{
    output_flush();
}

/* ---- Event logs: nothing is logged ---- */

SUBROUTINE(alogfmaster_, (const int *id, const int *flag))
{
    (void)id;
    (void)flag;
}

SUBROUTINE(alogfsetup_, (const int *id, const int *flag))
{
    (void)id;
    (void)flag;
}

SUBROUTINE(alogfdefine_, (const int *type, const char *name, const char *form, size_t name_length, size_t form_length))
{
    (void)type;
    (void)name;
    (void)form;
    (void)name_length;
    (void)form_length;
}

SUBROUTINE(alogflog_, (const int *id, const int *type, const int *data, const char *text, size_t length))
{
    (void)id;
    (void)type;
    (void)data;
    (void)text;
    (void)length;
}

SUBROUTINE(alogfoutput_, (void)) {}

SUBROUTINE(alogfstatus_, (const int *flag))
{
    (void)flag;
}

SUBROUTINE(alogfenable_, (void)) {}

SUBROUTINE(alogfdisable_, (void)) {}

SUBROUTINE(alogfsetdir_, (const char *path, size_t length))
{
    (void)path;
    (void)length;
}
