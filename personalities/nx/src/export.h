/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How the spellings of a call are made of what it does: plain, where an error ends the job, and with an underscore. */
#ifndef NEOPVM_NX_EXPORT_H
#define NEOPVM_NX_EXPORT_H

#include "core.h"
#include <errno.h>

static inline long nx_plain(const char *call, long result)
{
    if (result < -1 && result >= -200)
        job_fatal(1, "%s: %s", call, nx_reason());
    return result;
}

/* errno tells what kind of error it was. */
static inline long nx_quiet(long result)
{
    if (result >= -1 || result < -200)
        return result;
    errno = result == JOB_TOO_LONG ? EMSGSIZE : result == NEOPVM_NO_MEMORY ? ENOMEM : EINVAL;
    return -1;
}

/* A call without a result, and one with. */
#define CALL(name, parameters, arguments)                        \
    EXPORTED void name parameters                                \
    {                                                            \
        nx_plain(#name, core_##name arguments);                  \
    }                                                            \
    EXPORTED long _##name parameters                             \
    {                                                            \
        long result = nx_quiet(core_##name arguments);           \
        return result > 0 ? 0 : result;                          \
    }

#define FUNCTION(name, parameters, arguments)                    \
    EXPORTED long name parameters                                \
    {                                                            \
        return nx_plain(#name, core_##name arguments);           \
    }                                                            \
    EXPORTED long _##name parameters                             \
    {                                                            \
        return nx_quiet(core_##name arguments);                  \
    }

/* The same for Fortran, whose INTEGER has 4 bytes. */
#define SUBROUTINE(name, parameters, arguments)                  \
    EXPORTED void name##_ parameters                             \
    {                                                            \
        nx_plain(#name, core_##name arguments);                  \
    }                                                            \
    EXPORTED int _##name##_ parameters                           \
    {                                                            \
        long result = nx_quiet(core_##name arguments);           \
        return result > 0 ? 0 : (int)result;                     \
    }

#define INTEGER_FUNCTION(name, parameters, arguments)            \
    EXPORTED int name##_ parameters                              \
    {                                                            \
        return (int)nx_plain(#name, core_##name arguments);      \
    }                                                            \
    EXPORTED int _##name##_ parameters                           \
    {                                                            \
        return (int)nx_quiet(core_##name arguments);             \
    }

#endif
