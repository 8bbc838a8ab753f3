/* ended: a task whose direct routes have ended sleeps while it waits. */
#include "e2e.h"
#include <sys/resource.h>

enum { ECHO = 1, GONE = 2, NOBODY = 3, WORKERS = 5 };

static double processor_time(void)
{
	struct rusage used;
	CHECK(getrusage(RUSAGE_SELF, &used) == 0);
	return used.ru_utime.tv_sec + used.ru_stime.tv_sec +
	       (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv)
{
	struct timeval limit = {2, 0};
	struct pvmhostinfo *host;
	int hosts, tid, i, n;
	double before;
	CALL(pvm_mytid());
	CALL(pvm_setopt(PvmRoute, PvmRouteDirect));
	if (pvm_parent() > 0) {
		for (i = 0; i < 20; i++)
			send_int(pvm_parent(), ECHO, receive_int(pvm_parent(), ECHO));
		pvm_exit();
		return 0;
	}
	CALL(pvm_config(&hosts, 0, &host));
	CHECK(hosts == 2);
	for (n = 0; n < WORKERS; n++) {
		CHECK(pvm_spawn(argv[0], 0, PvmTaskHost, host[1].hi_name, 1, &tid) == 1);
		for (i = 0; i < 20; i++) {
			if (i == 19)
				CALL(pvm_notify(PvmRouteDelete, GONE, 1, &tid));
			send_int(tid, ECHO, i);
			CHECK(receive_int(tid, ECHO) == i);
			pause_ms(i < 5 ? 5 : 0);
		}
		/* Its route has ended. */
		CALL(pvm_recv(-1, GONE));
	}
	before = processor_time();
	CHECK(pvm_trecv(-1, NOBODY, &limit) == 0);
	printf("used %.3f\n", processor_time() - before);
	pvm_exit();
	return 0;
}
