/* cancelled: threads that are cancelled in a receive, one that sleeps for the others and one that sleeps beside it. What others
   wait for comes to them as before. */
#include "e2e.h"
#include <pthread.h>

static void *receive(void *tag)
{
	CALL(pvm_recv(-1, *(int *)tag));
	return 0;
}

static void *receive_late(void *tag)
{
	pause_ms(300);
	return receive(tag);
}

static void cancel(pthread_t thread)
{
	void *result;
	CHECK(pthread_cancel(thread) == 0);
	CHECK(pthread_join(thread, &result) == 0);
	CHECK(result == PTHREAD_CANCELED);
}

int main(int argc, char **argv)
{
	int never = 77, wanted = 5, number, child, parent = pvm_parent();
	pthread_t first, second, third;
	(void)argc, (void)argv;
	if (parent > 0) {
		while (pvm_recv(parent, -1) > 0) {
			CALL(pvm_upkint(&number, 1, 1));
			pause_ms(400);
			send_int(parent, wanted, number);
		}
		return 0;
	}
	CALL(pvm_mytid());
	CALL(pvm_spawn("cancelled", 0, PvmTaskDefault, "", 1, &child));
	/* The first one sleeps on the doorbell, the second one until that one has looked. */
	CHECK(pthread_create(&first, 0, receive, &never) == 0);
	pause_ms(200);
	CHECK(pthread_create(&second, 0, receive, &never) == 0);
	CHECK(pthread_create(&third, 0, receive_late, &wanted) == 0);
	pause_ms(600);
	cancel(second);
	cancel(first);
	send_int(child, 1, 0);
	CHECK(pthread_join(third, 0) == 0);
	/* Nobody sleeps in place of one that is gone: each answer comes when it comes. */
	for (number = 0; number < 5; number++) {
		send_int(child, 1, number);
		CHECK(receive_int(child, wanted) == number);
	}
	CALL(pvm_kill(child));
	pvm_exit();
	return 0;
}
