/* reused ROUNDS: task ids of one host come again and again (NEOPVM_TASK_IDS makes them few), with each way in which a task can
   end, and in each way that a message goes: nothing that was meant for an old task reaches a new one, and the first message to
   a new one reaches it. */
#include "e2e.h"

enum { WORKERS = 4, ASK = 1, ANSWER, NEVER, GONE, IDS = 64 };

/* Leaves, ends, is killed with answers behind it, or is killed before it has read. */
enum { LEAVES, ENDS, DIES, UNREAD, WAYS };

static void work(int parent)
{
	int round = receive_int(parent, ASK), way;
	CALL(pvm_upkint(&way, 1, 1));
	send_numbered(parent, ANSWER, round);
	if (way == DIES)
		kill(getpid(), SIGKILL);
	if (way == LEAVES)
		CALL(pvm_exit());
	exit(0);
}

int main(int argc, char **argv)
{
	int parent = pvm_parent(), rounds = argc > 1 ? atoi(argv[1]) : 0, tids[WORKERS], round, i, tid, times[IDS] = {0}, most = 0;
	char *none[] = {0};
	if (parent > 0)
		work(parent);
	CALL(pvm_mytid());
	for (round = 0; round < rounds; round++) {
		int ways[WORKERS], unread = 0;
		CHECK(CALL(pvm_spawn("reused", none, PvmTaskDefault, "", WORKERS, tids)) == WORKERS);
		CALL(pvm_notify(PvmTaskExit, GONE, WORKERS, tids));
		for (i = 0; i < WORKERS; i++) {
			ways[i] = (round + i * 7) % WAYS;
			CHECK((tids[i] & 0x3ffff) < IDS);
			times[tids[i] & 0x3ffff]++;
			if (ways[i] == UNREAD) {
				/* More than a lane holds, which dies with it. */
				for (unread = 0; unread < 40; unread++)
					send_int(tids[i], NEVER, unread);
				CALL(pvm_kill(tids[i]));
				continue;
			}
			CALL(pvm_initsend(encodings[round % 3]));
			CALL(pvm_pkint(&round, 1, 1));
			CALL(pvm_pkint(&ways[i], 1, 1));
			CALL(pvm_send(tids[i], ASK));
		}
		for (i = 0; i < WORKERS; i++)
			if (ways[i] != UNREAD)
				receive_numbered(tids[i], ANSWER, round);
		for (i = 0; i < WORKERS; i++) {
			CALL(pvm_recv(-1, GONE));
			CALL(pvm_upkint(&tid, 1, 1));
		}
		CHECK(pvm_probe(-1, -1) == 0);
	}
	for (i = 0; i < IDS; i++)
		most = times[i] > most ? times[i] : most;
	printf("at most %d\n", most);
	CALL(pvm_exit());
	return 0;
}
