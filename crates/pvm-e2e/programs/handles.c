/* handles THREADS: each thread exchanges messages with a task of its own by the calls of neopvm.h, small ones and
   some that do not fit a cell; all come whole, in order, and once. */
#include "e2e.h"
#include "neopvm.h"
#include <pthread.h>

#define MESSAGES 4000
#define INTS_MAX 120
#define THREADS_MAX 4

static int peers[THREADS_MAX];

/* How many ints the n-th message has: most of them few. */
static int length(int n)
{
	return n % 7 == 6 ? INTS_MAX : n % 40;
}

static void give(int to, int tag, int n)
{
	unsigned items[INTS_MAX];
	double half = n / 2.0;
	neopvm_buffer buffer = 0;
	fill(items, length(n), n);
	CHECK(neopvm_new(n % 3 ? NEOPVM_DEFAULT : NEOPVM_RAW, &buffer) == 0 && buffer > 0);
	CHECK(neopvm_pack(buffer, NEOPVM_INT, &n, 1, 1) == 0);
	CHECK(neopvm_pack(buffer, NEOPVM_UNSIGNED_INT, items, length(n), 1) == 0);
	if (n % 5 == 0)
		CHECK(neopvm_pack(buffer, NEOPVM_DOUBLE, &half, 1, 1) == 0);
	CHECK(neopvm_send(buffer, to, tag, NEOPVM_CURRENT_CONTEXT) == 0);
	CHECK(neopvm_free(buffer) == 0);
}

/* Takes the n-th message of a task and checks all of it. */
static void take(int from, int tag, int n)
{
	unsigned items[INTS_MAX];
	struct neopvm_info info;
	double half = -1;
	int64_t limit = n % 2 ? NEOPVM_FOREVER : 60000000000;
	neopvm_buffer buffer = 0;
	int number = -1, items_at = 4 + 4 * length(n);
	CHECK(neopvm_receive(from, n % 4 ? tag : NEOPVM_ANY, NEOPVM_CURRENT_CONTEXT, limit, &buffer) == 0);
	CHECK(buffer > 0);
	CHECK(neopvm_info(buffer, &info) == 0);
	CHECK(info.source == from && info.tag == tag && info.destination == pvm_mytid());
	CHECK((int)info.bytes == items_at + (n % 5 ? 0 : 8) && info.left == info.bytes);
	CHECK(neopvm_unpack(buffer, NEOPVM_INT, &number, 1, 1) == 0 && number == n);
	CHECK(neopvm_unpack(buffer, NEOPVM_UNSIGNED_INT, items, length(n), 1) == 0);
	CHECK(is_filled(items, length(n), n));
	CHECK(neopvm_info(buffer, &info) == 0 && (int)(info.bytes - info.left) == items_at);
	if (n % 5 == 0)
		CHECK(neopvm_unpack(buffer, NEOPVM_DOUBLE, &half, 1, 1) == 0 && half == n / 2.0);
	CHECK(neopvm_unpack(buffer, NEOPVM_BYTE, &number, 1, 1) == NEOPVM_END);
	CHECK(neopvm_free(buffer) == 0);
}

static void echo(void)
{
	int parent = CALL(pvm_parent()), n;
	for (n = 0; n < MESSAGES; n++) {
		take(parent, 5, n);
		give(parent, 6, n);
	}
}

static void *exchange(void *argument)
{
	int peer = *(int *)argument, n, sent = 0;
	for (n = 0; n < MESSAGES; n++) {
		/* One at a time, then some at once. */
		while (sent < MESSAGES && sent <= n + (n / 500 % 2 ? 20 : 0))
			give(peer, 5, sent++);
		take(peer, 6, n);
	}
	return 0;
}

/* One buffer, both headers. */
static void mixed(int me)
{
	neopvm_buffer buffer = 0, other = 0;
	int n = 7, old;
	CHECK(neopvm_new(NEOPVM_DEFAULT, &buffer) == 0);
	CHECK(neopvm_pack(buffer, NEOPVM_INT, &n, 1, 1) == 0);
	old = CALL(pvm_setsbuf(buffer));
	CALL(pvm_pkint(&n, 1, 1));
	CALL(pvm_send(me, 3));
	CHECK(neopvm_free(buffer) == 0 && pvm_getsbuf() == 0);
	CHECK(neopvm_free(buffer) == NEOPVM_NO_BUFFER);
	CHECK(neopvm_pack(buffer, NEOPVM_INT, &n, 1, 1) == NEOPVM_NO_BUFFER);
	CHECK(neopvm_send(buffer, me, 3, NEOPVM_CURRENT_CONTEXT) == NEOPVM_NO_BUFFER);
	CHECK(neopvm_new(NEOPVM_DEFAULT, &other) == 0 && neopvm_free(other) == 0);
	CHECK(neopvm_receive(me, 3, NEOPVM_CURRENT_CONTEXT, NEOPVM_FOREVER, &buffer) == 0);
	CALL(pvm_setrbuf(buffer));
	n = 0;
	CALL(pvm_upkint(&n, 1, 1));
	CHECK(n == 7 && neopvm_unpack(buffer, NEOPVM_INT, &n, 1, 1) == 0 && n == 7);
	/* What was read from begins anew when it is packed into. */
	CHECK(neopvm_rewind(buffer) == 0 && neopvm_pack(buffer, NEOPVM_INT, &n, 1, 1) == 0);
	CHECK(neopvm_send(buffer, me, 4, NEOPVM_CURRENT_CONTEXT) == 0);
	CHECK(neopvm_free(buffer) == 0 && pvm_getrbuf() == 0);
	CHECK(neopvm_receive(me, 4, NEOPVM_CURRENT_CONTEXT, NEOPVM_FOREVER, &buffer) == 0);
	CHECK(neopvm_unpack(buffer, NEOPVM_INT, &n, 1, 1) == 0);
	CHECK(neopvm_unpack(buffer, NEOPVM_INT, &n, 1, 1) == NEOPVM_END);
	CHECK(neopvm_free(buffer) == 0);
	CALL(pvm_setsbuf(old));
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS_MAX];
	int me = CALL(pvm_mytid()), count, i;
	if (strcmp(argv[1], "echo") == 0) {
		echo();
		pvm_exit();
		return 0;
	}
	mixed(me);
	count = atoi(argv[1]);
	CHECK(count <= THREADS_MAX);
	for (i = 0; i < count; i++)
		peers[i] = spawn_one("handles", "echo", 0, 0);
	if (count == 1)
		exchange(peers);
	else {
		for (i = 0; i < count; i++)
			CHECK(pthread_create(threads + i, 0, exchange, peers + i) == 0);
		for (i = 0; i < count; i++)
			CHECK(pthread_join(threads[i], 0) == 0);
	}
	pvm_exit();
	return 0;
}
