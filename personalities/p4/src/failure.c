/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "failure.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "arena.h"
#include "export.h"
#include "job.h"
#include "process.h"

static int soft_errors;
static int hard_errors = 1;

const char *process_name(void)
{
    static char name[48];
    static int named_for;
    int pid = (int)getpid();
    if (named_for != pid || job_entered()) {
        if (process_is_created())
            snprintf(name, sizeof name, "p4_create_%d", pid);
        else
            snprintf(name, sizeof name, "p%d_%d", (int)job_rank(), pid);
        named_for = pid;
    }
    return name;
}

/* A process without an id is not a task: it prints the error, and the process that made it
 * notices its end. */
static _Noreturn void end_with(int code, const char *text)
{
    fflush(stdout);
    if (process_is_created()) {
        fprintf(stderr, "%s: %s\n", process_name(), text);
        _exit((code & 255) != 0 ? code & 255 : 1);
    }
    job_fatal(code, "%s", text);
}

_Noreturn void fatal(const char *format, ...)
{
    char text[512];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    end_with(1, text);
}

int failed(const char *format, ...)
{
    char text[512];
    va_list values;
    if (soft_errors)
        return -1;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    end_with(1, text);
}

int failure_soft(int on)
{
    int old = soft_errors;
    soft_errors = on != 0;
    return old;
}

void failure_error(const char *what, int value)
{
    char text[512];
    snprintf(text, sizeof text, "p4_error: %s: %d", what == NULL ? "" : what, value);
    if (hard_errors)
        end_with(value, text);
    fprintf(stderr, "%s: %s\n", process_name(), text);
}

P4_API void p4_error(const char *what, int value)
{
    failure_error(what, value);
}

P4_API int p4_soft_errors(int on)
{
    return failure_soft(on);
}

P4_API int p4_set_hard_errors(int on)
{
    int old = hard_errors;
    hard_errors = on != 0;
    return old;
}
