/* Processes of eval are spread over the hosts, of which there are as many as the argument says. */
#include <pvm3.h>
#include <stdio.h>
#include <stdlib.h>

#define PROCESSES 6

/* It stays until all of them are there. */
static int where(int number)
{
    out("here", number);
    rd("all are here");
    return pvm_tidtohost(pvm_mytid());
}

int real_main(int argc, char **argv)
{
    int hosts[PROCESSES], seen = 0, i, j;
    (void)argc;
    for (i = 0; i < PROCESSES; i++)
        eval("where", i, where(i));
    for (i = 0; i < PROCESSES; i++)
        in("here", i);
    out("all are here");
    for (i = 0; i < PROCESSES; i++) {
        in("where", i, ?hosts[i]);
        for (j = 0; j < i && hosts[j] != hosts[i]; j++)
            ;
        seen += j == i;
    }
    printf("%s: %d processes on %d hosts\n", seen == atoi(argv[1]) ? "ok" : "wrong", PROCESSES, seen);
    return seen != atoi(argv[1]);
}
