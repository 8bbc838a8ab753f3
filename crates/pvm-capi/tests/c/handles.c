/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Every call of neopvm.h, without any other header of ours: as a binding sees them. Needs a machine,
 * or, with the argument "alone", shows what there is without one.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "neopvm.h"

int pvm_mytid(void);

#define CHECK(condition)                                                        \
    do {                                                                        \
        if (!(condition)) {                                                     \
            printf("line %d: %s\n", __LINE__, #condition);                      \
            exit(1);                                                            \
        }                                                                       \
    } while (0)
#define OK(call) CHECK((call) == 0)

static neopvm_buffer ints(int32_t encoding, int32_t first, int32_t count)
{
    neopvm_buffer buffer = 0;
    int32_t i, number;

    OK(neopvm_new(encoding, &buffer));
    for (i = 0; i < count; i++) {
        number = first + i;
        OK(neopvm_pack(buffer, NEOPVM_INT, &number, 1, 1));
    }
    return buffer;
}

static void packing(void)
{
    struct neopvm_info info;
    neopvm_buffer buffer = 0;
    int64_t longs[4] = {-5, INT64_MAX, INT64_MIN, 7}, back[8];
    double numbers[6] = {1, 2, 3, 4, 5, 6}, picked[3];
    char text[16];
    const void *data;
    uint64_t length, bytes;

    OK(neopvm_new(NEOPVM_DEFAULT, &buffer));
    OK(neopvm_pack(buffer, NEOPVM_LONG, longs, 4, 1));
    OK(neopvm_pack(buffer, NEOPVM_DOUBLE, numbers + 5, 3, -2));
    OK(neopvm_pack_text(buffer, "text", 4));
    OK(neopvm_pack_text(buffer, NULL, 0));
    OK(neopvm_info(buffer, &info));
    CHECK(info.bytes == 16 + 24 + 12 + 8 && info.left == info.bytes);
    OK(neopvm_rewind(buffer));
    OK(neopvm_unpack(buffer, NEOPVM_LONG, back, 4, 2));
    CHECK(back[0] == -5 && back[2] == INT64_MAX && back[4] == INT64_MIN && back[6] == 7);
    OK(neopvm_unpack(buffer, NEOPVM_DOUBLE, picked, 3, 1));
    CHECK(picked[0] == 6 && picked[1] == 4 && picked[2] == 2);
    CHECK(neopvm_unpack_text(buffer, text, 3, &length) == NEOPVM_TOO_LARGE && length == 4);
    CHECK(neopvm_unpack_text(buffer, NULL, 0, &length) == NEOPVM_TOO_LARGE && length == 4);
    OK(neopvm_unpack_text(buffer, text, sizeof text, &length));
    CHECK(length == 4 && memcmp(text, "text", 4) == 0);
    OK(neopvm_unpack_text(buffer, text, sizeof text, &length));
    CHECK(length == 0);
    CHECK(neopvm_unpack(buffer, NEOPVM_BYTE, text, 1, 1) == NEOPVM_END);
    CHECK(neopvm_view(buffer, &data, &bytes) == NEOPVM_NOT_POSSIBLE);
    OK(neopvm_free(buffer));
    CHECK(neopvm_free(buffer) == NEOPVM_NO_BUFFER);

    buffer = ints(NEOPVM_RAW, 10, 3);
    OK(neopvm_view(buffer, &data, &bytes));
    CHECK(bytes == 12 && ((const int32_t *)data)[2] == 12);
    OK(neopvm_free(buffer));
    OK(neopvm_free(0));
}

/* Nonsense for every argument: a status, never a crash. */
static void nonsense(void)
{
    neopvm_buffer buffer = ints(NEOPVM_DEFAULT, 1, 1), handles[] = {0, -1, 999999, INT32_MAX, INT32_MIN};
    int32_t number = 0;
    char byte;
    size_t i;

    CHECK(neopvm_new(3, &buffer) == NEOPVM_BAD_PARAMETER);
    CHECK(neopvm_new(NEOPVM_DEFAULT, NULL) == NEOPVM_BAD_PARAMETER);
    CHECK(neopvm_pack(buffer, 0, &number, 1, 1) == NEOPVM_BAD_PARAMETER);
    CHECK(neopvm_pack(buffer, 99, &number, 1, 1) == NEOPVM_BAD_PARAMETER);
    CHECK(neopvm_pack(buffer, NEOPVM_INT, NULL, 1, 1) == NEOPVM_BAD_PARAMETER);
    OK(neopvm_pack(buffer, NEOPVM_INT, NULL, 0, 1));
    CHECK(neopvm_pack(buffer, NEOPVM_INT, &number, UINT64_MAX, 1) < 0);
    CHECK(neopvm_pack(buffer, NEOPVM_DOUBLE, &number, UINT64_MAX / 8 + 1, INT64_MIN) < 0);
    CHECK(neopvm_pack_text(buffer, NULL, 4) == NEOPVM_BAD_PARAMETER);
    CHECK(neopvm_pack_text(buffer, "a\0b", 3) == NEOPVM_BAD_PARAMETER);
    CHECK(neopvm_unpack(buffer, NEOPVM_INT, NULL, 1, 1) == NEOPVM_BAD_PARAMETER);
    CHECK(neopvm_unpack(buffer, NEOPVM_INT, &number, UINT64_MAX / 4, 3) < 0);
    CHECK(neopvm_info(buffer, NULL) == NEOPVM_BAD_PARAMETER);
    CHECK(neopvm_receive(-1, -1, -1, 0, NULL) == NEOPVM_BAD_PARAMETER);
    CHECK(neopvm_get("name", 0, 0, NULL) == NEOPVM_BAD_PARAMETER);
    OK(neopvm_view(buffer, NULL, NULL));
    for (i = 0; i < sizeof handles / sizeof *handles; i++) {
        struct neopvm_info info;
        int32_t bad = handles[i];

        CHECK(neopvm_pack(bad, NEOPVM_INT, &number, 1, 1) < 0);
        CHECK(neopvm_pack_text(bad, "x", 1) < 0);
        CHECK(neopvm_unpack(bad, NEOPVM_INT, &number, 1, 1) < 0);
        CHECK(neopvm_unpack_text(bad, &byte, 1, NULL) < 0);
        CHECK(neopvm_info(bad, &info) < 0);
        CHECK(neopvm_rewind(bad) < 0);
        CHECK(neopvm_view(bad, NULL, NULL) < 0);
        CHECK(neopvm_send(bad, 0x40001, 1, -1) < 0);
        CHECK(bad == 0 || neopvm_free(bad) < 0);
    }
    OK(neopvm_free(buffer));
    CHECK(strcmp(neopvm_text(0), "Success") == 0);
    CHECK(strcmp(neopvm_text(NEOPVM_END), "End of buffer") == 0);
    CHECK(neopvm_text(INT32_MIN) != NULL && neopvm_text(INT32_MAX) != NULL);
    CHECK(neopvm_interface() == NEOPVM_INTERFACE);
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void messages(int32_t me)
{
    neopvm_buffer buffer = ints(NEOPVM_DEFAULT, 100, 50), got = -7;
    struct neopvm_info info;
    struct pollfd event = {-1, POLLIN, 0};
    int32_t found = -1, i, number, context = -1, other = me;
    uint32_t seen = 0;
    double start = seconds();

    OK(neopvm_receive(NEOPVM_ANY, NEOPVM_ANY, NEOPVM_CURRENT_CONTEXT, 20000000, &got));
    CHECK(got == 0 && seconds() - start >= 0.02);
    OK(neopvm_wait(&seen, 20000000));
    OK(neopvm_send(buffer, me, 4, NEOPVM_CURRENT_CONTEXT));
    number = (int32_t)seen;
    /* Taken in by a look for something else: who waits for this one is told all the same. */
    OK(neopvm_probe(NEOPVM_ANY, 99, NEOPVM_CURRENT_CONTEXT, NULL, &found));
    OK(neopvm_wait(&seen, NEOPVM_FOREVER));
    CHECK(found == 0 && seen != (uint32_t)number);
    OK(neopvm_receive(me, 4, NEOPVM_CURRENT_CONTEXT, 0, &got));
    CHECK(got > 0);
    OK(neopvm_free(got));
    CHECK(neopvm_wait(NULL, 0) == NEOPVM_BAD_PARAMETER);
    OK(neopvm_descriptor(&event.fd));
    OK(neopvm_probe(NEOPVM_ANY, 5, NEOPVM_CURRENT_CONTEXT, NULL, &found));
    CHECK(found == 0 && poll(&event, 1, 0) == 0);
    OK(neopvm_send(buffer, me, 5, NEOPVM_CURRENT_CONTEXT));
    CHECK(poll(&event, 1, 60000) == 1);
    OK(neopvm_probe(me, 5, NEOPVM_CURRENT_CONTEXT, &info, &found));
    CHECK(found == 1 && info.bytes == 200 && info.tag == 5 && info.source == me);
    OK(neopvm_receive(me, 5, NEOPVM_CURRENT_CONTEXT, NEOPVM_FOREVER, &got));
    for (i = 0; i < 50; i++) {
        OK(neopvm_unpack(got, NEOPVM_INT, &number, 1, 1));
        CHECK(number == 100 + i);
    }
    OK(neopvm_info(got, &info));
    CHECK(info.left == 0);
    OK(neopvm_free(got));

    OK(neopvm_new_context(&context));
    OK(neopvm_send(buffer, me, 6, context));
    OK(neopvm_receive(NEOPVM_ANY, NEOPVM_ANY, NEOPVM_CURRENT_CONTEXT, 0, &got));
    CHECK(got == 0);
    OK(neopvm_receive(NEOPVM_ANY, NEOPVM_ANY, context, NEOPVM_FOREVER, &got));
    CHECK(got > 0);
    OK(neopvm_free(got));
    OK(neopvm_free_context(context));
    CHECK(neopvm_free_context(context) == NEOPVM_NOT_FOUND);

    OK(neopvm_multicast(buffer, &other, 1, 7, NEOPVM_CURRENT_CONTEXT));
    OK(neopvm_multicast(buffer, NULL, 0, 7, NEOPVM_CURRENT_CONTEXT));
    CHECK(neopvm_multicast(buffer, NULL, 1, 7, NEOPVM_CURRENT_CONTEXT) == NEOPVM_BAD_PARAMETER);
    OK(neopvm_receive(NEOPVM_ANY, 7, NEOPVM_CURRENT_CONTEXT, 0, &got));
    CHECK(got == 0);
    CHECK(neopvm_send(buffer, 0, 7, -1) == NEOPVM_BAD_PARAMETER);
    CHECK(neopvm_send(buffer, me, -7, -1) == NEOPVM_BAD_PARAMETER);
    OK(neopvm_free(buffer));
}

/* Both names of the call that tells whether memory is being read. A task sends itself a copy. */
static void being_read(int32_t me)
{
    neopvm_buffer buffer = 0, got = 0;
    int32_t now = -1, by_older_name = -1;
    void *items = NULL;

    OK(neopvm_new(NEOPVM_RAW, &buffer));
    OK(neopvm_allocate(buffer, NEOPVM_BYTE, 8192, &items));
    memset(items, 7, 8192);
    OK(neopvm_send(buffer, me, 8, NEOPVM_CURRENT_CONTEXT));
    OK(neopvm_receive(me, 8, NEOPVM_CURRENT_CONTEXT, NEOPVM_FOREVER, &got));
    OK(neopvm_is_being_read(buffer, &now));
    OK(neopvm_is_read(buffer, &by_older_name));
    CHECK(now == 0 && by_older_name == 0);
    OK(neopvm_free(got));
    OK(neopvm_free(buffer));
    CHECK(neopvm_is_being_read(buffer, &now) == NEOPVM_NO_BUFFER);
    CHECK(neopvm_is_read(buffer, &now) == NEOPVM_NO_BUFFER);
}

/* What was given up has no effect, neither then nor later. */
static void giving_up(void)
{
    int32_t flags = NEOPVM_NAME_WAIT | NEOPVM_NAME_TAKE, enough = 1, met = 1, times;
    neopvm_buffer buffer = ints(NEOPVM_DEFAULT, 1, 2), got = 1;

    for (times = 0; times < 150; times++) {
        OK(neopvm_get_until("later", 0, flags, 1000, NULL, &got));
        CHECK(got == 0);
    }
    OK(neopvm_get_until("later", 0, flags, -1, &enough, &got));
    CHECK(got == 0);
    OK(neopvm_put("later", buffer, 0, NULL));
    OK(neopvm_get_until("later", 0, flags, 100000000000, NULL, &got));
    CHECK(got > 0);
    OK(neopvm_free(got));
    CHECK(neopvm_get_until("later", 0, 0, 0, NULL, &got) == NEOPVM_NOT_FOUND);
    CHECK(neopvm_get_until("later", 0, 0, 0, NULL, NULL) == NEOPVM_BAD_PARAMETER);

    OK(neopvm_barrier_until("handles", 2, 1000000, NULL, &met));
    CHECK(met == 0);
    OK(neopvm_barrier_until("handles", 2, -1, &enough, &met));
    CHECK(met == 0);
    OK(neopvm_barrier_until("handles", 1, 0, NULL, &met));
    CHECK(met == 1);
    OK(neopvm_freeze_until("handles", 2, &enough, &met));
    CHECK(met == -1);
    OK(neopvm_wake());
    OK(neopvm_free(buffer));
}

/* A spawn that is given up at once starts none, or tells which one runs. */
static void giving_up_a_spawn(void)
{
    const char *args[] = {"100", NULL};
    int32_t enough = 1, child = 0, started = 0;

    OK(neopvm_spawn_until("/bin/sleep", args, 0, NULL, 1, &enough, &child, &started));
    CHECK(started == -1 || started == 1);
    if (started == 1)
        OK(neopvm_signal(child, 9));
    CHECK(neopvm_spawn_until("/bin/sleep", args, 0, NULL, 0, NULL, &child, &started) == NEOPVM_BAD_PARAMETER);
    OK(neopvm_spawn_until("no such program", NULL, 0, NULL, 1, NULL, &child, &started));
    CHECK(started == 0 && child == -7);
}

static void machine(int32_t me, const char *program)
{
    const char *args[] = {"child", NULL};
    struct neopvm_host hosts[4];
    struct neopvm_task tasks[8];
    neopvm_buffer buffer = ints(NEOPVM_DEFAULT, 1, 2), got = 0;
    int32_t index = -1, instance = -1, child = 0, started = 0, dead = 0, tids[8];
    uint64_t count = 0;

    OK(neopvm_put("handles", buffer, NEOPVM_NAME_MANY, &index));
    CHECK(index == 0);
    OK(neopvm_get("handles", 0, NEOPVM_NAME_WAIT, &got));
    OK(neopvm_free(got));
    OK(neopvm_delete("handles", 0));
    CHECK(neopvm_get("handles", 0, 0, &got) == NEOPVM_NOT_FOUND);
    CHECK(neopvm_put(NULL, buffer, 0, NULL) == NEOPVM_BAD_PARAMETER);

    OK(neopvm_when_full(NEOPVM_FAIL, &index));
    CHECK(index == NEOPVM_SPILL);
    OK(neopvm_when_full(-1, &index));
    CHECK(index == NEOPVM_FAIL);
    CHECK(neopvm_when_full(3, NULL) == NEOPVM_BAD_PARAMETER);
    OK(neopvm_when_full(NEOPVM_SPILL, NULL));

    OK(neopvm_join("handles", &instance));
    CHECK(instance == 0);
    OK(neopvm_members("handles", tids, 8, &count));
    CHECK(count == 1 && tids[0] == me);
    OK(neopvm_barrier("handles", 1));
    giving_up();
    CHECK(neopvm_join(NULL, NULL) < 0 && neopvm_barrier(NULL, 1) < 0);

    OK(neopvm_hosts(hosts, 4, &count));
    CHECK(count == 1 && hosts[0].name[0] != 0 && hosts[0].arch[0] != 0);
    OK(neopvm_hosts(NULL, 0, &count));
    OK(neopvm_tasks(0, tasks, 0, &count));
    CHECK(count >= 1);

    giving_up_a_spawn();
    OK(neopvm_spawn(program, args, 0, NULL, 1, &child, &started));
    CHECK(started == 1 && child > 0);
    OK(neopvm_spawn("no such program", NULL, 0, NULL, 1, &index, &started));
    CHECK(started == 0 && index == -7);
    OK(neopvm_receive(child, 1, NEOPVM_CURRENT_CONTEXT, 20000000000, &got));
    CHECK(got > 0);
    OK(neopvm_free(got));
    OK(neopvm_tasks(child, tasks, 8, &count));
    CHECK(count == 1 && tasks[0].parent == me);
    OK(neopvm_notify(NEOPVM_TASK_EXIT, 9, NEOPVM_CURRENT_CONTEXT, &child, 1));
    CHECK(neopvm_notify(NEOPVM_TASK_EXIT, 9, NEOPVM_CURRENT_CONTEXT, NULL, 1) < 0);
    OK(neopvm_broadcast(buffer, "handles", 2));
    OK(neopvm_receive(child, 3, NEOPVM_CURRENT_CONTEXT, 20000000000, &got));
    CHECK(got > 0);
    OK(neopvm_free(got));
    OK(neopvm_signal(child, 9));
    OK(neopvm_receive(NEOPVM_ANY, 9, NEOPVM_CURRENT_CONTEXT, 20000000000, &got));
    CHECK(got > 0);
    OK(neopvm_unpack(got, NEOPVM_INT, &dead, 1, 1));
    CHECK(dead == child);
    OK(neopvm_free(got));
    OK(neopvm_leave_group("handles"));
    OK(neopvm_free(buffer));
}

/* Joins the group of its parent, hears its broadcast, answers, and waits to be killed. */
static int child(int32_t parent)
{
    neopvm_buffer buffer, got;

    OK(neopvm_join("handles", NULL));
    buffer = ints(NEOPVM_DEFAULT, 1, 1);
    OK(neopvm_send(buffer, parent, 1, NEOPVM_CURRENT_CONTEXT));
    OK(neopvm_receive(parent, 2, NEOPVM_CURRENT_CONTEXT, NEOPVM_FOREVER, &got));
    OK(neopvm_send(got, parent, 3, NEOPVM_CURRENT_CONTEXT));
    pause();
    return 1;
}

/* Messages of few items of one type come in the answer; all others have a buffer. */
static void items(int32_t me)
{
    const int32_t numbers[17] = {-1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17};
    const char bytes[] = "raw bytes";
    struct neopvm_received got;
    int32_t count, number;

    OK(neopvm_receive_items(me, 7, NEOPVM_CURRENT_CONTEXT, 0, &got));
    CHECK(got.buffer == 0 && got.type == 0);
    for (count = 1; count <= 17; count++) {
        OK(neopvm_send_items(NEOPVM_DEFAULT, NEOPVM_INT, numbers, (uint64_t)count, me, 7, NEOPVM_CURRENT_CONTEXT));
        OK(neopvm_receive_items(me, 7, NEOPVM_CURRENT_CONTEXT, NEOPVM_FOREVER, &got));
        CHECK(got.info.source == me && got.info.tag == 7 && got.info.bytes == 4 * (uint64_t)count);
        if (count <= NEOPVM_ITEMS_MAX / 4) {
            CHECK(got.buffer == 0 && got.type == NEOPVM_INT && got.count == (uint64_t)count);
            CHECK(memcmp(got.items, numbers, 4 * (size_t)count) == 0);
        } else {
            CHECK(got.buffer > 0 && got.type == 0);
            OK(neopvm_unpack(got.buffer, NEOPVM_INT, &number, 1, 1));
            CHECK(number == -1);
            OK(neopvm_free(got.buffer));
        }
    }
    OK(neopvm_send_items(NEOPVM_RAW, NEOPVM_BYTE, bytes, sizeof bytes, me, 7, NEOPVM_CURRENT_CONTEXT));
    OK(neopvm_receive_items(me, 7, NEOPVM_CURRENT_CONTEXT, NEOPVM_FOREVER, &got));
    CHECK(got.type == NEOPVM_BYTE && got.count == sizeof bytes && strcmp((char *)got.items, bytes) == 0);
    CHECK(neopvm_send_items(77, NEOPVM_INT, numbers, 1, me, 7, NEOPVM_CURRENT_CONTEXT) < 0);
    CHECK(neopvm_send_items(NEOPVM_DEFAULT, 77, numbers, 1, me, 7, NEOPVM_CURRENT_CONTEXT) < 0);
    CHECK(neopvm_send_items(NEOPVM_DEFAULT, NEOPVM_INT, NULL, 1, me, 7, NEOPVM_CURRENT_CONTEXT) < 0);
    CHECK(neopvm_receive_items(me, 7, NEOPVM_CURRENT_CONTEXT, 0, NULL) == NEOPVM_BAD_PARAMETER);
    OK(neopvm_receive_items(me, 7, NEOPVM_CURRENT_CONTEXT, 0, &got));
    CHECK(got.buffer == 0 && got.type == 0);
}

/* A look that finds no message gives its number back, also where a long message of another tag lies in front. */
static void numbers(int32_t me)
{
    static int32_t many[5000];
    neopvm_buffer first = 0, got = 0;
    int32_t times, last = -1;

    for (times = 0; times < 200; times++) {
        many[4999] = times;
        OK(neopvm_send_items(NEOPVM_DEFAULT, NEOPVM_INT, many, 5000, me, 7, NEOPVM_CURRENT_CONTEXT));
        OK(neopvm_receive(me, 8, NEOPVM_CURRENT_CONTEXT, 0, &got));
        CHECK(got == 0);
        OK(neopvm_receive(me, 7, NEOPVM_CURRENT_CONTEXT, NEOPVM_FOREVER, &got));
        CHECK(got > 0 && (times == 0 || got == first));
        first = got;
        OK(neopvm_unpack(got, NEOPVM_INT, many, 5000, 1));
        CHECK(neopvm_unpack(got, NEOPVM_INT, &last, 1, 1) == NEOPVM_END);
        CHECK(many[4999] == times);
        OK(neopvm_free(got));
        OK(neopvm_receive(me, 7, NEOPVM_CURRENT_CONTEXT, 0, &got));
        CHECK(got == 0);
    }
}

/* Two runtimes in one process are one task, which lasts as long as one of them does; nothing but enrolling makes another. */
static void leaving(int32_t me)
{
    int32_t again = 0;
    neopvm_buffer message = 0, got = 0;

    OK(neopvm_enrol(&again, NULL));
    CHECK(again == me);
    OK(neopvm_leave());
    OK(neopvm_new(0, &message));
    OK(neopvm_send(message, me, 77, -1));
    OK(neopvm_receive(me, 77, -1, NEOPVM_FOREVER, &got));
    OK(neopvm_leave());
    OK(neopvm_leave());
    CHECK(neopvm_send(message, me, 77, -1) == NEOPVM_NO_MACHINE);
    CHECK(neopvm_receive(-1, -1, -1, 0, &got) == NEOPVM_NO_MACHINE);
    CHECK(neopvm_hosts(NULL, 0, NULL) == NEOPVM_NO_MACHINE);
    OK(neopvm_enrol(&again, NULL));
    CHECK(again > 0 && again != me);
    OK(neopvm_leave());
    CHECK(pvm_mytid() > 0);
    OK(neopvm_send(message, me, 77, -1));
    OK(neopvm_leave());
}

int main(int argc, char **argv)
{
    char program[4096] = "";
    int32_t me = 0, parent = 0;

    packing();
    nonsense();
    if (argc > 1 && strcmp(argv[1], "alone") == 0) {
        neopvm_buffer got = 0;

        CHECK(neopvm_enrol(&me, &parent) == NEOPVM_NO_MACHINE);
        CHECK(neopvm_receive(-1, -1, -1, NEOPVM_FOREVER, &got) == NEOPVM_NO_MACHINE);
        CHECK(neopvm_barrier("group", 1) == NEOPVM_NO_MACHINE);
        CHECK(neopvm_hosts(NULL, 0, NULL) == NEOPVM_NO_MACHINE);
        OK(neopvm_leave());
        return 0;
    }
    OK(neopvm_enrol(&me, &parent));
    if (argc > 1)
        return child(parent);
    CHECK(me > 0 && parent == NEOPVM_NO_PARENT);
    CHECK(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    messages(me);
    being_read(me);
    items(me);
    numbers(me);
    machine(me, program);
    leaving(me);
    return 0;
}
