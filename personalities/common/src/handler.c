/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Handlers. One thread waits for messages and runs the handlers that they make ready; another
 * runs the handlers that other threads have made ready, so that no thread of the program runs a
 * handler inside a call. One handler runs at a time, and none while they are masked. */
#include "state.h"

#include <signal.h>
#include <stdlib.h>

struct ready {
    struct ready *next;
    job_handler handler;
    void *with;
    struct job_message message;
};

static struct ready *first, **end = &first;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER, idle = PTHREAD_COND_INITIALIZER;
static int started, masked, running;
static pthread_t runner;
/* True in the thread that waits for messages: it runs the handlers itself that it has made
 * ready. */
static _Thread_local int hears;

void job_ready(job_handler handler, const struct job_message *message, void *with)
{
    struct ready *ready = calloc(1, sizeof *ready);
    if (ready == NULL)
        job_fatal(1, "no memory for a handler's message");
    ready->handler = handler;
    ready->with = with;
    if (message != NULL)
        ready->message = *message;
    *end = ready;
    end = &ready->next;
    /* Waking the other thread would take longer than everything else before the handler begins. */
    if (!hears)
        pthread_cond_signal(&work);
}

/* With the lock, which is given back while a handler runs. */
static void run_ready(void)
{
    while (first != NULL && !masked && !running) {
        struct ready *ready = first;
        first = ready->next;
        if (first == NULL)
            end = &first;
        running = 1;
        runner = pthread_self();
        pthread_mutex_unlock(&job_lock);
        ready->handler(&ready->message, ready->with);
        free(ready);
        pthread_mutex_lock(&job_lock);
        running = 0;
        pthread_cond_broadcast(&idle);
    }
}

static void *hear(void *nothing)
{
    uint32_t seen = 0;
    int status = NEOPVM_OK;
    hears = 1;
    while (status == NEOPVM_OK) {
        pthread_mutex_lock(&job_lock);
        job_advance();
        run_ready();
        pthread_mutex_unlock(&job_lock);
        status = neopvm_wait(&seen, JOB_FOREVER);
    }
    return nothing;
}

static void *serve(void *nothing)
{
    pthread_mutex_lock(&job_lock);
    for (;;) {
        run_ready();
        pthread_cond_wait(&work, &job_lock);
    }
    return nothing;
}

static int start(void *(*run)(void *))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, NULL) != 0)
        return NEOPVM_NO_MEMORY;
    pthread_detach(thread);
    return JOB_OK;
}

int job_handler_threads(void)
{
    sigset_t all, before;
    pthread_mutex_lock(&job_lock);
    int status = JOB_OK;
    if (!started) {
        /* Signals are for the program's own threads. */
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        atomic_store(&job_this.has_others, 1);
        status = start(serve);
        if (status == JOB_OK && job_this.state == JOB_RANK)
            status = start(hear);
        started = status == JOB_OK;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    pthread_mutex_unlock(&job_lock);
    return status;
}

int job_call_soon(job_handler handler, const struct job_message *message, void *with)
{
    int status = job_handler_threads();
    if (status != JOB_OK)
        return status;
    pthread_mutex_lock(&job_lock);
    job_ready(handler, message, with);
    pthread_mutex_unlock(&job_lock);
    return JOB_OK;
}

int job_mask(int on)
{
    pthread_mutex_lock(&job_lock);
    int before = masked;
    masked = on != 0;
    if (masked && !(running && pthread_equal(runner, pthread_self())))
        while (running)
            pthread_cond_wait(&idle, &job_lock);
    if (!masked)
        pthread_cond_signal(&work);
    pthread_mutex_unlock(&job_lock);
    return before;
}
