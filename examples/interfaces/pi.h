/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What all examples here compute: the area below 4 / (1 + x * x) between 0 and 1, of which each rank adds up some strips. */
enum { STRIPS = 1000000 };

static double strips_of(int rank, int ranks)
{
    double sum = 0, x;
    int strip;

    for (strip = rank; strip < STRIPS; strip += ranks) {
        x = (strip + 0.5) / STRIPS;
        sum += 4 / (1 + x * x);
    }
    return sum / STRIPS;
}
