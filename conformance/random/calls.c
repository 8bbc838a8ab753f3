/*
 * Random calls from a seed, one line each: what a program can see of them must be the same on the original and on ours.
 *
 *   calls SEED COUNT [STEP...]   makes COUNT calls; the STEPs are left out
 *
 * What a step does depends on the seed and its number alone, never on what came before, so a difference can be
 * minimised by leaving steps out (cargo xtask differ). What blocks for ever by design is only called when
 * it need not wait. Task ids are shown as T1, T2 ..., contexts as they were first seen. Numbers of buffers come
 * again in another order, so they are not shown, and none is used when its buffer is gone.
 */
#include "../c/common.h"
extern int pvm_errno;

#define NAMES 6
#define SLOTS 6
#define ITEMS 64

static unsigned long long state;
static int me;
static int bufs[SLOTS], contexts[4], nseen, seen[512];
static int handled, asked;
/* With a matching function of the program's, calls that wait for an answer of their own hang in the original. */
static int matching;
/* Messages were packed in several fragments, each of which pvm_pkmesg counts 4 bytes for in the original. */
static int fragmented;

/* Marsaglia's xorshift with a multiplication at the end. */
static unsigned rnd(unsigned n)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (unsigned)((state * 2685821657736338717ULL) >> 33) % n;
}

#define PICK(list) ((list)[rnd(sizeof (list) / sizeof (list)[0])])

/* A context's number, as the how-manyth it is that is shown. */
static char *nth(int number)
{
	static char text[8][16];
	static int turn;
	int i;

	if (number <= 0)
		return code(number);
	for (i = 0; i < nseen && seen[i] != number; i++)
		;
	if (i == nseen && nseen < 512)
		seen[nseen++] = number;
	turn = (turn + 1) % 8;
	sprintf(text[turn], "n%d", i + 1);
	return text[turn];
}

static int count(void)
{
	static int list[] = { 1, 1, 1, 2, 3, 5, 17, 0, -1 };
	return PICK(list);
}

static int stride(void)
{
	static int list[] = { 1, 1, 1, 1, 2, 3, 0, -1 };
	return PICK(list);
}

static int tag(void)
{
	static int list[] = { 1, 1, 2, 3, 7, 0, -1, -2, 0x7fffffff, -2147483647 };
	return PICK(list);
}

static int encoding(void)
{
	static int list[] = { 0, 0, 1, 1, 2, 2, 3, -1, 99 };
	return PICK(list);
}

static int task(void)
{
	static int list[] = { 0, -1, 5, 0x3ffff, 0x40000, 0x7ffff, 0x7fffffff, (int)0x80000000, (int)0x80040000 };
	return rnd(3) ? me : rnd(2) ? me + 900 : PICK(list);
}

static char *task_name(int tid)
{
	return tid == me ? "me" : tid == me + 900 ? "nobody" : who(tid);
}

static int buffer(void)
{
	static int list[] = { 0, -1, 99999 };
	return rnd(5) ? bufs[rnd(SLOTS)] : PICK(list);
}

static void keep(int number)
{
	if (number > 0)
		bufs[rnd(SLOTS)] = number;
}

static char *name(void)
{
	static char *list[] = { "one", "two", "three", "", "a name with blanks", "one" };
	return PICK(list);
}

/* A buffer that a call frees: its number may come again. */
static void forget(int number)
{
	int i;
	for (i = 0; i < SLOTS; i++)
		if (bufs[i] == number)
			bufs[i] = 0;
}

/* What the daemon answers comes behind what it had for us. */
static void settle(void)
{
	int hosts, archs;
	pvm_config(&hosts, &archs, (struct pvmhostinfo **)0);
	pvm_probe(-1, 0x7ffffff1);
}

static void show_message(int bufid)
{
	int bytes = -9, its_tag = -9, its_tid = -9, cc;
	cc = pvm_bufinfo(bufid, &bytes, &its_tag, &its_tid);
	printf(" [%s %d %d %s]", code(cc), bytes, its_tag, task_name(its_tid));
}

static int length(int bufid)
{
	int bytes = -1;
	pvm_bufinfo(bufid, &bytes, (int *)0, (int *)0);
	return bytes;
}

/* What pvm_getminfo calls an encoding: 0x10000000 default, 0x20000000 in place, else raw. */
static unsigned encoding_of(int bufid)
{
	struct pvmminfo info;
	memset(&info, 0, sizeof info);
	return pvm_getminfo(bufid, &info) < 0 ? 0 : (unsigned)info.enc;
}

#define IN_PLACE 0x20000000
#define DEFAULT 0x10000000

