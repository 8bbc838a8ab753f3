/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * ring: a token of 4032 bytes goes round a ring of tasks.
 *
 *     ring [TASKS [ROUNDS]]          the defaults are 4 tasks and 2 rounds
 *
 * The first task starts the others. All join the group "foo", wait at a barrier and find their
 * neighbours by their instance numbers. Each task adds one to every word of the token before it
 * sends it on, so the first task can check that every task has had the token.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include "pvm3.h"

enum { TOKEN = 7, SETUP = 8, TOKEN_WORDS = 4032 / sizeof(int) };

static const char group[] = "foo";

static double now_s(void)
{
    struct timeval t;
    gettimeofday(&t, NULL);
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static void send_token(int tid, int *token)
{
    pvm_initsend(PvmDataDefault);
    pvm_pkint(token, TOKEN_WORDS, 1);
    pvm_send(tid, TOKEN);
}

static void receive_token(int tid, int *token)
{
    pvm_recv(tid, TOKEN);
    pvm_upkint(token, TOKEN_WORDS, 1);
}

/* Starts the other tasks of the ring and passes them its size. */
static int start_others(const char *program, int tasks, int rounds)
{
    char path[PATH_MAX];
    int *tids = calloc((size_t)tasks, sizeof *tids), started = 0;

    if (!realpath(program, path))
        snprintf(path, sizeof path, "%s", program);
    if (tasks > 1)
        started = pvm_spawn(path, NULL, PvmTaskDefault, "", tasks - 1, tids);
    if (started < tasks - 1)
        fprintf(stderr, "ring: %d of %d tasks started\n", started, tasks - 1);
    else if (tasks > 1) {
        pvm_initsend(PvmDataDefault);
        pvm_pkint(&tasks, 1, 1);
        pvm_pkint(&rounds, 1, 1);
        pvm_mcast(tids, tasks - 1, SETUP);
    }
    free(tids);
    return started == tasks - 1;
}

/* The first task: sends the token and checks it when it comes back. */
static int lead(int tasks, int rounds, int right, int left)
{
    int token[TOKEN_WORDS] = {0}, round, word, wrong = 0;
    double start_s = now_s();

    for (round = 0; round < rounds; round++) {
        send_token(right, token);
        receive_token(left, token);
    }
    for (word = 0; word < (int)TOKEN_WORDS; word++)
        wrong += token[word] != rounds * (tasks - 1);
    printf("ring of %d tasks, %d rounds, token of %d bytes: %s, %.1f us a hop\n", tasks, rounds,
           (int)sizeof token, wrong ? "DAMAGED" : "intact",
           1e6 * (now_s() - start_s) / (rounds * tasks));
    return wrong != 0;
}

/* Every other task: receives the token, changes it, and sends it on. */
static int follow(int rounds, int right, int left)
{
    int token[TOKEN_WORDS], round, word;

    for (round = 0; round < rounds; round++) {
        receive_token(left, token);
        for (word = 0; word < (int)TOKEN_WORDS; word++)
            token[word]++;
        send_token(right, token);
    }
    return 0;
}

int main(int argc, char **argv)
{
    int tasks = argc > 1 ? atoi(argv[1]) : 4, rounds = argc > 2 ? atoi(argv[2]) : 2;
    int me, right, left, status;

    if (tasks < 1 || rounds < 1) {
        fprintf(stderr, "usage: ring [TASKS [ROUNDS]]\n");
        return 2;
    }
    if (pvm_mytid() < 0)
        return 1;
    if (pvm_parent() > 0) {
        pvm_recv(pvm_parent(), SETUP);
        pvm_upkint(&tasks, 1, 1);
        pvm_upkint(&rounds, 1, 1);
        pvm_joingroup((char *)group);
    } else {
        pvm_joingroup((char *)group); /* before the others, so that this task is instance 0 */
        if (!start_others(argv[0], tasks, rounds)) {
            pvm_exit();
            return 1;
        }
    }
    pvm_barrier((char *)group, tasks);

    me = pvm_getinst((char *)group, pvm_mytid());
    right = pvm_gettid((char *)group, (me + 1) % tasks);
    left = pvm_gettid((char *)group, (me + tasks - 1) % tasks);
    status = me == 0 ? lead(tasks, rounds, right, left) : follow(rounds, right, left);

    pvm_barrier((char *)group, tasks); /* no task leaves while another one still asks for its tid */
    pvm_lvgroup((char *)group);
    pvm_exit();
    return status;
}
