/* steps PLACES STEPS FILE: a task is stopped behind a number of instructions of one send or receive, at up to PLACES places
   of each kind from the first instruction to the last, by single steps as a debugger takes them, no more than about
   STEPS for a kind. While it stands there everybody else goes on. Then it is killed, or goes on: its message comes
   whole or, of who was killed, not at all. Some victims wake a task that sleeps, and are stopped where they are about to
   ring, too: others wake it all the same, and who was killed there is rung for. On two hosts the sleepers are a daemon, which takes
   what goes to the other host, and a task there; nothing else is tried then. */
#define _GNU_SOURCE
#include "e2e.h"
#include "neopvm.h"
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include "stops.h"

enum { DATA = 1, GO_ON = 2, GONE = 3, ECHO = 4, UNWANTED = 5, JOIN = 6, MEET = 7 };
enum { BEFORE = 1, INSIDE, BEHIND };
enum { SLEEPERS = 2, AT_RING = -1 };

/* What the victim is in the middle of: a message of so many words behind so many that are not looked at. */
static struct kind {
	const char *name;
	int words, earlier, reads;
	/* Whom it wakes: nobody, one sleeper that receives, all in a barrier, or the daemon, for a sleeper on another host. */
	enum { NOBODY, ONE, ALL, FAR } wakes;
	/* By which calls. */
	enum { PACKED, BULK, PLACE, ITEMS } way;
} kinds[] = {
	{"send, the first one", 1, 0, 0, NOBODY},
	{"send in a cell", 1, 1, 0, NOBODY},
	{"send in several cells", 250, 1, 0, NOBODY},
	{"send in a slab", 5000, 1, 0, NOBODY},
	{"send that moves its lane", 1, 30, 0, NOBODY},
	{"receive out of a cell", 1, 0, 1, NOBODY},
	{"receive out of several cells", 250, 0, 1, NOBODY},
	{"receive out of a slab", 5000, 0, 1, NOBODY},
	{"send in a cell to a sleeper", 1, 1, 0, ONE},
	{"send in several cells to a sleeper", 250, 1, 0, ONE},
	{"send in a slab to a sleeper", 5000, 1, 0, ONE},
	{"last at a barrier of sleepers", 0, 0, 0, ALL},
	{"send in a cell to another host", 1, 1, 0, FAR},
	{"send in a slab to another host", 5000, 1, 0, FAR},
	{"pvm_psend in a cell", 1, 1, 0, NOBODY, BULK},
	{"pvm_psend in several cells", 250, 1, 0, NOBODY, BULK},
	{"pvm_psend in a slab", 5000, 1, 0, NOBODY, BULK},
	{"send in place in a cell", 1, 1, 0, NOBODY, PLACE},
	{"send in place in several cells", 250, 1, 0, NOBODY, PLACE},
	{"items in a cell", 1, 1, 0, NOBODY, ITEMS},
	{"items in several cells", 250, 1, 0, NOBODY, ITEMS},
	{"items in a slab", 5000, 1, 0, NOBODY, ITEMS},
	{"pvm_precv out of a cell", 1, 0, 1, NOBODY, BULK},
	{"pvm_precv out of several cells", 250, 0, 1, NOBODY, BULK},
	{"pvm_precv out of a slab", 5000, 0, 1, NOBODY, BULK},
	{"items out of a cell", 1, 0, 1, NOBODY, ITEMS},
	{"items out of several cells", 250, 0, 1, NOBODY, ITEMS},
	{"items out of a slab", 5000, 0, 1, NOBODY, ITEMS},
};
enum { KINDS = sizeof kinds / sizeof kinds[0], MOVES = 4, MUCH = 4000 };

static volatile struct shared {
	int pid, phase, round;
	/* Of the round: members of its group, those in its barrier, and those behind it. */
	int joined, entered, met;
	/* What the first sleeper has taken. */
	int taken, echoed;
	/* The last one is on another host. */
	int sleeper[SLEEPERS + 1], sleeper_pid[SLEEPERS + 1];
} *shared;
static char *self, *file;
static int partner, hosts;
static char *here;

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

/* The same message as it lies in the program's memory, for who sends from there or receives there. */
static int block[5001];

static void put_block(int i, int count)
{
	block[0] = i;
	memcpy(block + 1, words, count * 4);
}

static int words_of_block(int count)
{
	memcpy(words, block + 1, count * 4);
	return block[0];
}

static void send_block(int to, int way, int count)
{
	if (way == BULK) {
		CALL(pvm_psend(to, DATA, (char *)block, count + 1, PVM_INT));
	} else if (way == ITEMS) {
		CALL(neopvm_send_items(NEOPVM_RAW, NEOPVM_INT, block, count + 1, to, DATA, NEOPVM_CURRENT_CONTEXT));
	} else {
		CALL(pvm_initsend(PvmDataInPlace));
		CALL(pvm_pkint(block, count + 1, 1));
		CALL(pvm_send(to, DATA));
	}
}