/* Types: size of an item, and how it is packed, unpacked and shown. */
static struct type {
	char *name;
	int type, size;
	int (*pack)(), (*unpack)();
} types[] = {
	{ "byte", PVM_BYTE, 1, pvm_pkbyte, pvm_upkbyte },
	{ "short", PVM_SHORT, 2, pvm_pkshort, pvm_upkshort },
	{ "ushort", PVM_USHORT, 2, pvm_pkushort, pvm_upkushort },
	{ "int", PVM_INT, 4, pvm_pkint, pvm_upkint },
	{ "uint", PVM_UINT, 4, pvm_pkuint, pvm_upkuint },
	{ "long", PVM_LONG, 8, pvm_pklong, pvm_upklong },
	{ "ulong", PVM_ULONG, 8, pvm_pkulong, pvm_upkulong },
	{ "float", PVM_FLOAT, 4, pvm_pkfloat, pvm_upkfloat },
	{ "double", PVM_DOUBLE, 8, pvm_pkdouble, pvm_upkdouble },
	{ "cplx", PVM_CPLX, 8, pvm_pkcplx, pvm_upkcplx },
	{ "dcplx", PVM_DCPLX, 16, pvm_pkdcplx, pvm_upkdcplx }
};

/* In-place data must live on, so each step has its own. */
static union { char bytes[16 * ITEMS * 4]; double align; } given[32], taken;

static char *data(struct type *type, int step)
{
	char *bytes = given[step % 32].bytes;
	int i;

	for (i = 0; i < ITEMS; i++)
		switch (type->type) {
		case PVM_BYTE: bytes[i] = (char)rnd(100); break;
		case PVM_SHORT: case PVM_USHORT: ((short *)bytes)[i] = (short)rnd(30000); break;
		case PVM_INT: case PVM_UINT: ((int *)bytes)[i] = (int)rnd(1000000); break;
		case PVM_LONG: case PVM_ULONG: ((long *)bytes)[i] = (long)rnd(1000000); break;
		case PVM_FLOAT: case PVM_CPLX: ((float *)bytes)[i] = (float)rnd(1000) / 8; break;
		default: ((double *)bytes)[i] = (double)rnd(1000) / 8; break;
		}
	return bytes;
}

/* The first items of what was unpacked, byte by byte. */
static void show_taken(int size)
{
	unsigned sum = 0;
	int i;

	for (i = 0; i < (int)sizeof taken.bytes; i++)
		sum = sum * 31 + (unsigned char)taken.bytes[i];
	printf(" {");
	for (i = 0; i < size; i++)
		printf("%02x", (unsigned char)taken.bytes[i]);
	printf(" %08x}", sum);
}

static void do_mkbuf(int step UNUSED)
{
	int enc = encoding(), cc = pvm_mkbuf(enc);
	printf("mkbuf %d = %s", enc, handle(cc));
	keep(cc);
}

static void do_initsend(int step UNUSED)
{
	int enc = encoding(), old = pvm_getsbuf(), cc = pvm_initsend(enc);
	if (cc > 0)
		forget(old);
	printf("initsend %d = %s", enc, handle(cc));
	keep(cc);
}

static void do_freebuf(int step UNUSED)
{
	int buf = buffer();
	printf("freebuf %s = ", handle(buf));
	printf("%s", code(pvm_freebuf(buf)));
	forget(buf);
}

static void do_current(int step UNUSED)
{
	int send = pvm_getsbuf(), receive = pvm_getrbuf();
	printf("getsbuf = %s getrbuf = %s", handle(send), handle(receive));
	keep(send);
	keep(receive);
}

static void do_setbuf(int step UNUSED)
{
	int buf = buffer();
	/* When packing ends, the original goes on telling the length that it was last asked for. */
	length(buf);
	if (rnd(2))
		printf("setsbuf %s = %s", handle(buf), handle(pvm_setsbuf(buf)));
	else
		printf("setrbuf %s = %s", handle(buf), handle(pvm_setrbuf(buf)));
}

static void do_pack(int step)
{
	struct type *type = &PICK(types);
	int n = count(), s = stride();
	char *from = data(type, step);
	printf("pk%s %d %d = %s", type->name, n, s, code(type->pack(from, n, s)));
}

/* In the original a message in default encoding whose bytes were not all there gives ints as before, and no bytes. */
static void give_up_broken(int is_bytes, int cc)
{
	if (is_bytes && cc == PvmNoData && encoding_of(pvm_getrbuf()) == DEFAULT) {
		forget(pvm_getrbuf());
		pvm_freebuf(pvm_setrbuf(0));
	}
}

static void do_unpack(int step UNUSED)
{
	struct type *type = &PICK(types);
	int n = count(), s = stride(), its_tid = 0, cc;
	memset(&taken, 0x5a, sizeof taken);
	cc = type->unpack(taken.bytes, n, s);
	printf("upk%s %d %d = %s", type->name, n, s, code(cc));
	/* What a call that failed has left there is nobody's. */
	/* A notice holds the number of a task. */
	pvm_bufinfo(pvm_getrbuf(), (int *)0, (int *)0, &its_tid);
	if (cc >= 0 && its_tid != (int)0x80000000)
		show_taken(type->size * 3);
	give_up_broken(type->type == PVM_BYTE, cc);
}

static void do_text(int step UNUSED)
{
	static char *texts[] = { "", "a", "some words", "0123456789012345678901234567890123456789" };
	char *text = PICK(texts);
	int cc;

	if (rnd(2)) {
		printf("pkstr %d = %s", (int)strlen(text), code(pvm_pkstr(text)));
		return;
	}
	memset(&taken, 0, sizeof taken);
	cc = pvm_upkstr(taken.bytes);
	printf("upkstr = %s %d", code(cc), cc < 0 ? -1 : (int)strlen(taken.bytes));
	give_up_broken(1, cc);
}

