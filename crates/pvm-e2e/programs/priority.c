/* priority ROUNDS: in each round a thread of real-time priority makes its first call while the process's first thread, of normal
   priority and on one core with it, is in the middle of one of its own: it does not spin until the kernel takes the core away. */
#define _GNU_SOURCE
#include "e2e.h"
#include <pthread.h>
#include <sched.h>

static volatile int done;
static double spent;

static void *call_first(void *nothing)
{
	struct timespec soon = {0, 2000000 + getpid() * 7919 % 1000 * 1000}, processor;
	CHECK(nanosleep(&soon, 0) == 0);
	CALL(pvm_initsend(PvmDataRaw));
	CHECK(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &processor) == 0);
	spent = processor.tv_sec + processor.tv_nsec / 1e9;
	done = 1;
	return nothing;
}

static void round_of_calls(void)
{
	struct sched_param priority = {.sched_priority = 10};
	pthread_attr_t attributes;
	pthread_t thread;
	cpu_set_t one;
	int value = 1, i, status;
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	CALL(pvm_mytid());
	CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
	CHECK(pthread_attr_init(&attributes) == 0);
	CHECK(pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED) == 0);
	CHECK(pthread_attr_setschedpolicy(&attributes, SCHED_FIFO) == 0);
	CHECK(pthread_attr_setschedparam(&attributes, &priority) == 0);
	status = pthread_create(&thread, &attributes, call_first, 0);
	if (status == EPERM) {
		puts("skipped: no real-time priority");
		_exit(0);
	}
	CHECK(status == 0);
	while (!done) {
		CALL(pvm_initsend(PvmDataRaw));
		for (i = 0; i < 20; i++)
			CALL(pvm_pkint(&value, 1, 1));
	}
	CHECK(pthread_join(thread, 0) == 0);
	/* Nearly a second of each where it spins. */
	CHECK(spent < 0.3);
	CALL(pvm_exit());
	_exit(0);
}

int main(int argc, char **argv)
{
	int round, status;
	for (round = argc > 1 ? atoi(argv[1]) : 0; round > 0; round--) {
		int child = fork();
		if (child == 0)
			round_of_calls();
		CHECK(waitpid(child, &status, 0) == child && status == 0);
	}
	return 0;
}
