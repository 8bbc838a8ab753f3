/* longest: one thread waits for a tuple that comes last, while another one puts and takes PAIRS tuples. The server keeps no
   answers to these meanwhile. */
#include "spaces.h"
#include <pthread.h>

enum { PAIRS = 20000, KILOBYTES = 2000 };

static neotuple_space space;

static neotuple text(const char *word)
{
	neotuple tuple;

	OK(neotuple_new(&tuple));
	OK(neotuple_add_bytes(tuple, NEOTUPLE_TEXT, word, strlen(word)));
	return tuple;
}

static void *wait_for_last(void *found)
{
	OK(neotuple_in(space, text("last"), NEOTUPLE_FOREVER, found));
	return found;
}

/* The server's own memory in kilobytes. */
static int memory(int keeper)
{
	char line[200];
	int kilobytes = -1;
	FILE *file;

	snprintf(line, sizeof line, "/proc/%d/smaps_rollup", keeper);
	CHECK((file = fopen(line, "r")));
	while (fgets(line, sizeof line, file))
		sscanf(line, "Pss_Anon: %d", &kilobytes);
	fclose(file);
	CHECK(kilobytes > 0);
	return kilobytes;
}

int main(void)
{
	neotuple pair, last = 0, found;
	pthread_t thread;
	int number, before, more;

	CALL(pvm_mytid());
	OK(neotuple_open("longest", NEOTUPLE_CREATE, 0, &space));
	CHECK(!pthread_create(&thread, 0, wait_for_last, &last));
	usleep(300000);
	before = memory(server());
	pair = text("pair");
	for (number = 0; number < PAIRS; number++) {
		OK(neotuple_out(space, pair, NEOTUPLE_FOREVER, 0));
		OK(neotuple_in(space, pair, NEOTUPLE_FOREVER, &found));
		OK(neotuple_free(found));
	}
	more = memory(server()) - before;
	printf("%d kB more after %d pairs\n", more, PAIRS);
	CHECK(more < KILOBYTES);
	OK(neotuple_out(space, text("last"), NEOTUPLE_FOREVER, 0));
	CHECK(!pthread_join(thread, 0) && last);
	return 0;
}
