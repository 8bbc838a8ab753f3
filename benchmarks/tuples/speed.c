/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * What tuple spaces cost, and Redis's lists: speed WHAT [NUMBER [BYTES]].
 *
 * Built with OF_SPACE it measures neotuple.h, with OF_REDIS Redis by hiredis without pipelining, over
 * the Unix socket REDIS_SOCKET. Each line that it prints has a name and nanoseconds (or bytes).
 *
 *   pair      one client: puts a small tuple and takes it
 *   pingpong  two clients: a round trip of BYTES bytes
 *   bag       a master puts NUMBER tasks, four workers take them and put results
 *   claims    the same, and a task whose worker dies comes back
 *   tuples    as pair, beside NUMBER tuples of the same types that nobody takes
 *   waiters   as pair, beside NUMBER threads of other clients that wait
 *   out       puts NUMBER small tuples, which stay
 *   fill      puts NUMBER tuples of BYTES bytes and stays until its input ends
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 4, SPREAD = 16, ROOM = 1 << 24 };

static char memory[ROOM];

/* The process that measures, in the others. */
static pid_t measuring;

/* The measuring process waits for a child that has failed: it is ended, too. */
static void die(const char *what, const char *why) {
    fprintf(stderr, "speed: %s: %s\n", what, why);
    if (measuring) kill(measuring, SIGTERM);
    exit(1);
}

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return 1e9 * (double)at.tv_sec + (double)at.tv_nsec;
}

#ifdef OF_SPACE
#include "neotuple.h"

static neotuple_space space;

static void check(const char *what, int32_t status) {
    if (status < 0) die(what, neotuple_text(status));
}

static void connect_here(void) {
    check("open", neotuple_open("speed", NEOTUPLE_CREATE, NULL, &space));
}

static neotuple named(const char *name) {
    static __thread neotuple tuple;
    if (tuple == 0) check("new", neotuple_new(&tuple));
    check("clear", neotuple_clear(tuple));
    check("add", neotuple_add_bytes(tuple, NEOTUPLE_TEXT, name, strlen(name)));
    return tuple;
}

static void put_number(const char *name, int32_t number) {
    neotuple tuple = named(name);
    check("add", neotuple_add(tuple, NEOTUPLE_INT, &number));
    check("out", neotuple_out(space, tuple, NEOTUPLE_FOREVER, NULL));
}

static neotuple any_number(const char *name) {
    neotuple tuple = named(name);
    check("add", neotuple_add_formal(tuple, NEOTUPLE_INT, NEOTUPLE_SCALAR, 0));
    return tuple;
}

static int32_t number_of(neotuple found) {
    int32_t number;
    check("get", neotuple_get(found, 1, NEOTUPLE_INT, NEOTUPLE_SCALAR, &number, sizeof number, NULL));
    return number;
}

static int32_t take_number(const char *name) {
    neotuple found;
    check("in", neotuple_in(space, any_number(name), NEOTUPLE_FOREVER, &found));
    int32_t number = number_of(found);
    check("free", neotuple_free(found));
    return number;
}

static int32_t claim_number(const char *name, neotuple *claimed) {
    check("claim", neotuple_claim(space, any_number(name), NEOTUPLE_FOREVER, 0, claimed));
    return number_of(*claimed);
}

static void end_claim(const char *name, int32_t number, int32_t result, neotuple *claimed) {
    neotuple tuple = named(name);
    (void)number;
    check("add", neotuple_add(tuple, NEOTUPLE_INT, &result));
    check("done", neotuple_done(space, *claimed, &tuple, 1));
    check("free", neotuple_free(*claimed));
}

static void put_bytes(const char *name, size_t bytes) {
    neotuple tuple = named(name);
    check("add", neotuple_add_bytes(tuple, NEOTUPLE_BYTES, memory, bytes));
    check("out", neotuple_out(space, tuple, NEOTUPLE_FOREVER, NULL));
}

