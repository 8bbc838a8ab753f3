/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every call of the classic spelling, on any number of nodes. */
#include "check.h"
#include "sndrcv.h"
#include <string.h>
#include <unistd.h>

static long me, all;

static void ring(void)
{
    long type = 5 | MSGDBL, length = sizeof(double), next = (me + 1) % all, previous = (me + all - 1) % all, sync = 1;
    double mine = 1.5 * (double)me, other = -1;
    long got = 0, from = -2;
    if (all == 1)
        return;
    SND_(&type, &mine, &length, &next, &sync);
    while (!PROBE_(&type, &previous))
        usleep(10);
    RCV_(&type, &other, &length, &got, &previous, &from, &sync);
    CHECK(got == length && from == previous && other == 1.5 * (double)previous);
}

static void later(void)
{
    long type = 6, other_type = 7, any = -1, sync = 0, length = 4000, got = 0, from = 0, next = (me + 1) % all;
    static char out[4000], in[4000], again[4000];
    if (all == 1)
        return;
    memset(out, (int)me + 1, sizeof out);
    RCV_(&type, in, &length, &got, &any, &from, &sync);
    RCV_(&other_type, again, &length, &got, &any, &from, &sync);
    SND_(&other_type, out, &length, &next, &sync);
    SND_(&type, out, &length, &next, &sync);
    WAITCOM_(&any);
    CHECK(in[0] == (char)((me + all - 1) % all + 1) && in[3999] == in[0] && memcmp(in, again, 4000) == 0);
}

static void together(void)
{
    long type = 8, root = all - 1, length = sizeof(long), value = me == all - 1 ? 77 : 0, count = 3;
    double x[3] = {1, (double)me, -(double)me};
    long i[3] = {1, me, 1L << me};
    BRDCST_(&type, &value, &length, &root);
    CHECK(value == 77);
    SYNCH_(&type);
    DGOP_(&type, x, &count, "+");
    CHECK(x[0] == (double)all && x[1] == (double)(all * (all - 1) / 2) && x[2] == -x[1]);
    IGOP_(&type, i, &count, "or");
    CHECK(i[0] == 1 && i[2] == (1L << all) - 1);
    x[0] = -(double)(me + 1);
    count = 1;
    DGOP_(&type, x, &count, "absmax");
    CHECK(x[0] == (double)all);
}

static void numbers(void)
{
    long mine = all, minus = -all, type = 9, count = 1, taken = 0;
    for (int at = 0; at < 10; at++)
        CHECK(NXTVAL_(&mine) >= 0 && ++taken);
    IGOP_(&type, &taken, &count, "+");
    CHECK(taken == 10 * all);
    CHECK(NXTVAL_(&minus) == 0);
    if (me == 0)
        CHECK(NXTVAL_(&mine) == 0);
    NXTVAL_(&minus);
}

static void file(void)
{
    char name[64], text[16] = "";
    long type = 10, root = 0;
    snprintf(name, sizeof name, "classic.%ld.%ld", all, me);
    if (me == 0) {
        FILE *out = fopen(name, "w");
        CHECK(out != NULL && fputs("for all", out) >= 0 && fclose(out) == 0);
    }
    PFILECOPY_(&type, &root, name);
    FILE *in = fopen(name, "r");
    CHECK(in != NULL && fgets(text, sizeof text, in) != NULL && strcmp(text, "for all") == 0);
    fclose(in);
    unlink(name);
}

static void odds(void)
{
    long ten = 10, one = 1, none = 0;
    CHECK(MITOB_(&ten) == 80 && MDTOB_(&ten) == 80 && MITOD_(&ten) == 10 && MDTOI_(&ten) == 10);
    SRAND48_(&one);
    double random = DRAND48_();
    CHECK(random >= 0 && random < 1);
    CHECK(TCGTIME_() >= 0 && MTIME_() >= 0 && TCGREADY_() == 1);
    SETDBG_(&none);
    NICEFTN_(&none);
    EVON_();
    EVBGIN_("part");
    EVEND_("part");
    EVENT_("event");
    evlog(1, 2, 3);
    EVOFF_();
    STATS_();
}

int main(int argc, char **argv)
{
    long type = 1;
    CHECK(TCGREADY_() == 0);
    if (argc > 1 && strcmp(argv[1], "f") == 0)
        PBEGINF_();
    else if (argc > 1)
        PBGINF_();
    else
        PBEGIN_(argc, argv);
    me = NODEID_(), all = NNODES_();
    ring();
    later();
    together();
    numbers();
    file();
    odds();
    SYNCH_(&type);
    if (me == 0)
        printf("ok\n");
    LLOG_();
    PEND_();
    return 0;
}