static void do_format(int step UNUSED)
{
	static char *formats[] = { "%d", "%2d", "%*d", "%+d", "%hd", "%s", "%f", "%lf", "%c", "%ld", "%d %d", "%", "", "x", "%z", "%*.2d" };
	char *format = PICK(formats);
	int cc, i = (int)rnd(1000), j = 2;
	double d[3];

	d[0] = 1.5;
	d[1] = d[2] = 0;
	memset(&taken, 0x5a, sizeof taken);
	if (rnd(2)) {
		if (strchr(format, '*') || !strcmp(format, "%2d") || strchr(format, 'f') || strchr(format, 's') ||
		    strchr(format, 'l') || strchr(format, '+') || strchr(format, 'c'))
			format = "%d %d";
		if (encoding_of(pvm_getsbuf()) == IN_PLACE) {
			/* The original keeps the addresses of arguments that are gone when the message is sent. */
			printf("packf in place");
			return;
		}
		cc = pvm_packf(format, i, j);
		printf("packf \"%s\" = %s", format, code(cc));
	} else {
		if (strchr(format, '*') || strchr(format, '+'))
			format = "%2d";
		/* A text of a length below zero is not ended in the original. */
		if (strchr(format, 's'))
			memset(&taken, 0, sizeof taken);
		cc = pvm_unpackf(format, taken.bytes, taken.bytes + 64);
		printf("unpackf \"%s\" = %s", format, code(cc));
		if (cc >= 0)
			show_taken(16);
		give_up_broken(strchr(format, 's') || strchr(format, 'c'), cc);
	}
}

static void do_send(int step UNUSED)
{
	int to = task(), with = tag();
	printf("send %s %d = %s", task_name(to), with, code(pvm_send(to, with)));
	settle();
}

static void do_mcast(int step UNUSED)
{
	int tids[3], n = (int)rnd(5) - 1, with = tag(), i;
	for (i = 0; i < 3; i++)
		tids[i] = task();
	printf("mcast %d (%s %s %s) %d = ", n, task_name(tids[0]), task_name(tids[1]), task_name(tids[2]), with);
	printf("%s", code(pvm_mcast(tids, n > 3 ? 3 : n, with)));
	settle();
}

static int odd_type(struct type *type)
{
	return rnd(8) ? type->type : rnd(2) ? -1 : 99;
}

static void do_psend(int step)
{
	struct type *type = &PICK(types);
	int to = task(), with = tag(), n = count(), kind = odd_type(type);
	char *from = data(type, step);
	printf("psend %s %d %d %s %d = ", task_name(to), with, n, type->name, kind);
	printf("%s", code(pvm_psend(to, with, from, n, kind)));
	settle();
}

static void do_nrecv(int step UNUSED)
{
	int from = rnd(2) ? -1 : task(), with = rnd(2) ? -1 : tag(), buf;
	struct timeval soon;
	forget(pvm_getrbuf());
	soon.tv_sec = 0;
	soon.tv_usec = 1000;
	if (rnd(3)) {
		printf("nrecv %s %d = ", task_name(from), with);
		buf = pvm_nrecv(from, with);
	} else {
		printf("trecv %s %d = ", task_name(from), with);
		buf = pvm_trecv(from, with, &soon);
	}
	printf("%s", handle(buf));
	keep(buf);
	if (buf > 0)
		show_message(buf);
}

static void do_probe(int step UNUSED)
{
	int from = rnd(2) ? -1 : task(), with = rnd(2) ? -1 : tag(), buf;
	printf("probe %s %d = ", task_name(from), with);
	buf = pvm_probe(from, with);
	printf("%s", handle(buf));
	if (buf > 0)
		show_message(buf);
}

static void do_recv(int step UNUSED)
{
	int from = rnd(2) ? -1 : task(), with = rnd(2) ? -1 : tag(), buf;
	if (pvm_probe(from, with) <= 0) {
		printf("recv %s %d would wait", task_name(from), with);
		return;
	}
	forget(pvm_getrbuf());
	printf("recv %s %d = ", task_name(from), with);
	buf = pvm_recv(from, with);
	printf("%s", handle(buf));
	keep(buf);
	show_message(buf);
}

static void do_precv(int step UNUSED)
{
	struct type *type = &PICK(types);
	int from = rnd(2) ? -1 : task(), with = rnd(2) ? -1 : tag(), n = (int)rnd(40), kind = odd_type(type), cc, is_default, bytes;
	int its_tid = -9, its_tag = -9, its_size = -9, before = pvm_getrbuf(), tells = (int)rnd(8), found = pvm_probe(from, with);

	if (found <= 0) {
		printf("precv %s %d would wait", task_name(from), with);
		return;
	}
	is_default = encoding_of(found) == DEFAULT;
	bytes = length(found);
	memset(&taken, 0x5a, sizeof taken);
	printf("precv %s %d %d %s %d = ", task_name(from), with, n, type->name, kind);
	cc = pvm_precv(from, with, taken.bytes, n, kind, tells & 1 ? &its_tid : (int *)0, tells & 2 ? &its_tag : (int *)0,
		       tells & 4 ? &its_size : (int *)0);
	printf("%s %s %d %d", code(cc), cc < 0 ? "-" : task_name(its_tid), cc < 0 ? 0 : its_tag, cc < 0 ? 0 : its_size);
	/* Ours decodes the default encoding and the original does not; both give what is raw, the original parts of items, too. */
	if (is_default)
		memset(&taken, 0x5a, sizeof taken);
	else if (cc >= 0 && bytes < n * type->size)
		memset(taken.bytes + bytes / type->size * type->size, 0x5a, (size_t)type->size);
	show_taken(8);
	printf(" %d", before == pvm_getrbuf());
}

