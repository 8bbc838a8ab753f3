/* wakers FILE: on two hosts of one computer, whoever is about to wake a task that sleeps stands still there, as a debugger
   holds it, and is killed or goes on. The waker is the daemon of the sleeper's host, with a message of the other host, or
   with the death of a member that some wait for at a barrier or in a gather; or a task with a direct route, before each of its
   writes and at places between. While it stands there the sleeper hears everybody else, by each way that there is; what
   was said comes once, or of who was killed not at all. */
#define _GNU_SOURCE
#include "e2e.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include "stops.h"

enum { DATA = 1, ECHO, PING, PONG, RELAY, SAY, JOIN, MEET, GATHER, GO_ON, ROUTED, GONE };
enum { BEFORE = 1, INSIDE, BEHIND };
/* The sleeper, another one of its host, one there that says what it is told by shared memory, as the daemon may stand
   still; and on the first host one with a direct route to the sleeper and one without. */
enum { SLEEPER, OTHER, NEAR, ROUTE, PLAIN, TASKS };
/* At the barrier and in the gather: the sleeper, the other one, and the one that dies. */
enum { MEMBERS = 3, LARGE = 60000, PLACES = 12 };

static volatile struct shared {
	int tid[TASKS], pid[TASKS];
	/* Of who is stopped, or dies. */
	int victim_pid, phase;
	int round, taken, echoed, near, joined, entered, met;
} *shared;
static char *self, *file;

static char *group(void)
{
	static char name[32];
	sprintf(name, "wakers%d", shared->round);
	return name;
}

static void say(int to, int round, int count)
{
	fill(words, count, round);
	CALL(pvm_initsend(PvmDataRaw));
	CALL(pvm_pkint(&round, 1, 1));
	CALL(pvm_pkint((int *)words, count, 1));
	CALL(pvm_send(to, DATA));
}

static void hear(int bytes)
{
	int round, count = bytes / 4 - 1;
	CALL(pvm_upkint(&round, 1, 1));
	CALL(pvm_upkint((int *)words, count, 1));
	CHECK(is_filled(words, count, round));
	CHECK(round > shared->taken);
	shared->taken = round;
}

static void wait_for_the_dead(int tag)
{
	int values[MEMBERS], one = 1, code;
	__sync_fetch_and_add(&shared->entered, 1);
	if (tag == MEET)
		code = pvm_barrier(group(), MEMBERS);
	else
		code = pvm_gather(values, &one, 1, PVM_INT, 1, group(), 0);
	/* Who is not the root of a gather only sends. */
	CHECK(code == PvmNoTask || (tag == GATHER && code == PvmOk));
	__sync_fetch_and_add(&shared->met, 1);
}

/* A route that stands, and has begun in both directions: each behind a message by the daemons. */
static void take_route(int to)
{
	int i;
	CALL(pvm_setopt(PvmRoute, PvmRouteDirect));
	CALL(pvm_notify(PvmRouteAdd, ROUTED, -1, 0));
	send_int(to, ECHO, 0);
	CALL(pvm_recv(-1, ROUTED));
	for (i = 0; i < 5; i++) {
		send_int(to, PING, i);
		CHECK(receive_int(to, PONG) == i);
	}
}

static void be_task(int which)
{
	int bytes, tag, from, number;
	CALL(pvm_mytid());
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	if (which == ROUTE)
		take_route(shared->tid[SLEEPER]);
	shared->tid[which] = pvm_mytid();
	shared->pid[which] = getpid();
	while (which == NEAR) {
		int said = shared->near;
		while (shared->near == said)
			pause_ms(1);
		send_int(shared->tid[SLEEPER], ECHO, 0);
	}
	for (;;) {
		CALL(pvm_bufinfo(CALL(pvm_recv(-1, -1)), &bytes, &tag, &from));
		if (tag == DATA) {
			hear(bytes);
		} else if (tag == ECHO) {
			shared->echoed++;
		} else if (tag == PING) {
			CALL(pvm_upkint(&number, 1, 1));
			send_int(from, PONG, number);
		} else if (tag == RELAY) {
			send_int(shared->tid[SLEEPER], ECHO, 0);
		} else if (tag == SAY) {
			say(shared->tid[SLEEPER], shared->round, 1);
		} else if (tag == JOIN) {
			CALL(pvm_joingroup(group()));
			shared->joined++;
		} else if (tag == MEET || tag == GATHER) {
			wait_for_the_dead(tag);
		}
	}
}

static void be_victim(int count)
{
	CALL(pvm_mytid());
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	take_route(shared->tid[SLEEPER]);
	shared->phase = BEFORE;
	shared->victim_pid = getpid();
	CALL(pvm_recv(pvm_parent(), GO_ON));
	shared->phase = INSIDE;
	raise(SIGUSR1);
	say(shared->tid[SLEEPER], shared->round, count);
	shared->phase = BEHIND;
	CALL(pvm_recv(pvm_parent(), GO_ON));
	CALL(pvm_exit());
}

