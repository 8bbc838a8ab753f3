/* Messages within messages: pkmesg, upkmesg, pkmesgbody. */
#include "common.h"

/* The nine ints in front. */
static void show_head(int encoding, int me)
{
	int k, n = 5, head[9];

	pvm_initsend(encoding);
	pvm_pkint(&n, 1, 1);
	pvm_send(me, 8);
	pvm_recv(me, 8);
	pvm_initsend(PvmDataRaw);
	pvm_pkmesg(pvm_getrbuf());
	pvm_send(me, 9);
	pvm_recv(me, 9);
	pvm_upkint(head, 9, 1);
	for (k = 0; k < 9; k++)
		printf(head[k] == me ? "me " : "%x ", (unsigned)head[k]);
	printf("\n");
}

int main(int argc, char **argv)
{
	int me, inner, outer, n = 11, m = 22, k, value, id;
	char text[32];
	struct pvmminfo mi;
	int encoding;

	begin(argc, argv);
	who(me = pvm_mytid());
	for (encoding = 0; encoding < 2; encoding++) {
		printf("outer %s\n", encoding ? "raw" : "default");
		for (k = 0; k < 2; k++) {
			/* the inner one has been sent and received, with tag 5 */
			pvm_initsend(k ? PvmDataRaw : PvmDataDefault);
			pvm_pkint(&n, 1, 1);
			pvm_pkstr("inner");
			pvm_send(me, 5);
			pvm_recv(me, 5);
			inner = pvm_setrbuf(0);

			pvm_initsend(encoding);
			pvm_pkint(&m, 1, 1);
			SHOW(pvm_pkmesg(inner));
			pvm_pkstr("after");
			printf("bytes %d\n", length_of(pvm_getsbuf()));
			SHOW(pvm_freebuf(inner));
			pvm_send(me, 6);
			pvm_recv(me, 6);
			outer = pvm_getrbuf();
			pvm_upkint(&value, 1, 1);
			id = pvm_upkmesg();
			printf("upkmesg %s, current receive buffer unchanged %d\n", handle(id), outer == pvm_getrbuf());
			pvm_upkstr(text);
			printf("%d %s\n", value, text);
			pvm_getminfo(id, &mi);
			printf("inner: len %d tag %d ctx %d wid %d src %s dst %s xdr %d\n", mi.len, mi.tag, mi.ctx, mi.wid,
				who(mi.src), who(mi.dst), mi.enc == 0x10000000);
			pvm_setrbuf(id);
			pvm_upkint(&value, 1, 1);
			pvm_upkstr(text);
			printf("%d %s\n", value, text);
			pvm_freebuf(outer);
			pvm_freebuf(id);
		}

		/* an unsent inner message */
		inner = pvm_mkbuf(PvmDataDefault);
		pvm_setsbuf(inner);
		pvm_pkint(&n, 1, 1);
		pvm_setsbuf(0);
		pvm_initsend(encoding);
		SHOW(pvm_pkmesg(inner));
		pvm_send(me, 7);
		pvm_recv(me, 7);
		id = pvm_upkmesg();
		pvm_getminfo(id, &mi);
		printf("unsent: len %d tag %d src %s dst %s\n", mi.len, mi.tag, who(mi.src), who(mi.dst));
		pvm_freebuf(id);

		/* bodies: spliced, encodings must agree */
		pvm_initsend(encoding);
		pvm_pkint(&m, 1, 1);
		printf("pkmesgbody of default = %s\n", code(pvm_pkmesgbody(inner)));
		pvm_freebuf(inner);
		inner = pvm_mkbuf(encoding);
		id = pvm_setsbuf(inner);
		pvm_pkint(&n, 1, 1);
		pvm_pkint(&m, 1, 1);
		pvm_setsbuf(id);
		printf("pkmesgbody of the same = %s\n", code(pvm_pkmesgbody(inner)));
		if (encoding == PvmDataRaw) /* in default encoding the original garbles what is packed after a body */
			pvm_pkint(&m, 1, 1);
		printf("bytes %d\n", length_of(pvm_getsbuf()));
		pvm_send(me, 8);
		pvm_recv(me, 8);
		while (pvm_upkint(&value, 1, 1) == 0)
			printf(" %d", value);
		printf("\n");
		pvm_freebuf(inner);
	}
	/* a message in a message in a message */
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&n, 1, 1);
	for (k = 0; k < 2; k++) {
		inner = pvm_setsbuf(pvm_mkbuf(PvmDataDefault));
		SHOW(pvm_pkmesg(inner));
		pvm_freebuf(inner);
	}
	pvm_send(me, 9);
	pvm_recv(me, 9);
	for (k = 0; k < 2; k++)
		pvm_setrbuf(pvm_upkmesg());
	pvm_upkint(&value, 1, 1);
	printf("nested: %d\n", value);
	show_head(PvmDataDefault, me);
	show_head(PvmDataRaw, me);
	pvm_exit();
	return 0;
}
