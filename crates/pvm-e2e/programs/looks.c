/* looks NAME COUNT: asks COUNT times for the first tuples of the space NAME, and reads no answer. */
#include "frames.h"

enum { LOOK = 5 };

int main(int argc, char **argv)
{
	unsigned char frame[26] = { LOOK };
	unsigned long long number, tuples = 1000, count;
	int server;

	CHECK(argc == 3);
	count = atoi(argv[2]);
	CALL(pvm_mytid());
	server = server_of(argv[1], frame + 10);
	pvm_setcontext(CONTEXT);
	memcpy(frame + 18, &tuples, sizeof tuples);
	for (number = 1; number <= count; number++) {
		memcpy(frame + 2, &number, sizeof number);
		send_frame(server, frame, sizeof frame);
	}
	printf("said\n");
	fflush(stdout);
	for (;;)
		pause();
}
