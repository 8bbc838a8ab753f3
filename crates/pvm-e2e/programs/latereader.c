/* latereader MESSAGES KB: two tasks send to each other before they read, as in pile deadlock; but the first one has a
   thread that reads after a while, and has not called the library before. So nobody is stuck, and no send fails. */
#include "e2e.h"
#include <pthread.h>

static int count, words_each;

static void send_all(int to)
{
	int i, *body = malloc(words_each * 4);
	CHECK(body);
	for (i = 0; i < count; i++) {
		body[0] = i;
		CALL(pvm_initsend(PvmDataRaw));
		CALL(pvm_pkint(body, words_each, 1));
		CALL(pvm_send(to, 3));
	}
	free(body);
}

static void receive_all(int from)
{
	int i, got;
	for (i = 0; i < count; i++) {
		CALL(pvm_recv(from, 3));
		CALL(pvm_upkint(&got, 1, 1));
		CHECK(got == i);
	}
}

static void *late(void *child)
{
	pause_ms(1500);
	receive_all(*(int *)child);
	return 0;
}

int main(int argc, char **argv)
{
	int parent, child;
	pthread_t thread;
	char *args[] = {argv[1], argv[2], 0};
	CHECK(argc > 2);
	count = atoi(argv[1]);
	words_each = atoi(argv[2]) * 256;
	setenv("PVM_SPILL", "block", 1);
	parent = pvm_parent();
	if (parent > 0) {
		send_int(parent, 1, 0);
		receive_int(parent, 2);
		send_all(parent);
		receive_all(parent);
		send_int(parent, 4, 0);
		pvm_exit();
		return 0;
	}
	CALL(pvm_spawn("latereader", args, PvmTaskDefault, "", 1, &child));
	receive_int(child, 1);
	CHECK(pthread_create(&thread, 0, late, &child) == 0);
	send_int(child, 2, 0);
	send_all(child);
	CHECK(pthread_join(thread, 0) == 0);
	receive_int(child, 4);
	pvm_exit();
	return 0;
}
