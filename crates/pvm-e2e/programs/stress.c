/* stress MESSAGES FILE: senders and receivers are killed and stopped at random moments, also in the middle of a
   send; meanwhile every message is checked: none is lost, none comes twice, none out of order, none damaged, and
   nobody waits for one who is stopped. FILE holds how many sends of each sender have returned. */
#include "e2e.h"
#include <fcntl.h>
#include <sys/mman.h>

enum { SENDERS = 3, SINKS = 2, DATA = 1, GO_ON = 2, GONE = 3, WINDOW = 32 };

struct peer {
	int tid, pid, expected, dead, stopped;
};

static volatile int *sent; /* by sender */
static struct peer senders[SENDERS], sinks[SINKS];
static char *self, *file, count[16];
static unsigned seed = 12345;
static int deaths, stops, torn;

static unsigned chance(unsigned n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

static void map_counts(void)
{
	int fd = open(file, O_RDWR | O_CREAT, 0600);
	CHECK(fd >= 0 && ftruncate(fd, 4096) == 0);
	sent = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(sent != MAP_FAILED);
}

static int is_in(int tid, struct peer *peers, int n)
{
	int i;
	for (i = 0; i < n; i++)
		if (peers[i].tid == tid)
			return i;
	return -1;
}

/* A new task in the stead of a dead one. It tells its process by its first message. */
static void begin(struct peer *peer, const char *what, int place)
{
	char number[16];
	char *arguments[] = {count, file, (char *)what, number, 0};
	sprintf(number, "%d", place);
	memset(peer, 0, sizeof *peer);
	if (!strcmp(what, "send"))
		sent[place] = 0;
	CHECK(pvm_spawn(self, arguments, PvmTaskDefault, "", 1, &peer->tid) == 1);
	CALL(pvm_recv(peer->tid, GO_ON));
	CALL(pvm_upkint(&peer->pid, 1, 1));
	CALL(pvm_notify(PvmTaskExit, GONE, 1, &peer->tid));
}

static void say_go_on(int to)
{
	int pid = getpid();
	CALL(pvm_initsend(PvmDataRaw));
	CALL(pvm_pkint(&pid, 1, 1));
	CALL(pvm_send(to, GO_ON));
}

static void send_for_ever(int lead, int place)
{
	int i;
	say_go_on(lead);
	for (i = 0;; i++) {
		send_numbered(lead, DATA, i);
		sent[place] = i + 1;
		if (i % WINDOW == WINDOW - 1)
			CALL(pvm_recv(lead, GO_ON));
	}
}

static void receive_for_ever(int lead)
{
	int i;
	say_go_on(lead);
	for (i = 0;; i++) {
		CALL(pvm_recv(lead, DATA));
		unpack_numbered(i);
	}
}

/* One message of a sender; one that was killed may leave half a one, which says so. */
static void check(struct peer *peer)
{
	int header[2], code = pvm_upkint(header, 2, 1);
	if (code >= 0) {
		CHECK(header[0] == peer->expected);
		CHECK(header[1] == words_of(peer->expected));
		code = pvm_upkint((int *)words, header[1], 1);
	}
	if (code == PvmNoData && peer->dead) {
		torn++;
		return;
	}
	CHECK(code >= 0);
	CHECK(is_filled(words, header[1], peer->expected));
	peer->expected++;
	if (peer->expected % WINDOW == 0)
		say_go_on(peer->tid);
}

/* Kills or stops somebody, or lets somebody go on. */
static void disturb(struct peer *peer)
{
	if (peer->dead)
		return;
	if (peer->stopped) {
		kill(peer->pid, SIGCONT);
		peer->stopped = 0;
	} else if (chance(2)) {
		kill(peer->pid, SIGKILL);
		peer->dead = 1;
		deaths++;
	} else {
		kill(peer->pid, SIGSTOP);
		peer->stopped = 1;
		stops++;
	}
}

static void replace(int tid)
{
	int i;
	if ((i = is_in(tid, senders, SENDERS)) >= 0) {
		CHECK(senders[i].dead);
		/* Every message whose send has returned has come. */
		CHECK(senders[i].expected >= sent[i]);
		begin(&senders[i], "send", i);
	} else if ((i = is_in(tid, sinks, SINKS)) >= 0) {
		CHECK(sinks[i].dead);
		begin(&sinks[i], "receive", i);
	}
}

static void lead(int messages)
{
	int i, id, tag, tid, received = 0;
	for (i = 0; i < SENDERS; i++)
		begin(&senders[i], "send", i);
	for (i = 0; i < SINKS; i++)
		begin(&sinks[i], "receive", i);
	while (received < messages) {
		/* Never is everybody stopped for long: who is stopped holds up nobody, but who runs must send. */
		struct timeval limit = {0, 20000};
		id = CALL(pvm_trecv(-1, -1, &limit));
		if (chance(3) == 0 && id == 0)
			id = CALL(pvm_nrecv(-1, -1));
		if (id == 0) {
			for (i = 0; i < SENDERS; i++)
				if (senders[i].stopped)
					disturb(&senders[i]);
			continue;
		}
		CALL(pvm_bufinfo(id, 0, &tag, &tid));
		if (tag == GONE) {
			CALL(pvm_upkint(&tid, 1, 1));
			replace(tid);
			continue;
		}
		CHECK(tag == DATA && is_in(tid, senders, SENDERS) >= 0);
		check(&senders[is_in(tid, senders, SENDERS)]);
		received++;
		/* What the sinks do not read must not become too much. */
		if ((i = chance(SINKS * 4)) < SINKS && !sinks[i].stopped)
			send_numbered(sinks[i].tid, DATA, sinks[i].expected++);
		/* The next message waited for, so that one that is being written is taken while it is. */
		if (chance(2) && !senders[i = chance(SENDERS)].stopped && !senders[i].dead &&
		    senders[i].expected % WINDOW < WINDOW - 1) {
			CALL(pvm_recv(senders[i].tid, DATA));
			check(&senders[i]);
			received++;
		}
		if (chance(40) == 0)
			disturb(chance(3) ? &senders[chance(SENDERS)] : &sinks[chance(SINKS)]);
	}
	for (i = 0; i < SENDERS; i++)
		kill(senders[i].pid, SIGKILL);
	for (i = 0; i < SINKS; i++)
		kill(sinks[i].pid, SIGKILL);
	printf("messages %d\ndeaths %d\nstops %d\ntorn %d\n", received, deaths, stops, torn);
	pvm_exit();
}

int main(int argc, char **argv)
{
	CHECK(argc >= 3);
	static char path[4096];
	CHECK(realpath(argv[0], path));
	self = path;
	file = argv[2];
	snprintf(count, sizeof count, "%s", argv[1]);
	CALL(pvm_mytid());
	map_counts();
	if (argc == 3)
		lead(atoi(argv[1]));
	else if (!strcmp(argv[3], "send"))
		send_for_ever(pvm_parent(), atoi(argv[4]));
	else
		receive_for_ever(pvm_parent());
	return 0;
}
