/* crossings MEMBERS ROUNDS: what a collective call costs a group over all hosts of the machine, with so many members on
   each: the time of a round, and how often its data crossed the network card of the root's host and of the others. */
#include "e2e.h"
#include <stdint.h>

enum { RESULT = 1, ANSWER = 2, DATA = 3, HOSTS_MAX = 16, LARGE = 1000000 };

static const struct {
	const char *name;
	int bytes;
} cases[] = {{"bcast", 8}, {"bcast", LARGE}, {"mcast", LARGE}, {"reduce", 8}, {"reduce", LARGE},
    {"gather", LARGE}, {"scatter", LARGE}};
enum { CASES = sizeof cases / sizeof cases[0] };

static char *data, *all;
static int members, root, tids[256];

/* Bytes that this host's card has received and sent. */
static void count(double *in, double *out)
{
	char line[512], *colon;
	FILE *file = fopen("/proc/net/dev", "r");
	CHECK(file);
	*in = *out = 0;
	while (fgets(line, sizeof line, file))
		if ((colon = strchr(line, ':')) && strstr(line, "eth0"))
			CHECK(sscanf(colon + 1, "%lf %*f %*f %*f %*f %*f %*f %*f %lf", in, out) == 2);
	fclose(file);
}

static void once(int which, int me)
{
	const char *name = cases[which].name;
	int words = cases[which].bytes / 4, i;
	int32_t one = me, first = 0;
	if (!strcmp(name, "bcast") || !strcmp(name, "mcast")) {
		if (me == root) {
			for (i = 0; i < words; i++)
				((int32_t *)data)[i] = i + which;
			CALL(pvm_initsend(PvmDataRaw));
			CALL(pvm_pkint((int *)data, words, 1));
			CALL(*name == 'b' ? pvm_bcast("g", DATA) : pvm_mcast(tids, members, DATA));
		} else {
			CALL(pvm_recv(-1, DATA));
			CALL(pvm_upkint((int *)data, words, 1));
			CHECK(((int32_t *)data)[words - 1] == words - 1 + which);
		}
	} else if (!strcmp(name, "reduce")) {
		for (i = 0; i < words; i++)
			((int32_t *)data)[i] = me;
		CALL(pvm_reduce(PvmSum, data, words, PVM_INT, DATA, "g", root));
		if (me == root)
			CHECK(((int32_t *)data)[words - 1] == members * (members - 1) / 2);
	} else if (!strcmp(name, "gather")) {
		((int32_t *)data)[words - 1] = me;
		CALL(pvm_gather(all, data, words, PVM_INT, DATA, "g", root));
		if (me == root)
			CHECK(((int32_t *)all)[members * words - 1] == members - 1);
	} else {
		for (i = 0; me == root && i < members; i++)
			((int32_t *)all)[i * words] = i;
		CALL(pvm_scatter(data, all, words, PVM_INT, DATA, "g", root));
		CHECK(((int32_t *)data)[0] == me);
	}
	/* A round ends when everybody has had it. */
	CALL(pvm_gather(all, &one, 1, PVM_INT, ANSWER, "g", root));
	if (me == root)
		first = ((int32_t *)all)[members - 1];
	CALL(pvm_scatter(&one, all, 1, PVM_INT, ANSWER, "g", root));
	CHECK(me != root || first == members - 1);
}

static void member(void)
{
	int which, round, rounds, me, i;
	double in, out, in_before, out_before, start, seconds;
	CALL(pvm_recv(pvm_parent(), DATA));
	CALL(pvm_upkint(&members, 1, 1));
	CALL(pvm_upkint(&rounds, 1, 1));
	me = CALL(pvm_joingroup("g"));
	data = calloc(1, LARGE);
	all = calloc(members, LARGE);
	CALL(pvm_barrier("g", members));
	for (i = 0; i < members; i++)
		tids[i] = CALL(pvm_gettid("g", i));
	for (which = 0; which < CASES; which++) {
		once(which, me);
		CALL(pvm_barrier("g", members));
		count(&in_before, &out_before);
		CALL(pvm_barrier("g", members));
		start = now();
		for (round = 0; round < rounds; round++)
			once(which, me);
		seconds = (now() - start) / rounds;
		CALL(pvm_barrier("g", members));
		count(&in, &out);
		in = (in - in_before) / rounds / cases[which].bytes;
		out = (out - out_before) / rounds / cases[which].bytes;
		CALL(pvm_initsend(PvmDataDefault));
		CALL(pvm_pkint(&me, 1, 1));
		CALL(pvm_pkdouble(&seconds, 1, 1));
		CALL(pvm_pkdouble(&in, 1, 1));
		CALL(pvm_pkdouble(&out, 1, 1));
		CALL(pvm_send(pvm_parent(), RESULT));
		CALL(pvm_barrier("g", members));
	}
	pvm_exit();
}

static double most(double a, double b) { return a > b ? a : b; }

int main(int argc, char **argv)
{
	char *args[] = {"member", 0};
	struct pvmhostinfo *host;
	int hosts, each, rounds, i, which, me, tid, roots_host = 0;
	double seconds, in, out, time, root_in, root_out, other_in, other_out;
	CHECK(argc > 1);
	if (!strcmp(argv[1], "member")) {
		member();
		return 0;
	}
	each = atoi(argv[1]);
	rounds = atoi(argv[2]);
	CALL(pvm_mytid());
	CALL(pvm_config(&hosts, 0, &host));
	members = hosts * each;
	CHECK(members <= 256);
	for (i = 0; i < hosts; i++)
		CHECK(pvm_spawn("crossings", args, PvmTaskHost, host[i].hi_name, each, tids + i * each) == each);
	CALL(pvm_initsend(PvmDataDefault));
	CALL(pvm_pkint(&members, 1, 1));
	CALL(pvm_pkint(&rounds, 1, 1));
	CALL(pvm_mcast(tids, members, DATA));
	for (which = 0; which < CASES; which++) {
		int from[256];
		double ins[256], outs[256];
		time = root_in = root_out = other_in = other_out = 0;
		for (i = 0; i < members; i++) {
			CALL(pvm_bufinfo(CALL(pvm_recv(-1, RESULT)), 0, 0, &tid));
			CALL(pvm_upkint(&me, 1, 1));
			CALL(pvm_upkdouble(&seconds, 1, 1));
			CALL(pvm_upkdouble(&in, 1, 1));
			CALL(pvm_upkdouble(&out, 1, 1));
			from[i] = CALL(pvm_tidtohost(tid));
			ins[i] = in;
			outs[i] = out;
			if (me == 0) {
				roots_host = from[i];
				time = seconds;
			}
		}
		for (i = 0; i < members; i++)
			if (from[i] == roots_host) {
				root_in = most(root_in, ins[i]);
				root_out = most(root_out, outs[i]);
			} else {
				other_in = most(other_in, ins[i]);
				other_out = most(other_out, outs[i]);
			}
		printf("%s %d hosts %d members %d us %.1f root_in %.2f root_out %.2f other_in %.2f other_out %.2f\n",
		    cases[which].name, cases[which].bytes, hosts, members, time * 1e6, root_in, root_out, other_in,
		    other_out);
	}
	pvm_exit();
	return 0;
}
