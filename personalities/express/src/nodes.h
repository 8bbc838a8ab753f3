/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the parts of this library know of one another. */
#ifndef EXPRESS_NODES_H
#define EXPRESS_NODES_H

#include "express.h"
#include "job.h"

#define EX_API __attribute__((visibility("default")))

/* Types in the job's own channel: a kind, and the program's type below it. */
enum kind { KIND_START = 1, KIND_BROADCAST, KIND_COMBINE, KIND_RESULT, KIND_CONCAT, KIND_OUTPUT, KIND_INPUT };
#define OWN_TYPE(kind, type) (((int32_t)(kind) << 24) + (int32_t)(type))

_Noreturn void fatal(const char *format, ...) __attribute__((__format__(__printf__, 1, 2)));
/* Fatal unless the job's part went well. */
void check(int result, const char *call);

/* Every call begins with this: starts the runtime where it has not begun. */
void need(void);
/* This is the host program. */
void begin_host(void);
/* The host's nodes are there from now on. */
void host_started(void);
/* Starts what exload has named; 0 where it has named nothing. */
int host_start_nodes(void);

int node_count(void);
int my_node(void); /* HOST in the host program */
int has_host(void);
int32_t rank_of(int node, const char *call);
int node_of(int32_t rank);
int check_type(int type, const char *call);
uint64_t check_length(const void *data, int length, const char *call);

int read_message(void *buf, int len, int *src, int *type, const char *call);
int write_message(const void *buf, int len, int dest, int type, const char *call);
int test_message(int *src, int *type);
int post_read(void *buf, int len, int *src, int *type, int *status);
int vector_read(void *buf, int size, int offset, int nitems, int *src, int *type);
int vector_write(const void *buf, int size, int offset, int nitems, int dest, int type);
typedef void (*handling)(void *with, char *buf, int len, int src, int type);
void handle_messages(int src, int type, handling handler, void *with);

/* The nodes of a call: their ranks, and where this node stands among them. */
struct nodes {
    int32_t *ranks;
    int count;
    int me;
    int all; /* every rank of the job */
};
typedef void (*combining)(void *into, void *from, int size, void *with);
int broadcast_to(void *buf, int origin, int len, int nnodes, const int *list, int type);
void combine_all(void *buf, int size, int nitems, int nnodes, const int *list, int type, combining func, void *with);
int concat_all(const void *mine, int bytes, void *result, int room, int *sizes, int nnodes, const int *list, int type);
void synchronise(void);

int grid_make(int dimensions, const int *dim);
int grid_coordinates(int node, int *coord);
int grid_process(const int *coord);
int grid_neighbour(int node, int direction, int distance);
int grid_part(int node, const int *whole, int *part, int *first);
int gray_code(int number);
int gray_number(int code);

enum mode { MODE_SINGLE, MODE_MULTI, MODE_ASYNC };
void output_begin(void);
int output_mode(int file, enum mode mode);
int output_flush_multi(int file);
int output_is_multi(int file);
void output_flush_buffers(void);
/* The job has failed: nobody waits for others' output any more. */
void output_give_up(void);

int host_open(int nodes, int *error);
int host_load(int handle, const char *program, int node);
int host_start(int handle, int node);
int host_close(int handle);

#endif
