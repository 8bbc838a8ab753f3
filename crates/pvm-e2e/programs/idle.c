/* idle: a task that waits for ever for a message; with an argument the same without the machine. */
#include "e2e.h"

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) {
		puts("waits");
		fflush(stdout);
		while (1)
			pause();
	}
	CALL(pvm_mytid());
	puts("waits");
	fflush(stdout);
	pvm_recv(-1, 1);
	return 0;
}
