/* What is sent to a task that does not read.
   pile load MESSAGES KB [away]  so much to a sleeping task; it reads when the file HOME/go appears
   pile hidden MESSAGES KB       the last message is the one that is wanted first
   pile small MESSAGES           small ones; the sender waits beyond a million
   pile policy block|error KB    what a send does that finds no credit
   pile deadlock MESSAGES KB     two tasks send to each other before they read
   pile full MESSAGES KB         the disk is full: the send says so, and everything else goes on */
#include "e2e.h"

static unsigned *body;
static int words_each;

static void await_go(void)
{
	char path[512];
	snprintf(path, sizeof path, "%s/go", getenv("HOME"));
	while (access(path, F_OK) < 0)
		pause_ms(5);
}

static void make_body(const char *kb)
{
	words_each = atoi(kb) * 256;
	CHECK(body = malloc(words_each * 4 + 4));
}

static int send_body(int to, int tag, int i)
{
	fill(body, words_each, i);
	CALL(pvm_initsend(PvmDataRaw));
	CALL(pvm_pkint(&i, 1, 1));
	CALL(pvm_pkint((int *)body, words_each, 1));
	return pvm_send(to, tag);
}

static void receive_body(int from, int tag, int i)
{
	int got;
	CALL(pvm_recv(from, tag));
	CALL(pvm_upkint(&got, 1, 1));
	if (got != i)
		fprintf(stderr, "expected %d, got %d\n", i, got);
	CHECK(got == i);
	memset(body, 0, words_each * 4);
	CALL(pvm_upkint((int *)body, words_each, 1));
	CHECK(is_filled(body, words_each, i));
}

/* Other tasks come, talk, are watched and go. */
static void life_goes_on(void)
{
	int child = spawn_one("pile", "echo", 0, 0);
	CALL(pvm_notify(PvmTaskExit, 77, 1, &child));
	send_int(child, 1, 5);
	CHECK(receive_int(child, 1) == 5);
	CHECK(receive_int(-1, 77) == child);
}

static void child_of(int parent, char **argv)
{
	int count = argv[2] ? atoi(argv[2]) : 0, i;
	if (argv[1] && !strcmp(argv[1], "echo")) {
		send_int(parent, 1, receive_int(parent, 1));
		return;
	}
	if (argv[3])
		make_body(argv[3]);
	send_int(parent, 1, 0);
	if (!strcmp(argv[1], "deadlock")) {
		int failed = 0, read = 0;
		receive_int(parent, 2);
		for (i = 0; i < count; i++) {
			int code = send_body(parent, 3, i);
			if (code == PvmOutOfRes) {
				/* Now it reads what the other one has sent. */
				failed++, i--;
				CHECK(read < count);
				receive_body(parent, 3, read++);
			} else
				CALL(code);
		}
		while (read < count)
			receive_body(parent, 3, read++);
		send_int(parent, 4, failed);
		return;
	}
	await_go();
	if (!strcmp(argv[1], "hidden"))
		CHECK(receive_int(parent, 9) == 99);
	for (i = 0; i < count; i++) {
		if (!strcmp(argv[1], "small"))
			CHECK(receive_int(parent, 3) == i);
		else
			receive_body(parent, 3, i);
	}
	CHECK(pvm_nrecv(-1, -1) == 0);
	send_int(parent, 4, i);
	/* Its memory is looked at. */
	receive_int(parent, 5);
}

