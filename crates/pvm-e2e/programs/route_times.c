/* routes: what a message between two hosts costs by the daemons, by a direct route, and over a plain
   TCP connection between two processes, in turn. */
#include "e2e.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#define LARGE (1 << 20)
#define ROUNDS 3

static char bytes[LARGE];

static void all(int fd, int out, int size)
{
	int done = 0, n;
	while (done < size) {
		n = out ? write(fd, bytes + done, size - done) : read(fd, bytes + done, size - done);
		CHECK(n > 0);
		done += n;
	}
}

/* Seconds one way. */
static double tcp(int fd, int size, int count)
{
	double start = now();
	int i;
	for (i = 0; i < count; i++) {
		all(fd, 1, size);
		all(fd, 0, size);
	}
	return (now() - start) / count / 2;
}

static double messages(int to, int size, int count)
{
	double start = now();
	int i;
	for (i = 0; i < count; i++) {
		CALL(pvm_initsend(PvmDataRaw));
		CALL(pvm_pkbyte(bytes, size, 1));
		CALL(pvm_send(to, 1));
		CALL(pvm_recv(to, 1));
		CALL(pvm_upkbyte(bytes, size, 1));
	}
	return (now() - start) / count / 2;
}

static void stream(int to, int size, int count, const char *name)
{
	double start = now();
	int i;
	for (i = 0; i < count; i++) {
		CALL(pvm_initsend(PvmDataRaw));
		CALL(pvm_pkbyte(bytes, size, 1));
		CALL(pvm_send(to, 3));
	}
	CALL(pvm_recv(to, 3));
	printf("%s stream %.3f GB/s\n", name, (double)size * count / (now() - start) / 1e9);
}

static void worker(int direct)
{
	int parent = CALL(pvm_parent()), size, tag, id, count = 0;
	CALL(pvm_setopt(PvmRoute, direct ? PvmRouteDirect : PvmDontRoute));
	while (1) {
		id = CALL(pvm_recv(parent, -1));
		CALL(pvm_bufinfo(id, &size, &tag, 0));
		if (tag == 2)
			break;
		CALL(pvm_upkbyte(bytes, size, 1));
		if (tag == 3 && ++count % 200)
			continue;
		CALL(pvm_initsend(PvmDataRaw));
		CALL(pvm_pkbyte(bytes, tag == 3 ? 1 : size, 1));
		CALL(pvm_send(parent, tag));
	}
	pvm_exit();
	exit(0);
}

static double best(double a, double b)
{
	return a == 0 || b < a ? b : a;
}

int main(int argc, char **argv)
{
	struct pvmhostinfo *host;
	struct sockaddr_in name;
	socklen_t length = sizeof name;
	int hosts, listener, fd, pid, one = 1, round, i, tids[2];
	char *args[3] = {"worker", "0", 0};
	double small[3] = {0}, large[3] = {0};
	if (argc > 2)
		worker(atoi(argv[2]));
	memset(&name, 0, sizeof name);
	name.sin_family = AF_INET;
	name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = CALL(socket(AF_INET, SOCK_STREAM, 0));
	CALL(bind(listener, (struct sockaddr *)&name, sizeof name));
	CALL(listen(listener, 1));
	CALL(getsockname(listener, (struct sockaddr *)&name, &length));
	pid = CALL(fork());
	if (pid == 0) {
		int size;
		fd = CALL(socket(AF_INET, SOCK_STREAM, 0));
		CALL(connect(fd, (struct sockaddr *)&name, sizeof name));
		CALL(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one));
		while (read(fd, &size, sizeof size) == sizeof size) {
			int count;
			CHECK(read(fd, &count, sizeof count) == sizeof count);
			while (count-- > 0) {
				all(fd, 0, size);
				all(fd, 1, size);
			}
		}
		_exit(0);
	}
	fd = CALL(accept(listener, 0, 0));
	CALL(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one));
	CALL(pvm_mytid());
	CALL(pvm_config(&hosts, 0, &host));
	CHECK(hosts == 2);
	for (i = 0; i < 2; i++) {
		args[1] = i ? "1" : "0";
		CHECK(pvm_spawn("route_times", args, PvmTaskHost, host[1].hi_name, 1, &tids[i]) == 1);
		CALL(pvm_setopt(PvmRoute, i ? PvmRouteDirect : PvmAllowDirect));
		messages(tids[i], 8, 300);
		pause_ms(50);
		messages(tids[i], 8, 300);
		messages(tids[i], LARGE, 5);
	}
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < 2; i++) {
			small[i] = best(small[i], messages(tids[i], 8, 2000));
			large[i] = best(large[i], messages(tids[i], LARGE, 60));
		}
		for (i = 0; i < 2; i++) {
			int plan[2];
			plan[0] = i ? LARGE : 8;
			plan[1] = i ? 60 : 2000;
			CHECK(write(fd, plan, sizeof plan) == sizeof plan);
			if (i)
				large[2] = best(large[2], tcp(fd, plan[0], plan[1]));
			else
				small[2] = best(small[2], tcp(fd, plan[0], plan[1]));
		}
	}
	close(fd);
	printf("8 B one way, us: default %.1f, direct %.1f, TCP %.1f (direct %.2f x TCP)\n", small[0] * 1e6,
	       small[1] * 1e6, small[2] * 1e6, small[1] / small[2]);
	printf("1 MB one way, GB/s: default %.2f, direct %.2f, TCP %.2f\n", LARGE / large[0] / 1e9,
	       LARGE / large[1] / 1e9, LARGE / large[2] / 1e9);
	stream(tids[0], LARGE, 200, "default");
	stream(tids[1], LARGE, 200, "direct");
	stream(tids[0], 8, 2000, "default 8 B");
	stream(tids[1], 8, 2000, "direct 8 B");
	for (i = 0; i < 2; i++)
		send_int(tids[i], 2, 0);
	pvm_exit();
	return 0;
}
