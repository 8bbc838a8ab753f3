/* steps PLACES STEPS FILE: a task is stopped behind a number of instructions of one send or receive, at up to PLACES places
   of each kind from the first instruction to the last, by single steps as a debugger takes them, no more than about
   STEPS for a kind. While it stands there everybody else goes on. Then it is killed, or goes on: its message comes
   whole or, of who was killed, not at all. */
#define _GNU_SOURCE
#include "e2e.h"
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>

enum { DATA = 1, GO_ON = 2, GONE = 3, ECHO = 4, UNWANTED = 5 };
enum { BEFORE = 1, INSIDE, BEHIND };

/* What the victim is in the middle of: a message of so many words behind so many that are not looked at. */
static struct kind {
	const char *name;
	int words, earlier, reads;
} kinds[] = {
	{"send, the first one", 1, 0, 0},
	{"send in a cell", 1, 1, 0},
	{"send in several cells", 250, 1, 0},
	{"send in a slab", 5000, 1, 0},
	{"send that moves its lane", 1, 30, 0},
	{"receive out of a cell", 1, 0, 1},
	{"receive out of several cells", 250, 0, 1},
	{"receive out of a slab", 5000, 0, 1},
};
enum { KINDS = sizeof kinds / sizeof kinds[0], MOVES = 4, MUCH = 4000 };

static volatile struct shared {
	int pid, phase;
} *shared;
static char *self, *file;
static int partner;

static void map_shared(void)
{
	int fd = open(file, O_RDWR | O_CREAT, 0600);
	CHECK(fd >= 0 && ftruncate(fd, 4096) == 0);
	shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(shared != MAP_FAILED);
	close(fd);
}

static void send_words(int to, int tag, int i, int count)
{
	CALL(pvm_initsend(PvmDataRaw));
	CALL(pvm_pkint(&i, 1, 1));
	CALL(pvm_pkint((int *)words, count, 1));
	CALL(pvm_send(to, tag));
}

static int unpack_words(int count)
{
	int number;
	CALL(pvm_upkint(&number, 1, 1));
	CALL(pvm_upkint((int *)words, count, 1));
	return number;
}

static void check_words(int i, int count)
{
	memset(words, 0, count * 4);
	CHECK(unpack_words(count) == i);
	CHECK(is_filled(words, count, i));
}

static void be_victim(int lead, int which)
{
	const struct kind *kind = &kinds[which / 1000];
	int earlier = which % 1000;
	int i, number;
	CALL(pvm_mytid());
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	shared->phase = BEFORE;
	shared->pid = getpid();
	CALL(pvm_recv(lead, GO_ON));
	for (i = 0; i < earlier; i++) {
		fill(words, kind->words, i);
		send_words(lead, DATA, i, kind->words);
	}
	fill(words, kind->words, i);
	if (kind->reads)
		memset(words, 0, sizeof words);
	shared->phase = INSIDE;
	raise(SIGUSR1);
	if (kind->reads) {
		CALL(pvm_recv(lead, DATA));
		number = unpack_words(kind->words);
	} else {
		send_words(lead, DATA, number = i, kind->words);
	}
	shared->phase = BEHIND;
	CHECK(number == i && is_filled(words, kind->words, i));
	CALL(pvm_recv(lead, GO_ON));
	CALL(pvm_exit());
}

static void be_partner(int lead)
{
	for (;;)
		send_int(lead, ECHO, receive_int(lead, ECHO));
}

/* A message that must come soon. */
static void await(int from, int tag)
{
	struct timeval limit = {20, 0};
	CHECK(CALL(pvm_trecv(from, tag, &limit)) > 0);
}

/* Waits until the victim stops, and returns the signal that did it; 0 for a step. */
static int stopped(int pid)
{
	int status;
	CHECK(waitpid(pid, &status, __WALL) == pid);
	CHECK(WIFSTOPPED(status));
	return WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
}