static void do_bufinfo(int step UNUSED)
{
	int buf = buffer(), bytes = -9, its_tag = -9, its_tid = -9, cc;
	cc = pvm_bufinfo(buf, rnd(3) ? &bytes : (int *)0, rnd(3) ? &its_tag : (int *)0, rnd(3) ? &its_tid : (int *)0);
	printf("bufinfo %s = %s %d %d %s", handle(buf), code(cc), bytes, its_tag, task_name(its_tid));
}

static void do_minfo(int step UNUSED)
{
	struct pvmminfo info;
	int buf = buffer(), cc;

	memset(&info, 0, sizeof info);
	cc = pvm_getminfo(buf, &info);
	printf("getminfo %s = %s", handle(buf), code(cc));
	if (cc < 0)
		return;
	printf(" len %d ctx %d tag %d enc %x src %s dst %s", info.len, info.ctx, info.tag, (unsigned)info.enc, task_name(info.src),
	       info.dst == me ? "me" : "other");
	if (rnd(3) == 0) {
		info.tag = 77;
		printf(" setminfo = %s", code(pvm_setminfo(buf, &info)));
	}
}

/* A message that pvm_pkmesg packs as in the original: there an empty one has no fragment, or one that pvm_upkmesg leaves. */
static int can_be_nested(int buf)
{
	return !fragmented && length(buf) != 0 && encoding_of(pvm_getsbuf()) != IN_PLACE;
}

static void do_mesg(int step UNUSED)
{
	int buf = buffer();
	switch (rnd(3)) {
	case 0:
		printf("pkmesg %s = ", handle(buf));
		printf("%s", can_be_nested(buf) ? code(pvm_pkmesg(buf)) : "not done");
		break;
	case 1:
		/* In place it works in both, and the original frees the items twice. */
		printf("pkmesgbody %s = ", handle(buf));
		printf("%s", encoding_of(pvm_getsbuf()) == IN_PLACE ? "not done" : code(pvm_pkmesgbody(buf)));
		break;
	default:
		/* Of what is no packed message the original makes a buffer of nonsense. */
		printf("upkmesg = %s", pvm_getrbuf() > 0 ? "not done" : code(pvm_upkmesg()));
	}
}

/* A message between other items is packed, sent, unpacked, read, and sent once more. */
static void do_nested(int step)
{
	struct type *type = &PICK(types), *other = &PICK(types);
	int enc = (int)rnd(3), inner = buffer(), n = (int)rnd(4) + 1, old_receive = pvm_setrbuf(0), old_send = pvm_setsbuf(0), cc;
	char *from = data(type, step);

	printf("nested in %d: ", enc);
	/* A matching of our own may hand out another message, which is none of these. */
	if (!matching && length(inner) > 0 && can_be_nested(inner) && (cc = pvm_initsend(enc)) > 0 && enc != PvmDataInPlace) {
		printf("%s", code(type->pack(from, n, 1)));
		printf(" %s", code(pvm_pkmesg(inner)));
		printf(" %s", code(type->pack(from, n, 1)));
		printf(" %s", code(pvm_send(me, 4242)));
		settle();
		pvm_recv(me, 4242);
		/* No length: the original counts 4 bytes more for each fragment, of which a received message may have several. */
		printf(" %s", handle(pvm_getrbuf()));
		printf(" %s", code(type->unpack(taken.bytes, n, 1)));
		cc = pvm_upkmesg();
		printf(" %s", handle(cc));
		if (cc > 0) {
			int its_tag = -9, its_tid = -9;
			pvm_bufinfo(cc, (int *)0, &its_tag, &its_tid);
			printf(" [%d %s]", its_tag, task_name(its_tid));
		}
		memset(&taken, 0x5a, sizeof taken);
		printf(" %s", code(type->unpack(taken.bytes, n, 1)));
		show_taken(4);
		pvm_freebuf(pvm_setrbuf(cc > 0 ? cc : 0));
		memset(&taken, 0x5a, sizeof taken);
		if (cc > 0 && other->unpack(taken.bytes, 1, 1) >= 0)
			show_taken(4);
	}
	pvm_freebuf(pvm_setrbuf(0));
	pvm_freebuf(pvm_setsbuf(0));
	/* A buffer that is gone is none of ours. */
	if (old_receive > 0)
		pvm_setrbuf(old_receive);
	if (old_send > 0)
		pvm_setsbuf(old_send);
}

