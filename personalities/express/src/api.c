/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The calls of C programs. */
#include "nodes.h"

static int value_at(const int *place, const char *call)
{
    if (place == NULL)
        fatal("%s: a null pointer", call);
    return *place;
}

EX_API int exread(void *buf, int len, int *src, int *type)
{
    return read_message(buf, len, src, type, "exread");
}

EX_API int exwrite(const void *buf, int len, const int *dest, const int *type)
{
    return write_message(buf, len, value_at(dest, "exwrite"), value_at(type, "exwrite"), "exwrite");
}

EX_API int exreceive(void *buf, int len, int *src, int *type, int *status)
{
    return post_read(buf, len, src, type, status);
}

/* What is sent is copied, so it is done at once. */
EX_API int exsend(const void *buf, int len, const int *dest, const int *type, int *status)
{
    if (status == NULL)
        fatal("exsend: no place for the status");
    *status = write_message(buf, len, value_at(dest, "exsend"), value_at(type, "exsend"), "exsend");
    return 0;
}

EX_API int extest(int *src, int *type)
{
    return test_message(src, type);
}

typedef int (*handler_call)(char *buf, int len, int src, int type);

struct handler {
    handler_call call;
};

static void call_handler(void *with, char *buf, int len, int src, int type)
{
    const struct handler *handler = with;
    (void)handler->call(buf, len, src, type);
}

EX_API int exhandle(handler_call handler, const int *src, const int *type)
{
    static struct handler handlers[64];
    static int count;
    if (handler == NULL || count == (int)(sizeof handlers / sizeof *handlers))
        fatal("exhandle: %s", handler == NULL ? "no handler" : "more than 64 handlers");
    handlers[count].call = handler;
    handle_messages(value_at(src, "exhandle"), value_at(type, "exhandle"), call_handler, &handlers[count++]);
    return 0;
}

EX_API int exchange(void *ibuf, int ilen, int *src, int *itype, const void *obuf, int olen, const int *dest,
                    const int *otype)
{
    (void)write_message(obuf, olen, value_at(dest, "exchange"), value_at(otype, "exchange"), "exchange");
    return read_message(ibuf, ilen, src, itype, "exchange");
}

EX_API int exvread(void *buf, int size, int offset, int nitems, int *src, int *type)
{
    return vector_read(buf, size, offset, nitems, src, type);
}

EX_API int exvwrite(const void *buf, int size, int offset, int nitems, const int *dest, const int *type)
{
    return vector_write(buf, size, offset, nitems, value_at(dest, "exvwrite"), value_at(type, "exvwrite"));
}

EX_API int exvchange(void *ibuf, int isize, int ioffset, int initems, int *src, int *itype, const void *obuf, int osize,
                     int ooffset, int onitems, const int *dest, const int *otype)
{
    (void)vector_write(obuf, osize, ooffset, onitems, value_at(dest, "exvchange"), value_at(otype, "exvchange"));
    return vector_read(ibuf, isize, ioffset, initems, src, itype);
}

EX_API int exbroadcast(void *buf, int origin, int len, int nnodes, const int *nodes, int *result, const int *type)
{
    int bytes = broadcast_to(buf, origin, len, nnodes, nodes, value_at(type, "exbroadcast"));
    if (result != NULL)
        *result = bytes;
    return bytes;
}

typedef int (*combine_call)(void *p1, void *p2, int size);

struct combiner {
    combine_call call;
};

static void call_combiner(void *into, void *from, int size, void *with)
{
    const struct combiner *combiner = with;
    (void)combiner->call(into, from, size);
}

EX_API int excombine(void *buf, combine_call func, int size, int nitems, int nnodes, const int *nodes, const int *type)
{
    struct combiner combiner = {func};
    if (func == NULL)
        fatal("excombine: no function");
    combine_all(buf, size, nitems, nnodes, nodes, value_at(type, "excombine"), call_combiner, &combiner);
    return 0;
}

EX_API int exconcat(const void *mine, int bytes, void *result, int room, int *sizes, int nnodes, const int *nodes,
                    const int *type)
{
    return concat_all(mine, bytes, result, room, sizes, nnodes, nodes, value_at(type, "exconcat"));
}

EX_API int exsync(void)
{
    synchronise();
    return 0;
}

EX_API int exgridinit(int dimensions, const int *dim)
{
    return grid_make(dimensions, dim);
}

EX_API int exgridcoord(int node, int *coord)
{
    return grid_coordinates(node, coord);
}

EX_API int exgridproc(const int *coord)
{
    if (coord == NULL)
        fatal("exgridproc: a null pointer");
    return grid_process(coord);
}

EX_API int exgridnode(int node, int direction, int distance)
{
    return grid_neighbour(node, direction, distance);
}

EX_API int exgridsize(int node, const int *whole, int *part, int *first)
{
    if (whole == NULL || part == NULL || first == NULL)
        fatal("exgridsize: a null pointer");
    return grid_part(node, whole, part, first);
}

EX_API int exgray(int number)
{
    return gray_code(number);
}

EX_API int exungray(int code)
{
    return gray_number(code);
}

static int file_of(FILE *stream, const char *call)
{
    if (stream == NULL)
        fatal("%s: a null pointer", call);
    return fileno(stream);
}

EX_API int fsingl(FILE *stream)
{
    return output_mode(file_of(stream, "fsingl"), MODE_SINGLE);
}

EX_API int fmulti(FILE *stream)
{
    return output_mode(file_of(stream, "fmulti"), MODE_MULTI);
}

EX_API int fasync(FILE *stream)
{
    return output_mode(file_of(stream, "fasync"), MODE_ASYNC);
}

EX_API int exflush(FILE *stream)
{
    return output_flush_multi(file_of(stream, "exflush"));
}

EX_API int ismulti(FILE *stream)
{
    return output_is_multi(file_of(stream, "ismulti"));
}

/* The device is a name of Express's; here it is the machine. */
EX_API int exopen(const char *device, int nodes, int *error)
{
    (void)device;
    return host_open(nodes, error);
}

EX_API int exload(int handle, const char *program, int node)
{
    return host_load(handle, program, node);
}

EX_API int exstart(int handle, int node)
{
    return host_start(handle, node);
}

EX_API int exclose(int handle)
{
    return host_close(handle);
}