int main(int argc, char **argv)
{
	int parent, child, count, i, code = 0, failed = 0, read = 0;
	double start = now();
	int away = argc > 4 && !strcmp(argv[4], "away");
	if (argc > 4 && !away)
		setenv("PVM_SPILL", argv[4], 1);
	if (!strcmp(argv[1], "policy"))
		setenv("PVM_SPILL", argv[2], 1);
	parent = pvm_parent();
	if (parent > 0) {
		child_of(parent, argv);
		pvm_exit();
		return 0;
	}
	CALL(pvm_mytid());
	pvm_setopt(PvmAutoErr, 0);
	if (argc > 3)
		make_body(argv[3]);
	if (!strcmp(argv[1], "policy")) {
		char number[20];
		/* How many find room is seen by sending; then the others are read and sent. */
		child = spawn_one("pile", "load", "600", argv[3]);
		receive_int(child, 1);
		for (i = 0; i < 600; i++) {
			code = send_body(child, 3, i);
			if (code < 0)
				break;
			sprintf(number, "%d", i);
			write_file(own_path("sent"), i);
			if (!strcmp(argv[2], "block") && i == 10)
				printf("sending\n");
		}
		printf("sent %d, then %d\n", i, code);
		if (!strcmp(argv[2], "error")) {
			char path[512];
			CHECK(code == PvmOutOfRes && i > 10);
			snprintf(path, sizeof path, "%s/go", getenv("HOME"));
			write_file(path, 1);
			for (; i < 600; i++)
				while ((code = send_body(child, 3, i)) == PvmOutOfRes)
					failed++, pause_ms(1);
		}
		CALL(code);
		CHECK(receive_int(child, 4) == 600);
		send_int(child, 5, 0);
		pvm_exit();
		return 0;
	}
	count = atoi(argv[2]);
	if (!strcmp(argv[1], "deadlock")) {
		char *args[] = {argv[1], argv[2], argv[3], "block", 0};
		CALL(pvm_spawn("pile", args, PvmTaskDefault, "", 1, &child));
		receive_int(child, 1);
		send_int(child, 2, 0);
		for (i = 0; i < count; i++) {
			code = send_body(child, 3, i);
			if (code == PvmOutOfRes) {
				failed++, i--;
				CHECK(read < count);
				receive_body(child, 3, read++);
			} else
				CALL(code);
		}
		while (read < count)
			receive_body(child, 3, read++);
		i = receive_int(child, 4);
		printf("gave way %d\n", failed + i);
		CHECK(failed + i > 0);
		pvm_exit();
		return 0;
	}
	if (away) {
		char *args[] = {argv[1], argv[2], argv[3], 0};
		CALL(pvm_spawn("pile", args, PvmTaskHost | PvmHostCompl, ".", 1, &child));
		CALL(child);
	} else
		child = spawn_one("pile", argv[1], argv[2], argc > 3 ? argv[3] : 0);
	receive_int(child, 1);
	printf("ready\n");
	if (!strcmp(argv[1], "full")) {
		for (i = 0; i < count; i++)
			if ((code = send_body(child, 3, i)) < 0)
				break;
		printf("sent %d, then %d\n", i, code);
		CHECK(i > 10 && i < count && code == PvmOutOfRes);
		/* Small ones, other tasks, and notices need no disk. */
		life_goes_on();
		write_file(own_path("x"), 1);
		{
			char path[512];
			snprintf(path, sizeof path, "%s/go", getenv("HOME"));
			write_file(path, 1);
		}
		for (; i < count; i++)
			while ((code = send_body(child, 3, i)) == PvmOutOfRes)
				failed++, pause_ms(2);
		CALL(code);
	} else {
		for (i = 0; i < count; i++) {
			if (!strcmp(argv[1], "small"))
				send_int(child, 3, i);
			else
				CALL(send_body(child, 3, i));
			if (i % 100000 == 99999)
				printf("at %d\n", i + 1);
		}
		if (!strcmp(argv[1], "hidden"))
			send_int(child, 9, 99);
		printf("sent %.2f s\n", now() - start);
		if (!strcmp(argv[1], "load"))
			life_goes_on();
	}
	start = now();
	CHECK(receive_int(child, 4) == count);
	printf("read %.2f s\n", now() - start);
	/* Nobody has anything to do: now memory is back. */
	pvm_nrecv(-1, 6);
	printf("done\n");
	getchar();
	send_int(child, 5, 0);
	pvm_exit();
	return 0;
}
