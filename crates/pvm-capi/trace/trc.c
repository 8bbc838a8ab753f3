/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* libpvmtrc: helpers for programs that collect and print traces (include/pvmtrc.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pvmtrc.h"

#define KINDS (TEV_MAX + 1)
#define COLUMNS 4

extern struct Pvmtevinfo pvmtevinfo[];
extern struct Pvmtevdid pvmtevdidlist[];

int TRC_HOST_ADD_NOTIFY_CODE = 0;
int TRC_HOST_DEL_NOTIFY_CODE = 0;

char *TRC_TYPE_STRS[] = {"void", "char", "float", "double", "double", "float", "int",  "int",
                         "int",  "int",  "int",   "int",    "char",   "void",  "void", "void"};

char *trc_copy_str(char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);

    if (copy)
        memcpy(copy, text, size);
    return copy;
}

char *trc_pad_num(int number, int width)
{
    char text[64];

    if (width < 0 || width > 48)
        width = 48;
    snprintf(text, sizeof text, "%0*d", width, number);
    return trc_copy_str(text);
}

char *trc_date_str(void)
{
    time_t now = time(NULL);
    struct tm parts;
    char text[64];

    if (!localtime_r(&now, &parts))
        return NULL;
    strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y", &parts);
    return trc_copy_str(text);
}

int trc_compare(char *prefix, char *text)
{
    return strncmp(prefix, text, strlen(prefix)) == 0;
}

int trc_get_did(char *name)
{
    for (int i = 0; i <= TEV_DID_MAX; i++)
        if (strcmp(pvmtevdidlist[i].did, name) == 0)
            return i;
    return -1;
}

int trc_find_event_str(char *name)
{
    for (int i = 0; i < KINDS; i++)
        if (strcmp(pvmtevinfo[i].name, name) == 0)
            return i;
    return -1;
}

/* Kinds that the machine makes by itself; no mask selects them. */
static int is_own(int kind)
{
    return kind == TEV_NEWTASK || kind == TEV_ENDTASK || kind == TEV_SPNTASK || kind == TEV_TIMING
           || kind == TEV_PROFILING;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(pvmtevinfo[*(const int *)a].name, pvmtevinfo[*(const int *)b].name);
}

void trc_print_tmask(Pvmtmask mask)
{
    int kinds[KINDS];
    int count = 0, rows;

    for (int kind = 0; kind < KINDS; kind++)
        if (!is_own(kind))
            kinds[count++] = kind;
    qsort(kinds, count, sizeof kinds[0], by_name);
    rows = (count + COLUMNS - 1) / COLUMNS;
    for (int row = 0; row < rows; row++) {
        for (int i = row; i < count; i += rows)
            printf("%s %c %-15s", i > row ? " " : "",
                   TEV_MASK_CHECK(mask, kinds[i]) ? '*' : ' ', pvmtevinfo[kinds[i]].name);
        printf("\n");
    }
}
