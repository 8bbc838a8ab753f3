/* brief COUNT PARENT: a master of COUNT workers that live briefly and talk with it and with the host's parent process.
   How many mappings master and parent have gained. */
#include "e2e.h"

#define AT_ONCE 20

static int mappings(int pid)
{
	char line[1000];
	int count = 0;
	FILE *maps;
	snprintf(line, sizeof line, "/proc/%d/maps", pid);
	maps = fopen(line, "r");
	CHECK(maps);
	while (fgets(line, sizeof line, maps))
		count += strstr(line, "memfd:neopvm") != 0;
	fclose(maps);
	return count;
}

static void worker(void)
{
	int parent = CALL(pvm_parent()), nobody = parent + 0x20000;
	/* A notice that the host sends. */
	CALL(pvm_notify(PvmTaskExit, 9, 1, &nobody));
	CALL(pvm_recv(-1, 9));
	send_int(parent, 1, receive_int(parent, 2) + 1);
	CALL(pvm_exit());
}

int main(int argc, char **argv)
{
	int count = atoi(argv[1]), parent, i, done, most[2] = {0, 0}, tids[AT_ONCE], first[2] = {0, 0}, now_[2];
	char *args[] = {"0", 0};
	if (count == 0) {
		worker();
		return 0;
	}
	parent = atoi(argv[2]);
	CALL(pvm_mytid());
	for (done = 0; done < count; done += AT_ONCE) {
		CHECK(pvm_spawn("brief", args, PvmTaskDefault, "", AT_ONCE, tids) == AT_ONCE);
		for (i = 0; i < AT_ONCE; i++)
			send_int(tids[i], 2, i);
		for (i = 0; i < AT_ONCE; i++)
			CHECK(receive_int(tids[i], 1) == i + 1);
		CALL(pvm_notify(PvmTaskExit, 3, AT_ONCE, tids));
		for (i = 0; i < AT_ONCE; i++)
			receive_int(-1, 3);
		now_[0] = mappings(getpid()), now_[1] = mappings(parent);
		for (i = 0; i < 2; i++) {
			if (!first[i])
				first[i] = now_[i];
			if (now_[i] - first[i] > most[i])
				most[i] = now_[i] - first[i];
		}
	}
	printf("master %d\nparent %d\n", most[0], most[1]);
	CALL(pvm_exit());
	return 0;
}
