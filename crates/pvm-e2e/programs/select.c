/* select PEERS: a task with many peers that waits only in select() on the descriptor of pvm_getfds. */
#include "e2e.h"
#include <dirent.h>

#define BATCH 100

static int descriptor;
static long sleeps, in_vain;

/* The way old programs do it: look, and if there is nothing, select. */
static int next_by_look(void)
{
	int buffer;
	while ((buffer = CALL(pvm_nrecv(-1, -1))) == 0) {
		struct timeval limit = {100, 0};
		fd_set set;
		FD_ZERO(&set);
		FD_SET(descriptor, &set);
		CHECK(select(descriptor + 1, &set, 0, 0, &limit) == 1);
		sleeps++;
	}
	return buffer;
}

/* The other way: select first, then one look. */
static int next_by_select(void)
{
	for (;;) {
		struct timeval limit = {100, 0};
		fd_set set;
		int buffer;
		FD_ZERO(&set);
		FD_SET(descriptor, &set);
		CHECK(select(descriptor + 1, &set, 0, 0, &limit) == 1);
		sleeps++;
		buffer = CALL(pvm_nrecv(-1, -1));
		if (buffer)
			return buffer;
		in_vain++;
	}
}

static int open_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = -3; /* ".", ".." and the folder itself */
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

static void peer(void)
{
	int parent = CALL(pvm_parent()), round;
	send_int(parent, 1, getpid());
	for (round = receive_int(parent, 2); round > 0; round = receive_int(parent, 2))
		send_int(parent, 3, round);
	pvm_exit();
}

int main(int argc, char **argv)
{
	int count, i, *fds, *tids, round, value, started = 0, deepest = 0;
	char *args[] = {"peer", 0};
	double start;
	if (argc > 1 && strcmp(argv[1], "peer") == 0) {
		peer();
		return 0;
	}
	count = atoi(argv[1]);
	tids = malloc(count * sizeof *tids);
	CALL(pvm_mytid());
	CHECK(pvm_getfds(&fds) == 1);
	descriptor = fds[0];
	CHECK(descriptor >= 0 && descriptor < 1024);
	start = now();
	while (started < count) {
		int batch = count - started < BATCH ? count - started : BATCH;
		int got = CALL(pvm_spawn("select", args, PvmTaskDefault, "", batch, tids + started));
		if (got < batch)
			fprintf(stderr, "task %d: %d\n", started + got, tids[started + got]);
		CHECK(got == batch);
		started += batch;
		for (i = 0; i < batch; i++)
			next_by_look();
	}
	printf("spawned in %.2f s\n", now() - start);
	/* All peers are alive; the descriptor is still the only one. */
	CHECK(pvm_getfds(&fds) == 1 && fds[0] == descriptor);
	printf("descriptors %d\n", open_descriptors());
	start = now();
	for (round = 1; round <= 4; round++) {
		int sent = 0, got = 0;
		while (got < count) {
			/* Some at a time, so that the queue is empty now and then. */
			for (i = 0; i < 50 && sent < count; i++)
				send_int(tids[sent++], 2, round);
			for (i = 0; i < 50 && got < sent; i++) {
				if (round % 2)
					next_by_look();
				else
					next_by_select();
				CALL(pvm_upkint(&value, 1, 1));
				CHECK(value == round);
				got++;
			}
		}
	}
	CHECK(pvm_nrecv(-1, -1) == 0);
	printf("rounds %.2f s, %ld sleeps, %ld in vain\n", now() - start, sleeps, in_vain);
	printf("ready\n");
	fflush(stdout);
	getchar(); /* The test looks at the processes. */
	for (i = 0; i < count; i++)
		send_int(tids[i], 2, 0);
	pvm_exit();
	return 0;
}
