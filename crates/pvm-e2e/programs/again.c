/* again ROUNDS: task ids of another host come again, and who has talked with the old tasks talks with the new ones: by the
   daemons, by direct routes, and first one and then the other. Some workers leave, others are killed in the middle of what
   they say. Each side numbers its messages, and nothing of the old pairs counts for the new ones. A host of this test has
   few ids (NEOPVM_TASK_IDS), of which each round takes all. */
#include "e2e.h"

#define MESSAGES 20
#define WORKERS 8

enum { ASK = 1, ANSWER = 2, MORE = 3, GONE = 9 };
enum { BY_DAEMONS, DIRECT, CHANGING, WAYS };

static int waited(int from, int tag)
{
	struct timeval limit = {100, 0};
	int value, got = CALL(pvm_trecv(from, tag, &limit));
	if (got == 0)
		printf("nothing came from t%x\n", from);
	CHECK(got > 0);
	CALL(pvm_upkint(&value, 1, 1));
	return value;
}

static void route(int way, int message)
{
	int direct = way == DIRECT || (way == CHANGING && message > 0);
	CALL(pvm_setopt(PvmRoute, direct ? PvmRouteDirect : PvmDontRoute));
}

/* Answers, and says more than anybody waits for; an odd one is killed where it says that. */
static void worker(int way)
{
	int parent = CALL(pvm_parent()), i;
	for (i = 0; i < MESSAGES; i++) {
		route(way, i);
		CHECK(waited(parent, ASK) == i);
		send_int(parent, ANSWER, i);
		send_int(parent, MORE, i);
	}
	if (pvm_mytid() & 1)
		for (;;)
			send_int(parent, MORE, i++);
	pvm_exit();
	exit(0);
}

static int begin(char *host, int way)
{
	char word[8], *args[2] = {word, 0};
	int tid;
	sprintf(word, "%d", way);
	CHECK(pvm_spawn("again", args, PvmTaskHost, host, 1, &tid) == 1);
	CALL(pvm_notify(PvmTaskExit, GONE, 1, &tid));
	return tid;
}

/* What was said beside comes whole and in order up to the end, whoever had the id before. */
static void talk(int tid, int way)
{
	int i, more = 0;
	for (i = 0; i < MESSAGES; i++) {
		route(way, i);
		send_int(tid, ASK, i);
		CHECK(waited(tid, ANSWER) == i);
	}
	if (tid & 1) {
		pause_ms(3);
		CALL(pvm_kill(tid));
	}
	CHECK(waited(-1, GONE) == tid);
	while (CALL(pvm_nrecv(tid, MORE)) > 0) {
		CALL(pvm_upkint(&i, 1, 1));
		if (i != more)
			printf("t%x said %d where %d was its turn\n", tid, i, more);
		CHECK(i == more++);
	}
	CHECK(more >= MESSAGES);
	CHECK(pvm_nrecv(tid, -1) == 0);
}

/* Tasks of one id become tasks in different seconds, as 262 143 others come between. */
static void await_next_second(void)
{
	time_t second = time(0);
	while (time(0) == second)
		pause_ms(5);
}

int main(int argc, char **argv)
{
	struct pvmhostinfo *host;
	int hosts, first[WORKERS] = {0}, tids[WORKERS], rounds, round, i, again = 0;
	CHECK(argc == 2);
	if (pvm_parent() > 0)
		worker(atoi(argv[1]));
	rounds = atoi(argv[1]);
	CALL(pvm_config(&hosts, 0, &host));
	CHECK(hosts == 2);
	for (round = 0; round < rounds; round++) {
		for (i = 0; i < WORKERS; i++)
			tids[i] = begin(host[1].hi_name, (i + round) % WAYS);
		for (i = 0; i < WORKERS; i++) {
			first[i] = round ? first[i] : tids[i];
			again += round && tids[i] == first[i];
			talk(tids[i], (i + round) % WAYS);
		}
		await_next_second();
	}
	printf("again %d\n", again);
	pvm_exit();
	return 0;
}
