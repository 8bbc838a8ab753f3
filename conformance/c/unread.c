/*
 * Reads that fail: what cannot be read at all, and where the message stands afterwards. A buffer in place is not read before it
 * was sent; bytes in default encoding that are not all there leave the message where it was; a text of a length below
 * zero is an empty one; what is left of a mailbox entry that does not exist.
 */
#include "common.h"

static int numbers[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
static char text[200];

static void rest(char *what)
{
	int value;

	printf("%s, then", what);
	while (value = -1, pvm_upkint(&value, 1, 1) == 0)
		printf(" %d", value);
	printf("\n");
}

static void in_place(void)
{
	int buf = pvm_initsend(PvmDataInPlace), inner, got[3];

	pvm_pkint(numbers, 3, 1);
	pvm_setrbuf(buf);
	SHOW(pvm_upkint(got, 1, 1));
	SHOW(pvm_upkint(got, 0, 1));
	SHOW(pvm_upkint(got, -1, 1));
	SHOW(pvm_upkbyte(text, 1, 2));
	SHOW(pvm_upkstr(text));
	SHOW(pvm_upkmesg());
	SHOW(pvm_unpackf("%d", got));
	SHOW(pvm_unpackf("%0d"));
	SHOW(pvm_unpackf(""));
	/* inside of another message, and taken out of it */
	pvm_setrbuf(0);
	pvm_initsend(PvmDataDefault);
	SHOW(pvm_pkmesg(buf));
	pvm_send(pvm_mytid(), 1);
	pvm_recv(-1, 1);
	inner = pvm_upkmesg();
	printf("inner length %d\n", length_of(inner));
	pvm_setrbuf(inner);
	SHOW(pvm_upkint(got, 1, 1));
	pvm_freebuf(inner);
	pvm_freebuf(buf);
}

static void send_with(int enc, int first)
{
	pvm_initsend(enc);
	pvm_pkint(&first, 1, 1);
	pvm_pkint(numbers, 4, 1);
	pvm_send(pvm_mytid(), 3);
	pvm_recv(-1, 3);
}

static void not_all_there(int enc)
{
	static int lengths[] = { -1, 0, (int)0x80000000 };
	short shorts[40];
	double doubles[40];
	unsigned i;

	send_with(enc, 17);
	printf("17 bytes: %s", code(pvm_upkbyte(text, 40, 1)));
	rest("");
	send_with(enc, 17);
	printf("bytes apart: %s", code(pvm_upkbyte(text, 40, 3)));
	rest("");
	send_with(enc, 17);
	printf("text: %s", code(pvm_upkstr(text)));
	rest("");
	send_with(enc, 17);
	printf("doubles apart: %s", code(pvm_upkdouble(doubles + 39, 40, -1)));
	printf(" byte %s", code(pvm_upkbyte(text, 1, 1)));
	rest("");
	send_with(enc, 17);
	printf("shorts: %s", code(pvm_upkshort(shorts, 40, 1)));
	rest("");
	for (i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		send_with(enc, lengths[i]);
		text[0] = 0;
		printf("text of %d: %s \"%s\"", lengths[i], code(pvm_upkstr(text)), text);
		rest("");
	}
}

static void no_entry(void)
{
	struct pvmminfo info;
	int value = -1;

	SHOW(pvm_recvinfo("there is none", 0, PvmMboxDefault));
	memset(&info, 0, sizeof info);
	SHOW(pvm_getminfo(pvm_getrbuf(), &info));
	printf("len %d ctx %d tag %d enc %x src %x dst %d\n", info.len, info.ctx, info.tag, (unsigned)info.enc, (unsigned)info.src,
	       info.dst == pvm_mytid());
	SHOW(pvm_upkint(&value, 1, 1));
}

/* A message that is made the send buffer is read from its first item again afterwards. */
static void a_send_buffer_meanwhile(void)
{
	int k, buffer, value = -1, more[9];

	for (k = 0; k < 2; k++) {
		pvm_initsend(PvmDataDefault);
		pvm_pkint(numbers, 4, 1);
		pvm_send(pvm_mytid(), 2);
		buffer = pvm_recv(-1, 2);
		pvm_upkint(&value, 1, 1);
		if (k)
			SHOW(pvm_upkint(more, 9, 1));
		pvm_setsbuf(buffer);
		printf("receive buffer %s\n", pvm_getrbuf() == buffer ? "kept" : "none");
		pvm_setrbuf(buffer);
		SHOW(pvm_upkint(&value, 1, 1));
		printf("first again %d\n", value == numbers[0]);
	}
}

/* Items in place in another message in place are read at the send. The original frees them twice, so this comes last. */
static void body_in_place(void)
{
	int inner = pvm_initsend(PvmDataInPlace);

	pvm_pkint(numbers, 3, 1);
	pvm_setsbuf(0);
	pvm_initsend(PvmDataInPlace);
	pvm_pkint(numbers + 5, 1, 1);
	SHOW(pvm_pkmesgbody(inner));
	pvm_pkint(numbers + 6, 2, 1);
	numbers[1] = 20;
	pvm_send(pvm_mytid(), 2);
	pvm_send(pvm_mytid(), 2);
	numbers[1] = 2;
	pvm_recv(-1, 2);
	printf("length %d\n", length_of(pvm_getrbuf()));
	rest("in place in place");
	pvm_recv(-1, 2);
	rest("and again");
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	pvm_mytid();
	in_place();
	printf("default\n");
	not_all_there(PvmDataDefault);
	printf("raw\n");
	not_all_there(PvmDataRaw);
	no_entry();
	a_send_buffer_meanwhile();
	body_in_place();
	pvm_exit();
	return 0;
}