static void do_option(int step UNUSED)
{
	/* Not those with which the library prints, ends the program, or sends to us by itself. */
	static int settable[] = { PvmRoute, PvmFragSize, PvmResvTids, PvmSelfOutputCode, PvmSelfTraceCode, PvmOutputCode, PvmTraceCode,
		PvmOutputContext, PvmTraceContext, PvmTraceBuffer, PvmSelfTraceBuffer, PvmTraceOptions, PvmSelfTraceOptions, PvmAutoErr, PvmNoReset, PvmPollTime, PvmPollType };
	static int values[] = { 0, 1, 2, 3, 5, -1, 100, 1000, 4080 };
	int what = rnd(2) ? PICK(settable) : (int)rnd(26) - 2, value = PICK(values);

	if (rnd(2)) {
		printf("getopt %d = ", what);
		value = pvm_getopt(what);
		printf("%s", value == me ? "me" : code(value));
		return;
	}
	what = PICK(settable);
	if (what == PvmAutoErr)
		value &= 1;
	printf("setopt %d %d = %s", what, value, code(pvm_setopt(what, value)));
	fragmented |= pvm_getopt(PvmFragSize) < 4080;
}

static void do_mailbox(int step UNUSED)
{
	static int flags[] = { 0, 0, PvmMboxMultiInstance, PvmMboxMultiInstance, PvmMboxOverWritable, PvmMboxFirstAvail, PvmMboxReadAndDelete, 8 | 4 };
	char *key = name();
	int flag = PICK(flags), index = (int)rnd(4) - 1, cc;
	struct pvmminfo info;

	switch (rnd(4)) {
	case 0:
	case 1:
		flag &= ~PvmMboxPersistent;
		if (pvm_getsbuf() <= 0) {
			/* The original waits for ever. */
			printf("putinfo of nothing");
			return;
		}
		if (encoding_of(pvm_getsbuf()) == IN_PLACE) {
			/* Who receives it cannot read it in the original. */
			printf("putinfo in place");
			return;
		}
		/* In the original the entry keeps what the buffer had. */
		memset(&info, 0, sizeof info);
		pvm_getminfo(pvm_getsbuf(), &info);
		info.tag = 0;
		info.src = me;
		pvm_setminfo(pvm_getsbuf(), &info);
		printf("putinfo \"%s\" %d = ", key, flag);
		printf("%s", code(pvm_putinfo(key, pvm_getsbuf(), flag)));
		break;
	case 2:
		flag &= ~PvmMboxWaitForInfo;
		forget(pvm_getrbuf());
		printf("recvinfo \"%s\" %d %d = ", key, index, flag);
		cc = pvm_recvinfo(key, index, flag);
		printf("%s", handle(cc));
		keep(cc);
		if (cc > 0)
			show_message(cc);
		break;
	default:
		printf("delinfo \"%s\" %d %d = ", key, index, flag);
		printf("%s", code(pvm_delinfo(key, index, flag)));
	}
}

static void do_names(int step UNUSED)
{
	char *key = name();
	int index = (int)rnd(4) - 1, value = -9, cc;
	switch (rnd(3)) {
	case 0:
		printf("insert \"%s\" %d = %s", key, index, code(pvm_insert(key, index, 42)));
		break;
	case 1:
		cc = pvm_lookup(key, index, &value);
		/* Of an entry that is shorter than an int the original gives what there is of one. */
		printf("lookup \"%s\" %d = %s %s", key, index, code(cc), cc >= 0 && value == 42 ? "42" : "-");
		break;
	default:
		printf("delete \"%s\" %d = %s", key, index, code(pvm_delete(key, index)));
	}
}

static void do_mboxinfo(int step UNUSED)
{
	static char *patterns[] = { "*", "one", "t*", "", "[" };
	char *pattern = PICK(patterns);
	struct pvmmboxinfo *classes;
	int n = -9, cc, i, j;

	cc = pvm_getmboxinfo(pattern, &n, &classes);
	printf("getmboxinfo \"%s\" = %s", pattern, code(cc));
	for (i = 0; cc >= 0 && i < n; i++) {
		/* The group server's own entry is a task of the original's. */
		if (!strncmp(classes[i].mi_name, "pvm", 3))
			continue;
		printf(" (%s %d", classes[i].mi_name, classes[i].mi_nentries);
		for (j = 0; j < classes[i].mi_nentries; j++)
			printf(" %d:%s:%d", classes[i].mi_indices[j], task_name(classes[i].mi_owners[j]), classes[i].mi_flags[j]);
		printf(")");
	}
}

static void do_context(int step UNUSED)
{
	int place = (int)rnd(4), cc;
	switch (rnd(4)) {
	case 0:
		cc = pvm_newcontext();
		contexts[place] = cc;
		printf("newcontext = %s", nth(cc));
		break;
	case 1:
		printf("setcontext %s = ", nth(contexts[place]));
		printf("%s", nth(pvm_setcontext(contexts[place])));
		break;
	case 2:
		printf("freecontext %s = ", nth(contexts[place]));
		printf("%s", code(pvm_freecontext(contexts[place])));
		break;
	default:
		printf("getcontext = %s", nth(pvm_getcontext()));
	}
}

