/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Vertex: node 0 asks all others for their parts by one message. It is told how many nodes there are by the host's number. */
#include <stdio.h>
#include <vertex.h>
#include "pi.h"

int main(void)
{
    int node, process, nodes, dimension, flag, i, from, type;
    double part, total;

    whoami(&node, &process, &nodes, &dimension);
    if (node == 0)
        nwrite(&nodes, sizeof nodes, VERTEX_ALL, 1, &flag);
    from = 0, type = 1;
    if (node != 0)
        nread(&nodes, sizeof nodes, &from, &type, &flag);
    total = strips_of(node, nodes);
    if (node != 0)
        return nwrite(&total, sizeof total, 0, 2, &flag) != 0;
    for (i = 1; i < nodes; i++) {
        from = -1, type = 2;
        nread(&part, sizeof part, &from, &type, &flag);
        total += part;
    }
    printf("Vertex: pi is %.8f by %d nodes\n", total, nodes);
    return 0;
}
