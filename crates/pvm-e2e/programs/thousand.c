/* thousand TASKS: they start by one call, talk, and end; each end is told. */
#include "e2e.h"

int main(int argc, char **argv)
{
	int count = atoi(argv[1]), i, got, *tids;
	char *args[] = {"0", 0};
	long sum = 0;
	double start;
	if (count == 0) {
		int parent = CALL(pvm_parent());
		send_int(parent, 1, pvm_mytid());
		CHECK(receive_int(parent, 2) == pvm_mytid());
		pvm_exit();
		return 0;
	}
	tids = malloc(count * sizeof *tids);
	CALL(pvm_mytid());
	start = now();
	got = CALL(pvm_spawn("thousand", args, PvmTaskDefault, "", count, tids));
	if (got < count)
		fprintf(stderr, "%d started, then %d\n", got, tids[got]);
	CHECK(got == count);
	printf("started %.2f s\n", now() - start);
	CALL(pvm_notify(PvmTaskExit, 3, count, tids));
	for (i = 0; i < count; i++)
		CHECK(receive_int(tids[i], 1) == tids[i]);
	for (i = 0; i < count; i++)
		send_int(tids[i], 2, tids[i]);
	for (i = 0; i < count; i++)
		sum += receive_int(-1, 3);
	for (i = 0; i < count; i++)
		sum -= tids[i];
	CHECK(sum == 0);
	printf("all %.2f s\n", now() - start);
	pvm_exit();
	return 0;
}
