/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The calls of Fortran programs, and COMMON /XPRESS/, which KXINIT fills. */
#include "nodes.h"

/* NOCARE, NORDER, NONODE, IHOST, IALNOD, IALPRC: the program's, where it has that block. */
extern int xpress_[6] __attribute__((weak, visibility("default")));

extern int _gfortran_fnum_i4(const int *unit) __attribute__((weak));

#define FUNCTION(name, arguments)                                                                                      \
    EX_API int name arguments;                                                                                         \
    EX_API int name arguments
#define SUBROUTINE(name, arguments)                                                                                    \
    EX_API void name arguments;                                                                                        \
    EX_API void name arguments

static void fill_common(void)
{
    const int values[6] = {NOCARE, NORDER, NONODE, HOST, ALLNODES, ALLPROCS};
    int *block = xpress_;
    if (block == NULL)
        return;
    for (int i = 0; i < 6; i++)
        block[i] = values[i];
}

SUBROUTINE(kxinit_, (void))
{
    fill_common();
    need();
}

/* The five numbers of struct nodenv. */
SUBROUTINE(kxpara_, (int *env))
{
    need();
    fill_common();
    env[0] = my_node();
    env[1] = node_count();
    env[2] = 0;
    env[3] = has_host();
    env[4] = 0;
    while ((1 << env[4]) < node_count())
        env[4]++;
}

EX_API double kxtime_(void);
EX_API double kxtime_(void)
{
    return job_seconds();
}

FUNCTION(kxread_, (void *buf, const int *len, int *src, int *type))
{
    return read_message(buf, *len, src, type, "KXREAD");
}

FUNCTION(kxwrit_, (const void *buf, const int *len, const int *dest, const int *type))
{
    return write_message(buf, *len, *dest, *type, "KXWRIT");
}

FUNCTION(kxsend_, (const void *buf, const int *len, const int *dest, const int *type, int *status))
{
    *status = write_message(buf, *len, *dest, *type, "KXSEND");
    return 0;
}

FUNCTION(kxrecv_, (void *buf, const int *len, int *src, int *type, int *status))
{
    return post_read(buf, *len, src, type, status);
}

FUNCTION(kxtest_, (int *src, int *type))
{
    return test_message(src, type);
}

typedef void (*fortran_handler)(char *buf, const int *len, const int *src, const int *type);

struct handler {
    fortran_handler call;
};

static void call_handler(void *with, char *buf, int len, int src, int type)
{
    const struct handler *handler = with;
    handler->call(buf, &len, &src, &type);
}

FUNCTION(kxhand_, (fortran_handler handler, const int *src, const int *type))
{
    static struct handler handlers[64];
    static int count;
    if (count == (int)(sizeof handlers / sizeof *handlers))
        fatal("KXHAND: more than 64 handlers");
    handlers[count].call = handler;
    handle_messages(*src, *type, call_handler, &handlers[count++]);
    return 0;
}

FUNCTION(kxchan_, (void *ibuf, const int *ilen, int *src, int *itype, const void *obuf, const int *olen, const int *dest,
                   const int *otype))
{
    (void)write_message(obuf, *olen, *dest, *otype, "KXCHAN");
    return read_message(ibuf, *ilen, src, itype, "KXCHAN");
}

FUNCTION(kxvrea_, (void *buf, const int *size, const int *offset, const int *nitems, int *src, int *type))
{
    return vector_read(buf, *size, *offset, *nitems, src, type);
}

FUNCTION(kxvwri_, (const void *buf, const int *size, const int *offset, const int *nitems, const int *dest,
                   const int *type))
{
    return vector_write(buf, *size, *offset, *nitems, *dest, *type);
}

FUNCTION(kxvcha_, (void *ibuf, const int *isize, const int *ioffset, const int *initems, int *src, int *itype,
                   const void *obuf, const int *osize, const int *ooffset, const int *onitems, const int *dest,
                   const int *otype))
{
    (void)vector_write(obuf, *osize, *ooffset, *onitems, *dest, *otype);
    return vector_read(ibuf, *isize, *ioffset, *initems, src, itype);
}

FUNCTION(kxbrod_, (void *buf, const int *origin, const int *len, const int *nnodes, const int *nodes, int *result,
                   const int *type))
{
    *result = broadcast_to(buf, *origin, *len, *nnodes, nodes, *type);
    return *result;
}

typedef int (*fortran_combiner)(void *p1, void *p2, const int *size);

struct combiner {
    fortran_combiner call;
};

static void call_combiner(void *into, void *from, int size, void *with)
{
    const struct combiner *combiner = with;
    (void)combiner->call(into, from, &size);
}

FUNCTION(kxcomb_, (void *buf, fortran_combiner func, const int *size, const int *nitems, const int *nnodes,
                   const int *nodes, const int *type))
{
    struct combiner combiner = {func};
    combine_all(buf, *size, *nitems, *nnodes, nodes, *type, call_combiner, &combiner);
    return 0;
}

FUNCTION(kxconc_, (const void *mine, const int *bytes, void *result, const int *room, int *sizes, const int *nnodes,
                   const int *nodes, const int *type))
{
    return concat_all(mine, *bytes, result, *room, sizes, *nnodes, nodes, *type);
}

FUNCTION(kxsync_, (void))
{
    synchronise();
    return 0;
}

FUNCTION(kxgdin_, (const int *dimensions, const int *dim))
{
    return grid_make(*dimensions, dim);
}

FUNCTION(kxgdco_, (const int *node, int *coord))
{
    return grid_coordinates(*node, coord);
}

FUNCTION(kxgdno_, (const int *node, const int *direction, const int *distance))
{
    return grid_neighbour(*node, *direction, *distance);
}

FUNCTION(kxgdpr_, (const int *coord))
{
    return grid_process(coord);
}

FUNCTION(kxgdsi_, (const int *node, const int *whole, int *part, int *first))
{
    return grid_part(*node, whole, part, first);
}

FUNCTION(kxgray_, (const int *number))
{
    return gray_code(*number);
}

FUNCTION(kxungr_, (const int *code))
{
    return gray_number(*code);
}

/* ---- Cubix: units ---- */

static int file_of(const int *unit)
{
    if (_gfortran_fnum_i4 != NULL)
        return _gfortran_fnum_i4(unit);
    return *unit == 6 ? 1 : *unit == 0 ? 2 : -1;
}

FUNCTION(ksingl_, (const int *unit))
{
    return output_mode(file_of(unit), MODE_SINGLE);
}

FUNCTION(kmulti_, (const int *unit))
{
    return output_mode(file_of(unit), MODE_MULTI);
}

FUNCTION(kasync_, (const int *unit))
{
    return output_mode(file_of(unit), MODE_ASYNC);
}

FUNCTION(kflush_, (const int *unit))
{
    return output_flush_multi(file_of(unit));
}

/* ---- The host program ---- */

FUNCTION(kxopen_, (const char *device, const int *nodes, int *error, size_t length))
{
    (void)device;
    (void)length;
    fill_common();
    return host_open(*nodes, error);
}

FUNCTION(kxload_, (const int *handle, const char *program, const int *node, size_t length))
{
    char path[4096];
    return host_load(*handle, job_fortran_text(program, length, path, sizeof path), *node);
}

FUNCTION(kxstar_, (const int *handle, const int *node))
{
    return host_start(*handle, *node);
}

FUNCTION(kxclos_, (const int *handle))
{
    return host_close(*handle);
}
