/* A node that ends with 0 before a call of all: the job ends, and the others do not wait for ever. */
#include <nx.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    long me = mynode();
    double x = 1, work;
    const char *call = argc > 1 ? argv[1] : "gsync";
    /* From the 21st on barriers of one host meet in a group. */
    for (int at = 0; strcmp(call, "group") == 0 && at < 30; at++)
        gsync();
    if (me == numnodes() - 1)
        return 0;
    if (strcmp(call, "gdsum") == 0)
        gdsum(&x, 1, &work);
    else
        gsync();
    puts("a call of all has returned without one node");
    return 0;
}
