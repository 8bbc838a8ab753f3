/* withdrawals: says to the server of the space NAME, without end, that a request is withdrawn which
   it has never seen. Each time that is a step of the space. */
#include "frames.h"

enum { WITHDRAW = 6, ENOUGH = 20000 };

int main(int argc, char **argv)
{
	unsigned char frame[18] = { WITHDRAW };
	unsigned long long number = 1, said;
	int server;

	CHECK(argc == 2);
	CALL(pvm_mytid());
	server = server_of(argv[1], frame + 2);
	pvm_setcontext(CONTEXT);
	memcpy(frame + 10, &number, sizeof number);
	for (said = 0;; said++) {
		send_frame(server, frame, sizeof frame);
		if (said == ENOUGH)
			printf("begun\n");
	}
}
