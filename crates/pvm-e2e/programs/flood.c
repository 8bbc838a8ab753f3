/* flood MESSAGES: small messages to a task that sleeps, which then reads them all in order. */
#include "e2e.h"

int main(int argc, char **argv)
{
	int count = atoi(argv[1]), i, tid;
	double start;
	if (argc > 2) {
		tid = CALL(pvm_parent());
		send_int(tid, 1, 0);
		await_file(argv[2]);
		start = now();
		for (i = 0; i < count; i++) {
			int got = receive_int(i % 2 ? tid : -1, i % 5 == 0 ? -1 : 3);
			if (got != i)
				fprintf(stderr, "expected %d, got %d\n", i, got);
			CHECK(got == i);
		}
		CHECK(pvm_nrecv(-1, -1) == 0);
		send_int(tid, 1, (int)((now() - start) * 1000));
		pvm_exit();
		return 0;
	}
	CALL(pvm_mytid());
	tid = spawn_one("flood", argv[1], own_path("go"), 0);
	receive_int(tid, 1);
	start = now();
	for (i = 0; i < count; i++)
		send_int(tid, 3, i);
	printf("sent %.2f s\n", now() - start);
	write_file(own_path("go"), 1);
	printf("read %.2f s\n", receive_int(tid, 1) / 1000.0);
	pvm_exit();
	return 0;
}
