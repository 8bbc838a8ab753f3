/* bias TASKS: each task's first thread sends and receives small messages from its start on, and a second one makes its first
   call at another moment in each: what the first one had in hand then, without a lock, is whole, and each thread's messages
   come once and in order. */
#include "e2e.h"
#include <limits.h>
#include <pthread.h>

enum { FIRST = 1, SECOND = 2, TO = 10, MANY = 3000, FEW = 200, AT_ONCE = 8 };

static int parent, delay;

static void exchange(int tag, int count)
{
	for (int i = 0; i < count; i++) {
		int items[2] = {i, i ^ tag << 16}, got[2] = {-1, -1};
		CHECK(pvm_initsend(i % 3 == 0 ? PvmDataDefault : PvmDataRaw) > 0);
		CHECK(pvm_pkint(items, 2, 1) == 0 && pvm_send(parent, tag) == 0);
		if (i % 8 == 0) {
			CHECK(pvm_recv(parent, TO + tag) > 0 && pvm_upkint(got, 2, 1) == 0);
			CHECK(got[0] == i / 8 && got[1] == ~got[0]);
		}
	}
}

static void *second(void *nothing)
{
	for (volatile int i = 0; i < delay; i++)
		;
	exchange(SECOND, FEW);
	return nothing;
}

static int child(void)
{
	pthread_t thread;
	parent = pvm_parent();
	/* Up to some hundred microseconds, in which the first thread is anywhere in its calls. */
	delay = pvm_mytid() * 7919 % 300000;
	CHECK(pthread_create(&thread, 0, second, 0) == 0);
	exchange(FIRST, MANY);
	CHECK(pthread_join(thread, 0) == 0);
	return pvm_exit();
}

static int index_of(int tid, const int *tids)
{
	for (int i = 0; i < AT_ONCE; i++)
		if (tids[i] == tid)
			return i;
	return -1;
}

static void serve(char *self)
{
	int tids[AT_ONCE], next[AT_ONCE][3] = {0};
	CHECK(pvm_spawn(self, 0, PvmTaskDefault, "", AT_ONCE, tids) == AT_ONCE);
	for (int left = AT_ONCE * (MANY + FEW); left > 0; left--) {
		int got[2], tag, from, buffer = pvm_recv(-1, -1);
		CHECK(buffer > 0 && pvm_bufinfo(buffer, 0, &tag, &from) == 0);
		CHECK(pvm_upkint(got, 2, 1) == 0);
		int task = index_of(from, tids);
		CHECK(task >= 0 && (tag == FIRST || tag == SECOND));
		CHECK(got[0] == next[task][tag]++ && got[1] == (got[0] ^ tag << 16));
		if (got[0] % 8 == 0) {
			int answer[2] = {got[0] / 8, ~(got[0] / 8)};
			CHECK(pvm_initsend(PvmDataRaw) > 0 && pvm_pkint(answer, 2, 1) == 0);
			CHECK(pvm_send(from, TO + tag) == 0);
		}
	}
}

int main(int argc, char **argv)
{
	static char self[PATH_MAX];
	if (pvm_parent() > 0)
		return child();
	CHECK(argc == 2 && realpath(argv[0], self));
	for (int done = 0; done < atoi(argv[1]); done += AT_ONCE)
		serve(self);
	printf("all came once and in order\n");
	return pvm_exit();
}
