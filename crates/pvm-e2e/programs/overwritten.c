/* overwritten put|overwrite|take: tuples of 1 MB are put, read by a task that writes over all memory that it shares with
   others, and taken. Their values may be others then. */
#include "spaces.h"

enum { BYTES = 1000003 };

static const int types[] = {NEOTUPLE_BYTES, NEOTUPLE_BOOL};
static neotuple_space space;

static neotuple named(int type)
{
	neotuple tuple;

	OK(neotuple_new(&tuple));
	OK(neotuple_add_bytes(tuple, NEOTUPLE_TEXT, type == NEOTUPLE_BOOL ? "truths" : "bytes", type == NEOTUPLE_BOOL ? 6 : 5));
	return tuple;
}

static void put(int type)
{
	static char memory[BYTES];
	neotuple tuple = named(type);
	int32_t number = 7;

	if (type == NEOTUPLE_BOOL)
		OK(neotuple_add_array(tuple, type, memory, BYTES));
	else
		OK(neotuple_add_bytes(tuple, type, memory, BYTES));
	OK(neotuple_add(tuple, NEOTUPLE_INT, &number));
	OK(neotuple_out(space, tuple, NEOTUPLE_FOREVER, 0));
}

static neotuple look_for(int type, int32_t (*look)(neotuple_space, neotuple, int64_t, neotuple *))
{
	neotuple found = 0, tuple = named(type);

	OK(neotuple_add_formal(tuple, type, type == NEOTUPLE_BOOL ? NEOTUPLE_ARRAY : NEOTUPLE_SCALAR, 0));
	OK(neotuple_add_formal(tuple, NEOTUPLE_INT, NEOTUPLE_SCALAR, 0));
	OK(look(space, tuple, 60000000000LL, &found));
	CHECK(found);
	return found;
}

static void overwrite(void)
{
	char line[1000], modes[5];
	unsigned long from, to;
	int count = 0;
	FILE *maps = fopen("/proc/self/maps", "r");

	CHECK(maps);
	while (fgets(line, sizeof line, maps))
		if (strstr(line, "memfd:neopvm") && sscanf(line, "%lx-%lx %4s", &from, &to, modes) == 3 && modes[1] == 'w' &&
		    to - from > BYTES) {
			/* In front of the messages lies who reads them. */
			memset((char *)from + 4096, 0xff, to - from - 4096);
			count++;
		}
	fclose(maps);
	CHECK(count > 0);
}

int main(int argc, char **argv)
{
	int at;

	CHECK(argc == 2);
	CALL(pvm_mytid());
	OK(neotuple_open("overwritten", NEOTUPLE_CREATE, 0, &space));
	for (at = 0; at < 2; at++) {
		int32_t number = 0;
		neotuple found;

		if (!strcmp(argv[1], "put")) {
			put(types[at]);
			continue;
		}
		found = look_for(types[at], *argv[1] == 'o' ? neotuple_rd : neotuple_in);
		if (*argv[1] == 'o')
			overwrite();
		OK(neotuple_get(found, 2, NEOTUPLE_INT, NEOTUPLE_SCALAR, &number, sizeof number, 0));
		CHECK(number == 7);
		OK(neotuple_free(found));
	}
	pvm_exit();
	return 0;
}