static void do_group(int step UNUSED)
{
	static char *groups[] = { "g", "g", "h", "", (char *)0 };
	char *group = PICK(groups), *shown = group ? group : "NULL";
	int tid = task(), instance = (int)rnd(4) - 1, cc;

	if (matching) {
		printf("group would wait");
		return;
	}
	switch (rnd(8)) {
	case 0:
		printf("joingroup %s = %s", shown, code(pvm_joingroup(group)));
		break;
	case 1:
		printf("lvgroup %s = %s", shown, code(pvm_lvgroup(group)));
		break;
	case 2:
		printf("getinst %s %s = %s", shown, task_name(tid), code(pvm_getinst(group, tid)));
		break;
	case 3:
		cc = pvm_gettid(group, instance);
		printf("gettid %s %d = %s", shown, instance, cc == me ? "me" : code(cc));
		break;
	case 4:
		printf("gsize %s = %s", shown, code(pvm_gsize(group)));
		break;
	case 5:
		/* In the original a count below 1 sticks to the group, and each later call has one that does not fit. */
		if (pvm_gsize(group) > 0)
			instance = 1;
		printf("barrier %s %d = %s", shown, instance > 1 ? 1 : instance, code(pvm_barrier(group, instance > 1 ? 1 : instance)));
		break;
	case 6:
		if (pvm_gsize(group) > 0)
			instance = 1;
		printf("freezegroup %s %d = %s", shown, instance, code(pvm_freezegroup(group, instance)));
		break;
	default:
		printf("bcast %s %d = %s", shown, instance, code(pvm_bcast(group, instance)));
		settle();
	}
}

static void do_collective(int step)
{
	static char *groups[] = { "g", "g", "g", "h", "" };
	char *group = PICK(groups);
	struct type *type = &PICK(types);
	int n = count(), kind = odd_type(type), with = (int)rnd(3) + 1, root = rnd(4) ? 0 : (int)rnd(3) - 1, was = pvm_getsbuf(), cc;
	char *from = data(type, step);

	if (matching) {
		printf("collective would wait");
		return;
	}
	if (kind == type->type && type->type == PVM_BYTE)
		type = &types[3], kind = PVM_INT;
	memset(&taken, 0x5a, sizeof taken);
	switch (rnd(3)) {
	case 0:
		memcpy(taken.bytes, from, 256);
		cc = pvm_reduce(PvmSum, taken.bytes, n, kind, with, group, root);
		printf("reduce");
		break;
	case 1:
		cc = pvm_gather(taken.bytes, from, n, kind, with, group, root);
		printf("gather");
		break;
	default:
		cc = pvm_scatter(taken.bytes, from, n, kind, with, group, root);
		printf("scatter");
		/* The original spoils the root's send buffer: it frees it, or makes an empty one of it. */
		if (cc >= 0 && root == 0) {
			forget(was);
			pvm_freebuf(pvm_setsbuf(0));
		}
	}
	printf(" %d %s %d %d \"%s\" %d = %s", n, type->name, kind, with, group, root, code(cc));
	show_taken(16);
}

static void do_machine(int step UNUSED)
{
	static char *hosts[] = { ".", "nowhere", "", "127.0.0.1" };
	int tid = task(), n = -9, cc;
	struct pvmtaskinfo *tasks;
	struct timeval clock, delta;
	char *host = PICK(hosts);

	switch (rnd(6)) {
	case 0:
		cc = pvm_tasks(tid, &n, &tasks);
		printf("tasks %s = %s", task_name(tid), code(cc));
		break;
	case 1:
		printf("pstat %s = %s", task_name(tid), code(pvm_pstat(tid)));
		break;
	case 2:
		printf("mstat %s = %s", host, code(pvm_mstat(host)));
		break;
	case 3:
		cc = pvm_tidtohost(tid);
		printf("tidtohost %s = %s", task_name(tid), handle(cc));
		break;
	case 4:
		cc = pvm_hostsync(tid, &clock, &delta);
		printf("hostsync %s = %s", task_name(tid), code(cc));
		break;
	default:
		printf("archcode %s = %d", rnd(2) ? "LINUX64" : "NONE", pvm_archcode(rnd(2) ? "LINUX64" : "NONE"));
	}
}

static void do_notify(int step UNUSED)
{
	static int kinds[] = { PvmTaskExit, PvmTaskExit, PvmHostDelete, PvmHostAdd, PvmTaskExit | PvmNotifyCancel,
		PvmHostDelete | PvmNotifyCancel, PvmHostAdd | PvmNotifyCancel, 0, 6, -1 };
	int what = PICK(kinds), n = (int)rnd(4) - 1, with = tag(), tids[2];

	tids[0] = task();
	tids[1] = task();
	printf("notify %d %d %d %s %s = ", what, with, n, task_name(tids[0]), task_name(tids[1]));
	printf("%s", code(pvm_notify(what, with, n, tids)));
	settle();
}

static int handler(int buf UNUSED)
{
	handled++;
	return 0;
}

static int accepts(int buf UNUSED, int from UNUSED, int with UNUSED)
{
	asked++;
	return 1;
}

static int refuses(int buf UNUSED, int from UNUSED, int with UNUSED)
{
	asked++;
	return 0;
}

