/* Numbers from a seed, the same on every system. */

static unsigned long long state;

/* Marsaglia's xorshift with a multiplication at the end. */
static unsigned rnd(unsigned n)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (unsigned)((state * 2685821657736338717ULL) >> 33) % n;
}

#define PICK(list) ((list)[rnd(sizeof (list) / sizeof (list)[0])])
