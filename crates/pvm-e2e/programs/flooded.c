/* flooded: many requests of one task wait for a server that is stopped, and then one of another task comes. When the server
   goes on, the one is done behind few of the many: places in the space are counted, no time is. */
#include "spaces.h"
#include <pthread.h>

#define FLOOD 400
#define BEHIND_MAX 20
#define SHORT 1000000LL

static neotuple_space space;

static neotuple integer(int value)
{
	neotuple tuple;

	OK(neotuple_new(&tuple));
	OK(neotuple_add(tuple, NEOTUPLE_INT, &value));
	return tuple;
}

/* A put that is not answered in time is left behind: the server does it when it goes on. */
static void put(int value)
{
	CHECK(neotuple_out(space, integer(value), SHORT, 0) == NEOTUPLE_NO_ANSWER);
}

static void *puts_one(void *value)
{
	put((int)(long)value);
	return 0;
}

static int number_of(neotuple tuple)
{
	int value;

	OK(neotuple_get(tuple, 0, NEOTUPLE_INT, NEOTUPLE_SCALAR, &value, sizeof value, 0));
	return value;
}

/* The other task: it has a tuple taken, so that the server knows it, and then puts one more. */
static void another(void)
{
	neotuple found;

	CALL(pvm_mytid());
	OK(neotuple_open("flood", 0, 0, &space));
	OK(neotuple_in(space, integer(-1), NEOTUPLE_FOREVER, &found));
	CHECK(raise(SIGSTOP) == 0);
	put(FLOOD);
	CHECK(raise(SIGSTOP) == 0);
	exit(0);
}

int main(int argc, char **argv)
{
	pthread_t threads[FLOOD];
	neotuple any, found[FLOOD + 1];
	uint64_t count;
	int keeper, other, status, place;
	long i;

	if (argc > 1)
		another();
	CALL(pvm_mytid());
	OK(neotuple_open("flood", NEOTUPLE_CREATE, 0, &space));
	OK(neotuple_out(space, integer(-1), NEOTUPLE_FOREVER, 0));
	keeper = server();
	if (!(other = fork())) {
		execl(argv[0], argv[0], "another", (char *)0);
		_exit(7);
	}
	CHECK(waitpid(other, &status, WUNTRACED) == other && WIFSTOPPED(status));
	CHECK(!kill(keeper, SIGSTOP));
	for (i = 0; i < FLOOD; i++)
		CHECK(!pthread_create(&threads[i], 0, puts_one, (void *)i));
	for (i = 0; i < FLOOD; i++)
		CHECK(!pthread_join(threads[i], 0));
	CHECK(!kill(other, SIGCONT));
	CHECK(waitpid(other, &status, WUNTRACED) == other && WIFSTOPPED(status));
	CHECK(!kill(keeper, SIGCONT));
	OK(neotuple_new(&any));
	OK(neotuple_add_formal(any, NEOTUPLE_INT, NEOTUPLE_SCALAR, 0));
	do
		OK(neotuple_count(space, any, &count));
	while (count <= FLOOD);
	/* The oldest comes first. */
	OK(neotuple_collect(space, any, found, FLOOD + 1, &count));
	CHECK(count == FLOOD + 1);
	for (place = 0; number_of(found[place]) != FLOOD; place++)
		CHECK(place < FLOOD);
	printf("behind %d of %d\n", place, FLOOD);
	CHECK(place <= BEHIND_MAX);
	/* What a task has asked for is not done once its end is known. */
	CHECK(!kill(other, SIGCONT) && waitpid(other, &status, 0) == other && !status);
	return 0;
}
