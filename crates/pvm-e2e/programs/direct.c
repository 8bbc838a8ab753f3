/* direct WHAT [..]: tasks of two hosts talk by direct routes.
   talk ROUNDS: numbered messages of all sizes to and fro, both sides sending at once; then a fork
   renew ROUNDS: the same with keys that are used up every 200 records
   refuse: the partner has said PvmDontRoute
   regret: the partner says so when the route is agreed on, and the other one takes its end only after that
   cut ROUNDS: both sides break their sockets now and then
   leave: the partner sends its last words and leaves, or is killed
   busy: the partner computes while it is sent more than any socket holds */
#include "e2e.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* Connected TCP sockets of this process; with `cut` they are broken. */
static int routes(int cut)
{
	int fd, count = 0;
	for (fd = 3; fd < 200; fd++) {
		struct sockaddr_in name;
		socklen_t size = sizeof name;
		if (getpeername(fd, (struct sockaddr *)&name, &size) == 0 && name.sin_family == AF_INET) {
			count++;
			if (cut)
				shutdown(fd, SHUT_RDWR);
		}
	}
	return count;
}

/* Sends until the route stands; returns how many messages that took. */
static int until_direct(int to, int tag, int from)
{
	double end = now() + 100;
	int sent = from;
	while (!routes(0)) {
		CHECK(now() < end);
		send_numbered(to, tag, sent++);
		pause_ms(1);
	}
	return sent;
}

/* The child of a fork has none of its parent's routes, and the parent keeps them. */
static void fork_without_routes(void)
{
	int had = routes(0), status, pid = fork();
	if (pid == 0)
		_exit(routes(0));
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	CHECK(WEXITSTATUS(status) == 0);
	CHECK(routes(0) == had);
}

/* How many routes this task was told of. */
static int added(void)
{
	int count = 0;
	while (pvm_nrecv(pvm_mytid(), 70) > 0)
		count++;
	return count;
}

static void worker(char *what, int rounds)
{
	int parent = CALL(pvm_parent()), i, j;
	if (strcmp(what, "refuse") == 0) {
		CALL(pvm_setopt(PvmRoute, PvmDontRoute));
		send_int(parent, 1, 0);
		for (i = 0; i < rounds; i++)
			receive_numbered(parent, 3, i % 98);
		send_int(parent, 2, routes(0));
	} else if (strcmp(what, "regret") == 0) {
		send_int(parent, 1, 0);
		pause_ms(100);
		CALL(pvm_setopt(PvmRoute, PvmRouteDirect));
		for (i = 0; i < rounds; i++) {
			send_numbered(parent, 3, i % 98);
			if (i == 0)
				pause_ms(1500);
		}
		/* It goes on: what it sent is not left to its host. */
		receive_int(parent, 2);
	} else if (strcmp(what, "leave") == 0) {
		CALL(pvm_setopt(PvmRoute, PvmRouteDirect));
		j = until_direct(parent, 4, 0);
		for (i = 0; i < 200; i++)
			send_numbered(parent, 4, j++);
		send_int(parent, 5, j);
		if (rounds == 0)
			pvm_exit();
		if (rounds == 1)
			kill(getpid(), SIGKILL);
	} else if (strcmp(what, "busy") == 0) {
		double end;
		receive_int(parent, 1);
		for (end = now() + 2; now() < end;)
			;
		for (i = 0; i < rounds; i++)
			receive_numbered(parent, 3, i);
		send_int(parent, 2, 0);
	} else {
		CALL(pvm_setopt(PvmRoute, PvmRouteDirect));
		for (i = 0; i < rounds; i++) {
			for (j = 0; j < 5; j++)
				send_numbered(parent, 3, i * 5 + j);
			for (j = 0; j < 5; j++)
				receive_numbered(parent, 3, i * 5 + j);
			if (strcmp(what, "cut") == 0 && i % 50 == 49)
				routes(1);
		}
		/* The other one has still to ask for the end of the route. */
		if (strcmp(what, "cut"))
			receive_int(parent, 6);
		send_int(parent, 2, routes(0));
	}
	pvm_exit();
	exit(0);
}

