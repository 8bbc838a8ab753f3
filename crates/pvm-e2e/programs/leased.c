/* leased COPIES: the server of a space stands still, for less and for more than a lease, while a claim is ended and another
   task waits for the tuple. Whenever the lease has ended, the tuple is in one place: either the claim was done in time, or
   the tuple has come back, with one try more, to the one who waits. */
#include "spaces.h"

enum { MS = 1000000, ROUNDS = 6 };
static const int64_t LEASE = 300 * MS, PATIENCE = 3000LL * MS, LIMIT = 100000LL * MS;

static neotuple_space space;
static neotuple word;

static int64_t tries_of(neotuple tuple)
{
	uint64_t tries;

	OK(neotuple_tries(tuple, &tries));
	return (int64_t)tries;
}

/* Waits for the tuple; ends with 3 if it has come. */
static void take(void)
{
	neotuple found;

	OK(neotuple_in(space, word, PATIENCE, &found));
	exit(found ? tries_of(found) == 1 ? 3 : 5 : 0);
}

/* A process that lets the server go on after some milliseconds. */
static void later(int keeper, int milliseconds)
{
	int starter = fork();

	if (starter > 0)
		return;
	usleep(milliseconds * 1000);
	_exit(kill(keeper, SIGCONT) != 0);
}

static void await(int taker, int *taken)
{
	int status, ended;

	while ((ended = wait(&status)) > 0)
		if (ended == taker)
			*taken = WEXITSTATUS(status);
		else
			CHECK(!status);
}

/* The server stands still for so long, and the claim is done after half of that. */
static void stand_still(const char *self, int keeper, int milliseconds)
{
	neotuple claim;
	uint64_t left;
	int taken = -1, status, taker;

	OK(neotuple_out(space, word, LIMIT, 0));
	OK(neotuple_claim(space, word, LIMIT, LEASE, &claim));
	CHECK(claim && tries_of(claim) == 0);
	taker = CALL(fork());
	if (!taker) {
		execl(self, self, "taker", (char *)0);
		_exit(7);
	}
	usleep(50000);
	CHECK(!kill(keeper, SIGSTOP));
	later(keeper, milliseconds);
	usleep(milliseconds * 500);
	status = neotuple_done(space, claim, 0, 0);
	OK(neotuple_free(claim));
	await(taker, &taken);
	printf("%d ms: %s, %s\n", milliseconds, status ? "over" : "done", taken ? "taken" : "not taken");
	CHECK(status ? status == NEOTUPLE_CLAIM_OVER && taken == 3 : taken == 0);
	OK(neotuple_count(space, word, &left));
	CHECK(left == 0);
}

int main(int argc, char **argv)
{
	struct neotuple_options options;
	int round;

	CHECK(argc == 2);
	CALL(pvm_mytid());
	OK(neotuple_new(&word));
	OK(neotuple_add_bytes(word, NEOTUPLE_TEXT, "task", 4));
	if (!strcmp(argv[1], "taker")) {
		OK(neotuple_open("leased", 0, 0, &space));
		take();
	}
	memset(&options, 0, sizeof options);
	options.size = sizeof options;
	options.copies = atoi(argv[1]);
	OK(neotuple_open("leased", NEOTUPLE_CREATE, &options, &space));
	for (round = 0; round < ROUNDS; round++)
		stand_still(argv[0], server(), 100 + 500 * (round % 2) + 40 * round);
	return 0;
}
