/* bag FILE SEED COUNT: does COUNT operations in the space "bag": puts tuples of one number that no other one has, takes
   the oldest one, with and without a wait. FILE has a line for each: P (put), T (taken) or N (nothing was there), the
   number, and when the call began and ended, in nanoseconds. */
#include "e2e.h"
#include "neotuple.h"

#define OK(call) do { int32_t status_ = (call); \
	if (status_) { fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, neotuple_text(status_)); exit(1); } \
} while (0)

static long long nanoseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv)
{
	neotuple_space space;
	neotuple tuple, any, found;
	int seed = atoi(argv[2]), left = atoi(argv[3]), number = seed * 10000000, value;
	long long begun;
	FILE *file;

	CHECK(argc == 4 && (file = fopen(argv[1], "w")));
	srand(seed);
	CALL(pvm_mytid());
	OK(neotuple_open("bag", 0, 0, &space));
	OK(neotuple_new(&tuple));
	OK(neotuple_new(&any));
	OK(neotuple_add_formal(any, NEOTUPLE_INT, NEOTUPLE_SCALAR, 0));
	printf("begun\n");
	while (left--) {
		begun = nanoseconds();
		if (rand() % 2) {
			OK(neotuple_clear(tuple));
			OK(neotuple_add(tuple, NEOTUPLE_INT, &number));
			begun = nanoseconds();
			OK(neotuple_out(space, tuple, NEOTUPLE_FOREVER, 0));
			fprintf(file, "P %d %lld %lld\n", number++, begun, nanoseconds());
			continue;
		}
		OK(neotuple_in(space, any, 0, &found));
		if (!found) {
			fprintf(file, "N 0 %lld %lld\n", begun, nanoseconds());
			continue;
		}
		OK(neotuple_get(found, 0, NEOTUPLE_INT, NEOTUPLE_SCALAR, &value, sizeof value, 0));
		fprintf(file, "T %d %lld %lld\n", value, begun, nanoseconds());
		OK(neotuple_free(found));
	}
	CHECK(!fclose(file));
	printf("ended\n");
	return 0;
}
