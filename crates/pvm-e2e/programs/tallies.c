/* tallies COUNT SECONDS FILE: COUNT tasks besides the first send small and large messages to one
   another, and take what comes, for so long, or until there is a file FILE.stop. Each keeps its counts in FILE, which all hosts share:
   so they are known however it ends, its tid, what it has sent and what it has taken. */
#include "e2e.h"
#include <fcntl.h>
#include <sys/mman.h>

#define MOST 32

struct tally {
	unsigned long tid, sent, taken;
};

static struct tally *map_tallies(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	void *all;
	CHECK(fd >= 0 && ftruncate(fd, MOST * sizeof(struct tally)) == 0);
	all = mmap(0, MOST * sizeof(struct tally), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(all != MAP_FAILED);
	close(fd);
	return all;
}

static void count(volatile unsigned long *word)
{
	__atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
}

/* A message of which nobody checks the content: it may be the last one of its sender. */
static void say(struct tally *mine, int to, int i)
{
	CALL(pvm_initsend(PvmDataRaw));
	CALL(pvm_pkbyte((char *)words, i % 50 ? 100 : 300000, 1));
	CALL(pvm_send(to, 1));
	count(&mine->sent);
}

static void take(struct tally *mine)
{
	struct timeval soon = {0, 2000};
	while (CALL(pvm_trecv(-1, 1, &soon)) > 0) {
		count(&mine->taken);
		soon.tv_usec = 0;
	}
}

static int is_over(const char *path, double end)
{
	char stop[4096];
	snprintf(stop, sizeof stop, "%s.stop", path);
	return now() > end || access(stop, F_OK) == 0;
}

int main(int argc, char **argv)
{
	int me = CALL(pvm_mytid()), parent = pvm_parent();
	int n = atoi(argv[1]) + 1, tids[MOST], i, place = 0;
	struct tally *mine = map_tallies(argv[3]);
	unsigned dice = me;
	double end;
	CHECK(argc > 3 && n <= MOST);
	CALL(pvm_setopt(PvmRoute, me % 2 ? PvmRouteDirect : PvmDontRoute));
	tids[0] = me;
	if (parent < 0) {
		CHECK(CALL(pvm_spawn("tallies", argv + 1, 0, 0, n - 1, tids + 1)) == n - 1);
		CALL(pvm_initsend(PvmDataDefault));
		CALL(pvm_pkint(tids, n, 1));
		CALL(pvm_mcast(tids + 1, n - 1, 9));
		mine->sent = n - 1;
	} else {
		CALL(pvm_recv(parent, 9));
		CALL(pvm_upkint(tids, n, 1));
		while (tids[place] != me)
			place++;
		mine += place;
		mine->taken = 1;
	}
	mine->tid = me;
	end = now() + atoi(argv[2]);
	for (i = 0; !is_over(argv[3], end); i++) {
		int to;
		dice = dice * 1664525u + 1013904223u;
		to = (place + 1 + (dice >> 16) % (n - 1)) % n;
		say(mine, tids[to], i);
		take(mine);
	}
	/* What is under way comes, or its sender's host is gone. */
	for (i = 0; i < 500; i++)
		take(mine);
	pvm_exit();
	return 0;
}
