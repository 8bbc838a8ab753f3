/* talk SECONDS PARTNERS [mayflies]: numbered messages to and from partners, nothing lost or late; with
   "mayflies" tasks are started all the time, six at least, and each one's message and notice of exit must come. */
#include "e2e.h"

static double longest;

static void await(int from, int tag)
{
	struct timeval limit = {100, 0};
	double start = now(), spent;
	int buffer = CALL(pvm_trecv(from, tag, &limit));
	if (buffer == 0)
		fprintf(stderr, "nothing from t%x with tag %d\n", from, tag);
	CHECK(buffer > 0);
	spent = now() - start;
	if (spent > longest)
		longest = spent;
}

int main(int argc, char **argv)
{
	int partners, i, tids[16], round = 0, mayflies = 0, parent, tid;
	double end, start;
	if (strcmp(argv[1], "mayfly") == 0) {
		send_int(CALL(pvm_parent()), 5, getpid());
		pvm_exit();
		return 0;
	}
	if (strcmp(argv[1], "partner") == 0) {
		parent = CALL(pvm_parent());
		for (i = 0;; i++) {
			CALL(pvm_recv(parent, -1));
			unpack_numbered(i % 98);
			send_numbered(parent, 2, i % 98);
		}
	}
	CALL(pvm_mytid());
	partners = atoi(argv[2]);
	for (i = 0; i < partners; i++)
		tids[i] = spawn_one("talk", "partner", 0, 0);
	printf("talking\n");
	fflush(stdout);
	start = now();
	end = start + atof(argv[1]);
	while (now() < end || (argc > 3 && mayflies < 6)) {
		for (i = 0; i < partners; i++)
			send_numbered(tids[i], 1, round % 98);
		for (i = 0; i < partners; i++) {
			await(tids[i], 2);
			unpack_numbered(round % 98);
		}
		if (argc > 3 && round % 50 == 0) {
			tid = spawn_one("talk", "mayfly", 0, 0);
			CALL(pvm_notify(PvmTaskExit, 6, 1, &tid));
			await(tid, 5);
			await(-1, 6);
			CALL(pvm_upkint(&i, 1, 1));
			CHECK(i == tid);
			mayflies++;
		}
		round++;
	}
	for (i = 0; i < partners; i++)
		CALL(pvm_kill(tids[i]));
	printf("rounds %d\nmayflies %d\nlongest wait %.3f s\n", round, mayflies, longest);
	pvm_exit();
	return 0;
}
