/* cycles COUNT MODE: enrols and leaves COUNT times with at most 256 descriptors. `alone` does nothing else, `messages` sends
   one to itself and to another task, `idle` does that beside a thread, `waiting` beside threads that are in pvm_recv each time. */
#define _GNU_SOURCE
#include "e2e.h"
#include <dirent.h>
#include <pthread.h>
#include <sys/resource.h>

#define THREADS 3

static volatile int over;
static volatile int told[THREADS];

static int entries(void)
{
	int count = 0;
	DIR *folder = opendir("/proc/self/fd");
	CHECK(folder);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

static int mappings(void)
{
	char line[1000];
	int count = 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	CHECK(maps);
	while (fgets(line, sizeof line, maps))
		count += strstr(line, "memfd:neopvm") != 0;
	fclose(maps);
	return count;
}

static void *idle(void *nothing)
{
	while (!over)
		pause_ms(1);
	return nothing;
}

/* Enrols whenever it finds the process outside, so that lives begin and end in all orders. */
static void *waiting(void *number)
{
	while (!over) {
		int code = pvm_recv(-1, 77);
		CHECK(code == PvmSysErr);
		told[(long)number]++;
	}
	return 0;
}

static void one(int messages)
{
	int me = CALL(pvm_mytid()), other;
	if (messages) {
		send_int(me, 5, 1234);
		CHECK(receive_int(me, 5) == 1234);
		other = spawn_one("cycles", "0", 0, 0);
		send_int(other, 5, 99);
		CHECK(receive_int(other, 5) == 100);
	}
	CALL(pvm_exit());
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 0, i, threads = 0, before, first, after, fds, messages;
	char *mode = argc > 2 ? argv[2] : "";
	pthread_t thread[THREADS];
	struct rlimit limit = {256, 256};
	if (count == 0) {
		int parent = CALL(pvm_parent());
		send_int(parent, 5, receive_int(parent, 5) + 1);
		CALL(pvm_exit());
		return 0;
	}
	pvm_setopt(PvmAutoErr, 0);
	CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	fds = entries();
	messages = strcmp(mode, "messages") == 0;
	if (strcmp(mode, "idle") == 0)
		CHECK(pthread_create(&thread[threads++], 0, idle, 0) == 0);
	if (strcmp(mode, "waiting") == 0)
		while (threads < THREADS) {
			CHECK(pthread_create(&thread[threads], 0, waiting, (void *)(long)threads) == 0);
			threads++;
		}
	one(messages);
	first = mappings();
	for (i = 1; i < count; i++) {
		/* Some lives are long enough that the threads sleep in there. */
		if (threads == THREADS && i % 50 == 0)
			pause_ms(5);
		one(messages);
	}
	over = 1;
	for (i = 0; i < threads; i++) {
		/* Whoever has just begun a life anew is told by its end. */
		while (pthread_tryjoin_np(thread[i], 0) != 0) {
			CALL(pvm_mytid());
			CALL(pvm_exit());
			pause_ms(1);
		}
	}
	before = fds, after = entries();
	printf("descriptors %d\nmappings %d\n", after - before, mappings() - (threads == THREADS ? 0 : first));
	for (i = 0; threads == THREADS && i < THREADS; i++)
		CHECK(told[i] > 0);
	return 0;
}
