/* hosts COUNT [full]: tasks on every host of a machine talk, multicast, end and are killed. One task gets a message of 20 MiB
   and answers with another one, the others do so with 2 MiB. With `full` all do so with 20 MiB, and there are three times as
   many numbered messages, so that each length comes in each encoding. */
#include "e2e.h"

#define HUGE_WORDS (5 << 20)
#define LONG_WORDS (1 << 19)
#define LAST 100

static int tids[64], count, full;

static int rounds(void)
{
	return full ? 300 : 100;
}

/* The words of the long messages to and from the task of this number. */
static int long_words(int task)
{
	return full || task == count - 1 ? HUGE_WORDS : LONG_WORDS;
}

static void send_long(int to, int length, int seed)
{
	unsigned *text = malloc(length * 4);
	fill(text, length, seed);
	CALL(pvm_initsend(PvmDataDefault));
	CALL(pvm_pkint((int *)text, length, 1));
	CALL(pvm_send(to, 4));
	free(text);
}

static void receive_long(int from, int length, int seed)
{
	unsigned *text = malloc(length * 4);
	CALL(pvm_recv(from, 4));
	CALL(pvm_upkint((int *)text, length, 1));
	CHECK(is_filled(text, length, seed));
	free(text);
}

static void worker(void)
{
	int parent = CALL(pvm_parent()), me, i, bytes;
	CALL(pvm_recv(parent, 1));
	CALL(pvm_upkint(&count, 1, 1));
	CALL(pvm_upkint(tids, count, 1));
	CALL(pvm_upkint(&full, 1, 1));
	for (me = 0; tids[me] != pvm_mytid();)
		me++;
	/* A token goes round. */
	for (i = 0; i < rounds() / 3; i++) {
		int token = receive_int(me ? tids[me - 1] : parent, 2);
		send_int(me + 1 < count ? tids[me + 1] : parent, 2, token + 1);
	}
	/* Numbered messages to and fro. */
	for (i = 0; i < rounds(); i++) {
		receive_numbered(parent, 3, i);
		send_numbered(parent, 3, i);
	}
	receive_long(parent, long_words(me), me);
	send_long(parent, long_words(me), me + 100);
	/* Everyone to everyone. */
	fill(words, 30000, me);
	CALL(pvm_initsend(PvmDataRaw));
	CALL(pvm_pkint((int *)words, 30000, 1));
	CALL(pvm_mcast(tids, count, 5));
	for (i = 0; i < count; i++)
		if (i != me) {
			CALL(pvm_bufinfo(CALL(pvm_recv(tids[i], 5)), &bytes, 0, 0));
			CHECK(bytes == 120000);
			CALL(pvm_upkint((int *)words, 30000, 1));
			CHECK(is_filled(words, 30000, i));
		}
	CALL(pvm_joingroup("all"));
	CALL(pvm_barrier("all", count));
	send_int(parent, 6, me);
	if (receive_int(parent, 7)) {
		/* Its last words, then its end. */
		for (i = 0; i < LAST; i++)
			send_numbered(parent, 8, i);
		pvm_exit();
		exit(0);
	}
	while (1)
		pvm_recv(-1, 99);
}

int main(int argc, char **argv)
{
	struct pvmhostinfo *host;
	char *args[] = {"worker", 0};
	int hosts, i, h, gone;
	double start, bytes = 0;
	if (strcmp(argv[1], "worker") == 0) {
		worker();
	}
	full = argc > 2 && strcmp(argv[2], "full") == 0;
	CALL(pvm_mytid());
	CALL(pvm_config(&hosts, 0, &host));
	CHECK(hosts == atoi(argv[1]));
	for (h = 0; h < hosts; h++) {
		start = now();
		CHECK(pvm_spawn("hosts", args, PvmTaskHost, host[h].hi_name, 2, tids + count) == 2);
		for (i = 0; i < 2; i++)
			CHECK(pvm_tidtohost(tids[count++]) == host[h].hi_tid);
	}
	printf("tasks %d\n", count);
	CALL(pvm_initsend(PvmDataDefault));
	CALL(pvm_pkint(&count, 1, 1));
	CALL(pvm_pkint(tids, count, 1));
	CALL(pvm_pkint(&full, 1, 1));
	CALL(pvm_mcast(tids, count, 1));
	start = now();
	for (i = 0; i < rounds() / 3; i++) {
		send_int(tids[0], 2, 0);
		CHECK(receive_int(tids[count - 1], 2) == count);
	}
	printf("token %.1f us per hop\n", (now() - start) / (rounds() / 3) / (count + 1) * 1e6);
	for (i = 0; i < rounds(); i++)
		for (h = 0; h < count; h++)
			send_numbered(tids[h], 3, i);
	for (i = 0; i < rounds(); i++)
		for (h = count - 1; h >= 0; h--)
			receive_numbered(tids[h], 3, i);
	printf("numbered messages arrived\n");
	start = now();
	for (h = 0; h < count; h++) {
		send_long(tids[h], long_words(h), h);
		receive_long(tids[h], long_words(h), h + 100);
		bytes += 8.0 * long_words(h);
	}
	printf("long messages %.0f MB/s\n", bytes / (now() - start) / 1e6);
	for (h = 0; h < count; h++)
		CHECK(receive_int(tids[h], 6) == h);
	CALL(pvm_notify(PvmTaskExit, 9, count, tids));
	for (h = 0; h < count; h++) {
		send_int(tids[h], 7, h % 2);
		if (h % 2) {
			/* The notice comes after the task's last message. */
			CHECK(receive_int(-1, 9) == tids[h]);
			for (i = 0; i < LAST; i++) {
				CHECK(pvm_nrecv(tids[h], 8) > 0);
				unpack_numbered(i);
			}
		} else {
			CALL(pvm_kill(tids[h]));
			gone = receive_int(-1, 9);
			CHECK(gone == tids[h]);
		}
		CHECK(pvm_pstat(tids[h]) == PvmNoTask);
	}
	printf("notices came\n");
	pvm_exit();
	return 0;
}
