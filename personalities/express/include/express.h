/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * express.h - an Express-style interface on a NeoPVM machine (neopvm-express(7)).
 *
 * No manual of Express was at hand: names follow what is remembered of it, and what each call does is our own
 * definition. Nodes are 0 to nprocs-1. Addresses of integers go in and come out where a wildcard went in. A call that
 * cannot do what was asked ends the job, and says why.
 */
#ifndef EXPRESS_INCLUDED
#define EXPRESS_INCLUDED

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DONTCARE (-1)      /* any node, any type */
#define NOCARE DONTCARE
#define NORDER 0           /* of a list of nodes: as it stands */
#define NONODE (-2)        /* what lies beyond the edge of a grid */
#define HOST (-3)          /* the host program */
#define ALLNODES (-4)
#define ALLPROCS (-5)
#define NULLPTR ((int *)0)

/* Types of messages are 0 to this. */
#define EX_TYPE_MAX 16777215
#define EX_DIMENSIONS_MAX 16

struct nodenv {
    int procnum; /* this node; HOST in the host program */
    int nprocs;
    int procid;  /* the process's number on its computer */
    int nhost;   /* 1: there is a host program */
    int doscale; /* dimensions of the smallest hypercube that holds all nodes */
};

/* ---- Who, and how many ---- */
int exparam(struct nodenv *env);
double extime(void); /* seconds */

/* ---- Node to node; results are bytes ---- */
int exread(void *buf, int len, int *src, int *type);
int exwrite(const void *buf, int len, const int *dest, const int *type);
/* *status is negative until the call is done, then the number of bytes; source and type are filled in before. */
int exreceive(void *buf, int len, int *src, int *type, int *status);
int exsend(const void *buf, int len, const int *dest, const int *type, int *status);
/* The bytes of a message that could be read now, or -1. */
int extest(int *src, int *type);
/* From now on `handler` is called for each such message, by a thread of its own, while the program goes on. */
int exhandle(int (*handler)(char *buf, int len, int src, int type), const int *src, const int *type);
/* Writes obuf to dest and reads ibuf from src; the bytes read. */
int exchange(void *ibuf, int ilen, int *src, int *itype, const void *obuf, int olen, const int *dest, const int *otype);

/* ---- The same with nitems items of size bytes that lie offset bytes apart ---- */
int exvread(void *buf, int size, int offset, int nitems, int *src, int *type);
int exvwrite(const void *buf, int size, int offset, int nitems, const int *dest, const int *type);
int exvchange(void *ibuf, int isize, int ioffset, int initems, int *src, int *itype, const void *obuf, int osize,
              int ooffset, int onitems, const int *dest, const int *otype);

/* ---- Many nodes: a list, or ALLNODES with NULLPTR. All of them call it ---- */
int exbroadcast(void *buf, int origin, int len, int nnodes, const int *nodes, int *result, const int *type);
/* func(p1, p2, size) makes p1 what the two give; the result is in buf on all nodes. */
int excombine(void *buf, int (*func)(void *p1, void *p2, int size), int size, int nitems, int nnodes, const int *nodes,
              const int *type);
/* Each node's bytes one behind the other, in the order of the list; sizes gets the bytes of each. */
int exconcat(const void *mine, int bytes, void *result, int room, int *sizes, int nnodes, const int *nodes,
             const int *type);
int exsync(void);

/* ---- Grids: dim[i] nodes in each direction; below 0: a ring of that many ---- */
int exgridinit(int dimensions, const int *dim);
int exgridcoord(int node, int *coord);
int exgridproc(const int *coord);
/* The node `distance` away in a direction, NONODE beyond an edge. */
int exgridnode(int node, int direction, int distance);
/* Which part of `whole` things in each direction is this node's: how many, and the first. */
int exgridsize(int node, const int *whole, int *part, int *first);
int exgray(int number);
int exungray(int code);

/* ---- Cubix: what the nodes' output means. All nodes call these together ---- */
int fsingl(FILE *stream); /* all write the same, and it appears once: stdout at the start */
int fmulti(FILE *stream); /* each node writes its own; it appears in the order of nodes */
int fasync(FILE *stream); /* each node writes its own, and it appears at once */
int exflush(FILE *stream); /* under fmulti: what was written so far appears now */
int ismulti(FILE *stream);

/* ---- The host program ---- */
int exopen(const char *device, int nodes, int *error);
int exload(int handle, const char *program, int node);
int exstart(int handle, int node);
int exclose(int handle);

#ifdef __cplusplus
}
#endif

#endif /* EXPRESS_INCLUDED */