int main(int argc, char **argv)
{
	struct pvmhostinfo *host;
	int hosts, rounds = argc > 2 ? atoi(argv[2]) : 0, tid = 0, i, j, n, had = 0;
	char *args[4] = {"worker", argv[1], argc > 2 ? argv[2] : "0", 0};
	double start;
	if (strcmp(argv[strcmp(argv[1], "worker") ? 1 : 2], "renew") == 0)
		setenv("NEOPVM_ROUTE_RECORDS", "200", 1);
	if (strcmp(argv[1], "worker") == 0)
		worker(argv[2], atoi(argv[3]));
	CALL(pvm_mytid());
	CALL(pvm_config(&hosts, 0, &host));
	CHECK(hosts == 2);
	if (strcmp(argv[1], "leave") == 0) {
		for (n = 0; n < 6; n++) {
			args[2] = n % 2 ? "1" : "0";
			CHECK(pvm_spawn("direct", args, PvmTaskHost, host[1].hi_name, 1, &tid) == 1);
			CALL(pvm_notify(PvmTaskExit, 9, 1, &tid));
			/* Nothing is read before it is gone. */
			CHECK(receive_int(-1, 9) == tid);
			CHECK(pvm_nrecv(tid, 5) > 0);
			CALL(pvm_upkint(&j, 1, 1));
			for (i = 0; i < j; i++) {
				CHECK(pvm_nrecv(tid, 4) > 0);
				unpack_numbered(i);
			}
		}
		printf("last words came\n");
		pvm_exit();
		return 0;
	}
	/* Before there is a partner: its own wish may be fulfilled at once. */
	CALL(pvm_notify(PvmRouteAdd, 70, -1, 0));
	CHECK(pvm_spawn("direct", args, PvmTaskHost, host[1].hi_name, 1, &tid) == 1);
	CALL(pvm_setopt(PvmRoute, PvmRouteDirect));
	/* There is none to a task that never was: answered at once. */
	n = tid + 1000;
	CALL(pvm_notify(PvmRouteDelete, 71, 1, &n));
	CHECK(pvm_nrecv(pvm_mytid(), 71) > 0 && pvm_nrecv(-1, 71) == 0);
	if (strcmp(argv[1], "refuse") == 0) {
		receive_int(tid, 1);
		for (i = 0; i < rounds; i++)
			send_numbered(tid, 3, i % 98);
		CHECK(receive_int(tid, 2) == 0 && routes(0) == 0);
		printf("refused\n");
	} else if (strcmp(argv[1], "regret") == 0) {
		receive_int(tid, 1);
		pause_ms(800);
		CALL(pvm_setopt(PvmRoute, PvmDontRoute));
		for (i = 0; i < rounds; i++)
			receive_numbered(tid, 3, i % 98);
		send_int(tid, 2, 0);
		printf("all came\n");
	} else if (strcmp(argv[1], "busy") == 0) {
		send_int(tid, 1, 0);
		start = now();
		for (i = 0; i < rounds; i++)
			send_numbered(tid, 3, i);
		printf("sent in %.2f s\n", now() - start);
		CHECK(now() - start < 60);
		receive_int(tid, 2);
	} else {
		start = now();
		for (i = 0; i < rounds; i++) {
			for (j = 0; j < 5; j++)
				send_numbered(tid, 3, i * 5 + j);
			for (j = 0; j < 5; j++)
				receive_numbered(tid, 3, i * 5 + j);
			had |= routes(0);
			if (strcmp(argv[1], "cut") == 0 && i % 70 == 69)
				routes(1);
		}
		if (strcmp(argv[1], "talk") == 0) {
			fork_without_routes();
			CHECK(had);
		}
		if (strcmp(argv[1], "cut")) {
			CALL(pvm_notify(PvmRouteDelete, 72, 1, &tid));
			/* Between two keys there is no route for a moment, and then the answer comes at once. */
			if (strcmp(argv[1], "renew"))
				CHECK(pvm_nrecv(-1, 72) == 0);
			send_int(tid, 6, 0);
		}
		receive_int(tid, 2);
		if (strcmp(argv[1], "cut"))
			CALL(pvm_recv(pvm_mytid(), 72));
		CHECK(had);
		n = added();
		/* A wish for a new key is as good as fulfilled in a few milliseconds, also on a busy computer. */
		CHECK(n >= (strcmp(argv[1], "renew") ? 1 : 3));
		printf("%d messages each way in %.2f s, %d routes\n", rounds * 5, now() - start, n);
	}
	pvm_exit();
	return 0;
}
