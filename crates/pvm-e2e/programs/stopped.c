/* stopped: the server of a space is stopped. A call with a limit ends when that has passed, and what was asked for is
   settled when the server goes on: a tuple that was taken behind the caller's back is in the space again, once. */
#include "spaces.h"

static const int64_t LIMIT = 100000000000LL, SHORT = 300000000LL;

static neotuple_space space;

static neotuple text(const char *word)
{
	neotuple tuple;

	OK(neotuple_new(&tuple));
	OK(neotuple_add_bytes(tuple, NEOTUPLE_TEXT, word, strlen(word)));
	return tuple;
}

/* Until the server has heard all that was said while it was stopped, it may have taken a tuple and not yet put it back. */
static void expect(const char *word, uint64_t wanted)
{
	double begun = now();
	uint64_t count;

	do
		OK(neotuple_count(space, text(word), &count));
	while (count != wanted && now() - begun < 100);
	if (count != wanted)
		fprintf(stderr, "%s: %d\n", word, (int)count);
	CHECK(count == wanted);
}

static double since;

static void in_time(int status)
{
	double took = now() - since;

	/* Half a second behind the limit, or later on a busy computer; without an end it would be when the server goes on. */
	if (status != NEOTUPLE_NO_ANSWER || took > 60)
		fprintf(stderr, "%s after %.2f s\n", neotuple_text(status), took);
	CHECK(status == NEOTUPLE_NO_ANSWER && took < 60);
	since = now();
}

/* A task that has ended by itself when the server goes on. */
static void another(void)
{
	neotuple found;

	CALL(pvm_mytid());
	OK(neotuple_open("stopped", 0, 0, &space));
	since = now();
	in_time(neotuple_in(space, text("one"), SHORT, &found));
	in_time(neotuple_claim(space, text("two"), SHORT, 0, &found));
	exit(0);
}

int main(int argc, char **argv)
{
	neotuple found, found_too[4];
	uint64_t count;
	int keeper, status, done = 5;

	if (argc > 1)
		another();
	CALL(pvm_mytid());
	OK(neotuple_open("stopped", NEOTUPLE_CREATE, 0, &space));
	OK(neotuple_out(space, text("one"), LIMIT, 0));
	OK(neotuple_out(space, text("two"), LIMIT, 0));
	keeper = server();
	CHECK(!kill(keeper, SIGSTOP));
	since = now();
	in_time(neotuple_in(space, text("one"), SHORT, &found));
	in_time(neotuple_claim(space, text("two"), SHORT, 0, &found));
	in_time(neotuple_rd(space, text("two"), SHORT, &found));
	in_time(neotuple_out(space, text("three"), SHORT, &done));
	if (!fork()) {
		execl(argv[0], argv[0], "another", (char *)0);
		_exit(7);
	}
	CHECK(wait(&status) > 0 && !status);
	CHECK(!kill(keeper, SIGCONT));
	expect("one", 1);
	expect("two", 1);
	expect("three", 1);
	OK(neotuple_claim(space, text("two"), LIMIT, 0, &found));
	CHECK(found);
	OK(neotuple_done(space, found, 0, 0));
	OK(neotuple_collect(space, text("one"), found_too, 4, &count));
	CHECK(count == 1);
	expect("one", 0);
	/* Requests behind those that were left are done as ever. */
	OK(neotuple_out(space, text("one"), SHORT, 0));
	OK(neotuple_in(space, text("one"), LIMIT, &found));
	CHECK(found);
	return 0;
}
