/* puts BYTES [FILE]: puts so many bytes under a name. With FILE it goes on until that is there, and
 * says how many puts were answered and the longest time one took, in milliseconds. */
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

int main(int count, char **words) {
    int bytes = atoi(words[1]), puts = 0, tid = pvm_mytid();
    char *body = calloc(1, bytes + 1), name[40];
    double longest = 0;
    if (tid < 0) return 2;
    sprintf(name, "put by %x", tid);
    do {
        double begin = now(), time;
        int buffer = pvm_initsend(PvmDataRaw), code;
        pvm_pkbyte(body, bytes, 1);
        code = pvm_putinfo(name, buffer, PvmMboxOverWritable);
        if (code < 0) {
            printf("put of %d bytes: %d after %.0f ms\n", bytes, code, now() - begin);
            return 1;
        }
        time = now() - begin;
        if (time > longest) longest = time;
        puts++;
        if (count > 2) usleep(20000);
    } while (count > 2 && access(words[2], F_OK));
    printf("%d %.0f\n", puts, longest);
    pvm_exit();
    return 0;
}
