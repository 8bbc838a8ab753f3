/* midcall PLACES FILE: a process with one thread is stopped in the middle of a call, at PLACES places of each kind from the
   first instruction to the last. A handler of signals begins a second thread there, which uses the library while the call
   stands still, or waits until it is over. Each message comes once, whole, and in its order, whichever thread sent or took
   it. */
#define _GNU_SOURCE
#include "e2e.h"
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include "stops.h"

enum { DATA = 1, ECHO = 2, GONE = 3, LATER = 4, GO_ON = 5 };
/* A wait looks for as long as its time is not over, and takes many times more steps where each of them takes long: further
   ones are like those before. */
enum { WARM = 40, MANY = 12, QUICK = 10000, LOOKS = 6000 };
enum { PACKED, BULK, TAKEN, BULK_TAKEN, AWAITED, KINDS };
static const char *names[] = {"packed and sent", "pvm_psend", "received and unpacked", "pvm_precv", "awaited"};

static volatile struct shared {
	int pid, inside, begun, done, taken;
	int times[MANY + 1];
} *shared;
static char *self, *file;
static pthread_t thread;
static int lead_tid, kind;

static void map_shared(void)
{
	int fd = open(file, O_RDWR | O_CREAT, 0600);
	CHECK(fd >= 0 && ftruncate(fd, 4096) == 0);
	shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(shared != MAP_FAILED);
	close(fd);
}

static void send_one(int tag, int number)
{
	int items[3] = {number, ~number, tag};
	if (kind == BULK) {
		CALL(pvm_psend(lead_tid, tag, (char *)items, 3, PVM_INT));
		return;
	}
	CALL(pvm_initsend(PvmDataRaw));
	CALL(pvm_pkint(items, 3, 1));
	CALL(pvm_send(lead_tid, tag));
}

static void take_one(void)
{
	int items[3] = {-1, -1, -1}, length, tag, from;
	if (kind == BULK_TAKEN) {
		CALL(pvm_precv(lead_tid, DATA, (char *)items, 3, PVM_INT, &from, &tag, &length));
	} else {
		CALL(pvm_bufinfo(CALL(pvm_recv(lead_tid, DATA)), &length, &tag, &from));
		CALL(pvm_upkint(items, 3, 1));
	}
	CHECK(from == lead_tid && tag == DATA && length == 12);
	CHECK(items[1] == ~items[0] && items[2] == DATA && items[0] >= 0 && items[0] <= MANY);
	__sync_fetch_and_add(&shared->times[items[0]], 1);
}

/* Looks at the messages of the task that the first thread waits for, and waits for others of it. */
static void wait_beside(void)
{
	struct timeval moment = {0, 300};
	int i;
	for (i = 0; i < MANY; i++)
		CHECK(CALL(pvm_trecv(lead_tid, LATER, &moment)) == 0);
}

static void *second_thread(void *unused)
{
	int i;
	if (kind == AWAITED)
		wait_beside();
	for (i = 0; i < MANY && kind != AWAITED; i++)
		if (kind == PACKED || kind == BULK)
			send_one(LATER, i);
		else
			take_one();
	shared->done = 1;
	return unused;
}

/* Begins the thread, and gives it the time that it needs if it does not wait for the call; but a thread that waits
   itself only so much that it does. */
static void begin_thread(int signal)
{
	int i;
	(void)signal;
	if (shared->begun++)
		return;
	CHECK(pthread_create(&thread, 0, second_thread, 0) == 0);
	for (i = 0; i < (kind == AWAITED ? 2 : 60) && !shared->done; i++)
		pause_ms(1);
}

static void be_victim(void)
{
	int i;
	CALL(pvm_mytid());
	signal(SIGUSR2, begin_thread);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	/* So that there are lanes, and each looks at the other's. */
	for (i = 0; i < WARM; i++)
		send_int(lead_tid, ECHO, receive_int(lead_tid, ECHO));
	shared->pid = getpid();
	CALL(pvm_recv(lead_tid, GO_ON));
	raise(SIGUSR1);
	shared->inside = 1;
	if (kind == PACKED || kind == BULK)
		send_one(DATA, 0);
	else
		take_one();
	shared->inside = 0;
	if (!shared->begun)
		raise(SIGUSR2);
	CHECK(pthread_join(thread, 0) == 0);
	CALL(pvm_psend(lead_tid, GONE, (char *)&i, 1, PVM_INT));
	CALL(pvm_exit());
}

