/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Every call of Global Arrays' spelling. */
#include "check.h"
#include "tcgmsg.h"
#include <string.h>
#include <unistd.h>

static long me, all;

static void messages(void)
{
    long length = 0, from = 0;
    char text[8] = "";
    if (all == 1)
        return;
    if (me == 0)
        for (long node = 1; node < all; node++)
            tcg_snd(3, "hello", 6, node, 1);
    else
        tcg_rcv(3, text, sizeof text, &length, -1, &from, 1);
    CHECK(me == 0 || (length == 6 && from == 0 && strcmp(text, "hello") == 0));
    CHECK(tcg_probe(3, -1) == 0);
    if (me == 1)
        tcg_snd(4, text, 6, 0, 0);
    if (me == 0) {
        tcg_rcv(4, text, sizeof text, &length, 1, &from, 0);
        CHECK(length == -1);
    }
    tcg_waitcom(-1);
    CHECK(strcmp(text, "hello") == 0 || me > 1);
}

static void all_operations(void)
{
    static const struct {
        char *name;
        long results[2]; /* of 6 & 3 and so on, from two nodes; else of one */
    } integers[] = {{"+", {9, 6}}, {"*", {18, 6}}, {"max", {6, 6}}, {"min", {3, 6}}, {"absmax", {6, 6}},
                    {"absmin", {3, 6}}, {"or", {7, 6}}, {"&&", {1, 1}}, {"land", {1, 1}}, {"||", {1, 1}}, {"lor", {1, 1}},
                    {"&", {2, 6}}, {"band", {2, 6}}, {"|", {7, 6}}, {"bor", {7, 6}}};
    if (all > 2)
        return;
    for (unsigned at = 0; at < sizeof integers / sizeof *integers; at++) {
        long value = me == 0 ? 6 : 3;
        tcg_igop(5, &value, 1, integers[at].name);
        int logical = strchr("&|l", integers[at].name[0]) != NULL && integers[at].results[0] == 1;
        CHECK(all == 1 ? logical || value == integers[at].results[1] : value == integers[at].results[0]);
    }
    double x = me == 0 ? -2 : 5;
    tcg_dgop(6, &x, 1, "absmin");
    CHECK(all == 1 || x == 2);
}

static void odds(void)
{
    char name[32];
    snprintf(name, sizeof name, "ga.%ld.%ld", all, me);
    FILE *out = me == 0 ? fopen(name, "w") : NULL;
    if (out != NULL)
        fclose(out);
    tcg_pfcopy(7, 0, name);
    CHECK(unlink(name) == 0);
    CHECK(tcg_mitob(2) == 16 && tcg_mdtob(2) == 16 && tcg_mitod(2) == 2 && tcg_mdtoi(2) == 2);
    tcg_srand48(1);
    CHECK(tcg_drand48() < 1 && tcg_mtime() >= 0 && tcg_time() >= 0 && tcg_ready() == 1);
    tcg_setdbg(0);
    tcg_niceftn(0);
    tcg_stats();
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "alt") == 0)
        tcg_alt_pbegin(&argc, &argv);
    else if (argc > 1 && strcmp(argv[1], "f") == 0)
        tcg_pbeginf();
    else if (argc > 1)
        tcg_pbginf();
    else
        tcg_pbegin(argc, argv);
    me = tcg_nodeid(), all = tcg_nnodes();
    messages();
    long value = me;
    tcg_brdcst(2, &value, sizeof value, 0);
    CHECK(value == 0);
    all_operations();
    CHECK(tcg_nxtval(all) >= 0);
    tcg_nxtval(-all);
    odds();
    tcg_synch(1);
    if (me == 0)
        printf("ok\n");
    fflush(stdout);
    tcg_llog();
    printf("in the log\n");
    if (argc > 2 && strcmp(argv[2], "parerr") == 0)
        tcg_parerr(3);
    if (argc > 2)
        tcg_error("wrong", 4);
    tcg_pend();
    return 0;
}