static void take_block(int from, int way, int count)
{
	struct neopvm_received got;
	if (way == BULK) {
		CALL(pvm_precv(from, DATA, (char *)block, count + 1, PVM_INT, 0, 0, 0));
		return;
	}
	CALL(neopvm_receive_items(from, DATA, NEOPVM_CURRENT_CONTEXT, NEOPVM_FOREVER, &got));
	if (got.buffer == 0) {
		memcpy(block, got.items, (count + 1) * 4);
	} else {
		CALL(neopvm_unpack(got.buffer, NEOPVM_INT, block, count + 1, 1));
		CALL(neopvm_free(got.buffer));
	}
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

static char *group(void)
{
	static char name[32];
	sprintf(name, "steps%d", shared->round);
	return name;
}

static void join(void)
{
	CALL(pvm_joingroup(group()));
	__sync_fetch_and_add(&shared->joined, 1);
}

/* Sleeps until somebody sends, or the barrier is met. */
static void be_sleeper(int lead, int which)
{
	int bytes, tag, from, code, number;
	shared->sleeper[which] = CALL(pvm_mytid());
	shared->sleeper_pid[which] = getpid();
	for (;;) {
		CALL(pvm_bufinfo(CALL(pvm_recv(-1, -1)), &bytes, &tag, &from));
		if (tag == DATA) {
			number = unpack_words(bytes / 4 - 1);
			CHECK(is_filled(words, bytes / 4 - 1, number));
			shared->taken++;
		} else if (tag == ECHO) {
			shared->echoed++;
		} else if (tag == JOIN) {
			join();
		} else if (tag == MEET) {
			__sync_fetch_and_add(&shared->entered, 1);
			code = pvm_barrier(group(), SLEEPERS + 1);
			/* The last one may be killed before it has come. */
			CHECK(code == PvmOk || code == PvmNoTask);
			__sync_fetch_and_add(&shared->met, 1);
		}
	}
}

/* Who gets what a victim sends that wakes somebody. */
static int woken(const struct kind *kind)
{
	return shared->sleeper[kind->wakes == FAR ? SLEEPERS : 0];
}

/* What a victim stops in that wakes somebody. */
static void wake(const struct kind *kind, int i)
{
	if (kind->wakes == ALL)
		CALL(pvm_barrier(group(), SLEEPERS + 1));
	else
		send_words(woken(kind), DATA, i, kind->words);
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
		send_words(kind->wakes ? woken(kind) : lead, DATA, i, kind->words);
	}
	fill(words, kind->words, i);
	if (kind->wakes == ONE || kind->wakes == FAR)
		await_value(&shared->taken, earlier);
	if (kind->wakes == ALL) {
		join();
		await_value(&shared->entered, SLEEPERS);
	}
	for (number = 0; kind->wakes && number < (int)kind->wakes; number++)
		await_state(shared->sleeper_pid[number], 'S');
	if (kind->wakes == FAR)
		/* Both daemons sleep by then, or soon. */
		pause_ms(20);
	put_block(i, kind->words);
	if (kind->reads)
		memset(words, 0, sizeof words), memset(block, 0, sizeof block);
	shared->phase = INSIDE;
	raise(SIGUSR1);
	if (kind->reads && kind->way != PACKED) {
		take_block(lead, kind->way, kind->words);
		number = words_of_block(kind->words);
	} else if (kind->reads) {
		CALL(pvm_recv(lead, DATA));
		number = unpack_words(kind->words);
	} else if (kind->wakes) {
		wake(kind, number = i);
	} else if (kind->way != PACKED) {
		send_block(lead, kind->way, kind->words);
		number = i;
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
	struct timeval limit = {100, 0};
	CHECK(CALL(pvm_trecv(from, tag, &limit)) > 0);
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

/* The sleeper hears others while the victim stands still, and behind its end. */
static void sleeper_hears(const struct kind *kind)
{
	int echoed = shared->echoed;
	send_int(woken(kind), ECHO, 0);
	await_value(&shared->echoed, echoed + 1);
}

static void prepare_sleepers(const struct kind *kind, int victim)
{
	int i;
	shared->round++;
	shared->joined = shared->entered = shared->met = shared->taken = 0;
	if (kind->wakes != ALL)
		return;
	for (i = 0; i < SLEEPERS; i++)
		send_int(shared->sleeper[i], JOIN, 0);
	await_value(&shared->joined, SLEEPERS);
	send_int(victim, GO_ON, 0);
	await_value(&shared->joined, SLEEPERS + 1);
	for (i = 0; i < SLEEPERS; i++)
		send_int(shared->sleeper[i], MEET, 0);
}

static int is_inside(void)
{
	return shared->phase == INSIDE;
}

/* Sleepers go on, whatever becomes of who was about to wake them; `rings`: it stands before its first ring. */
static void sleepers_go_on(const struct kind *kind, int rings, int is_gone)
{
	if (kind->wakes == ALL && (rings || is_gone))
		await_value(&shared->met, SLEEPERS);
	else if (kind->wakes != ALL && kind->wakes && rings && is_gone)
		await_value(&shared->taken, kind->earlier + 1);
	if (kind->wakes != ALL && kind->wakes && (!rings || is_gone))
		sleeper_hears(kind);
}

static int spawn_at(char *host, char *what, char *number)
{
	char *args[] = {what, number, file, 0};
	int tid;
	CHECK(pvm_spawn(self, args, PvmTaskHost, host, 1, &tid) == 1);
	return tid;
}

/* A victim of its own that is stopped behind `limit` instructions, or behind the call; returns how many there were. */
static int stop_behind(int limit, const struct kind *kind, int kills)
{
	char number[16];
	int tid, pid, status, signal = 0, steps = 0, rings = 0, i, has_come;
	shared->pid = 0;
	sprintf(number, "%d", (int)(kind - kinds) * 1000 + kind->earlier);
	tid = spawn_at(here, "victim", number);
	CALL(pvm_notify(PvmTaskExit, GONE, 1, &tid));
	while (!(pid = shared->pid))
		pause_ms(1);
	if (!seize(pid))
		exit(0);
	share_processor(pid);
	prepare_sleepers(kind, tid);
	if (kind->wakes != ALL)
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
	if (limit == AT_RING)
		rings = run_to(pid, RINGS, is_inside);
	/* A daemon may be awake for its own reasons; a task that sleeps is rung for. */
	CHECK(rings || limit != AT_RING || kind->wakes == FAR);
	/* Of who is killed there, the keeper alone rings. */
	if (rings && !kills && kind->wakes != ALL)
		sleeper_hears(kind);
	sleepers_go_on(kind, rings, 0);
	others_go_on(tid);
	if (kills) {
		CHECK(kill(pid, SIGKILL) == 0);
		CHECK(waitpid(pid, &status, __WALL) == pid && WIFSIGNALED(status));
	} else {
		CHECK(ptrace(PTRACE_DETACH, pid, 0, signal) == 0);
		send_int(tid, GO_ON, 0);
	}
	await(-1, GONE);
	if (kind->wakes) {
		sleepers_go_on(kind, rings, 1);
		if (!kills && kind->wakes != ALL)
			await_value(&shared->taken, kind->earlier + 1);
		CHECK(kills || shared->phase == BEHIND);
		return limit == AT_RING ? rings : steps;
	}
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
	int kind, n, all, several, rings, total = 0;
	struct pvmhostinfo *host;
	char number[16];
	CALL(pvm_config(&hosts, 0, &host));
	/* The task that was started by hand is on the first one. */
	here = strdup(host[0].hi_name);
	partner = spawn_at(here, "partner", "0");
	for (n = 0; n < SLEEPERS + (hosts > 1); n++) {
		sprintf(number, "%d", n);
		spawn_at(n < SLEEPERS ? here : host[1].hi_name, "sleeper", number);
		await_value(&shared->sleeper_pid[n], 1);
	}
	for (kind = 0; kind < KINDS; kind++) {
		if ((kinds[kind].wakes == FAR) != (hosts > 1))
			continue;
		while ((all = stop_behind(INT_MAX, &kinds[kind], 0)) < MUCH && kind == MOVES)
			CHECK(++kinds[kind].earlier < 100);
		/* One stop costs half of all steps, on the average. */
		several = 2 * most / all + 2;
		several = several > places ? places : several;
		several = several > all ? all : several;
		for (n = 0; n < several; n++)
			stop_behind((long)all * n / several, &kinds[kind], n & 1);
		for (rings = n = 0; kinds[kind].wakes && n < 2; n++)
			rings += stop_behind(AT_RING, &kinds[kind], n);
		/* Where the daemon was awake it is tried again: at least once as somebody who dies there. */
		for (n = 0; kinds[kind].wakes == FAR && rings < 2 && n < 40; n++)
			rings += 2 * stop_behind(AT_RING, &kinds[kind], 1);
		CHECK(!kinds[kind].wakes || rings >= 2);
		printf("%s: %d instructions, stopped at %d places\n", kinds[kind].name, all, several);
		total += several;
	}
	printf("places %d\n", total);
	CALL(pvm_kill(partner));
	for (n = 0; n < SLEEPERS + (hosts > 1); n++)
		CALL(pvm_kill(shared->sleeper[n]));
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
	else if (!strcmp(argv[1], "sleeper"))
		be_sleeper(pvm_parent(), atoi(argv[2]));
	else if (!strcmp(argv[1], "partner"))
		be_partner(pvm_parent());
	else
		lead(atoi(argv[1]), atoi(argv[2]));
	return 0;
}
