/* fenced: a task on another host sends without end, by the route that is asked for. Once the machine has told that its host
 * is gone, nothing of it arrives any more, whatever becomes of the cable. */
#include "e2e.h"

#define NUMBER 1
#define GONE 2
/* The watcher looks on for so long when its input ends. */
#define LONGER 3.0

static void sender(const char *route)
{
	int parent = CALL(pvm_parent()), i;
	CALL(pvm_setopt(PvmRoute, strcmp(route, "direct") == 0 ? PvmRouteDirect : PvmDontRoute));
	for (i = 0;; i++) {
		send_int(parent, NUMBER, i);
		pause_ms(5);
	}
}

static int late;

/* Takes what has come; counts what came too late. */
static void look(double seconds)
{
	double end = now() + seconds;
	struct timeval pause = { 0, 20000 };
	do {
		if (CALL(pvm_trecv(-1, NUMBER, &pause)) > 0)
			late++;
	} while (now() < end);
}

int main(int argc, char **argv)
{
	char *arguments[3] = { "sender", argc > 2 ? argv[2] : 0, 0 };
	int child, i, gone;
	if (argc > 2 && strcmp(argv[1], "sender") == 0) {
		sender(argv[2]);
		return 0;
	}
	CALL(pvm_mytid());
	CHECK(argc == 3); /* HOST ROUTE */
	CHECK(pvm_spawn("fenced", arguments, PvmTaskHost, argv[1], 1, &child) == 1);
	CALL(pvm_setopt(PvmRoute, strcmp(argv[2], "direct") == 0 ? PvmRouteDirect : PvmDontRoute));
	gone = CALL(pvm_tidtohost(child));
	CALL(pvm_notify(PvmHostDelete, GONE, 1, &gone));
	for (i = 0; i < 200; i++)
		CHECK(receive_int(child, NUMBER) == i);
	printf("ready\n");
	fflush(stdout);
	while (CALL(pvm_nrecv(-1, GONE)) == 0)
		if (CALL(pvm_nrecv(child, NUMBER)) == 0)
			pause_ms(1);
	/* What had come before is in front of the notice, and is no late comer. */
	while (CALL(pvm_nrecv(child, NUMBER)) > 0)
		;
	printf("told\n");
	fflush(stdout);
	getchar();
	look(LONGER);
	printf("late %d\n", late);
	pvm_exit();
	return 0;
}
