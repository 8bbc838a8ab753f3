/* Random calls: buffers, packing, sending and receiving. */

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

/* In place what is packed behind a sending is another fragment. */
static int was_sent(int buf)
{
	struct pvmminfo info;
	memset(&info, 0, sizeof info);
	return pvm_getminfo(buf, &info) >= 0 && info.dst != 0;
}

static void do_pack(int step)
{
	struct type *type = &PICK(types);
	int n = count(), s = stride();
	char *from = data(type, step);
	fragmented |= encoding_of(pvm_getsbuf()) == IN_PLACE && was_sent(pvm_getsbuf());
	printf("pk%s %d %d = %s", type->name, n, s, code(type->pack(from, n, s)));
}

/*
 * In the original a message in default encoding whose bytes were not all there gives ints as before, and no bytes; one from a
 * mailbox (tag 0) whose double was not all there gives bytes.
 */
static void give_up_broken(int is_bytes, int cc)
{
	int its_tag = -1;

	pvm_bufinfo(pvm_getrbuf(), (int *)0, &its_tag, (int *)0);
	if ((is_bytes || its_tag == 0) && cc == PvmNoData && encoding_of(pvm_getrbuf()) == DEFAULT) {
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
		fragmented = 1;
		/* What is packed behind it in default encoding is lost or garbled in the original. */
		if (encoding_of(pvm_getsbuf()) == DEFAULT) {
			printf(" %s", code(pvm_send(me, 4)));
			settle();
			forget(pvm_getsbuf());
			pvm_freebuf(pvm_setsbuf(0));
		}
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
