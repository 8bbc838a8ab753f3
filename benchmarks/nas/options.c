/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The command line of a program, and what is refused before anything starts. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pvm3.h"

#include "internal.h"
#include "nas.h"
#include "start.h"

struct nas_run nas = {.tasks = 0, .rank = 0};
struct nas_own nas_own;

static int allowed;
static int encoding_chosen, route_chosen;

/* One sentence to standard error, by the task that prints; the others end silently. */
_Noreturn void nas_fail(const char *format, ...)
{
    va_list list;
    if (start_place() == 0) {
        fprintf(stderr, "nas-%s: ", nas_own.name);
        va_start(list, format);
        vfprintf(stderr, format, list);
        va_end(list);
        fprintf(stderr, "\n");
        fflush(stderr);
    }
    nas_abandon();
    exit(1);
}

static int whole_number(const char *text, const char *what, int most)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (end == text || *end != 0 || value < 1 || value > most)
        nas_fail("%s takes a whole number from 1 to %d, not '%s'.", what, most, text);
    return (int)value;
}

/* "64" or "64x64x32". */
static void read_size(const char *text)
{
    char *end;
    int i;
    for (i = 0; i < 3; i++) {
        long value = strtol(text, &end, 10);
        if (end == text || value < 2 || value > 4096 || (*end != 0 && (*end != 'x' || i == 2)))
            break;
        nas.size[i] = (int)value;
        if (*end == 0)
            break;
        text = end + 1;
    }
    if (i > 2 || *end != 0 || end == text || nas.size[0] == 0 || (i != 0 && i != 2))
        nas_fail("--size takes one number or three, such as 64 or 64x64x32, each from 2 to 4096.");
    if (i == 0)
        nas.size[1] = nas.size[2] = nas.size[0];
}

static double read_step(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != 0 || !(value > 0 && value < 1e6))
        nas_fail("--step takes a time step above 0, not '%s'.", text);
    return value;
}

/* Which of the words, separated by |, `text` is. */
static int one_of(const char *option, const char *text, const char *words)
{
    const char *word = words;
    for (int i = 0;; i++) {
        size_t length = strcspn(word, "|");
        if (strlen(text) == length && strncmp(text, word, length) == 0)
            return i;
        if (word[length] == 0)
            nas_fail("%s takes %s, not '%s'.", option, words, text);
        word += length + 1;
    }
}

static void must_allow(int flag, const char *option)
{
    if (!(allowed & flag))
        nas_fail("%s has no meaning for this benchmark.", option);
}

/* An option with a value; 0 if it is none of these. */
static int read_option(const char *option, const char *value)
{
    if (strcmp(option, "--shape") == 0)
        nas.thesis = one_of(option, value, "official|thesis");
    else if (strcmp(option, "--encoding") == 0) {
        nas.encoding = one_of(option, value, "default|raw|inplace");
        encoding_chosen = 1;
    } else if (strcmp(option, "--route") == 0) {
        nas_own.direct = !one_of(option, value, "direct|default");
        route_chosen = 1;
    } else if (strcmp(option, "--size") == 0) {
        must_allow(NAS_SIZE, option);
        read_size(value);
    } else if (strcmp(option, "--iterations") == 0) {
        must_allow(NAS_SIZE | NAS_ITERATIONS, option);
        nas.iterations = whole_number(value, option, 1000000);
    } else if (strcmp(option, "--step") == 0) {
        must_allow(NAS_STEP, option);
        nas.step = read_step(value);
    } else if (strcmp(option, "--tasks") == 0)
        nas.tasks = whole_number(value, option, MOST_TASKS);
    else
        return 0;
    return 1;
}

static void read_word(const char *word)
{
    if (*word >= '0' && *word <= '9')
        nas.tasks = whole_number(word, "the number of tasks", MOST_TASKS);
    else if (strlen(word) == 1 && strchr("SWAB", *word) != NULL)
        nas.class_letter = *word;
    else
        nas_fail("class '%s' is unknown: it is S, W, A or B.", word);
}

static void usage(void)
{
    if (start_place() == 0)
        printf("Usage: nas-%s [S|W|A|B] [TASKS] [--shape official|thesis]\n"
               "  [--encoding default|raw|inplace] [--route direct|default] [--json]\n"
               "  [--size N or NxNxN] [--iterations N] [--step DT] [--self] where it has them\n",
               nas_own.name);
    exit(0);
}

static void settle(int self_named)
{
    if (self_named)
        nas.self = 1;
    if (!encoding_chosen)
        nas.encoding = nas.thesis ? NAS_DEFAULT : NAS_INPLACE;
    if (!route_chosen)
        nas_own.direct = !nas.thesis;
    nas_own.mastered = nas.thesis && (allowed & NAS_MASTERED);
    if (nas.class_letter == 0)
        nas.class_letter = nas.size[0] != 0 ? 'U' : 'S';
    if (nas.tasks == 0)
        nas.tasks = start_siblings() > 1 ? start_siblings() - nas_own.mastered
                                         : nas.thesis ? 4 : 1;
    if (start_siblings() > 1 && start_siblings() != nas.tasks + nas_own.mastered)
        nas_fail("%d tasks were started for %d: start one alone, or leave the number out.",
                 start_siblings(), nas.tasks + nas_own.mastered);
}

void nas_options(int argc, char **argv, const char *name, int flags)
{
    int self_named = 0;
    snprintf(nas_own.name, sizeof nas_own.name, "%s", name);
    allowed = flags;
    start_keep(argc, argv);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--worker") == 0)
            continue;
        else if (strcmp(argv[i], "--json") == 0)
            nas_own.json = 1;
        else if (strcmp(argv[i], "--help") == 0)
            usage();
        else if (strcmp(argv[i], "--self") == 0) {
            must_allow(NAS_SELF, argv[i]);
            self_named = 1;
        } else if (argv[i][0] != '-')
            read_word(argv[i]);
        else if (i + 1 >= argc)
            nas_fail("option %s is unknown or lacks its value; --help shows all.", argv[i]);
        else if (read_option(argv[i], argv[i + 1]))
            i++;
        else
            nas_fail("option %s is unknown; --help shows all.", argv[i]);
    }
    settle(self_named);
}

/* Names the nearest number below and above that a decomposition can take. */
void nas_require_tasks(int (*takes)(int tasks), const char *rule)
{
    int below, above;
    if (takes(nas.tasks))
        return;
    for (below = nas.tasks - 1; below > 0 && !takes(below); below--)
        continue;
    for (above = nas.tasks + 1; above <= MOST_TASKS && !takes(above); above++)
        continue;
    if (below > 0 && above <= MOST_TASKS)
        nas_fail("%s: %d tasks are not possible; the nearest are %d and %d.", rule, nas.tasks,
                 below, above);
    if (below > 0 || above <= MOST_TASKS)
        nas_fail("%s: %d tasks are not possible; the nearest is %d.", rule, nas.tasks,
                 below > 0 ? below : above);
    nas_fail("%s: no number of tasks is possible with this size.", rule);
}

#ifdef NAS_CHECK
/* The programs keep their arrays to the end, and so does the library: no leaks. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}
#endif

/* For nas_common.f90. */
void nas_fail_text(const char *text)
{
    nas_fail("%s", text);
}
