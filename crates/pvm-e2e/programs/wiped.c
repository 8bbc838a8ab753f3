/* wiped [often]: a task that clears the words of others' inboxes silences nobody for long. The master
   sleeps in a receive; a hostile task wipes what it has mapped, and an honest one sends. With "often" a
   timer interrupts the master's sleep each second. */
#include "e2e.h"
#include <stdint.h>

#define HELLO 1
#define BEGIN 2
#define NEWS 3
#define PAGE 4096

/* Takes away, for three seconds, that the master sleeps and that messages wait for it. */
static void wipe(void)
{
	volatile uint64_t *words[64];
	unsigned long from, to;
	char line[1000];
	int i, n = 0, round;
	FILE *maps = fopen("/proc/self/maps", "r");
	CHECK(maps);
	while (n < 64 && fgets(line, sizeof line, maps)) {
		int is_ours = strstr(line, "memfd:neopvm") && strstr(line, " rw-s ");
		if (is_ours && sscanf(line, "%lx-%lx", &from, &to) == 2 && to - from == PAGE)
			words[n++] = (volatile uint64_t *)from;
	}
	fclose(maps);
	CHECK(n >= 2);
	for (round = 0; round < 3000; round++) {
		for (i = 0; i < n; i++)
			*words[i] = 0;
		pause_ms(1);
	}
}

static void child(int parent, const char *role)
{
	CALL(pvm_initsend(PvmDataRaw));
	CALL(pvm_send(parent, HELLO));
	CALL(pvm_recv(parent, BEGIN));
	if (*role == 'h')
		wipe();
	else {
		pause_ms(1500);
		CALL(pvm_initsend(PvmDataRaw));
		CALL(pvm_send(parent, NEWS));
		CALL(pvm_recv(parent, BEGIN));
	}
}

static void nothing(int signal)
{
	(void)signal;
}

static void interrupt_often(void)
{
	struct sigaction action = {.sa_handler = nothing};
	struct itimerval second = {{1, 0}, {1, 0}};
	CHECK(sigaction(SIGALRM, &action, 0) == 0);
	CHECK(setitimer(ITIMER_REAL, &second, 0) == 0);
}

int main(int argc, char **argv)
{
	char exe[1000] = "", *hostile[] = {"h", 0}, *honest[] = {"w", 0};
	struct timeval limit = {25, 0};
	int tids[2], i, parent, got;
	double begin;

	CHECK(pvm_mytid() > 0);
	parent = pvm_parent();
	if (parent > 0) {
		CHECK(argc > 1);
		child(parent, argv[1]);
		pvm_exit();
		return 0;
	}
	CHECK(realpath(argv[0], exe));
	CHECK(pvm_spawn(exe, hostile, PvmTaskDefault, 0, 1, &tids[0]) == 1);
	CHECK(pvm_spawn(exe, honest, PvmTaskDefault, 0, 1, &tids[1]) == 1);
	for (i = 0; i < 2; i++)
		CALL(pvm_recv(-1, HELLO));
	CALL(pvm_initsend(PvmDataRaw));
	CALL(pvm_mcast(tids, 2, BEGIN));
	if (argc > 1)
		interrupt_often();
	begin = now();
	got = CALL(pvm_trecv(-1, NEWS, &limit));
	printf("%s after %.1f s\n", got ? "the message came" : "nothing came", now() - begin);
	CHECK(got && now() - begin < 15);
	CALL(pvm_initsend(PvmDataRaw));
	CALL(pvm_send(tids[1], BEGIN));
	pvm_exit();
	return 0;
}
