/* bag FILE SEED COUNT [PAUSE [STOP]]: does COUNT operations in the space "bag", and more until the file STOP is there: puts
   tuples of one number that no other one has, takes the oldest one. FILE has a line for each: P (put), T (taken) or N
   (nothing was there), the number, and when the call began and ended, in nanoseconds. With a PAUSE in microseconds behind
   each operation it may be killed: it says with p and t, too, that a call begins; and it waits for tuples now and then,
   with U where no server has answered in time. */
#include "e2e.h"
#include "neotuple.h"

#define OK(call) do { int32_t status_ = (call); \
	if (status_) { fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, neotuple_text(status_)); exit(1); } \
} while (0)
#define WAIT_NS 2000000000LL

static FILE *file;

static long long nanoseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void say(char what, int number, long long begun, long long ended)
{
	CHECK(fprintf(file, "%c %d %lld %lld\n", what, number, begun, ended) > 0);
}

int main(int argc, char **argv)
{
	neotuple_space space;
	neotuple tuple, any, found;
	int seed = atoi(argv[2]), left = atoi(argv[3]), number = seed * 10000000, pause = argc > 4 ? atoi(argv[4]) : 0, value;
	int32_t status;
	int64_t limit;
	long long begun;

	CHECK(argc >= 4 && (file = fopen(argv[1], "w")));
	CHECK(!pause || !setvbuf(file, 0, _IOLBF, 0));
	srand(seed);
	CALL(pvm_mytid());
	OK(neotuple_open("bag", 0, 0, &space));
	OK(neotuple_new(&tuple));
	OK(neotuple_new(&any));
	OK(neotuple_add_formal(any, NEOTUPLE_INT, NEOTUPLE_SCALAR, 0));
	printf("begun\n");
	for (; left-- > 0 || (argc > 5 && access(argv[5], F_OK)); pause && usleep(pause)) {
		if (rand() % 2) {
			OK(neotuple_clear(tuple));
			OK(neotuple_add(tuple, NEOTUPLE_INT, &number));
			begun = nanoseconds();
			if (pause)
				say('p', number, begun, 0);
			OK(neotuple_out(space, tuple, NEOTUPLE_FOREVER, 0));
			say('P', number++, begun, nanoseconds());
			continue;
		}
		limit = pause && rand() % 4 == 0 ? WAIT_NS : 0;
		begun = nanoseconds();
		if (pause)
			say('t', 0, begun, 0);
		status = neotuple_in(space, any, limit, &found);
		if (status == NEOTUPLE_NO_ANSWER && limit) {
			say('U', 0, begun, nanoseconds());
			continue;
		}
		OK(status);
		if (!found) {
			say('N', 0, begun, nanoseconds());
			continue;
		}
		OK(neotuple_get(found, 0, NEOTUPLE_INT, NEOTUPLE_SCALAR, &value, sizeof value, 0));
		say('T', value, begun, nanoseconds());
		OK(neotuple_free(found));
	}
	CHECK(!fclose(file));
	printf("ended\n");
	return 0;
}
