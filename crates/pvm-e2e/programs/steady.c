/* steady SECONDS: two tasks of different hosts (if there are two) send small messages to and fro; every
   tenth of a second the number of round trips so far is printed. */
#include "e2e.h"

int main(int argc, char **argv)
{
	int parent, tid, hosts, archs, i;
	struct pvmhostinfo *info;
	double start, shown;
	long trips = 0;
	if (strcmp(argv[1], "echo") == 0) {
		parent = CALL(pvm_parent());
		for (;;)
			send_int(parent, 2, receive_int(parent, 1));
	}
	CALL(pvm_mytid());
	CALL(pvm_config(&hosts, &archs, &info));
	{
		char *args[2] = {"echo", 0};
		CHECK(pvm_spawn("steady", args, PvmTaskHost, info[hosts - 1].hi_name, 1, &tid) == 1);
	}
	start = shown = now();
	while (now() - start < atof(argv[1])) {
		send_int(tid, 1, trips & 0xffff);
		CHECK(receive_int(tid, 2) == (trips & 0xffff));
		trips++;
		if (now() - shown >= 0.1) {
			shown += 0.1;
			printf("%ld\n", trips);
		}
	}
	CALL(pvm_kill(tid));
	printf("trips %ld\n", trips);
	pvm_exit();
	return 0;
}
