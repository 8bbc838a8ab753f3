/* Stopping other processes where they are about to do something, as a debugger does. */
#include <sys/ptrace.h>
#include <sys/syscall.h>

/* Waits for what must come soon. */
static void await_value(volatile int *value, int least)
{
	double limit = now() + 100;
	while (*value < least && now() < limit)
		pause_ms(1);
	CHECK(*value >= least);
}

static char state_of(int pid)
{
	char path[64], state = 0;
	FILE *stat;
	sprintf(path, "/proc/%d/stat", pid);
	CHECK((stat = fopen(path, "r")) != 0);
	CHECK(fscanf(stat, "%*d (%*[^)]) %c", &state) == 1);
	fclose(stat);
	return state;
}

/* In this state, and not for a moment. */
static void await_state(int pid, char state)
{
	double limit = now() + 100;
	int looks = 0;
	while (looks < 5) {
		looks = state_of(pid) == state ? looks + 1 : 0;
		CHECK(now() < limit);
		pause_ms(1);
	}
}

/* Waits until a traced process stops, and returns the signal that did it; 0 for a step. */
static int stopped(int pid)
{
	int status;
	CHECK(waitpid(pid, &status, __WALL) == pid);
	CHECK(WIFSTOPPED(status));
	return WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
}

/* Traces a process from now on; false where that is not allowed. */
static int seize(int pid)
{
	if (ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACESYSGOOD) == 0)
		return 1;
	printf("skipped: ptrace: %s\n", strerror(errno));
	return 0;
}

enum { RINGS, WRITES };

/* On, until it is about to ring a doorbell or to write to a connection; false if it does not while `goes_on`. */
static int run_to(int pid, int what, int (*goes_on)(void))
{
	struct __ptrace_syscall_info info;
	int signal = 0;
	for (;;) {
		CHECK(ptrace(PTRACE_SYSCALL, pid, 0, signal) == 0);
		signal = stopped(pid);
		if (!goes_on())
			return 0;
		if (signal != (SIGTRAP | 0x80))
			continue;
		signal = 0;
		CHECK(ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info) > 0);
		if (info.op == PTRACE_SYSCALL_INFO_ENTRY && info.entry.nr == SYS_sendto &&
		    !info.entry.args[4] == (what == WRITES))
			return 1;
	}
}
