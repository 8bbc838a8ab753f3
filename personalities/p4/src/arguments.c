/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "failure.h"
#include "process.h"

struct arguments arguments;

static const char *const help[] = {
    "-p4help           this list",
    "-p4version        the version",
    "-p4pg FILE        procgroup file (else PROGRAM.pg, else procgroup, else the program runs alone)",
    "-p4dbg LEVEL      debug level of the first host's processes",
    "-p4rdbg LEVEL     debug level of the others",
    "-p4gm BYTES       at least so much shared memory",
    "-p4wd DIR         working directory",
    "-p4out FILE       output of the first host's processes",
    "-p4rout FILE      output of the others",
    "-p4dmn NAME -p4ssport PORT -p4norem -p4log -p4sctrl TEXT -p4yourname NAME -p4rmrank N are taken and not used",
};

static const char *const with_value[] = {"-p4pg",   "-pg",     "-p4dbg",    "-p4rdbg", "-p4gm",    "-p4dmn",      "-p4out",
                                         "-p4rout", "-p4ssport", "-p4wd", "-p4sctrl", "-p4yourname", "-p4rmrank"};

static int is_ours(const char *argument)
{
    return strncmp(argument, "-p4", 3) == 0 || strcmp(argument, "-pg") == 0 ||
           strncmp(argument, "-execer_", 8) == 0;
}

static int takes_value(const char *argument)
{
    for (size_t i = 0; i < sizeof with_value / sizeof *with_value; i++) {
        if (strcmp(argument, with_value[i]) == 0)
            return 1;
    }
    return strncmp(argument, "-execer_", 8) == 0;
}

static long number(const char *argument, const char *value, long most)
{
    char *end;
    errno = 0;
    long result = strtol(value, &end, 10);
    if (errno != 0 || end == value || *end != '\0' || result < 0 || result > most)
        fatal("argument %s %s: expected a number from 0 to %ld", argument, value, most);
    return result;
}

static void read_value(const char *argument, const char *value)
{
    if (strcmp(argument, "-p4pg") == 0 || strcmp(argument, "-pg") == 0)
        arguments.procgroup = value;
    else if (strcmp(argument, "-p4dbg") == 0)
        arguments.debug = (int)number(argument, value, INT_MAX);
    else if (strcmp(argument, "-p4rdbg") == 0)
        arguments.remote_debug = (int)number(argument, value, INT_MAX);
    else if (strcmp(argument, "-p4gm") == 0)
        arguments.shared_bytes = number(argument, value, 1L << 46);
    else if (strcmp(argument, "-p4wd") == 0)
        arguments.directory = value;
    else if (strcmp(argument, "-p4out") == 0)
        arguments.output = value;
    else if (strcmp(argument, "-p4rout") == 0)
        arguments.remote_output = value;
}

static void read_word(const char *argument)
{
    if (strcmp(argument, "-p4help") == 0) {
        for (size_t i = 0; i < sizeof help / sizeof *help; i++)
            puts(help[i]);
        fflush(stdout);
        _exit(0);
    }
    if (strcmp(argument, "-p4version") == 0) {
        puts(P4_VERSION_TEXT);
        fflush(stdout);
        _exit(0);
    }
}

void arguments_take(int *argc, char **argv)
{
    int kept = 0;
    for (int i = 0; i < *argc; i++) {
        if (i == 0 || !is_ours(argv[i])) {
            argv[kept++] = argv[i];
        } else if (!takes_value(argv[i])) {
            read_word(argv[i]);
        } else if (i + 1 == *argc) {
            fatal("argument %s needs a value behind it (-p4help)", argv[i]);
        } else {
            read_value(argv[i], argv[i + 1]);
            i++;
        }
    }
    if (kept < *argc)
        argv[kept] = NULL;
    *argc = kept;
}

const char *procgroup_file(const char *program, char *room, size_t bytes)
{
    if (arguments.procgroup != NULL) {
        if (access(arguments.procgroup, R_OK) != 0)
            fatal("procgroup file %s: %s", arguments.procgroup, strerror(errno));
        return arguments.procgroup;
    }
    int length = snprintf(room, bytes, "%s.pg", program == NULL ? "" : program);
    if (length > 3 && (size_t)length < bytes && access(room, R_OK) == 0)
        return room;
    return access("procgroup", R_OK) == 0 ? "procgroup" : NULL;
}
