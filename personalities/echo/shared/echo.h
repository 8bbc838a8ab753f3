/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What MPL, CMMD, Vertex and MPSC share: a process becomes a rank at its first call, whichever that is. */
#ifndef ECHO_H
#define ECHO_H

#include <job.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ECHO_CALL __attribute__((visibility("default")))

/* Interfaces have one way to end a job or none: a rank whose program ends with status 0 has done its part. */
static inline int echo_enter_as(const char *interface, const char *variable)
{
    const struct job_options options = {.interface = interface};
    const char *count = variable ? getenv(variable) : NULL;
    int status;

    if (count && !*count)
        count = NULL;
    if (job_entered())
        return JOB_OK;
    status = job_begin(&options);
    if (status == JOB_ALONE && count && job_count(count) < 0)
        job_fatal(1, "%s=%s: a job has 1 to 16384 processes", variable, count);
    if (status == JOB_ALONE && count && job_count(count) > 1)
        return job_become(job_count(count), NULL, job_arguments());
    if (status < 0)
        return status;
    return job_enter(&options);
}

/* The error number of C for a result of job.h. */
static inline int echo_errno(int status)
{
    switch (status) {
    case JOB_BAD_RANK:
    case JOB_BAD_TYPE:
    case JOB_BAD_HANDLE:
        return EINVAL;
    case JOB_TOO_LONG:
        return EMSGSIZE;
    case JOB_NO_HANDLES:
    case NEOPVM_NO_ROOM:
        return EAGAIN;
    case NEOPVM_NO_MEMORY:
        return ENOMEM;
    case JOB_NOBODY:
        return EDEADLK;
    default:
        return EIO;
    }
}

static inline struct job_select echo_select(int32_t rank, int32_t type)
{
    struct job_select select = {.channel = JOB_USER, .rank = rank, .type = type};

    return select;
}

#endif
