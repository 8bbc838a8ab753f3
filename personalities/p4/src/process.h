/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What this process is in its job, and how it came to be. */
#ifndef P4_PROCESS_H
#define P4_PROCESS_H

#include "p4.h"


#define P4_VERSION_TEXT "1.4 (NeoPVM)"

/* What p4's own arguments asked for. */
struct arguments {
    const char *procgroup; /* file, or null */
    int debug;
    int remote_debug;
    long shared_bytes;
    const char *directory;
    const char *output;
    const char *remote_output;
};
extern struct arguments arguments;

/* Takes p4's arguments off the list and reads them. */
void arguments_take(int *argc, char **argv);

/* The file that names the processes: the one asked for, NAME.pg or procgroup; null if there is none. */
const char *procgroup_file(const char *program, char *room, size_t bytes);

/* Of C and, where the program has one, of the Fortran runtime: before a fork, lest it be written twice. */
void output_flush(void);

int process_begin(int *argc, char **argv);
int process_create_group(void);
int process_end(void);
/* Made by p4_create: no id, no messages. */
int process_is_created(void);
int process_id(void);
/* For calls that need the other processes: fatal in one without id, and before p4_initenv. */
void process_need(const char *call);

/* Waits for the end of all that p4_create made here. */
void created_wait(void);
int created_any(void);

int debug_level(void);
void debug_set_level(int level);

int send_message(int type, int to, const void *msg, int len, int data_type, int acknowledged, const char *call);
int receive_message(int *type, int *from, char **msg, int *len);
int receive_into(int *type, int *from, void *room, int room_bytes, int *len);
int message_available(int *type, int *from);
int broadcast_message(int type, const void *data, int len, int data_type);
/* Whether the operation is one of this library, which only reads its second argument. */
int is_own_operation(P4_FUNCTION(void, op, (char *, char *, int)));
int global_operation(void *x, int nelem, int size, P4_FUNCTION(void, op, (char *, char *, int)), int data_type);
int global_barrier(void);
void cluster_ids(int *first, int *last);
void cluster_masters(int *count, int *ids);
int cluster_id(void);

void buffers_print(void);
void buffers_set(int index, int size);
void *buffer_take(size_t bytes);
int buffer_give(void *memory);
/* The room of a message buffer; -1 where the address is none. */
long buffer_room(const void *memory);

double clock_seconds(void);
int clock_milliseconds(void);
unsigned long clock_microseconds(void);

#endif