static void do_hooks(int step UNUSED)
{
	static int (*chosen[3])(), (*old)();
	int which, with = tag();
	static int last = -1;

	chosen[1] = accepts;
	chosen[2] = refuses;
	switch (rnd(4)) {
	case 0:
		/* Whether every tag is also a tag below 0, which no message has, is nobody's question. */
		if (with < -1)
			with = 5;
		last = pvm_addmhf(rnd(2) ? -1 : task(), with, 0, handler);
		printf("addmhf %d = %s", with, handle(last));
		break;
	case 1:
		printf("delmhf = %s", code(pvm_delmhf(last)));
		last = -1;
		break;
	case 2:
		which = (int)rnd(3);
		matching = which != 0;
		old = pvm_recvf(chosen[which]);
		printf("recvf %d = %s", which, old == accepts ? "accepts" : old == refuses ? "refuses" : old ? "default" : "none");
		break;
	default:
		matching = 0;
		old = pvm_recvf(0);
		printf("recvf 0 = %s", old == accepts ? "accepts" : old == refuses ? "refuses" : old ? "default" : "none");
	}
}

static void do_signal(int step UNUSED)
{
	int tid = task();
	if (tid == me)
		tid = me + 900;
	if (rnd(2))
		printf("kill %s = %s", task_name(tid), code(pvm_kill(tid)));
	else
		printf("sendsig %s = %s", task_name(tid), code(pvm_sendsig(tid, (int)rnd(2))));
}

static void do_small(int step UNUSED)
{
	int n, *tids, cc;
	switch (rnd(7)) {
	case 0:
		cc = pvm_siblings(&tids);
		printf("siblings = %s", code(cc));
		break;
	case 1:
		printf("parent = %s", code(pvm_parent()));
		break;
	case 2:
		printf("mytid = %s", pvm_mytid() == me ? "me" : "another");
		break;
	case 3:
		n = (int)rnd(50) - 45;
		pvm_errno = n;
		printf("strerror %d: ", n);
		fflush(stdout);
		pvm_perror(rnd(3) ? "words" : "");
		break;
	case 4:
		printf("export = %s", code(pvm_export(rnd(2) ? "CONFORMANCE" : "")));
		break;
	case 5:
		printf("unexport = %s", code(pvm_unexport(rnd(2) ? "CONFORMANCE" : "")));
		break;
	default:
		n = (int)rnd(3) - 1;
		cc = pvm_spawn(rnd(2) ? "no-such-program" : "", (char **)0, 0, "", n, (int *)taken.bytes);
		printf("spawn %d = %s %s", n, code(cc), n == 1 && cc == 0 ? code(*(int *)taken.bytes) : "");
	}
}

/* Arguments that are none, in calls that do not crash in the original, and calls that need nobody. */
static void do_nothing(int step UNUSED)
{
	int hosts, *list, zero[2] = { 0, 0 }, n = -9, cc;
	struct timeval none;

	none.tv_sec = none.tv_usec = 0;
	forget(pvm_getrbuf());
#define IS(number, call) case number: printf("%s = ", #call); printf("%s", code(call)); break
	switch (rnd(48)) {
	IS(0, pvm_config((int *)0, (int *)0, (struct pvmhostinfo **)0));
	IS(1, pvm_tasks(0, (int *)0, (struct pvmtaskinfo **)0));
	IS(2, pvm_pkint((int *)0, 0, 1));
	IS(3, pvm_pkbyte((char *)0, 0, 3));
	IS(4, pvm_upkdouble((double *)0, 0, -1));
	IS(5, pvm_mcast((int *)0, 0, 1));
	IS(6, pvm_mcast((int *)0, -1, 1));
	IS(7, pvm_getminfo(0, (struct pvmminfo *)0));
	IS(8, pvm_setminfo(-1, (struct pvmminfo *)0));
	IS(9, pvm_mstat((char *)0));
	IS(10, pvm_archcode((char *)0));
	IS(11, pvm_spawn("no-such-program", (char **)0, PvmTaskDefault, (char *)0, 1, (int *)0));
	IS(12, pvm_spawn("no-such-program", (char **)0, PvmTaskHost | PvmHostCompl, ".", 1, &n));
	IS(13, pvm_notify(PvmHostAdd, 3, 1, (int *)0));
	IS(14, pvm_notify(PvmHostAdd, 3, -1, (int *)0));
	IS(15, pvm_notify(PvmHostAdd, 3, 0, (int *)0));
	IS(16, pvm_notify(PvmRouteAdd, 3, -1, (int *)0));
	IS(17, pvm_insert((char *)0, 0, 1));
	IS(18, pvm_lookup((char *)0, 0, &n));
	IS(19, pvm_lookup("one", 0, (int *)0));
	IS(20, pvm_delete((char *)0, 0));
	IS(21, pvm_putinfo((char *)0, pvm_getsbuf(), 0));
	IS(22, pvm_recvinfo((char *)0, 0, 0));
	IS(23, pvm_delinfo((char *)0, 0, 0));
	IS(24, pvm_getmboxinfo("*", (int *)0, (struct pvmmboxinfo **)0));
	IS(25, pvm_getfds(&list));
	IS(26, pvm_start_pvmd(0, (char **)0, 1));
	IS(27, pvm_addhosts((char **)0, 0, (int *)0));
	IS(28, pvm_delhosts((char **)0, -1, &n));
	IS(29, pvm_hostsync(-1, (struct timeval *)0, (struct timeval *)0));
	IS(30, pvm_hostsync(0, (struct timeval *)0, (struct timeval *)0));
	IS(31, pvm_tidtohost(-1));
	case 32:
		printf("trecv of what never comes = %s", handle(pvm_trecv(-1, 0x7ffffff2, &none)));
		break;
	IS(33, strcmp(pvm_version(), PVM_VER));
	IS(34, pvm_tickle(0, (int *)0, (int *)0, (int *)0));
	case 35:
		printf("psend of nothing = %s", code(pvm_psend(me, 1, (void *)0, 0, PVM_INT)));
		settle();
		break;
	IS(36, pvm_psend(me, 1, (void *)0, 0, PVM_STR));
	IS(37, pvm_precv(-1, 0x7ffffff2, (void *)0, 0, 99, (int *)0, (int *)0, (int *)0));
	IS(38, pvm_unpackf(""));
	IS(39, pvm_freebuf(0));
	IS(40, pvm_bufinfo(pvm_getrbuf(), (int *)0, (int *)0, (int *)0));
	IS(41, pvm_mstat(""));
	IS(42, pvm_delmhf(-1));
	IS(43, pvm_setopt(999, 1));
	IS(44, pvm_getopt(-1));
	case 45:
		settle();
		cc = pvm_getnoresets(&list, &n);
		printf("getnoresets = %s %d", code(cc), n);
		break;
	case 46:
		cc = pvm_config(&hosts, &n, (struct pvmhostinfo **)0);
		printf("config = %s %d %d", code(cc), hosts, n);
		break;
	default:
		if (matching) {
			printf("would wait");
			break;
		}
		printf("reduce of nothing = %s", code(pvm_reduce(PvmSum, (void *)0, 1, PVM_INT, 1, "g", 0)));
		printf(" gather %s", code(pvm_gather((void *)0, (void *)0, 1, PVM_INT, 1, "g", 0)));
		printf(" scatter %s", code(pvm_scatter((void *)0, (void *)0, 1, PVM_INT, 1, "g", 0)));
		printf(" nobody's %s", code(pvm_reduce(PvmMax, zero, 1, PVM_INT, 1, (char *)0, 0)));
	}
}

