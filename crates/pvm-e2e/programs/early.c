/* early: messages are sent to a child that enrols half a second later; it gets them all in order. */
#include "e2e.h"

#define MESSAGES 200

int main(int argc, char **argv)
{
	int i, tid;
	if (argc > 1 && strcmp(argv[1], "child") == 0) {
		pause_ms(500);
		tid = CALL(pvm_parent());
		for (i = 0; i < MESSAGES; i++)
			receive_numbered(tid, 7, i);
		send_int(tid, 8, MESSAGES);
		if (argc > 2)
			write_file(argv[2], MESSAGES);
		pvm_exit();
		return 0;
	}
	tid = spawn_one("early", "child", argc > 1 ? argv[1] : 0, 0);
	for (i = 0; i < MESSAGES; i++)
		send_numbered(tid, 7, i);
	if (argc > 1) { /* Not even the sender is there any more when the child enrols. */
		pvm_exit();
		return 0;
	}
	CHECK(receive_int(tid, 8) == MESSAGES);
	pvm_exit();
	return 0;
}
