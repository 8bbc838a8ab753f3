/* exits KILLS: how long after SIGKILL the notice of a task's exit comes. */
#include "e2e.h"

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
	int kills = atoi(argv[1]), i, tid, pid, gone;
	double ms[1000], start;
	if (kills == 0) {
		send_int(CALL(pvm_parent()), 1, getpid());
		while (1)
			pvm_recv(-1, 99);
	}
	CALL(pvm_mytid());
	for (i = 0; i < kills; i++) {
		tid = spawn_one("exits", "0", 0, 0);
		pid = receive_int(tid, 1);
		CALL(pvm_notify(PvmTaskExit, 2, 1, &tid));
		if (i % 2)
			pause_ms(20); /* Asleep, not only just enrolled. */
		start = now();
		CHECK(kill(pid, SIGKILL) == 0);
		gone = receive_int(-1, 2);
		ms[i] = (now() - start) * 1e3;
		CHECK(gone == tid);
		CHECK(pvm_pstat(tid) == PvmNoTask);
	}
	qsort(ms, kills, sizeof *ms, ascending);
	printf("median %.2f ms\nslowest %.2f ms\n", ms[kills / 2], ms[kills - 1]);
	pvm_exit();
	return 0;
}
