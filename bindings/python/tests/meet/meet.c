/* meet put READER... | take READER WRITER...: values of all types for programs in other languages, and theirs. */
#include <neotuple.h>
#include <complex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ME "C"

static neotuple_space space;

static void ok(int32_t status, const char *what)
{
    if (status == 0)
        return;
    fprintf(stderr, "meet.c: %s: %s\n", what, neotuple_text(status));
    exit(1);
}

#define ONE(name, number, type, value) \
    static const type name##_value = value;
#define ALL(F) \
    F(char, 1, char, 'x') F(schar, 2, signed char, -5) F(uchar, 3, unsigned char, 200) F(short, 4, short, -300) \
    F(ushort, 5, unsigned short, 60000) F(int, 6, int, -70000) F(uint, 7, unsigned, 4000000000u) \
    F(long, 8, long, -5000000000) F(ulong, 9, unsigned long, 9000000000000000000u) \
    F(longlong, 10, long long, -6000000000) F(ulonglong, 11, unsigned long long, 17000000000u) \
    F(float, 12, float, 0.5f) F(double, 13, double, 0.1) F(bool, 15, bool, true) \
    F(floatcomplex, 16, float complex, 1 - 2 * I) F(doublecomplex, 17, double complex, 0.5 + 3 * I)

ALL(ONE)
/* Its padding is compared, too. */
static union { long double value; char bytes[16]; } longdouble;

static const short shorts[] = {1, -2, 3};
static const unsigned short ushorts[] = {1, 60000};
static const int ints[] = {1, -2, 3};
static const long longs[] = {1, -5000000000};
static const float floats[] = {0.5f, 1.5f};
static const double doubles[] = {0.1, 2.5};

static const struct {
    const char *name;
    int32_t type, shape;
    const void *data;
    uint64_t count, bytes;
} cases[] = {
#define CASE(name, number, type, value) {#name, number, NEOTUPLE_SCALAR, &name##_value, 1, sizeof name##_value},
    ALL(CASE)
    {"longdouble", NEOTUPLE_LONG_DOUBLE, NEOTUPLE_SCALAR, &longdouble, 1, sizeof longdouble},
    {"text", NEOTUPLE_TEXT, NEOTUPLE_SCALAR, "words", 5, 5},
    {"bytes", NEOTUPLE_BYTES, NEOTUPLE_SCALAR, "\0\377\020", 3, 3},
    {"struct", NEOTUPLE_STRUCT, NEOTUPLE_SCALAR, "12345678", 8, 8},
#define ARRAY(name, type, array) {name, type, NEOTUPLE_ARRAY, array, sizeof array / sizeof *array, sizeof array}
    ARRAY("short[]", NEOTUPLE_SHORT, shorts), ARRAY("ushort[]", NEOTUPLE_UNSIGNED_SHORT, ushorts),
    ARRAY("int[]", NEOTUPLE_INT, ints), ARRAY("long[]", NEOTUPLE_LONG, longs),
    ARRAY("float[]", NEOTUPLE_FLOAT, floats), ARRAY("double[]", NEOTUPLE_DOUBLE, doubles),
};

static void text(neotuple tuple, const char *word)
{
    ok(neotuple_add_bytes(tuple, NEOTUPLE_TEXT, word, strlen(word)), word);
}

/* (writer, reader, type, value), or a template for it. */
static neotuple row(const char *writer, const char *reader, size_t i, int formal)
{
    neotuple tuple;

    ok(neotuple_new(&tuple), "new");
    text(tuple, writer);
    text(tuple, reader);
    text(tuple, cases[i].name);
    if (formal)
        ok(neotuple_add_formal(tuple, cases[i].type, cases[i].shape, cases[i].bytes), cases[i].name);
    else if (cases[i].type >= NEOTUPLE_TEXT)
        ok(neotuple_add_bytes(tuple, cases[i].type, cases[i].data, cases[i].bytes), cases[i].name);
    else if (cases[i].shape == NEOTUPLE_ARRAY)
        ok(neotuple_add_array(tuple, cases[i].type, cases[i].data, cases[i].count), cases[i].name);
    else
        ok(neotuple_add(tuple, cases[i].type, cases[i].data), cases[i].name);
    return tuple;
}

/* The tuple fits the value as it is written here, and any value of the type; it has that value. */
static void take(const char *writer, size_t i)
{
    neotuple actual = row(writer, ME, i, 0), formal = row(writer, ME, i, 1), found, taken;
    struct neotuple_field field;

    ok(neotuple_rd(space, actual, 0, &found), "rd");
    ok(neotuple_in(space, formal, 0, &taken), "in");
    if (!found || !taken)
        return;
    ok(neotuple_field(taken, 3, &field), "field");
    if (field.bytes == cases[i].bytes && memcmp(field.data, cases[i].data, cases[i].bytes) == 0)
        printf("%s %s\n", writer, cases[i].name);
}

int main(int argc, char **argv)
{
    size_t i;
    int j;

    longdouble.value = 0.5L;
    ok(neotuple_open("meet", 0, NULL, &space), "open");
    for (i = 0; i < sizeof cases / sizeof *cases; i++)
        for (j = 2; j < argc; j++)
            if (strcmp(argv[1], "put") == 0)
                ok(neotuple_out(space, row(ME, argv[j], i, 0), NEOTUPLE_FOREVER, NULL), "out");
            else
                take(argv[j], i);
    return 0;
}
