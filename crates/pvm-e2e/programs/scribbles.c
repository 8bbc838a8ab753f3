/* scribbles MODE SECONDS: a recorded task that writes nonsense into its own trace ring, as doc/shm.md
   lays it out. */
#include "e2e.h"
#include <stdint.h>
#include <time.h>

#define CELLS 32768
#define LONGEST 255
#define NAME 14

struct cell {
	uint32_t stamp;
	uint8_t kind, cells;
	uint16_t call;
	uint64_t others[3];
};

struct ring {
	uint64_t claims, a[7], read, taken, passed, skipped, b[4], lost, c[7], d[488];
	struct cell cells[CELLS];
};

static volatile struct ring *find(void)
{
	char line[1000];
	unsigned long from, to;
	FILE *maps = fopen("/proc/self/maps", "r");
	CHECK(maps);
	while (fgets(line, sizeof line, maps))
		if (strstr(line, "memfd:neopvm") && sscanf(line, "%lx-%lx", &from, &to) == 2 && to - from > (100 << 20))
			return (volatile struct ring *)from;
	CHECK(!"no ring");
	return 0;
}

static void scribble(volatile struct ring *ring, int mode)
{
	uint64_t i, at = ring->read & ~(15ull << 60);
	switch (mode) {
	case 0: /* a position that nobody reaches */
		ring->claims = 6ull << 60 | 1ull << 59;
		break;
	case 1: /* a region that there is not */
		ring->read = 15ull << 60;
		ring->claims = 15ull << 60 | 1ull << 40;
		break;
	case 2: /* counts beyond all sums */
		ring->taken = ring->passed = ring->skipped = ring->lost = ~0ull;
		ring->taken = 5;
		break;
	case 3: /* the longest records, and no word who the task is */
		for (i = 0; i < CELLS; i++) {
			ring->cells[(at + i) % CELLS].kind = 1, ring->cells[(at + i) % CELLS].cells = 255;
			ring->cells[(at + i) % CELLS].stamp = 2 * (at + i) + 1;
		}
		ring->claims = at + CELLS;
		break;
	case 4: /* anything */
		for (i = 0; i < sizeof *ring / 4; i += 1 + rand() % 50)
			((volatile uint32_t *)ring)[i] = (uint32_t)rand() << (rand() % 16);
		break;
	case 6: /* the longest names that there are, each for another number */
		for (i = 0; i < CELLS; i += LONGEST) {
			volatile struct cell *head = &ring->cells[(at + i) % CELLS], *next = &ring->cells[(at + i + 1) % CELLS];
			next->stamp = 0, next->kind = (uint8_t)rand(), next->cells = (uint8_t)rand(), next->others[0] = 4096;
			head->kind = NAME, head->cells = LONGEST, head->others[2] = 3ull << 32;
			head->stamp = 2 * (at + i) + 1;
		}
		ring->claims = at + CELLS / LONGEST * LONGEST;
		break;
	default: /* claims that run away from their reader */
		ring->claims += 1;
	}
}

int main(int argc, char **argv)
{
	int mode = argc > 1 ? atoi(argv[1]) : 0, seconds = argc > 2 ? atoi(argv[2]) : 1, i;
	volatile struct ring *ring;
	time_t end = time(0) + seconds;
	CALL(pvm_mytid());
	for (i = 0; i < 5; i++)
		send_int(pvm_mytid(), 1, i), receive_int(-1, 1);
	ring = find();
	/* One that goes on when the task is gone. */
	if (mode == 5 && fork()) {
		usleep(100000);
		pvm_exit();
		return 0;
	}
	while (time(0) < end) {
		scribble(ring, mode);
		if (mode != 5)
			usleep(1000);
	}
	if (mode == 5)
		_exit(0);
	pvm_exit();
	return 0;
}