static void take_bytes(const char *name, size_t bytes) {
    neotuple found, tuple = named(name);
    struct neotuple_field field;
    check("add", neotuple_add_formal(tuple, NEOTUPLE_BYTES, NEOTUPLE_SCALAR, 0));
    check("in", neotuple_in(space, tuple, NEOTUPLE_FOREVER, &found));
    check("field", neotuple_field(found, 1, &field));
    if (field.bytes != bytes) die("in", "other bytes");
    memcpy(memory, field.data, bytes);
    check("free", neotuple_free(found));
}

typedef neotuple claimed_thing;
#else
#include <hiredis/hiredis.h>

static __thread redisContext *redis;

/* While the queue of the server's socket is full, the kernel refuses a connection (EAGAIN). One thread at a time
   tries again, because thousands would leave the server no processor. */
static void connect_here(void) {
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&one);
    while ((redis = redisConnectUnix(getenv("REDIS_SOCKET"))) != NULL && redis->err && errno == EAGAIN) {
        redisFree(redis);
        usleep(1000);
    }
    pthread_mutex_unlock(&one);
    if (redis == NULL || redis->err) die("redis", redis ? redis->errstr : "no memory");
}

static redisReply *sure(redisReply *reply) {
    if (reply == NULL) die("redis", redis->errstr);
    if (reply->type == REDIS_REPLY_ERROR) die("redis", reply->str);
    return reply;
}

static void put_number(const char *name, int32_t number) {
    freeReplyObject(sure(redisCommand(redis, "RPUSH %s %d", name, number)));
}

static int32_t take_number(const char *name) {
    redisReply *reply = sure(redisCommand(redis, "BLPOP %s 0", name));
    int32_t number = atoi(reply->element[1]->str);
    freeReplyObject(reply);
    return number;
}

typedef int claimed_thing;

static int32_t claim_number(const char *name, claimed_thing *claimed) {
    redisReply *reply = sure(redisCommand(redis, "BLMOVE %s held LEFT RIGHT 0", name));
    int32_t number = atoi(reply->str);
    freeReplyObject(reply);
    *claimed = 1;
    return number;
}

static void end_claim(const char *name, int32_t number, int32_t result, claimed_thing *claimed) {
    (void)claimed;
    put_number(name, result);
    freeReplyObject(sure(redisCommand(redis, "LREM held 1 %d", number)));
}

static void put_bytes(const char *name, size_t bytes) {
    freeReplyObject(sure(redisCommand(redis, "RPUSH %s %b", name, memory, bytes)));
}

static void take_bytes(const char *name, size_t bytes) {
    redisReply *reply = sure(redisCommand(redis, "BLPOP %s 0", name));
    if (reply->element[1]->len != bytes) die("BLPOP", "other bytes");
    memcpy(memory, reply->element[1]->str, bytes);
    freeReplyObject(reply);
}
#endif

static void tell(const char *what, double value) {
    printf("%s %.0f\n", what, value);
    fflush(stdout);
}

static pid_t child(void (*body)(int, int), int first, int second) {
    pid_t parent = getpid(), pid = fork();
    if (pid < 0) die("fork", "no process");
    if (pid > 0) return pid;
    measuring = parent;
    connect_here();
    body(first, second);
    exit(0);
}

static void await(int children) {
    int status;
    while (children-- > 0)
        if (wait(&status) < 0 || status != 0) die("child", "has failed");
}

static double pairs(int count) {
    double begun = now();
    for (int at = 0; at < count; at++) {
        put_number("task", at);
        if (take_number("task") != at) die("take", "another tuple");
    }
    return (now() - begun) / count;
}

static void pair(int count) {
    connect_here();
    pairs(count / 10 + 1);
    tell("pair", pairs(count));
}

static void pong(int count, int bytes) {
    put_number("ready", 0);
    for (int at = 0; at < count; at++) {
        take_bytes("ping", bytes);
        put_bytes("pong", bytes);
    }
}

static void pingpong(int count, int bytes) {
    int warm = count / 10 + 1;
    char name[32];
    double begun = 0;
    child(pong, count + warm, bytes);
    connect_here();
    take_number("ready");
    for (int at = -warm; at < count; at++) {
        if (at == 0) begun = now();
        put_bytes("ping", bytes);
        take_bytes("pong", bytes);
    }
    snprintf(name, sizeof name, "pingpong-%d", bytes);
    tell(name, (now() - begun) / count);
    await(1);
}

