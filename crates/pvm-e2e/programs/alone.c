/* alone MODE N ROUNDS MS: N tasks, each of which computes MS milliseconds of processor time ROUNDS times and
   tells when: `turn BEGIN END PROCESSOR`. Between two of them they wait for one another (ring, barrier), look
   in vain (poll), or ask the host (killed, stopped: task 1 is that in the midst of a computation). */
#include "e2e.h"
#include "neopvm.h"

#define MOST 16
#define ROUNDS_MOST 64

static double processor(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static double begins[ROUNDS_MOST], ends[ROUNDS_MOST], used[ROUNDS_MOST];

static void compute(int round, int ms, int with)
{
	double since = processor(), end = since + ms / 1e3;
	begins[round] = now();
	while (processor() < end)
		if (with && processor() > since + ms / 2e3) {
			raise(with);
			with = 0;
		}
	ends[round] = now();
	used[round] = processor() - since;
}

/* True once a process stands still. */
static int has_stopped(int pid)
{
	char path[64], line[512] = "";
	FILE *file;
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	CHECK((file = fopen(path, "r")));
	CHECK(fgets(line, sizeof line, file));
	fclose(file);
	return strstr(line, ") T ") != 0;
}

int main(int argc, char **argv)
{
	int me = CALL(pvm_mytid()), parent = pvm_parent(), place = 0, tids[MOST], pids[MOST] = {0}, i;
	const char *mode = argc > 1 ? argv[1] : "ring";
	int n = argc > 2 ? atoi(argv[2]) : 2, rounds = argc > 3 ? atoi(argv[3]) : 3, ms = argc > 4 ? atoi(argv[4]) : 20;
	int ends_badly = !strcmp(mode, "killed") ? SIGKILL : !strcmp(mode, "stopped") ? SIGSTOP : 0;
	CHECK(n >= 2 && n <= MOST && rounds <= ROUNDS_MOST);
	if (parent < 0) {
		CHECK(CALL(pvm_spawn("alone", argv + 1, 0, 0, n - 1, tids + 1)) == n - 1);
		tids[0] = me;
		CALL(pvm_initsend(PvmDataDefault));
		CALL(pvm_pkint(tids, n, 1));
		CALL(pvm_mcast(tids + 1, n - 1, 9));
		for (i = 1; i < n; i++)
			pids[i] = receive_int(tids[i], 8);
	} else {
		CALL(pvm_recv(parent, 9));
		CALL(pvm_upkint(tids, n, 1));
		send_int(parent, 8, getpid());
	}
	while (tids[place] != me)
		place++;
	if (!strcmp(mode, "barrier"))
		CALL(pvm_joingroup("alone"));
	CHECK(neopvm_state("rounds") == 0);
	for (i = 0; i < rounds; i++) {
		compute(i, ms, place == 1 && i == 1 ? ends_badly : 0);
		if (!strcmp(mode, "ring")) {
			send_int(tids[(place + 1) % n], 1, i);
			CHECK(receive_int(tids[(place + n - 1) % n], 1) == i);
		} else if (!strcmp(mode, "barrier")) {
			CALL(pvm_barrier("alone", n));
		} else if (!strcmp(mode, "poll")) {
			send_int(tids[(place + 1) % n], 1, i);
			while (CALL(pvm_nrecv(-1, 1)) == 0)
				;
		} else {
			CALL(pvm_config(0, 0, 0));
		}
	}
	CHECK(neopvm_state("end") == 0);
	for (i = 0; i < rounds; i++)
		if (place != 1 || !ends_badly)
			printf("turn %.6f %.6f %.6f\n", begins[i], ends[i], used[i]);
	if (place > 0) {
		send_int(parent, 7, place);
	} else {
		for (i = 1; i < n; i++) {
			if (i == 1 && ends_badly == SIGKILL)
				continue;
			if (i == 1 && ends_badly) {
				/* It may be its turn while we ask. */
				while (!has_stopped(pids[1]))
					CALL(pvm_config(0, 0, 0));
				CHECK(kill(pids[1], SIGCONT) == 0);
			}
			CHECK(receive_int(tids[i], 7) == i);
		}
	}
	pvm_exit();
	return 0;
}
