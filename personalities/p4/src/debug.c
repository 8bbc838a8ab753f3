/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <sys/utsname.h>

#include "export.h"
#include "failure.h"
#include "process.h"

static int level_now;

int debug_level(void)
{
    return level_now;
}

void debug_set_level(int level)
{
    level_now = level;
}

/* One write for a line, so that lines of several processes do not mix. */
static void print(const char *format, va_list values)
{
    char text[4096];
    va_list again;
    va_copy(again, values);
    int length = vsnprintf(text, sizeof text, format, values);
    if (length >= 0 && (size_t)length < sizeof text) {
        printf("%s: %s", process_name(), text);
    } else {
        printf("%s: ", process_name());
        vprintf(format, again);
    }
    va_end(again);
    fflush(stdout);
}

P4_API void p4_dprintf(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    print(format, values);
    va_end(values);
}

P4_API void p4_dprintfl(int level, const char *format, ...)
{
    va_list values;
    if (level > level_now)
        return;
    va_start(values, format);
    print(format, values);
    va_end(values);
}

P4_API int p4_get_dbg_level(void)
{
    return level_now;
}

P4_API void p4_set_dbg_level(int level)
{
    level_now = level;
}

P4_API char *p4_version(void)
{
    static char version[] = P4_VERSION_TEXT;
    return version;
}

P4_API char *p4_machine_type(void)
{
    static char type[sizeof(struct utsname)];
    struct utsname system;
    if (uname(&system) != 0)
        return type;
    snprintf(type, sizeof type, "%s_%s", system.sysname, system.machine);
    return type;
}