/* Joins the group of the round, and is killed there. */
static void be_member(void)
{
	CALL(pvm_joingroup(group()));
	shared->joined++;
	shared->victim_pid = getpid();
	for (;;)
		CALL(pvm_recv(-1, -1));
}

static int parent_of(int pid)
{
	char path[64];
	int parent = 0;
	FILE *stat;
	sprintf(path, "/proc/%d/stat", pid);
	if (!(stat = fopen(path, "r")))
		return 0;
	CHECK(fscanf(stat, "%*d (%*[^)]) %*c %d", &parent) == 1);
	fclose(stat);
	return parent;
}

static int is_daemon(int pid)
{
	char path[64], line[4096] = "";
	int length, i;
	FILE *text;
	sprintf(path, "/proc/%d/cmdline", pid);
	if (!(text = fopen(path, "r")))
		return 0;
	length = fread(line, 1, sizeof line - 1, text);
	fclose(text);
	for (i = 0; i < length; i++)
		line[i] = line[i] ? line[i] : ' ';
	return strstr(line, "--daemon") != 0;
}

/* The daemon of the sleeper's host, once there is one. */
static int daemon_pid(void)
{
	int parent = parent_of(shared->pid[SLEEPER]), pid, found = 0;
	double limit = now() + 100;
	while (!found && now() < limit) {
		DIR *processes = opendir("/proc");
		struct dirent *entry;
		while (!found && (entry = readdir(processes))) {
			pid = atoi(entry->d_name);
			if (pid && parent_of(pid) == parent && is_daemon(pid) && state_of(pid) != 'Z')
				found = pid;
		}
		closedir(processes);
		pause_ms(1);
	}
	CHECK(found);
	return found;
}

static void others_are_heard(int routes)
{
	int echoed = shared->echoed;
	shared->near++;
	await_value(&shared->echoed, echoed + 1);
	if (!routes)
		return;
	send_int(shared->tid[ROUTE], RELAY, 0);
	await_value(&shared->echoed, echoed + 2);
	send_int(shared->tid[PLAIN], RELAY, 0);
	await_value(&shared->echoed, echoed + 3);
}

/* Ends what a stop began. */
static void let_go(int pid, int kills, int signal)
{
	int status;
	if (!kills) {
		CHECK(ptrace(PTRACE_DETACH, pid, 0, signal) == 0);
		return;
	}
	CHECK(kill(pid, SIGKILL) == 0);
	CHECK(waitpid(pid, &status, __WALL) == pid && WIFSIGNALED(status));
}

static int is_untaken(void)
{
	return shared->taken < shared->round;
}

static int is_unmet(void)
{
	return shared->met < MEMBERS - 1;
}

/* The daemon has a message for the sleeper; true if it stopped before it rang. */
static int stop_daemon_with_message(int kills)
{
	int pid = daemon_pid(), rings;
	shared->round++;
	await_state(shared->pid[SLEEPER], 'S');
	if (!seize(pid))
		exit(0);
	CHECK(ptrace(PTRACE_INTERRUPT, pid, 0, 0) == 0);
	stopped(pid);
	send_int(shared->tid[PLAIN], SAY, 0);
	rings = run_to(pid, RINGS, is_untaken);
	if (rings)
		others_are_heard(0);
	let_go(pid, kills, 0);
	await_value(&shared->taken, shared->round);
	others_are_heard(1);
	return rings;
}

static void tell_both(int tag)
{
	send_int(shared->tid[SLEEPER], tag, 0);
	if (tag == JOIN)
		await_value(&shared->joined, 1);
	send_int(shared->tid[OTHER], tag, 0);
	await_value(tag == JOIN ? &shared->joined : &shared->entered, MEMBERS - 1);
}

static int spawn_at(char *host, char *what, int number)
{
	char word[16], *args[] = {file, what, word, 0};
	int tid;
	sprintf(word, "%d", number);
	CHECK(pvm_spawn(self, args, PvmTaskHost, host, 1, &tid) == 1);
	return tid;
}

static void await_gone(int tid)
{
	struct timeval limit = {100, 0};
	int gone;
	CHECK(CALL(pvm_trecv(-1, GONE, &limit)) > 0);
	CALL(pvm_upkint(&gone, 1, 1));
	CHECK(gone == tid);
}

