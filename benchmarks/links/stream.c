/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * stream: how much payload a link carries one way.
 *
 *     stream -w HOST [-b BYTES] [-n COUNT] [-r direct|daemon]
 *
 * Sends COUNT messages of BYTES to one partner on HOST, which unpacks each and answers once behind the last. Prints the
 * payload in bytes, the seconds from the first send to the answer, and MB/s.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#include "pvm3.h"

enum { SETUP = 1, DATA = 2, DONE = 3 };

static double now_s(void)
{
    struct timeval t;
    gettimeofday(&t, NULL);
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static void send_data(int to, char *data, int bytes)
{
    pvm_initsend(PvmDataInPlace);
    pvm_pkbyte(data, bytes, 1);
    pvm_send(to, DATA);
}

static void take(int master)
{
    int bytes, count, wrong = 0, i;
    char *data;

    pvm_recv(master, SETUP);
    pvm_upkint(&bytes, 1, 1);
    pvm_upkint(&count, 1, 1);
    data = malloc((size_t)bytes);
    for (i = -1; i < count; i++) {
        pvm_recv(master, DATA);
        if (pvm_upkbyte(data, bytes, 1) < 0 || data[bytes - 1] != 77)
            wrong++;
        if (i < 0 || i + 1 == count) {
            pvm_initsend(PvmDataRaw);
            pvm_pkint(&wrong, 1, 1);
            pvm_send(master, DONE);
        }
    }
}

static int lead(const char *program, const char *host, int bytes, int count)
{
    char path[PATH_MAX], *data = malloc((size_t)bytes);
    int tid = 0, wrong = 1, i;
    double start_s, spent_s;

    if (!realpath(program, path))
        snprintf(path, sizeof path, "%s", program);
    if (pvm_spawn(path, NULL, PvmTaskHost, (char *)host, 1, &tid) != 1) {
        fprintf(stderr, "stream: cannot start the partner on %s, code %d\n", host, tid);
        return 1;
    }
    memset(data, 77, (size_t)bytes);
    pvm_initsend(PvmDataDefault);
    pvm_pkint(&bytes, 1, 1);
    pvm_pkint(&count, 1, 1);
    pvm_send(tid, SETUP);
    send_data(tid, data, bytes); /* sets the route up */
    pvm_recv(tid, DONE);
    start_s = now_s();
    for (i = 0; i < count; i++)
        send_data(tid, data, bytes);
    pvm_recv(tid, DONE);
    spent_s = now_s() - start_s;
    pvm_upkint(&wrong, 1, 1);
    printf("%.0f\t%.4f\t%.3f%s\n", (double)bytes * count, spent_s, (double)bytes * count / spent_s / 1e6,
           wrong ? "\tDAMAGED" : "");
    return wrong != 0;
}

int main(int argc, char **argv)
{
    const char *host = ".";
    int option, bytes = 1000000, count = 40, route = PvmRouteDirect, status = 0;

    while ((option = getopt(argc, argv, "w:b:n:r:")) != -1) {
        if (option == 'w')
            host = optarg;
        else if (option == 'b')
            bytes = atoi(optarg);
        else if (option == 'n')
            count = atoi(optarg);
        else if (option == 'r')
            route = strcmp(optarg, "daemon") == 0 ? PvmDontRoute : PvmRouteDirect;
        else
            return 2;
    }
    if (bytes < 1 || count < 1 || pvm_mytid() < 0)
        return 1;
    pvm_setopt(PvmRoute, route);
    if (pvm_parent() > 0)
        take(pvm_parent());
    else
        status = lead(argv[0], host, bytes, count);
    pvm_exit();
    return status;
}
