/* durable FILE SEED: puts and takes tuples of the space "kept" until it is killed. FILE says what it wants to do before,
   and what has been answered behind each call: p N, P N (put), t, T N (taken), t, N (nothing was there). */
#include "e2e.h"
#include "neotuple.h"
#include <fcntl.h>

#define OK(call) do { int32_t status_ = (call); \
	if (status_) { fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, neotuple_text(status_)); exit(1); } \
} while (0)

static int file;

static void say(char what, int number)
{
	char line[40];
	int bytes = snprintf(line, sizeof line, "%c %d\n", what, number);

	CHECK(write(file, line, bytes) == bytes);
}

int main(int argc, char **argv)
{
	neotuple_space space;
	neotuple tuple, any, found;
	int seed = atoi(argv[2]), number = seed * 1000000, value;

	CHECK(argc == 3);
	CHECK((file = open(argv[1], O_CREAT | O_WRONLY | O_APPEND, 0600)) >= 0);
	srand(seed);
	CALL(pvm_mytid());
	OK(neotuple_open("kept", 0, 0, &space));
	OK(neotuple_new(&tuple));
	OK(neotuple_new(&any));
	OK(neotuple_add_formal(any, NEOTUPLE_INT, NEOTUPLE_SCALAR, 0));
	printf("begun\n");
	for (;;) {
		if (rand() % 9 < 5) {
			OK(neotuple_clear(tuple));
			OK(neotuple_add(tuple, NEOTUPLE_INT, &number));
			say('p', number);
			OK(neotuple_out(space, tuple, NEOTUPLE_FOREVER, 0));
			say('P', number++);
			continue;
		}
		say('t', 0);
		OK(neotuple_in(space, any, 0, &found));
		if (!found) {
			say('N', 0);
			continue;
		}
		OK(neotuple_get(found, 0, NEOTUPLE_INT, NEOTUPLE_SCALAR, &value, sizeof value, 0));
		say('T', value);
		OK(neotuple_free(found));
	}
}
