/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Verification and what is printed, for people or as JSON. README.md documents the keys. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "nas.h"

struct quantity {
    char name[64];
    double got, wanted, error;
    int known, good;
};

static struct quantity *quantities;
static int quantity_count;

static struct quantity *add_quantity(const char *name, double got)
{
    struct quantity *q;
    quantities = realloc(quantities, sizeof *q * (size_t)(quantity_count + 1));
    if (quantities == NULL)
        nas_fail("no memory for the report.");
    q = &quantities[quantity_count++];
    memset(q, 0, sizeof *q);
    snprintf(q->name, sizeof q->name, "%s", name);
    q->got = got;
    return q;
}

/* The error is relative, absolute where 0 is wanted. A value that is no number is never good. */
void nas_quantity(const char *name, double got, double wanted, double tolerance)
{
    struct quantity *q = add_quantity(name, got);
    q->wanted = wanted;
    q->known = 1;
    q->error = wanted != 0 ? fabs((got - wanted) / wanted) : fabs(got);
    q->good = q->error <= tolerance;
}

/* A value of a size without a reference. */
void nas_norm(const char *name, double got)
{
    add_quantity(name, got);
}

/* 1 all good, 0 one is not, -1 nothing to compare with. A value that is no number is never good. */
static int verdict(void)
{
    int known = 0;
    for (int i = 0; i < quantity_count; i++) {
        known |= quantities[i].known;
        if ((quantities[i].known && !quantities[i].good) || !isfinite(quantities[i].got))
            return 0;
    }
    return known ? 1 : -1;
}

struct report {
    const char *size, *class_text;
    int iterations;
    double seconds, mops;
    double communication[4]; /* largest seconds sending and receiving, messages and bytes of all */
};

/* "CG" of "cg". */
static const char *upper_name(void)
{
    static char name[sizeof nas_own.name];
    for (size_t i = 0; i < sizeof name; i++)
        name[i] = (char)toupper((unsigned char)nas_own.name[i]);
    return name;
}

static void print_human(const struct report *r)
{
    static const char *encodings[] = {"default", "raw", "in place"};
    int good = verdict();
    printf("%s, class %s, size %s, %d iterations, %d tasks%s, encoding %s, route %s\n",
           upper_name(), r->class_text, r->size, r->iterations, nas.tasks,
           nas_own.mastered ? " and a master" : "",
           encodings[nas.encoding], nas_own.direct ? "direct" : "default");
    printf("  %.4f s, %.2f Mop/s\n", r->seconds, r->mops);
    printf("  messages %.0f, bytes %.0f; most time of a task in PVM: "
           "sending %.4f s, receiving %.4f s\n",
           r->communication[2], r->communication[3], r->communication[0], r->communication[1]);
    for (int i = 0; i < quantity_count; i++) {
        const struct quantity *q = &quantities[i];
        printf("  %-36s got %22.15e", q->name, q->got);
        if (q->known)
            printf("  wanted %22.15e  error %.1e%s", q->wanted, q->error, q->good ? "" : "  WRONG");
        printf("\n");
    }
    printf(good > 0 ? "VERIFIED\n" : good == 0 ? "NOT VERIFIED\n" : "no reference\n");
}

/* JSON has no word for what is no number. */
static void print_number(const char *key, double value)
{
    if (isfinite(value))
        printf("\"%s\": %.17g", key, value);
    else
        printf("\"%s\": null", key);
}

static void print_json_quantity(const struct quantity *q)
{
    printf("{\"name\": \"%s\", ", q->name);
    print_number("got", q->got);
    printf(", ");
    print_number("wanted", q->known ? q->wanted : NAN);
    printf(", ");
    print_number("error", q->known ? q->error : NAN);
    printf("}");
}

static void print_json(const struct report *r)
{
    static const char *encodings[] = {"default", "raw", "inplace"};
    int good = verdict();
    printf("{\"benchmark\": \"%s\", \"class\": \"%s\", \"size\": \"%s\", \"iterations\": %d, "
           "\"tasks\": %d, \"shape\": \"%s\", \"encoding\": \"%s\", \"route\": \"%s\", ",
           upper_name(),
           r->class_text, r->size, r->iterations, nas.tasks, nas.thesis ? "thesis" : "official",
           encodings[nas.encoding], nas_own.direct ? "direct" : "default");
    print_number("seconds", r->seconds);
    printf(", ");
    print_number("mops", r->mops);
    printf(", \"verified\": %s, ", good > 0 ? "true" : good == 0 ? "false" : "null");
    printf("\"communication\": {\"send_seconds\": %.9g, \"receive_seconds\": %.9g, "
           "\"messages\": %.0f, \"bytes\": %.0f}, \"quantities\": [", r->communication[0],
           r->communication[1], r->communication[2], r->communication[3]);
    for (int i = 0; i < quantity_count; i++) {
        printf("%s", i > 0 ? ", " : "");
        print_json_quantity(&quantities[i]);
    }
    printf("]}\n");
}

/* The workers' largest times and the sums of their messages; a master gets them from rank 0. */
static void gather(double *seconds, double *communication)
{
    struct nas_traffic own = nas_own.traffic;
    double most[3] = {*seconds, own.seconds[0], own.seconds[1]}, all[5];
    double sum[2] = {own.messages, own.bytes};
    if (nas.rank >= 0) {
        nas_max(most, 3);
        nas_sum(sum, 2);
        memcpy(all, most, sizeof most);
        memcpy(all + 3, sum, sizeof sum);
    }
    if (nas_own.mastered && nas.rank == 0)
        nas_send(NAS_MASTER, TAG_COUNTS, all, 5);
    if (nas.rank == NAS_MASTER)
        nas_recv(0, TAG_COUNTS, all, 5);
    *seconds = all[0];
    memcpy(communication, all + 1, 4 * sizeof *all);
}

/* All tasks call it; `operations` are those of the whole run. Seconds: the longest of the
 * workers'. */
void nas_report(const char *size, int iterations, double seconds, double operations)
{
    char class_text[2] = {(char)nas.class_letter, 0};
    struct report r = {.size = size, .class_text = class_text, .iterations = iterations};
    gather(&seconds, r.communication);
    if (!nas.first)
        return;
    r.seconds = seconds;
    r.mops = seconds > 0 ? 1e-6 * operations / seconds : 0;
    if (nas_own.json)
        print_json(&r);
    else
        print_human(&r);
    fflush(stdout);
    if (verdict() == 0)
        nas_own.wrong = 1;
}
