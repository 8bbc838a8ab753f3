/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What the nodes write. The modes work on descriptors, so they hold for C and Fortran alike: a node whose output is not
 * wanted writes to /dev/null, and what is to appear in the order of nodes is kept in memory until all nodes have come to
 * the call that shows it; node 0 writes it.
 */
#include "nodes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define STREAMS 64

struct stream {
    int file;
    int real; /* where it went before any mode was set */
    enum mode mode;
    int is_set;
};

static struct stream streams[STREAMS];
static int stream_count;

extern void _gfortran_flush_i4(const int *unit) __attribute__((weak));

void output_flush_buffers(void)
{
    if (_gfortran_flush_i4 != NULL)
        _gfortran_flush_i4(NULL);
    fflush(NULL);
}

static struct stream *stream_for(int file)
{
    for (int i = 0; i < stream_count; i++) {
        if (streams[i].file == file)
            return &streams[i];
    }
    if (stream_count == STREAMS)
        fatal("more than %d streams have modes", STREAMS);
    streams[stream_count] = (struct stream){file, -1, MODE_ASYNC, 0};
    return &streams[stream_count++];
}

static void turn_to(int file, int target)
{
    if (target < 0 || dup2(target, file) < 0)
        fatal("a mode for descriptor %d: %s", file, strerror(errno));
}

static void write_all(int file, const char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t done = write(file, data, bytes);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            fatal("descriptor %d: %s", file, strerror(errno));
        data += done;
        bytes -= (size_t)done;
    }
}

/* What was kept of this node's output, which is then forgotten. */
static char *take_kept(int file, size_t *bytes)
{
    struct stat status;
    *bytes = fstat(file, &status) == 0 ? (size_t)status.st_size : 0;
    char *data = malloc(*bytes == 0 ? 1 : *bytes);
    if (data == NULL)
        fatal("no memory for %zu bytes of output", *bytes);
    size_t done = 0;
    while (done < *bytes) {
        ssize_t part = pread(file, data + done, *bytes - done, (off_t)done);
        if (part <= 0)
            break;
        done += (size_t)part;
    }
    *bytes = done;
    if (ftruncate(file, 0) != 0 || lseek(file, 0, SEEK_SET) != 0)
        fatal("descriptor %d: %s", file, strerror(errno));
    return data;
}

static void write_of(int node, int real)
{
    struct job_select select = {JOB_OWN, rank_of(node, "output"), OWN_TYPE(KIND_OUTPUT, 0), 0};
    struct job_message message;
    check(job_take(&select, NEOPVM_FOREVER, &message), "output");
    const void *data = job_bytes(&message);
    if (data != NULL)
        write_all(real, data, message.bytes);
    job_free(&message);
}

/* All nodes come here for one stream at a time, in the same order. */
static void show(const struct stream *stream)
{
    size_t bytes;
    output_flush_buffers();
    char *data = take_kept(stream->file, &bytes);
    if (my_node() != 0) {
        check(job_send(JOB_OWN, rank_of(0, "output"), OWN_TYPE(KIND_OUTPUT, 0), data, bytes), "output");
    } else {
        write_all(stream->real, data, bytes);
        for (int node = 1; node < node_count(); node++)
            write_of(node, stream->real);
    }
    free(data);
}

static void close_after(int file, int target)
{
    turn_to(file, target);
    close(target);
}

static void enter(struct stream *stream, enum mode mode)
{
    if (mode == MODE_MULTI)
        close_after(stream->file, memfd_create("output", MFD_CLOEXEC));
    else if (mode == MODE_SINGLE && my_node() != 0)
        close_after(stream->file, open("/dev/null", O_WRONLY | O_CLOEXEC));
    else
        turn_to(stream->file, stream->real);
    stream->mode = mode;
}

static int is_written(int file)
{
    int flags = fcntl(file, F_GETFL);
    return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

int output_mode(int file, enum mode mode)
{
    need();
    if (has_host() || node_count() < 2 || !is_written(file))
        return file < 0 ? -1 : 0;
    struct stream *stream = stream_for(file);
    output_flush_buffers();
    if (!stream->is_set) {
        stream->real = fcntl(file, F_DUPFD_CLOEXEC, 20);
        stream->is_set = 1;
        if (stream->real < 0)
            fatal("a mode for descriptor %d: %s", file, strerror(errno));
    } else if (stream->mode == MODE_MULTI) {
        show(stream);
    }
    enter(stream, mode);
    return 0;
}

int output_flush_multi(int file)
{
    need();
    for (int i = 0; i < stream_count; i++) {
        if (streams[i].file == file && streams[i].mode == MODE_MULTI) {
            show(&streams[i]);
            return 0;
        }
    }
    output_flush_buffers();
    return 0;
}

int output_is_multi(int file)
{
    for (int i = 0; i < stream_count; i++) {
        if (streams[i].file == file)
            return streams[i].mode == MODE_MULTI;
    }
    return 0;
}

static int is_failing;

void output_give_up(void)
{
    is_failing = 1;
    output_flush_buffers();
}

/* The end of a program is a call of all nodes, too, unless it is the end of a job that has failed. */
static void show_the_rest(void)
{
    if (is_failing)
        return;
    for (int i = 0; i < stream_count; i++) {
        if (streams[i].mode == MODE_MULTI)
            show(&streams[i]);
    }
}

/* ---- Standard input of C: node 0 reads it, and all nodes get the same ---- */

static int real_input = -1;

static ssize_t read_shared(void *with, char *buf, size_t room)
{
    struct {
        int32_t bytes;
        char data[4096];
    } part = {0, {0}};
    (void)with;
    if (my_node() == 0) {
        ssize_t got;
        do {
            got = read(real_input, part.data, room < sizeof part.data ? room : sizeof part.data);
        } while (got < 0 && errno == EINTR);
        part.bytes = (int32_t)got;
        check(job_send_others(JOB_OWN, OWN_TYPE(KIND_INPUT, 0), &part, sizeof part), "input");
    } else {
        struct job_message message;
        check(job_receive(JOB_OWN, 0, OWN_TYPE(KIND_INPUT, 0), &part, sizeof part, &message), "input");
    }
    if (part.bytes > (int32_t)room)
        fatal("input: the nodes read with buffers of different lengths");
    if (part.bytes > 0)
        memcpy(buf, part.data, (size_t)part.bytes);
    return part.bytes;
}

static void share_input(void)
{
    cookie_io_functions_t calls = {read_shared, NULL, NULL, NULL};
    real_input = fcntl(0, F_DUPFD_CLOEXEC, 20);
    FILE *shared = fopencookie(NULL, "r", calls);
    if (shared != NULL)
        stdin = shared;
}

void output_begin(void)
{
    if (node_count() < 2)
        return;
    (void)output_mode(STDOUT_FILENO, MODE_SINGLE);
    share_input();
    atexit(show_the_rest);
}
