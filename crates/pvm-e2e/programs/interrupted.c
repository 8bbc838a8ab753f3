/* interrupted STRIDE FILE: a thread that waits for the first time is interrupted behind each STRIDE-th instruction of its call,
   up to the sleep, by a handler that waits itself, and then by one that leaves the call by siglongjmp where it may: where its
   own calls do not say PvmAlready. After that the thread sends and receives as before. */
#define _GNU_SOURCE
#include "e2e.h"
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include "stops.h"

enum { NEVER = 1, SELF = 2, LIMIT_MS = 20, PLACES_MAX = 4000 };
enum { WAITS, LEAVES, KINDS };
static const char *names[] = {"a handler that waits", "a handler that leaves"};

static volatile struct shared {
	int inside, over;
	/* The thread that waits for its tracer, and for its word; threads that have ended, and those traced to their end. */
	int tid, go, rounds, traced;
	/* Handlers that have waited, that have left the call, and that were told to return. */
	int waited, left, told;
} *shared;
static int kind;
static sigjmp_buf before;

static void map_shared(const char *file)
{
	int fd = open(file, O_RDWR | O_CREAT, 0600);
	CHECK(fd >= 0 && ftruncate(fd, 4096) == 0);
	shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(shared != MAP_FAILED);
	close(fd);
}

static void interrupt(int signal)
{
	struct timeval moment = {0, 300};
	int code = kind == WAITS ? pvm_trecv(-1, NEVER, &moment) : pvm_nrecv(-1, NEVER);
	(void)signal;
	if (code == PvmAlready) {
		shared->told++;
		return;
	}
	CALL(code);
	if (kind == WAITS) {
		shared->waited++;
	} else if (shared->inside) {
		shared->left++;
		shared->inside = 0;
		siglongjmp(before, 1);
	}
}

static void talk_to_itself(int number)
{
	struct timeval limit = {100, 0};
	int got;
	send_int(pvm_mytid(), SELF, number);
	CHECK(CALL(pvm_trecv(-1, SELF, &limit)) > 0);
	CALL(pvm_upkint(&got, 1, 1));
	CHECK(got == number);
	CALL(pvm_freebuf(pvm_setrbuf(0)));
}

/* Waits for the first time in its life, and talks afterwards. */
static void *wait_once(void *unused)
{
	struct timeval limit = {0, LIMIT_MS * 1000};
	pvm_nrecv(-1, NEVER);
	shared->tid = syscall(SYS_gettid);
	while (!shared->go)
		sched_yield();
	if (sigsetjmp(before, 1) == 0) {
		shared->inside = 1;
		CHECK(pvm_trecv(-1, NEVER, &limit) == 0);
	}
	shared->inside = 0;
	talk_to_itself(shared->tid);
	return unused;
}

static void be_victim(void)
{
	pthread_t thread;
	CALL(pvm_mytid());
	CALL(pvm_setopt(PvmAutoErr, 0));
	signal(SIGUSR2, interrupt);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	while (!shared->over) {
		CHECK(pthread_create(&thread, 0, wait_once, 0) == 0);
		CHECK(pthread_join(thread, 0) == 0);
		shared->tid = shared->go = 0;
		shared->rounds++;
		while (shared->rounds > shared->traced && !shared->over)
			sched_yield();
	}
	CALL(pvm_exit());
	_exit(0);
}

/* Steps a thread behind so many instructions of its call; false if it has slept or returned before. */
static int step_into(int tid, int place)
{
	int steps = 0;
	while (!shared->inside || steps++ < place) {
		CHECK(ptrace(PTRACE_SINGLESTEP, tid, 0, 0) == 0);
		CHECK(stopped(tid) == 0);
		if (steps > 0 && !shared->inside)
			return 0;
	}
	return 1;
}

/* Its handler runs now, or behind the call; then the thread ends. */
static void run_to_end(int pid, int tid)
{
	int status, signal = 0;
	CHECK(syscall(SYS_tgkill, pid, tid, SIGUSR2) == 0);
	for (;;) {
		CHECK(ptrace(PTRACE_CONT, tid, 0, signal) == 0);
		CHECK(waitpid(tid, &status, __WALL) == tid);
		if (!WIFSTOPPED(status))
			break;
		signal = WSTOPSIG(status);
	}
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static int interrupt_everywhere(int stride)
{
	int pid, tid, place = 0, status, goes_on = 1;
	memset((void *)shared, 0, sizeof *shared);
	if ((pid = fork()) == 0)
		be_victim();
	for (; goes_on && place / stride < PLACES_MAX; place += stride) {
		await_value(&shared->tid, 1);
		tid = shared->tid;
		if (!seize(tid))
			exit(0);
		CHECK(ptrace(PTRACE_INTERRUPT, tid, 0, 0) == 0 && stopped(tid) == 0);
		shared->go = 1;
		goes_on = step_into(tid, place);
		run_to_end(pid, tid);
		await_value(&shared->rounds, shared->traced + 1);
		shared->over = !goes_on;
		shared->traced++;
	}
	shared->over = 1;
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	printf("%s: %d instructions, %d waited, %d left, %d were told to return\n", names[kind], place, shared->waited,
		shared->left, shared->told);
	CHECK(shared->told > 0 && (kind == WAITS ? shared->waited : shared->left) > 0);
	return place / stride;
}

int main(int argc, char **argv)
{
	int places = 0;
	CHECK(argc == 3);
	/* The steps are those of the call, not those of the loader that looks it up. */
	if (!getenv("LD_BIND_NOW")) {
		setenv("LD_BIND_NOW", "1", 1);
		CHECK(execv("/proc/self/exe", argv) == 0);
	}
	map_shared(argv[2]);
	for (kind = 0; kind < KINDS; kind++)
		places += interrupt_everywhere(atoi(argv[1]));
	printf("places %d\n", places);
	return 0;
}
