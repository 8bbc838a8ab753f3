/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * posybl.h - tuples in the style of POSYBL, in ordinary C: each field says its type.
 *
 *     out(lstring("ping"), lnint(buffer, count));
 *     in(lstring("pong"), qlnint(&buffer, &count));
 *
 * Known of POSYBL are in, out, eval_l, lstring, lint, lnint, qlint and qlnint. The others follow by symmetry.
 */
#ifndef NEOPVM_POSYBL_H
#define NEOPVM_POSYBL_H

#ifdef __cplusplus
extern "C" {
#endif

#ifndef TRUE
#define TRUE 1
#endif
#ifndef FALSE
#define FALSE 0
#endif

/* A field: of a type of neotuple.h, with a value, or with a place for one. */
struct posybl_field {
    int type;
    int shape;              /* one, many, a place for one, a place for many */
    union {
        char c;
        short s;
        int i;
        long l;
        float f;
        double d;
        const void *items;
        void *place;
    } value;
    int count;
    int *length;
};

/* l*: a value. */
struct posybl_field lchar(char value);
struct posybl_field lshort(short value);
struct posybl_field lint(int value);
struct posybl_field llong(long value);
struct posybl_field lfloat(float value);
struct posybl_field ldouble(double value);
struct posybl_field lstring(const char *value);

/* ln*: `count` values of an array. */
struct posybl_field lnchar(const char *values, int count);
struct posybl_field lnshort(const short *values, int count);
struct posybl_field lnint(const int *values, int count);
struct posybl_field lnlong(const long *values, int count);
struct posybl_field lnfloat(const float *values, int count);
struct posybl_field lndouble(const double *values, int count);

/* ql*: any value of the type, which is put at the place; a null place drops it. */
struct posybl_field qlchar(char *place);
struct posybl_field qlshort(short *place);
struct posybl_field qlint(int *place);
struct posybl_field qllong(long *place);
struct posybl_field qlfloat(float *place);
struct posybl_field qldouble(double *place);
/* The string gets memory of its own, which the program frees. */
struct posybl_field qlstring(char **place);

/*
 * qln*: any array of the type. The pointer is set to memory of its own, which the program frees, and the length to the
 * number of items. They take the address of a pointer to the items, whatever its type.
 */
struct posybl_field qlnchar(void *place, int *length);
struct posybl_field qlnshort(void *place, int *length);
struct posybl_field qlnint(void *place, int *length);
struct posybl_field qlnlong(void *place, int *length);
struct posybl_field qlnfloat(void *place, int *length);
struct posybl_field qlndouble(void *place, int *length);

/* Operations; inp and rdp do not wait and return 1 or 0, the others return 1. */
int posybl_operation(const char *file, int line, int operation, const struct posybl_field *fields, int count);

#ifndef __cplusplus
#define POSYBL_OPERATION_(number, ...) \
    posybl_operation(__FILE__, __LINE__, number, (struct posybl_field[]) {__VA_ARGS__}, \
                     (int)(sizeof((struct posybl_field[]) {__VA_ARGS__}) / sizeof(struct posybl_field)))
#define out(...) POSYBL_OPERATION_(0, __VA_ARGS__)
#define in(...) POSYBL_OPERATION_(2, __VA_ARGS__)
#define rd(...) POSYBL_OPERATION_(3, __VA_ARGS__)
#define inp(...) POSYBL_OPERATION_(4, __VA_ARGS__)
#define rdp(...) POSYBL_OPERATION_(5, __VA_ARGS__)
#endif

/*
 * Starts a program as a worker with the arguments that follow, up to a null pointer; argument 0 is the path. The
 * machine chooses the host, but "#3/worker" runs on its third host (counted around if it has fewer). The worker shares
 * the space of this program. Returns the worker's task id, or -1.
 */
int eval_l(const char *path, ...);
int eval_v(const char *path, char *const arguments[]);

/* Like the calls above, on the host with this number; below 1 the machine chooses. */
int eval_nl(int host, const char *path, ...);
int eval_nv(int host, const char *path, char *const arguments[]);

/* The library also has init(argc, argv), which needs no call and does nothing. It is not declared here, because programs
 * have functions of this name. */

#ifdef __cplusplus
}

/*
 * C++ has no compound literals, and macros called in and out would change the headers of streams. There the operations
 * are functions; the first field notes the line of the call for errors.
 */
#if __cplusplus < 201103L
#error "posybl.h needs C++11 or newer"
#endif

struct posybl_first {
    posybl_field field;
    const char *file;
    int line;
    posybl_first(const posybl_field &first, const char *file_ = __builtin_FILE(), int line_ = __builtin_LINE())
        : field(first), file(file_), line(line_) {}
};

template <class... Fields>
inline int posybl_call(int operation, const posybl_first &first, const Fields &...others)
{
    const posybl_field fields[] = {first.field, others...};
    return posybl_operation(first.file, first.line, operation, fields, 1 + int(sizeof...(others)));
}

template <class... Fields> inline int out(posybl_first first, const Fields &...others) { return posybl_call(0, first, others...); }
template <class... Fields> inline int in(posybl_first first, const Fields &...others) { return posybl_call(2, first, others...); }
template <class... Fields> inline int rd(posybl_first first, const Fields &...others) { return posybl_call(3, first, others...); }
template <class... Fields> inline int inp(posybl_first first, const Fields &...others) { return posybl_call(4, first, others...); }
template <class... Fields> inline int rdp(posybl_first first, const Fields &...others) { return posybl_call(5, first, others...); }
#endif

#endif /* NEOPVM_POSYBL_H */
