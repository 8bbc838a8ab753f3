/* calls COUNT DONE GO: makes so many calls, makes the file DONE, and ends when there is a file GO. */
#include "e2e.h"

int main(int argc, char **argv)
{
	int i, count = atoi(argv[1]);
	CHECK(argc > 3);
	for (i = 0; i < count; i++)
		CALL(pvm_mytid());
	write_file(argv[2], count);
	await_file(argv[3]);
	pvm_exit();
	return 0;
}