/* A worker ends at the task -1. */
static void work(int is_claimed, int unused) {
    (void)unused;
    put_number("ready", 0);
    for (;;) {
        claimed_thing claimed = 0;
        int32_t task = is_claimed ? claim_number("task", &claimed) : take_number("task");
        if (is_claimed)
            end_claim("result", task, task, &claimed);
        else
            put_number("result", task);
        if (task < 0) return;
    }
}

static void bag(int count, int is_claimed) {
    for (int at = 0; at < WORKERS; at++) child(work, is_claimed, 0);
    connect_here();
    for (int at = 0; at < WORKERS; at++) take_number("ready");
    double begun = now();
    int64_t sum = 0, expected = -WORKERS;
    for (int at = 0; at < count; at++) {
        put_number("task", at);
        expected += at;
    }
    for (int at = 0; at < WORKERS; at++) put_number("task", -1);
    for (int at = 0; at < count + WORKERS; at++) sum += take_number("result");
    double took = now() - begun;
    if (sum != expected) die("bag", "a task is missing, or was done twice");
    await(WORKERS);
    tell(is_claimed ? "claims" : "bag", took / count);
}

static void beside_tuples(int count) {
    connect_here();
    pairs(2000);
    double alone = pairs(20000);
    for (int at = 0; at < count; at++) put_number("other", at);
    tell("tuples-alone", alone);
    tell("tuples-beside", pairs(20000));
    for (int at = 0; at < count; at++) take_number("other");
}

static void *one_waits(void *number) {
#ifdef OF_REDIS
    connect_here();
#endif
    char name[32];
    snprintf(name, sizeof name, "wait-%d", (int)(intptr_t)number);
    take_number(name);
    return NULL;
}

static void wait_for_many(int first, int count) {
    pthread_t *threads = calloc(count, sizeof *threads);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 << 10);
    for (int at = 0; at < count; at++)
        if (pthread_create(&threads[at], &small, one_waits, (void *)(intptr_t)(first + at)))
            die("thread", "no more");
    put_number("ready", first);
    for (int at = 0; at < count; at++) pthread_join(threads[at], NULL);
}

static void beside_waiters(int count) {
    int each = count / SPREAD;
    for (int at = 0; at < SPREAD; at++) child(wait_for_many, at * each, each);
    connect_here();
    for (int at = 0; at < SPREAD; at++) take_number("ready");
    sleep(3);
    tell("waiters-beside", pairs(20000));
    for (int at = 0; at < SPREAD * each; at++) {
        char name[32];
        snprintf(name, sizeof name, "wait-%d", at);
        put_number(name, at);
    }
    await(SPREAD);
    tell("waiters-alone", pairs(20000));
}

static void only_out(int count) {
    connect_here();
    put_number("put", 0);
    double begun = now();
    for (int at = 0; at < count; at++) put_number("put", at);
    tell("out", (now() - begun) / count);
}

static void fill(int count, int bytes) {
    connect_here();
    put_number("first", 0);
    printf("ready\n");
    fflush(stdout);
    if (getchar() == EOF) return;
    for (int at = 0; at < count; at++) put_bytes("filling", bytes);
    printf("full\n");
    fflush(stdout);
    while (getchar() != EOF) continue;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    int count = argc > 2 ? atoi(argv[2]) : 100000, bytes = argc > 3 ? atoi(argv[3]) : 100;
    if (bytes > ROOM) die(what, "too many bytes");
    if (!strcmp(what, "pair")) pair(count);
    else if (!strcmp(what, "pingpong")) pingpong(count, bytes);
    else if (!strcmp(what, "bag")) bag(count, 0);
    else if (!strcmp(what, "claims")) bag(count, 1);
    else if (!strcmp(what, "tuples")) beside_tuples(count);
    else if (!strcmp(what, "waiters")) beside_waiters(count);
    else if (!strcmp(what, "out")) only_out(count);
    else if (!strcmp(what, "fill")) fill(count, bytes);
    else die("usage", "speed pair|pingpong|bag|claims|tuples|waiters|out|fill [NUMBER [BYTES]]");
    return 0;
}