static void do_life(int step UNUSED)
{
	if (matching) {
		printf("exit would wait");
		return;
	}
	/* The original forgets it, and says still that it is set. */
	pvm_setopt(PvmNoReset, 0);
	printf("exit = %s", code(pvm_exit()));
	memset(bufs, 0, sizeof bufs);
	me = pvm_mytid();
	printf(" mytid %s", me > 0 ? "id" : code(me));
	settle();
}

static struct { int weight; void (*run)(int); } steps[] = {
	{ 6, do_mkbuf }, { 14, do_initsend }, { 5, do_freebuf }, { 3, do_current }, { 8, do_setbuf }, { 26, do_pack }, { 24, do_unpack },
	{ 8, do_text }, { 6, do_format }, { 18, do_send }, { 4, do_mcast }, { 6, do_psend }, { 14, do_nrecv }, { 5, do_probe }, { 8, do_recv },
	{ 4, do_precv }, { 6, do_bufinfo }, { 5, do_minfo }, { 8, do_mesg }, { 6, do_nested }, { 9, do_option }, { 10, do_mailbox }, { 4, do_names },
	{ 3, do_mboxinfo }, { 5, do_context }, { 6, do_group }, { 4, do_collective }, { 4, do_machine }, { 5, do_notify }, { 3, do_hooks },
	{ 2, do_signal }, { 5, do_small }, { 5, do_nothing }, { 1, do_life }
};

static void one(int step)
{
	unsigned sum = 0, i, at;
	for (i = 0; i < sizeof steps / sizeof steps[0]; i++)
		sum += (unsigned)steps[i].weight;
	at = rnd(sum);
	for (i = 0; at >= (unsigned)steps[i].weight; i++)
		at -= (unsigned)steps[i].weight;
	printf("%d ", step);
	fflush(stdout);
	steps[i].run(step);
	if (handled || asked)
		printf(" handled %d asked %d", handled, asked);
	handled = asked = 0;
	printf("\n");
}

int main(int argc, char **argv)
{
	int seed = argc > 1 ? atoi(argv[1]) : 1, n = argc > 2 ? atoi(argv[2]) : 150, step, i, left_out;

	setvbuf(stdout, (char *)0, _IOLBF, 0);
	dup2(1, 2);
	alarm(6);
	pvm_setopt(PvmAutoErr, 0);
	me = pvm_mytid();
	if (me <= 0) {
		printf("no machine: %s\n", code(me));
		return 1;
	}
	for (step = 1; step <= n; step++) {
		state = (unsigned long long)seed * 1000003u + (unsigned long long)step * 7919u + 88172645463325252ULL;
		for (i = 0; i < 8; i++)
			rnd(2);
		for (i = 3, left_out = 0; i < argc; i++)
			left_out |= atoi(argv[i]) == step;
		if (!left_out)
			one(step);
	}
	printf("end\n");
	pvm_exit();
	return 0;
}