/* A step from one processor to another takes ten times as long. */
static void share_processor(int pid)
{
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof one, &one);
	sched_setaffinity(pid, sizeof one, &one);
}

static void others_go_on(int victim)
{
	int i;
	for (i = 0; i < 3; i++) {
		send_int(partner, ECHO, i);
		await(partner, ECHO);
	}
	send_int(victim, UNWANTED, 0);
}

/* A victim of its own that is stopped behind `limit` instructions, or behind the call; returns how many there were. */
static int stop_behind(int limit, const struct kind *kind, int kills)
{
	char number[16];
	int tid, pid, status, signal = 0, steps = 0, i, has_come;
	shared->pid = 0;
	sprintf(number, "%d", (int)(kind - kinds) * 1000 + kind->earlier);
	tid = spawn_one(self, "victim", number, file);
	CALL(pvm_notify(PvmTaskExit, GONE, 1, &tid));
	while (!(pid = shared->pid))
		pause_ms(1);
	if (ptrace(PTRACE_SEIZE, pid, 0, 0) < 0) {
		printf("skipped: ptrace: %s\n", strerror(errno));
		exit(0);
	}
	share_processor(pid);
	send_int(tid, GO_ON, 0);
	if (kind->reads) {
		fill(words, kind->words, 0);
		send_words(tid, DATA, 0, kind->words);
	}
	while ((i = stopped(pid)) != SIGUSR1)
		CHECK(ptrace(PTRACE_CONT, pid, 0, i) == 0);
	for (; steps < limit && shared->phase == INSIDE; steps++) {
		CHECK(ptrace(PTRACE_SINGLESTEP, pid, 0, signal) == 0);
		signal = stopped(pid);
	}
	others_go_on(tid);
	if (kills) {
		CHECK(kill(pid, SIGKILL) == 0);
		CHECK(waitpid(pid, &status, __WALL) == pid && WIFSIGNALED(status));
	} else {
		CHECK(ptrace(PTRACE_DETACH, pid, 0, signal) == 0);
		send_int(tid, GO_ON, 0);
	}
	await(-1, GONE);
	for (i = 0; i < kind->earlier; i++) {
		await(tid, DATA);
		check_words(i, kind->words);
	}
	has_come = !kind->reads && CALL(pvm_nrecv(tid, DATA)) > 0;
	if (has_come)
		check_words(i, kind->words);
	CHECK(has_come || kills || kind->reads);
	CHECK(has_come || kind->reads || shared->phase == INSIDE);
	CHECK(kills || shared->phase == BEHIND);
	CHECK(pvm_nrecv(tid, DATA) == 0);
	return steps;
}

static void lead(int places, int most)
{
	int kind, n, all, several, total = 0;
	partner = spawn_one(self, "partner", "0", file);
	for (kind = 0; kind < KINDS; kind++) {
		while ((all = stop_behind(INT_MAX, &kinds[kind], 0)) < MUCH && kind == MOVES)
			CHECK(++kinds[kind].earlier < 100);
		/* One stop costs half of all steps, on the average. */
		several = 2 * most / all + 2;
		several = several > places ? places : several;
		several = several > all ? all : several;
		for (n = 0; n < several; n++)
			stop_behind((long)all * n / several, &kinds[kind], n & 1);
		printf("%s: %d instructions, stopped at %d places\n", kinds[kind].name, all, several);
		total += several;
	}
	printf("places %d\n", total);
	CALL(pvm_kill(partner));
	CALL(pvm_exit());
}

int main(int argc, char **argv)
{
	static char path[4096];
	CHECK(argc == 4);
	CHECK(realpath(argv[0], path));
	self = path;
	file = argv[3];
	map_shared();
	if (!strcmp(argv[1], "victim"))
		be_victim(pvm_parent(), atoi(argv[2]));
	else if (!strcmp(argv[1], "partner"))
		be_partner(pvm_parent());
	else
		lead(atoi(argv[1]), atoi(argv[2]));
	return 0;
}
