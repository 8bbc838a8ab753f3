/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Shared memory is given out once, joined again when it comes back, and a wrong address is told. */
#include "check.h"
#include "p4.h"

#define PLACES 200

static void check_place(const char *memory, int bytes, int mark)
{
    int i;
    for (i = 0; i < bytes; i++)
        CHECK(memory[i] == (char)mark);
}

static int churn(unsigned seed)
{
    static char *memory[PLACES];
    static int bytes[PLACES];
    int turn;
    for (turn = 0; turn < 40000; turn++) {
        int place = (int)((seed = seed * 1103515245u + 12345u) >> 8) % PLACES;
        if (memory[place] != NULL) {
            check_place(memory[place], bytes[place], place);
            p4_shfree(memory[place]);
            memory[place] = NULL;
        } else {
            bytes[place] = (int)((seed = seed * 1103515245u + 12345u) >> 8) % (turn % 50 == 0 ? 100000 : 500);
            memory[place] = p4_shmalloc(bytes[place]);
            CHECK(memory[place] != NULL && (size_t)memory[place] % 16 == 0);
            memset(memory[place], place, (size_t)bytes[place]);
        }
    }
    for (turn = 0; turn < PLACES; turn++)
        p4_shfree(memory[turn]);
    return 0;
}

static int first(void)
{
    return churn(1);
}

static int second(void)
{
    return churn(2);
}

static void wrong_addresses(void)
{
    int local = 0;
    char *memory = p4_shmalloc(100);
    CHECK(p4_soft_errors(1) == 0);
    p4_shfree(&local);
    p4_shfree(memory + 32);
    p4_shfree((char *)16);
    p4_shfree(memory);
    p4_shfree(memory);
    CHECK(p4_shmalloc(-1) == NULL);
    CHECK(p4_soft_errors(0) == 1);
    memory = p4_malloc(10);
    CHECK(memory != NULL);
    p4_free(memory);
}

int main(int argc, char **argv)
{
    char *whole;
    p4_initenv(&argc, argv);
    CHECK(p4_create(first) == 0);
    CHECK(p4_create(second) == 0);
    churn(3);
    p4_wait_for_end();
    wrong_addresses();
    whole = p4_shmalloc(1 << 30);
    CHECK(whole != NULL);
    p4_shfree(whole);
    printf("ok\n");
    return 0;
}
