/* unfinished: a member that waits for another one's message is woken as that one leaves, and looks at the page of the group
   while the daemon is in the middle of the next change of it. It must look again once that is written. The lead plays the
   daemon that stands still there: it makes the page's version odd and even again. Meanwhile the member sleeps: it looked
   without a pause once, and mapped the page anew at each look. */
#define _GNU_SOURCE
#include "e2e.h"
#include <fcntl.h>
#include <stdint.h>
#include "stops.h"

enum { JOIN = 1, JOINED, LEAVE, LEFT, DONE };
#define GROUP "unfinished"
/* See pvm-shm/src/roster.rs: where the version lies in the page, and where the members. */
enum { PAGE = 4096, VERSION = 64, MEMBERS = 84 };

static void be_waiter(int lead)
{
	int values[2] = {0}, one = 1, code;
	CALL(pvm_recv(lead, JOIN));
	CHECK(CALL(pvm_joingroup(GROUP)) == 0);
	send_int(lead, JOINED, getpid());
	CALL(pvm_recv(lead, JOIN));
	code = pvm_gather(values, &one, 1, PVM_INT, 1, GROUP, 0);
	send_int(lead, DONE, code);
	CALL(pvm_exit());
}

static void be_leaver(int lead)
{
	CALL(pvm_recv(lead, JOIN));
	CHECK(CALL(pvm_joingroup(GROUP)) == 1);
	send_int(lead, JOINED, getpid());
	CALL(pvm_recv(lead, LEAVE));
	CALL(pvm_lvgroup(GROUP));
	send_int(lead, LEFT, 0);
	CALL(pvm_recv(lead, LEAVE));
	CALL(pvm_exit());
}

/* Where a task has mapped the page of a group with these two members, and how often a page like that. */
static off_t find_page(int pid, int memory, const int *members, int *pages)
{
	char path[64], line[512], page[PAGE];
	unsigned long begin, end;
	off_t found = 0;
	FILE *maps;
	sprintf(path, "/proc/%d/maps", pid);
	CHECK((maps = fopen(path, "r")) != 0);
	*pages = 0;
	while (fgets(line, sizeof line, maps)) {
		CHECK(sscanf(line, "%lx-%lx", &begin, &end) == 2);
		if (!strstr(line, "memfd:") || end - begin != PAGE)
			continue;
		++*pages;
		if (pread(memory, page, PAGE, begin) == PAGE && !memcmp(page + MEMBERS, members, 8))
			found = begin;
	}
	fclose(maps);
	CHECK(found);
	return found;
}

static void add_to_version(int memory, off_t page)
{
	uint64_t version;
	CHECK(pread(memory, &version, 8, page + VERSION) == 8);
	version++;
	CHECK(pwrite(memory, &version, 8, page + VERSION) == 8);
}

int main(int argc, char **argv)
{
	int waiter, leaver, members[2], pid, memory, pages, later, code;
	struct timeval limit = {100, 0};
	char path[64];
	off_t page;
	if (argc > 1 && argv[1][0] == 'w')
		be_waiter(pvm_parent());
	if (argc > 1)
		return be_leaver(pvm_parent()), 0;
	members[0] = waiter = spawn_one(argv[0], "waiter", 0, 0);
	members[1] = leaver = spawn_one(argv[0], "leaver", 0, 0);
	send_int(waiter, JOIN, 0);
	pid = receive_int(waiter, JOINED);
	send_int(leaver, JOIN, 0);
	receive_int(leaver, JOINED);
	send_int(waiter, JOIN, 0);
	await_state(pid, 'S');
	sprintf(path, "/proc/%d/mem", pid);
	memory = open(path, O_RDWR);
	if (memory < 0) {
		printf("skipped: %s: %s\n", path, strerror(errno));
		return 0;
	}
	page = find_page(pid, memory, members, &pages);
	CHECK(kill(pid, SIGSTOP) == 0);
	await_state(pid, 'T');
	send_int(leaver, LEAVE, 0);
	receive_int(leaver, LEFT);
	add_to_version(memory, page);
	CHECK(kill(pid, SIGCONT) == 0);
	await_state(pid, 'S');
	/* A hundred looks fit here; it maps at most the page once more. */
	pause_ms(50);
	find_page(pid, memory, members, &later);
	CHECK(later <= pages + 1);
	add_to_version(memory, page);
	CHECK(CALL(pvm_trecv(waiter, DONE, &limit)) > 0);
	CALL(pvm_upkint(&code, 1, 1));
	CHECK(code < 0);
	send_int(leaver, LEAVE, 0);
	CALL(pvm_exit());
	return 0;
}
