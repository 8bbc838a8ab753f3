/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Begin and end of a program, and errors. */
#include "calls.h"

static int began, ended;

void must(int status, const char *call, const char *what, long value)
{
    if (status >= JOB_OK)
        return;
    job_fatal(1, "%s: %s %ld: %s", call, what, value, job_text(status));
}

void must_have_begun(const char *call)
{
    if (!began)
        job_fatal(1, "%s: called before PBEGIN", call);
    if (ended)
        job_fatal(1, "%s: called after PEND", call);
}

void call_begin(const char *call)
{
    static const struct job_options options = {.interface = "tcgmsg", .last_call = "PEND"};
    if (began)
        job_fatal(1, "%s: called twice", call);
    int state = job_enter(&options);
    if (state < 0)
        job_fatal(1, "%s: this process cannot join its job: %s", call, job_text(state));
    began = 1;
    call_time();
}

void call_end(void)
{
    must_have_begun("PEND");
    call_waitcom();
    ended = 1;
    job_leave();
}

long call_nnodes(void)
{
    must_have_begun("NNODES");
    return job_size();
}

long call_nodeid(void)
{
    must_have_begun("NODEID");
    return job_rank();
}

long call_ready(void)
{
    return began;
}

void call_error(const char *text, long code)
{
    job_fatal((int)code, "%s %ld", text, code);
}

void call_parerr(long code)
{
    job_fatal((int)code, "PARERR: ended the job with code %ld", code);
}
