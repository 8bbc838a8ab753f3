/*
 * Packing behind what a buffer already holds: received messages that become the send buffer, buffers that were read, messages
 * from mailboxes and out of other messages. Default encoding begins anew, raw and in-place messages keep what they hold.
 */
#include "common.h"

static char *enc_name[] = { "default", "raw", "in place" };

/* What a message holds, and what is told of it. */
static void show(char *what, int id, int me)
{
	struct pvmminfo mi;
	int value, keep = pvm_setrbuf(id);

	memset(&mi, 0, sizeof mi);
	pvm_getminfo(id, &mi);
	printf("%s: ", what);
	if (strncmp(what, "packed", 6)) /* the original goes on telling the length that was received */
		printf("%d bytes ", mi.len);
	printf("tag %d ctx %d wid %d src %s dst %s:", mi.tag, mi.ctx, mi.wid, mi.src == me ? "self" : who(mi.src),
		mi.dst == me ? "self" : who(mi.dst));
	while (pvm_upkint(&value, 1, 1) == 0)
		printf(" %d", value);
	printf("\n");
	pvm_setrbuf(keep);
}

static int to_self(int me, int tag)
{
	pvm_send(me, tag);
	return pvm_recv(me, tag);
}

/* A message that goes round, each hop packing its number behind the others. */
static void ring(int me, int enc, int fill)
{
	static int values[8], big[3000];
	int i, b;

	printf("ring of %s messages, %d ints in front\n", enc_name[enc], fill);
	pvm_initsend(enc);
	values[0] = 0;
	if (fill)
		pvm_pkint(big, fill, 1);
	pvm_pkint(&values[0], 1, 1);
	b = to_self(me, 1);
	for (i = 1; i <= 4; i++) {
		values[i] = i;
		pvm_freebuf(pvm_setsbuf(b));
		if (pvm_pkint(&values[i], 1, 1) < 0)
			printf("cannot be packed\n");
		b = to_self(me, 1);
	}
	if (fill && enc != PvmDataDefault)
		pvm_upkint(big, fill, 1);
	pvm_bufinfo(b, &i, (int *)0, (int *)0);
	printf("%d bytes:", i);
	while (pvm_upkint(&i, 1, 1) == 0)
		printf(" %d", i);
	printf("\n");
}

/* A send buffer that is read and packed further. */
static void read_and_pack(int me, int enc)
{
	static int v[4] = { 11, 22, 33, 44 };
	int b, x = -1;

	printf("a %s send buffer, read\n", enc_name[enc]);
	pvm_initsend(enc);
	pvm_pkint(&v[0], 2, 1);
	b = pvm_setsbuf(0);
	pvm_setrbuf(b);
	printf("upkint %s", code(pvm_upkint(&x, 1, 1)));
	printf(" gives %d\n", x);
	pvm_setrbuf(0);
	pvm_setsbuf(b);
	SHOW(pvm_pkint(&v[2], 1, 1));
	show("received", to_self(me, 2), me);
	SHOW(pvm_pkint(&v[3], 1, 1));
	show("received again", to_self(me, 2), me);
}

/* What is told of a received message while it is packed as the send buffer. */
static void told(int me, int enc)
{
	static int v[4] = { 11, 22, 33, 44 };
	int b;

	printf("a received %s message becomes the send buffer\n", enc_name[enc]);
	pvm_initsend(enc);
	pvm_pkint(&v[0], 2, 1);
	b = to_self(me, 51);
	pvm_freebuf(pvm_setsbuf(b));
	printf("receive buffer %d\n", pvm_getrbuf());
	show("before", b, me);
	pvm_setsbuf(b);
	SHOW(pvm_pkint(&v[2], 1, 1));
	show("packed", b, me);
	pvm_setsbuf(b);
	SHOW(pvm_pkint(&v[3], 1, 1));
	show("packed more", b, me);
	pvm_setsbuf(b);
	show("received", to_self(me, 52), me);
}

static void mailbox(int me, int enc)
{
	static int v[3] = { 11, 22, 33 };
	int b;

	printf("a %s message from a mailbox\n", enc_name[enc]);
	b = pvm_mkbuf(enc);
	pvm_freebuf(pvm_setsbuf(b));
	pvm_pkint(&v[0], 2, 1);
	pvm_putinfo("repack", b, 0);
	b = pvm_recvinfo("repack", 0, 0);
	pvm_delinfo("repack", 0, 0);
	pvm_freebuf(pvm_setsbuf(b));
	SHOW(pvm_pkint(&v[2], 1, 1));
	show("received", to_self(me, 3), me);
}

static void nested(int me, int outer, int enc)
{
	static int v[3] = { 11, 22, 33 };
	int b;

	printf("a %s message out of a %s one\n", enc_name[enc], enc_name[outer]);
	b = pvm_mkbuf(enc);
	pvm_freebuf(pvm_setsbuf(b));
	pvm_pkint(&v[0], 2, 1);
	pvm_setsbuf(0);
	pvm_initsend(outer);
	pvm_pkmesg(b);
	pvm_freebuf(b);
	to_self(me, 4);
	b = pvm_upkmesg();
	pvm_freebuf(pvm_setsbuf(b));
	SHOW(pvm_pkint(&v[2], 1, 1));
	show("received", to_self(me, 5), me);
}

/* What comes first says whether a message in default encoding that was received goes on or begins anew. */
static void first_packed(int me, int what)
{
	int v[3], b, i, got;

	v[0] = 1; v[1] = 2; v[2] = 3;
	b = pvm_mkbuf(PvmDataDefault);
	pvm_freebuf(pvm_setsbuf(b));
	pvm_pkint(&v[2], 1, 1);
	pvm_setsbuf(0);
	pvm_initsend(PvmDataDefault);
	pvm_pkint(v, 2, 1);
	pvm_freebuf(pvm_setsbuf(to_self(me, 6)));
	switch (what) {
	case 0: pvm_pkbyte("abcd", 4, 1); break;
	case 1: pvm_pkbyte("abcd", 0, 1); break;
	case 2: pvm_packf("%4c", "abcd"); break;
	case 3: pvm_pkmesgbody(b); break;
	case 4: pvm_pkbyte("abcd", 0, 1); pvm_pkint(&v[2], 1, 1); break;
	case 5: pvm_pkshort((short *)v, 1, 1); pvm_pkbyte("abcd", 4, 1); break;
	default: pvm_pkint(v, 0, 1);
	}
	to_self(me, 7);
	printf("first %d: %d bytes:", what, length_of(pvm_getrbuf()));
	for (i = 0; i < 4 && pvm_upkint(&got, 1, 1) == 0; i++)
		printf(" %x", (unsigned)got);
	printf("\n");
	pvm_freebuf(b);
}

int main(int argc, char **argv)
{
	int me, enc;

	begin(argc, argv);
	me = pvm_mytid();
	for (enc = 0; enc < 3; enc++) {
		ring(me, enc, 0);
		ring(me, enc, 60);
		if (enc != PvmDataDefault) /* there the original sends old memory */
			ring(me, enc, 3000);
	}
	for (enc = 0; enc < 2; enc++)
		read_and_pack(me, enc);
	for (enc = 1; enc < 3; enc++)
		told(me, enc);
	for (enc = 0; enc < 2; enc++) {
		mailbox(me, enc);
		nested(me, 0, enc);
		nested(me, 1, enc);
	}
	for (enc = 0; enc < 7; enc++)
		first_packed(me, enc);
	pvm_exit();
	return 0;
}
