/* threads send|receive|block|talk: several threads of one task use the library at once. */
#include "e2e.h"
#include <pthread.h>

#define MESSAGES 5000

#define THREADS_MAX 4
#define TALK 500

static int peers[THREADS_MAX];
static volatile int progress[THREADS_MAX];

/* If it hangs, where? */
static void tell(int signal)
{
	fprintf(stderr, "after a minute: %d and %d of %d\n", progress[0], progress[1], MESSAGES);
}

/* Child: checks MESSAGES numbered messages of each thread and answers every hundredth. */
static void check_and_answer(void)
{
	int parent = CALL(pvm_parent()), i, value[2], next[2] = {0, 0}, thread;
	unsigned content[2000];
	for (i = 0; i < 2 * MESSAGES; i++) {
		int tag, bytes, from, buffer = CALL(pvm_recv(parent, -1));
		CALL(pvm_bufinfo(buffer, &bytes, &tag, &from));
		thread = tag - 10;
		CALL(pvm_upkint(value, 2, 1));
		CHECK(value[0] == thread);
		CHECK(value[1] == next[thread]);
		progress[thread] = ++next[thread];
		CALL(pvm_upkint((int *)content, value[1] % 2000, 1));
		CHECK(is_filled(content, value[1] % 2000, value[1] + thread));
		if (value[1] % 100 == 99)
			send_int(parent, 20 + thread, value[1]);
	}
}

/* Thread: packs and sends to both peers, receives its answers. */
static void *pack_and_send(void *argument)
{
	int thread = *(int *)argument, i, peer, value[2], got;
	unsigned content[2000];
	for (i = 0; i < MESSAGES; i++)
		for (peer = 0; peer < 2; peer++) {
			progress[thread] = value[1] = i;
			value[0] = thread;
			fill(content, i % 2000, i + thread);
			CALL(pvm_initsend(encodings[(i + thread) % 2]));
			CALL(pvm_pkint(value, 2, 1));
			CALL(pvm_pkint((int *)content, i % 2000, 1));
			CALL(pvm_send(peers[peer], 10 + thread));
			if (i % 100 == 99) {
				CALL(pvm_recv(peers[peer], 20 + thread));
				CALL(pvm_upkint(&got, 1, 1));
				CHECK(got == i);
			}
		}
	return 0;
}

/* Child: sends to two tags in turn. */
static void send_both(void)
{
	int parent = CALL(pvm_parent()), i;
	for (i = 0; i < MESSAGES; i++) {
		send_int(parent, 30, i);
		send_int(parent, 31, i);
		if (i % 500 == 0)
			pause_ms(1);
	}
}

/* Thread: receives the messages of its own tag, whatever order they come in. */
static void *receive_own(void *argument)
{
	int thread = *(int *)argument, i, got;
	for (i = 0; i < MESSAGES; i++) {
		CALL(pvm_recv(peers[0], 30 + thread));
		CALL(pvm_upkint(&got, 1, 1));
		CHECK(got == i);
		progress[thread] = i;
	}
	return 0;
}

/* Child: echoes tag 40 as tag 41 and ends with tag 42, which somebody waits for all the time. */
static void echo(void)
{
	int parent = CALL(pvm_parent()), i;
	for (i = 0; i < MESSAGES; i++) {
		send_int(parent, 41, receive_int(parent, 40));
		progress[0] = i;
	}
	send_int(parent, 42, MESSAGES);
}

/* Thread 0 is blocked in a receive while thread 1 sends and receives. */
static void *block_or_talk(void *argument)
{
	int thread = *(int *)argument, i, value;
	if (thread == 0) {
		CALL(pvm_recv(-1, 42));
		CALL(pvm_upkint(&value, 1, 1));
		CHECK(value == MESSAGES);
		return 0;
	}
	for (i = 0; i < MESSAGES; i++) {
		CALL(pvm_initsend(PvmDataRaw));
		CALL(pvm_pkint(&i, 1, 1));
		CALL(pvm_send(peers[0], 40));
		CALL(pvm_recv(peers[0], 41));
		CALL(pvm_upkint(&value, 1, 1));
		CHECK(value == i);
		progress[thread] = i;
	}
	return 0;
}

/* Child: sends every number back, the last one -1. */
static void send_back(void)
{
	int parent = CALL(pvm_parent()), value;
	do {
		value = receive_int(parent, 50);
		send_int(parent, 51, value);
	} while (value >= 0);
}

/* Thread: talks to a peer of its own in small messages; every other one takes what it waits for by name of the sender,
   the others by a look at a time. */
static void *talk(void *argument)
{
	int thread = *(int *)argument, i, value, got;
	for (i = 0; i < TALK; i++) {
		value = i < TALK - 1 ? i * THREADS_MAX + thread : -1;
		CALL(pvm_initsend(encodings[i % 2]));
		CALL(pvm_pkint(&value, 1, 1));
		CALL(pvm_send(peers[thread], 50));
		if (thread % 2)
			CALL(pvm_recv(peers[thread], 51));
		else
			while (CALL(pvm_nrecv(peers[thread], 51)) == 0) {
				CALL(pvm_probe(-1, 52));
				pause_ms(i % 2);
			}
		CALL(pvm_upkint(&got, 1, 1));
		CHECK(got == value);
		progress[thread] = i;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*child)(void);
		void *(*thread)(void *);
		int peers;
	} ways[] = {{"send", check_and_answer, pack_and_send, 2},
	            {"receive", send_both, receive_own, 1},
	            {"block", echo, block_or_talk, 1},
	            {"talk", send_back, talk, THREADS_MAX}};
	int way, i, count, numbers[THREADS_MAX] = {0, 1, 2, 3};
	pthread_t threads[THREADS_MAX];
	double start;
	for (way = 0; strcmp(ways[way].name, argv[1]) != 0;)
		way++;
	signal(SIGALRM, tell);
	alarm(200);
	if (argc > 2) {
		ways[way].child();
		pvm_exit();
		return 0;
	}
	CALL(pvm_mytid());
	for (i = 0; i < ways[way].peers; i++)
		peers[i] = spawn_one("threads", argv[1], "child", 0);
	start = now();
	count = ways[way].peers > 2 ? ways[way].peers : 2;
	for (i = 0; i < count; i++)
		CHECK(pthread_create(&threads[i], 0, ways[way].thread, &numbers[i]) == 0);
	for (i = 0; i < count; i++)
		pthread_join(threads[i], 0);
	printf("seconds %.2f\n", now() - start);
	pvm_exit();
	return 0;
}
