/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Nodes as a grid: the last direction runs fastest. */
#include "nodes.h"

#include <limits.h>

static int dimensions;
static int length[EX_DIMENSIONS_MAX];
static int is_ring[EX_DIMENSIONS_MAX];

static void need_grid(const char *call)
{
    need();
    if (dimensions == 0)
        fatal("%s: exgridinit comes first", call);
}

static int magnitude(int value)
{
    return value < 0 ? -value : value;
}

int grid_make(int count, const int *dim)
{
    need();
    long nodes = 1;
    if (count < 1 || count > EX_DIMENSIONS_MAX || dim == NULL)
        fatal("exgridinit: %d dimensions (1 to %d)", count, EX_DIMENSIONS_MAX);
    for (int i = 0; i < count; i++) {
        if (dim[i] == 0 || dim[i] == INT_MIN || nodes * magnitude(dim[i]) > node_count())
            fatal("exgridinit: direction %d has %d nodes; there are %d in all", i, dim[i], node_count());
        nodes *= magnitude(dim[i]);
    }
    for (int i = 0; i < count; i++) {
        length[i] = magnitude(dim[i]);
        is_ring[i] = dim[i] < 0;
    }
    dimensions = count;
    return 0;
}

static int grid_nodes(void)
{
    int nodes = 1;
    for (int i = 0; i < dimensions; i++)
        nodes *= length[i];
    return nodes;
}

int grid_coordinates(int node, int *coord)
{
    need_grid("exgridcoord");
    if (node < 0 || node >= grid_nodes() || coord == NULL)
        return NONODE;
    for (int i = dimensions - 1; i >= 0; i--) {
        coord[i] = node % length[i];
        node /= length[i];
    }
    return 0;
}

static int wrap(int value, int direction)
{
    if (!is_ring[direction])
        return value;
    value %= length[direction];
    return value < 0 ? value + length[direction] : value;
}

int grid_process(const int *coord)
{
    need_grid("exgridproc");
    int node = 0;
    for (int i = 0; i < dimensions; i++) {
        int place = wrap(coord[i], i);
        if (place < 0 || place >= length[i])
            return NONODE;
        node = node * length[i] + place;
    }
    return node;
}

int grid_neighbour(int node, int direction, int distance)
{
    int coord[EX_DIMENSIONS_MAX];
    need_grid("exgridnode");
    if (direction < 0 || direction >= dimensions)
        fatal("exgridnode: direction %d of a grid with %d", direction, dimensions);
    if (grid_coordinates(node, coord) != 0)
        return NONODE;
    long place = (long)coord[direction] + (is_ring[direction] ? distance % length[direction] : distance);
    coord[direction] = place < INT_MIN || place > INT_MAX ? -1 : (int)place;
    return grid_process(coord);
}

/* The first ones get one more where it does not come out even. */
int grid_part(int node, const int *whole, int *part, int *first)
{
    int coord[EX_DIMENSIONS_MAX];
    need_grid("exgridsize");
    if (grid_coordinates(node, coord) != 0)
        return NONODE;
    for (int i = 0; i < dimensions; i++) {
        if (whole[i] < 0)
            fatal("exgridsize: %d things in direction %d", whole[i], i);
        int least = whole[i] / length[i];
        int more = whole[i] % length[i];
        part[i] = least + (coord[i] < more);
        first[i] = coord[i] * least + (coord[i] < more ? coord[i] : more);
    }
    return 0;
}

int gray_code(int number)
{
    return number ^ (int)((unsigned)number >> 1);
}

int gray_number(int code)
{
    unsigned number = 0;
    for (unsigned rest = (unsigned)code; rest != 0; rest >>= 1)
        number ^= rest;
    return (int)number;
}
