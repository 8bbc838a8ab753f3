/*
 * Two tasks do the same random steps side by side: groups, and messages between them.
 *
 *   pair SEED COUNT [STEP...]   the STEPs are left out
 *
 * Each step ends with the second task's line in the hands of the first one, which prints both and
 * tells the second one to go on; so they stay in step, and nothing depends on who is faster.
 */
#include "../c/common.h"
#include "dice.h"

#define LINE_TAG 99001
#define ITEMS 24

static int partner, second, joined = 1;
static char said[4096];
static union { char bytes[16 * ITEMS * 2]; double align; } given, taken;

static struct type {
	char *name;
	int type, size;
	int (*pack)(), (*unpack)();
} types[] = {
	{ "byte", PVM_BYTE, 1, pvm_pkbyte, pvm_upkbyte },
	{ "short", PVM_SHORT, 2, pvm_pkshort, pvm_upkshort },
	{ "int", PVM_INT, 4, pvm_pkint, pvm_upkint },
	{ "uint", PVM_UINT, 4, pvm_pkuint, pvm_upkuint },
	{ "long", PVM_LONG, 8, pvm_pklong, pvm_upklong },
	{ "float", PVM_FLOAT, 4, pvm_pkfloat, pvm_upkfloat },
	{ "double", PVM_DOUBLE, 8, pvm_pkdouble, pvm_upkdouble },
	{ "cplx", PVM_CPLX, 8, pvm_pkcplx, pvm_upkcplx },
	{ "dcplx", PVM_DCPLX, 16, pvm_pkdcplx, pvm_upkdcplx }
};

/* The same numbers for both tasks, but for one added in the second. */
static void fill(struct type *type)
{
	int i;
	/* What a reduction left to who is not its root is undefined. */
	memset(&given, 0, sizeof given);
	for (i = 0; i < ITEMS * 2; i++) {
		int value = (int)rnd(100) + second;
		switch (type->type) {
		case PVM_BYTE: given.bytes[i] = (char)value; break;
		case PVM_SHORT: ((short *)given.bytes)[i] = (short)value; break;
		case PVM_INT: case PVM_UINT: ((int *)given.bytes)[i] = value; break;
		case PVM_LONG: ((long *)given.bytes)[i] = value; break;
		case PVM_FLOAT: case PVM_CPLX: ((float *)given.bytes)[i] = (float)value / 4; break;
		default: ((double *)given.bytes)[i] = (double)value / 4; break;
		}
	}
	memset(&taken, 0x5a, sizeof taken);
}

static void say(char *text)
{
	strcat(said, text);
}

static void say_number(char *word, int number)
{
	sprintf(said + strlen(said), " %s %s", word, code(number));
}

static void say_bytes(void *from, int n)
{
	unsigned sum = 0;
	int i;
	for (i = 0; i < n; i++)
		sum = sum * 31 + ((unsigned char *)from)[i];
	sprintf(said + strlen(said), " {%08x}", sum);
}

/* What a call that failed has left there is nobody's. */
static void say_unpacked(struct type *type, int n)
{
	int cc = type->unpack(taken.bytes, n, 1);
	say_number("unpack", cc);
	if (cc >= 0)
		say_bytes(taken.bytes, (int)sizeof taken.bytes);
}

static void do_reduce(void)
{
	static void (*functions[])() = { PvmMax, PvmMin, PvmSum, PvmProduct };
	/* Bytes cannot be reduced: the root is told so, and in the original the others wait for ever. */
	struct type *type = &types[1 + rnd(sizeof types / sizeof types[0] - 1)];
	int n = (int)rnd(ITEMS), root = (int)rnd(2), which = (int)rnd(4);

	/* Complex numbers have no order. */
	if (type->type == PVM_CPLX || type->type == PVM_DCPLX)
		which = 2;
	fill(type);
	sprintf(said, "reduce %s %d root %d:", type->name, n, root);
	say_number("", pvm_reduce(functions[which], given.bytes, n, type->type, 5, "pair", root));
	/* Others' values are undefined. */
	if (pvm_getinst("pair", pvm_mytid()) == root)
		say_bytes(given.bytes, n * type->size);
}

