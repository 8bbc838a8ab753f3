/* late PARENT: sends to two tasks for the first time while the host's parent process (by its number) is stopped, and while this
   process has no descriptor left. Those sends fail or not; all later messages arrive. */
#include "e2e.h"
#include <sys/resource.h>

static void worker(void)
{
	int parent = CALL(pvm_parent()), value;
	for (;;) {
		CALL(pvm_recv(parent, 3));
		CALL(pvm_upkint(&value, 1, 1));
		if (value < 0)
			break;
		if (value >= 1000)
			CALL(pvm_upkint((int *)words, 50000, 1));
		if (value >= 1000)
			CHECK(is_filled(words, 50000, value));
		send_int(parent, 4, value + 1);
	}
	CALL(pvm_exit());
}

static int say(int to, int value)
{
	CALL(pvm_initsend(PvmDataRaw));
	CALL(pvm_pkint(&value, 1, 1));
	if (value >= 1000) {
		fill(words, 50000, value);
		CALL(pvm_pkint((int *)words, 50000, 1));
	}
	return pvm_send(to, 3);
}

static void converse(int to)
{
	int i;
	for (i = 1; i < 1005; i += i < 5 ? 1 : 500) {
		CALL(say(to, i));
		CHECK(receive_int(to, 4) == i + 1);
	}
}

int main(int argc, char **argv)
{
	int parent = atoi(argv[1]), tids[4], i, sent, failed = 0;
	struct rlimit limit, full;
	if (parent == 0) {
		worker();
		return 0;
	}
	pvm_setopt(PvmAutoErr, 0);
	CALL(pvm_mytid());
	for (i = 0; i < 4; i++)
		tids[i] = spawn_one("late", "0", 0, 0);
	CHECK(kill(parent, SIGSTOP) == 0);
	for (i = 0; i < 4; i++) {
		sent = say(tids[i % 2], i < 2 ? 7 : 2000);
		CHECK(sent == PvmSysErr);
		failed++;
	}
	CHECK(kill(parent, SIGCONT) == 0);
	for (i = 0; i < 4; i++)
		converse(tids[i % 2]);

	/* No descriptor is left for what comes beside answers. */
	CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	full = limit;
	full.rlim_cur = 3;
	CHECK(setrlimit(RLIMIT_NOFILE, &full) == 0);
	for (i = 2; i < 4; i++) {
		CHECK(say(tids[i], 7) == PvmNoMem);
		failed++;
	}
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	for (i = 0; i < 4; i++)
		converse(tids[i]);
	for (i = 0; i < 4; i++)
		CALL(say(tids[i], -1));
	printf("failed %d\n", failed);
	CALL(pvm_exit());
	return 0;
}