/* The daemon shows that a member has died to those who wait for it. */
static int stop_daemon_with_death(char *there, int tag, int kills)
{
	int pid, rings, tid;
	shared->round++;
	shared->joined = shared->entered = shared->met = shared->victim_pid = 0;
	tell_both(JOIN);
	tid = spawn_at(there, "member", 0);
	CALL(pvm_notify(PvmTaskExit, GONE, 1, &tid));
	await_value(&shared->victim_pid, 1);
	tell_both(tag);
	await_state(shared->pid[SLEEPER], 'S');
	await_state(shared->pid[OTHER], 'S');
	if (!seize(pid = daemon_pid()))
		exit(0);
	CHECK(ptrace(PTRACE_INTERRUPT, pid, 0, 0) == 0);
	stopped(pid);
	CHECK(kill(shared->victim_pid, SIGKILL) == 0);
	rings = run_to(pid, RINGS, is_unmet);
	await_value(&shared->met, MEMBERS - 1);
	others_are_heard(0);
	let_go(pid, kills, 0);
	await_gone(tid);
	others_are_heard(1);
	return rings;
}

/* A task with a direct route, before its n-th write, or behind `steps` instructions. Returns how many there are of what
   it stops at, or 0 where it did not come so far. */
static int stop_route(char *here, int count, int writes, int steps, int kills)
{
	int pid, tid, i, signal = 0, done = 0;
	shared->round++;
	shared->victim_pid = 0;
	tid = spawn_at(here, "victim", count);
	CALL(pvm_notify(PvmTaskExit, GONE, 1, &tid));
	await_value(&shared->victim_pid, 1);
	pid = shared->victim_pid;
	if (!seize(pid))
		exit(0);
	send_int(tid, GO_ON, 0);
	while ((i = stopped(pid)) != SIGUSR1)
		CHECK(ptrace(PTRACE_CONT, pid, 0, i) == 0);
	await_state(shared->pid[SLEEPER], 'S');
	while (done < writes && run_to(pid, WRITES, is_untaken) && shared->phase == INSIDE)
		done++;
	for (i = 0; i < steps && shared->phase == INSIDE; i++, done++) {
		CHECK(ptrace(PTRACE_SINGLESTEP, pid, 0, signal) == 0);
		signal = stopped(pid);
	}
	others_are_heard(1);
	let_go(pid, kills, signal);
	if (!kills) {
		await_value(&shared->taken, shared->round);
		send_int(tid, GO_ON, 0);
	}
	await_gone(tid);
	others_are_heard(1);
	return done;
}

static void stop_routes(char *here, int count, int places, int writes_min)
{
	int writes = stop_route(here, count, INT_MAX, 0, 0);
	int steps = places ? stop_route(here, count, 0, INT_MAX, 0) : 0, n;
	CHECK(writes >= writes_min);
	for (n = 0; n < 2 * writes; n++)
		stop_route(here, count, n / 2 + 1, 0, n & 1);
	for (n = 0; n < places; n++)
		stop_route(here, count, 0, (long)steps * n / places + 1, n & 1);
	printf("direct, %d words: %d writes, %d instructions\n", count, writes, steps);
}

static void lead(void)
{
	struct pvmhostinfo *host;
	int hosts, n, rings;
	char *here, *there;
	CALL(pvm_config(&hosts, 0, &host));
	CHECK(hosts == 2);
	here = strdup(host[0].hi_name);
	there = strdup(host[1].hi_name);
	for (n = 0; n < TASKS; n++) {
		spawn_at(n < ROUTE ? there : here, "task", n);
		await_value(&shared->pid[n], 1);
	}
	for (rings = n = 0; n < 6; n++)
		rings += stop_daemon_with_message(n & 1);
	printf("messages: %d\n", rings);
	CHECK(rings >= 2);
	for (rings = n = 0; n < 4; n++)
		rings += stop_daemon_with_death(there, n < 2 ? MEET : GATHER, n & 1);
	printf("deaths: %d\n", rings);
	CHECK(rings >= 2);
	stop_routes(here, 1, PLACES, 1);
	/* One write of a request, four of records; its instructions are too many. */
	stop_routes(here, LARGE, 0, 4);
	for (n = 0; n < TASKS; n++)
		CALL(pvm_kill(shared->tid[n]));
	CALL(pvm_exit());
}

int main(int argc, char **argv)
{
	static char path[4096];
	int fd;
	CHECK(argc == 2 || argc == 4);
	CHECK(realpath(argv[0], path));
	self = path;
	file = argv[1];
	fd = open(file, O_RDWR | O_CREAT, 0600);
	CHECK(fd >= 0 && ftruncate(fd, 4096) == 0);
	shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(shared != MAP_FAILED);
	if (argc == 2)
		lead();
	else if (!strcmp(argv[2], "task"))
		be_task(atoi(argv[3]));
	else if (!strcmp(argv[2], "victim"))
		be_victim(atoi(argv[3]));
	else
		be_member();
	return 0;
}