static void do_gather(void)
{
	struct type *type = &PICK(types);
	int n = (int)rnd(ITEMS), root = (int)rnd(2);
	fill(type);
	sprintf(said, "gather %s %d root %d:", type->name, n, root);
	say_number("", pvm_gather(taken.bytes, given.bytes, n, type->type, 6, "pair", root));
	if (pvm_getinst("pair", pvm_mytid()) == root)
		say_bytes(taken.bytes, 2 * n * type->size);
}

static void do_scatter(void)
{
	struct type *type = &PICK(types);
	int n = (int)rnd(ITEMS), root = (int)rnd(2);
	fill(type);
	sprintf(said, "scatter %s %d root %d:", type->name, n, root);
	say_number("", pvm_scatter(taken.bytes, given.bytes, n, type->type, 7, "pair", root));
	say_bytes(taken.bytes, n * type->size);
}

static void do_barrier(void)
{
	sprintf(said, "barrier:");
	say_number("", pvm_barrier("pair", rnd(2) ? 2 : -1));
	say_number("size", pvm_gsize("pair"));
}

static void do_bcast(void)
{
	struct type *type = &PICK(types);
	int n = (int)rnd(ITEMS), from = (int)rnd(2), enc = (int)rnd(3);
	fill(type);
	sprintf(said, "bcast %s %d from %d:", type->name, n, from);
	if (from == second) {
		pvm_initsend(enc);
		type->pack(given.bytes, n, 1);
		say_number("", pvm_bcast("pair", 8));
	} else {
		pvm_recv(partner, 8);
		say_unpacked(type, n);
	}
}

/* Some items in some encoding, read with perhaps another type or count; never beyond the items into a text, whose end the
 * original fills up with what its buffer held before. */
static void do_message(void)
{
	struct type *type = &PICK(types), *other = rnd(3) ? type : &PICK(types);
	int n = (int)rnd(ITEMS), m = rnd(3) ? n : (int)rnd(ITEMS), from = (int)rnd(2), enc = (int)rnd(3), both = rnd(2) && other == type && m <= n;
	int bytes = -1, tag = -1, tid = -1;

	fill(type);
	sprintf(said, "message %s %d as %s %d enc %d from %d:", type->name, n, other->name, m, enc, from);
	if (from == second) {
		pvm_initsend(enc);
		say_number("pack", type->pack(given.bytes, n, (int)rnd(2) + 1));
		if (both)
			say_number("more", pvm_pkstr("and a text"));
		say_number("send", pvm_send(partner, 9));
		return;
	}
	pvm_bufinfo(pvm_recv(rnd(2) ? partner : -1, 9), &bytes, &tag, &tid);
	sprintf(said + strlen(said), " %d bytes", bytes);
	say_unpacked(other, m);
	if (both) {
		memset(&taken, 0, sizeof taken);
		say_number("text", pvm_upkstr(taken.bytes));
	}
}

static void do_psend(void)
{
	struct type *type = &PICK(types);
	int n = (int)rnd(ITEMS), m = rnd(3) ? n : (int)rnd(ITEMS), from = (int)rnd(2), tid = -1, tag = -1, length = -1;
	fill(type);
	sprintf(said, "psend %s %d into %d from %d:", type->name, n, m, from);
	if (from == second)
		say_number("", pvm_psend(partner, 10, given.bytes, n, type->type));
	else {
		say_number("", pvm_precv(partner, rnd(2) ? 10 : -1, taken.bytes, m, type->type, &tid, &tag, &length));
		sprintf(said + strlen(said), " %d %d %d", tid == partner, tag, length);
		say_bytes(taken.bytes, (int)sizeof taken.bytes);
	}
}

