/* What xtask counts the instructions of: instructions send|receive WAY BYTES IN OUT
 *
 * Two tasks of one host, of which each runs in a counter of its own. One sends a window of messages, tells the other so, and
 * that one receives them: so each receive finds its message there, and no call waits. IN and OUT are pipes with names.
 * Only what `window` calls is counted; `warm` does the same before, until lanes, buffers and links are there. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "neopvm.h"
#include "pvm3.h"

enum { WINDOW = 32, WARM = 20, COUNTED = 100, TAG = 7, BYTES_MAX = 4096 };

static int values[BYTES_MAX / sizeof(int)], count, other, failures;
static const char *way;

/* A result below zero is a failure, and so is a message that is not what was sent. */
static void check(int result) { failures += result < 0; }

static int is(const char *name) { return strcmp(way, name) == 0; }

/* These and the windows below are called by their names, which is what the counter looks for. */
#define CALLED __attribute__((noinline, noclone))

CALLED void send_one(void)
{
    if (is("psend")) {
        check(pvm_psend(other, TAG, values, count, PVM_INT));
    } else if (is("items")) {
        check(neopvm_send_items(PvmDataRaw, NEOPVM_INT, values, count, other, TAG, NEOPVM_CURRENT_CONTEXT));
    } else {
        check(pvm_initsend(is("inplace") ? PvmDataInPlace : is("default") ? PvmDataDefault : PvmDataRaw));
        check(pvm_pkint(values, count, 1));
        check(pvm_send(other, TAG));
    }
}

CALLED void receive_one(void)
{
    values[count - 1] = 0;
    if (is("psend")) {
        int from, tag, length;
        check(pvm_precv(other, TAG, values, count, PVM_INT, &from, &tag, &length));
    } else if (is("items")) {
        static struct neopvm_received received;
        check(neopvm_receive_items(other, TAG, NEOPVM_CURRENT_CONTEXT, -1, &received));
        if (received.buffer == 0) {
            memcpy(values, received.items, count * sizeof *values);
        } else {
            check(neopvm_unpack(received.buffer, NEOPVM_INT, values, count, 1));
            check(neopvm_free(received.buffer));
        }
    } else {
        check(pvm_recv(is("any") ? -1 : other, is("any") ? -1 : TAG));
        check(pvm_upkint(values, count, 1));
    }
    failures += values[count - 1] != count;
}

static void many(int sends)
{
    for (int i = 0; i < WINDOW; i++) {
        if (sends)
            send_one();
        else
            receive_one();
    }
}

CALLED void warm(int sends) { many(sends); }
CALLED void window(int sends) { many(sends); }

static void *idle(void *nothing)
{
    pause();
    return nothing;
}

static void stop(const char *what)
{
    perror(what);
    exit(1);
}

int main(int argc, char **argv)
{
    char byte = 0;
    if (argc != 6)
        return 2;
    int sends = strcmp(argv[1], "send") == 0;
    way = argv[2];
    count = atoi(argv[3]) / (int)sizeof(int);
    /* Who sends opens its output first, who receives its input. */
    int out = sends ? open(argv[5], O_WRONLY) : -1, in = open(argv[4], O_RDONLY);
    if (!sends)
        out = open(argv[5], O_WRONLY);
    int me = pvm_mytid();
    if (in < 0 || out < 0 || me < 0 || write(out, &me, sizeof me) != sizeof me || read(in, &other, sizeof other) != sizeof other)
        stop("the other task");
    values[count - 1] = count;
    pthread_t thread;
    if (is("threads") && pthread_create(&thread, NULL, idle, NULL) != 0)
        stop("a thread");
    for (int i = 0; i < WARM + COUNTED; i++) {
        if (!sends && read(in, &byte, 1) != 1)
            stop("read");
        (i < WARM ? warm : window)(sends);
        if (write(out, &byte, 1) != 1 || (sends && read(in, &byte, 1) != 1))
            stop("the other task has gone");
    }
    pvm_exit();
    if (failures != 0)
        fprintf(stderr, "%d calls failed or gave something else\n", failures);
    return failures != 0;
}
