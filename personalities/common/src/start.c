/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How a process finds its job, and how it ends the job. */
#include "state.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct job job_this;

int32_t job_count(const char *text)
{
    char *end = NULL;
    errno = 0;
    long count = strtol(text, &end, 10);
    return end != text && *end == 0 && errno == 0 && count >= 1 && count <= JOB_RANKS_MAX ? (int32_t)count : -1;
}

#ifndef NEOPVM_BIN
#define NEOPVM_BIN "/usr/local/bin"
#endif

static int enter_alone(void)
{
    job_this.state = JOB_ALONE;
    return job_alone_table();
}

/* A process that a rank forks by itself is not a rank: it must neither send in the rank's name
 * nor take the rank's messages. */
static void forget_job(void)
{
    job_this.state = JOB_ALONE;
    job_this.told = 0;
}

static int enter_rank(void)
{
    job_this.state = JOB_RANK;
    if (pthread_atfork(NULL, NULL, forget_job) != 0)
        return NEOPVM_NO_MEMORY;
    int32_t status = neopvm_enrol(&job_this.tid, NULL);
    if (status != NEOPVM_OK)
        return status;
    job_this.rank = job_this.first;
    neopvm_buffer word = job_word();
    const char *call = job_this.options.last_call;
    job_word_text(word, call != NULL ? call : "");
    status = job_say(TAG_ENTERED, word);
    return status == NEOPVM_OK ? JOB_RANK : status;
}

int job_begin(const struct job_options *options)
{
    if (job_this.began)
        return job_this.state;
    job_this.options = *options;
    int found = job_find_keeper();
    if (found < 0)
        return found;
    int state = found ? enter_rank() : enter_alone();
    job_this.began = state >= 0;
    return state;
}

int job_enter(const struct job_options *options)
{
    int state = job_begin(options);
    if (state < 0)
        return state;
    int status = job_table();
    return status < 0 ? status : state;
}

void job_leave(void)
{
    if (job_this.state != JOB_RANK || atomic_load(&job_this.failing) || atomic_exchange(&job_this.left, 1))
        return;
    job_say_last(TAG_LEFT, job_word());
}

/* ---- The keeper in the place of this process ---- */

static int append(char **list, int count, const char *word)
{
    list[count] = (char *)(uintptr_t)word;
    return count + 1;
}

/* Beside the library: PREFIX/lib/neopvm/NAME/libNAME.so and PREFIX/bin/pvm. Linked statically there is only the program,
 * and what lies above its folder may be anybody's. */
static void try_beside(char **list)
{
    Dl_info here;
    char path[PATH_MAX];
    if (dladdr(&job_this, &here) == 0 || here.dli_fname == NULL || strstr(here.dli_fname, "/lib/neopvm/") == NULL)
        return;
    int folder = (int)(strrchr(here.dli_fname, '/') - here.dli_fname);
    if (snprintf(path, sizeof path, "%.*s/../../../bin/pvm", folder, here.dli_fname) < (int)sizeof path)
        execv(path, list);
}

static void try_programs(char **list)
{
    char path[PATH_MAX];
    const char *root = getenv("PVM_ROOT");
    try_beside(list);
    execv(NEOPVM_BIN "/pvm", list);
    if (root != NULL && snprintf(path, sizeof path, "%s/bin/pvm", root) < (int)sizeof path)
        execv(path, list);
    execvp("pvm", list);
}

int job_become(int32_t count, const char *file, char **argv)
{
    static char program[PATH_MAX], number[16];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    int words = 0, used = 0;
    while (argv != NULL && argv[words] != NULL)
        words++;
    char **list = calloc((size_t)words + 12, sizeof *list);
    if (length <= 0 || list == NULL) {
        job_refuse("the file of this program cannot be found: %s", strerror(errno));
        free(list);
        return JOB_REFUSED;
    }
    const char *first[] = {"pvm", "run", "--quiet", "--as", job_this.options.interface};
    for (size_t at = 0; at < sizeof first / sizeof *first; at++)
        used = append(list, used, first[at]);
    if (count > 0) {
        snprintf(number, sizeof number, "%d", (int)count);
        used = append(list, append(list, used, "-n"), number);
    }
    if (file != NULL)
        used = append(list, append(list, used, "--hosts"), file);
    used = append(list, append(list, used, "--"), program);
    for (int at = 1; at < words; at++)
        used = append(list, used, argv[at]);
    fflush(NULL);
    try_programs(list);
    job_refuse("the command pvm is not found in %s, PVM_ROOT or PATH: %s", NEOPVM_BIN, strerror(errno));
    free(list);
    return JOB_REFUSED;
}

static size_t read_arguments(char **text)
{
    size_t size = 0, room = 0;
    FILE *file = fopen("/proc/self/cmdline", "r");
    while (file != NULL) {
        if (size == room) {
            room = room * 2 + 4096;
            char *more = realloc(*text, room);
            if (more == NULL)
                break;
            *text = more;
        }
        size_t got = fread(*text + size, 1, room - size, file);
        if (got == 0)
            break;
        size += got;
    }
    if (file != NULL)
        fclose(file);
    return size;
}

char **job_arguments(void)
{
    static char **list;
    char *text = NULL;
    if (list != NULL)
        return list;
    size_t size = read_arguments(&text), count = 0;
    for (size_t at = 0; at < size; at++)
        count += text[at] == 0;
    char **made = count == 0 ? NULL : calloc(count + 1, sizeof *made);
    if (made == NULL) {
        free(text);
        return NULL;
    }
    char *word = text;
    for (size_t at = 0; at < count; at++, word += strlen(word) + 1)
        made[at] = word;
    list = made;
    return list;
}

/* ---- The end of all ---- */

static void tell_fatal(int code, const char *text)
{
    if (job_this.state != JOB_RANK) {
        fprintf(stderr, "%s\n", text);
        return;
    }
    if (pvm_mytid() != job_this.tid) {
        /* The keeper ignores messages of a rank that has left; it sees the status. */
        fprintf(stderr, "%d: %s\n", (int)job_this.rank, text);
        return;
    }
    neopvm_buffer word = job_word();
    job_word_number(word, code);
    job_word_text(word, text);
    if (job_say_last(TAG_FATAL, word) != NEOPVM_OK)
        fprintf(stderr, "%d: %s\n", (int)job_this.rank, text);
}

/* Line ends in a program's text would look like messages of the keeper, and the terminal would
 * obey escape sequences. */
static void make_line(char *text)
{
    for (unsigned char *at = (unsigned char *)text; *at != 0; at++)
        if (*at < ' ' || *at == 0x7f)
            *at = *at == '\n' || *at == '\t' || *at == '\r' ? ' ' : '?';
}

void job_vfatal(int code, const char *format, va_list values)
{
    char text[2048];
    int status = (code & 255) != 0 ? code & 255 : 1;
    vsnprintf(text, sizeof text, format, values);
    make_line(text);
    /* A function that exit calls may fail in its turn, or another thread may fail at the same
     * time. */
    if (atomic_exchange(&job_this.failing, 1))
        _exit(status);
    fflush(NULL);
    tell_fatal(code, text);
    exit(status);
}

void job_fatal(int code, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    job_vfatal(code, format, values);
}