static int spawn_victim(void)
{
	char number[16], *args[] = {"victim", number, file, 0};
	int tid;
	sprintf(number, "%d", kind);
	CHECK(pvm_spawn(self, args, PvmTaskDefault, "", 1, &tid) == 1);
	return tid;
}

static int next_from(int tid, int tag)
{
	struct timeval limit = {100, 0};
	int items[3];
	CHECK(CALL(pvm_trecv(tid, tag, &limit)) > 0);
	if (tag == GONE)
		return 0;
	CALL(pvm_upkint(items, 3, 1));
	CHECK(items[1] == ~items[0] && items[2] == tag);
	return items[0];
}

/* What the victim and its thread were to do has been done, once. */
static void check_all(int tid)
{
	int i;
	next_from(tid, GONE);
	if (kind == PACKED || kind == BULK) {
		CHECK(next_from(tid, DATA) == 0);
		for (i = 0; i < MANY; i++)
			CHECK(next_from(tid, LATER) == i);
	} else {
		for (i = 0; i <= (kind == AWAITED ? 0 : MANY); i++)
			CHECK(shared->times[i] == 1);
	}
	CHECK(pvm_nrecv(tid, -1) == 0);
}

/* One instruction; false if the process has been asleep in it, and was woken up for that. */
static int step(int pid, int *signal)
{
	int status, found, looks = 0;
	CHECK(ptrace(PTRACE_SINGLESTEP, pid, 0, *signal) == 0);
	while ((found = waitpid(pid, &status, __WALL | WNOHANG)) == 0)
		if (++looks >= QUICK) {
			CHECK(looks != QUICK + 20 || kill(pid, SIGUSR2) == 0);
			pause_ms(1);
		}
	CHECK(found == pid && WIFSTOPPED(status));
	*signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	return looks < QUICK + 20;
}

/* The thread begins behind so many instructions, or behind the call: then tells how many there were. A call that sleeps
   is over for that. */
static int begin_behind(int limit)
{
	int tid, pid, i, steps = 0, signal = 0;
	memset((void *)shared, 0, sizeof *shared);
	tid = spawn_victim();
	for (i = 0; i < WARM; i++) {
		send_int(tid, ECHO, i);
		CHECK(receive_int(tid, ECHO) == i);
	}
	while (!(pid = shared->pid))
		pause_ms(1);
	if (!seize(pid))
		exit(0);
	send_int(tid, GO_ON, 0);
	for (i = 0; i <= MANY && (kind == TAKEN || kind == BULK_TAKEN); i++) {
		int items[3] = {i, ~i, DATA};
		CALL(pvm_psend(tid, DATA, (char *)items, 3, PVM_INT));
	}
	while ((i = stopped(pid)) != SIGUSR1)
		CHECK(ptrace(PTRACE_CONT, pid, 0, i) == 0);
	while (!shared->inside) {
		CHECK(ptrace(PTRACE_SINGLESTEP, pid, 0, 0) == 0);
		stopped(pid);
	}
	while (steps < limit && shared->inside && step(pid, &signal))
		steps++;
	CHECK(ptrace(PTRACE_DETACH, pid, 0, shared->inside ? SIGUSR2 : 0) == 0);
	if (kind == AWAITED) {
		int items[3] = {0, ~0, DATA};
		await_value(&shared->done, 1);
		CALL(pvm_psend(tid, DATA, (char *)items, 3, PVM_INT));
	}
	check_all(tid);
	return steps;
}

int main(int argc, char **argv)
{
	static char path[4096];
	int n, all, places;
	CHECK(argc >= 3 && realpath(argv[0], path));
	self = path;
	file = argv[argc - 1];
	/* The steps are those of the call, not those of the loader that looks it up. */
	if (!getenv("LD_BIND_NOW")) {
		setenv("LD_BIND_NOW", "1", 1);
		CHECK(execv(self, argv) == 0);
	}
	map_shared();
	if (!strcmp(argv[1], "victim")) {
		lead_tid = pvm_parent();
		kind = atoi(argv[2]);
		be_victim();
		return 0;
	}
	places = atoi(argv[1]);
	for (kind = 0; kind < KINDS; kind++) {
		all = begin_behind(INT_MAX);
		printf("%s: %d instructions\n", names[kind], all);
		if (kind == AWAITED && all > LOOKS)
			all = LOOKS;
		/* More of them where the call begins to wait than where it only waits. */
		for (n = 0; n < places; n++)
			begin_behind(kind == AWAITED ? (long)all * n * n / places / places : (long)all * n / places);
	}
	printf("places %d\n", places * KINDS);
	CALL(pvm_exit());
	return 0;
}