static void do_mcast(void)
{
	int tids[3], from = (int)rnd(2), value = (int)rnd(1000), n = (int)rnd(3) + 1;
	tids[0] = partner;
	tids[1] = pvm_mytid();
	tids[2] = partner;
	sprintf(said, "mcast %d from %d:", n, from);
	if (from == second) {
		pvm_initsend(PvmDataDefault);
		pvm_pkint(&value, 1, 1);
		say_number("", pvm_mcast(tids, n, 11));
	} else {
		say_number("got", recv_int(partner, 11));
	}
}

/* One of them leaves and comes again: its number is kept free for it. */
static void do_rejoin(void)
{
	int who_goes = (int)rnd(2);
	sprintf(said, "rejoin of %d:", who_goes);
	pvm_barrier("pair", 2);
	if (who_goes == second) {
		say_number("leave", pvm_lvgroup("pair"));
		say_number("size", pvm_gsize("pair"));
		say_number("join", pvm_joingroup("pair"));
		send_int(partner, 12, 1);
	} else
		recv_int(partner, 12);
	say_number("size", pvm_gsize("pair"));
	say_number("own", pvm_getinst("pair", pvm_mytid()));
	say_number("its", pvm_getinst("pair", partner));
}

static void do_names(void)
{
	int from = (int)rnd(2), flag = rnd(2) ? PvmMboxOverWritable : PvmMboxDefault, value = (int)rnd(1000), cc;
	sprintf(said, "name from %d:", from);
	if (from == second) {
		pvm_initsend(PvmDataDefault);
		pvm_pkint(&value, 1, 1);
		say_number("put", pvm_putinfo("paired", pvm_getsbuf(), flag));
		send_int(partner, 13, 1);
		say_number("told", recv_int(partner, 14));
		say_number("delete", pvm_delinfo("paired", 0, 0));
	} else {
		recv_int(partner, 13);
		cc = pvm_recvinfo("paired", 0, PvmMboxDefault);
		say(cc > 0 ? " got" : " nothing");
		value = -1;
		say_number("value", pvm_upkint(&value, 1, 1));
		sprintf(said + strlen(said), " %d", value);
		say_number("foreign delete", pvm_delinfo("paired", 0, 0));
		send_int(partner, 14, 7);
	}
}

static void (*steps[])(void) = { do_reduce, do_gather, do_scatter, do_barrier, do_bcast, do_bcast, do_message, do_message, do_message,
	do_message, do_psend, do_psend, do_mcast, do_rejoin, do_names };

static void one(int step)
{
	said[0] = 0;
	if (!second) {
		printf("%d ", step);
		fflush(stdout);
	}
	steps[rnd(sizeof steps / sizeof steps[0])]();
	if (second) {
		pvm_initsend(PvmDataDefault);
		pvm_pkstr(said);
		pvm_send(partner, LINE_TAG);
		recv_int(partner, LINE_TAG);
		return;
	}
	printf("%s", said);
	pvm_recv(partner, LINE_TAG);
	pvm_upkstr(said);
	printf(" / %s\n", said);
	send_int(partner, LINE_TAG, 1);
}

int main(int argc, char **argv)
{
	int seed = atoi(argv[1]), n = atoi(argv[2]), step, i, left_out;

	setvbuf(stdout, (char *)0, _IOLBF, 0);
	alarm(6);
	pvm_setopt(PvmAutoErr, 0);
	partner = pvm_parent();
	second = partner > 0;
	if (!second && pvm_spawn("pair", argv + 1, 0, "", 1, &partner) != 1)
		die("no partner");
	/* In this order, so that the first one's number is 0. */
	if (second)
		recv_int(partner, 1);
	pvm_joingroup("pair");
	if (!second)
		send_int(partner, 1, 1);
	while (pvm_gsize("pair") != 2)
		usleep(1000);
	for (step = 1; step <= n; step++) {
		state = (unsigned long long)seed * 1000003u + (unsigned long long)step * 7919u + 88172645463325252ULL;
		for (i = 0; i < 8; i++)
			rnd(2);
		for (i = 3, left_out = 0; i < argc; i++)
			left_out |= atoi(argv[i]) == step;
		if (!left_out)
			one(step);
	}
	if (!second)
		printf("end\n");
	pvm_exit();
	return 0;
}
