/* comings: a process enters and leaves the machine again and again, and sleeps in between as a task; prints how many
   descriptors it has at the end, and how many it had after the first time. */
#include "e2e.h"
#include <dirent.h>

static int descriptors(void)
{
	DIR *all = opendir("/proc/self/fd");
	int count = 0;
	while (readdir(all))
		count++;
	closedir(all);
	return count;
}

int main(void)
{
	struct timeval moment = {0, 1000};
	int i, first = 0;
	for (i = 0; i < 50; i++) {
		CALL(pvm_mytid());
		CHECK(pvm_trecv(-1, -1, &moment) == 0);
		pvm_exit();
		if (i == 0)
			first = descriptors();
	}
	printf("first %d\nlast %d\n", first, descriptors());
	return 0;
}
