/* pvm_getminfo and pvm_setminfo: the fields, before and after sending, and which can be set. */
#include "common.h"

static char *encoding_name(int enc)
{
	if (enc == 0x10000000)
		return "xdr";
	if (enc == 0x20000000)
		return "in place";
	return enc == pvm_archcode("LINUX64") ? "native" : "other";
}

static void show(char *what, int id)
{
	struct pvmminfo mi;
	int cc;

	memset(&mi, 0x55, sizeof mi);
	cc = pvm_getminfo(id, &mi);
	printf("%s: %s len %d ctx %d tag %d wid %d enc %s crc %d src %s dst %s\n", what, code(cc), mi.len, mi.ctx, mi.tag,
		mi.wid, encoding_name(mi.enc), mi.crc, who(mi.src), who(mi.dst));
}

int main(int argc, char **argv)
{
	int me, k, n = 5, id;
	struct pvmminfo mi;

	begin(argc, argv);
	who(me = pvm_mytid());
	for (k = 0; k < 3; k++) {
		pvm_initsend(k);
		show("fresh", pvm_getsbuf());
		pvm_pkint(&n, 1, 1);
		show("packed", pvm_getsbuf());
		pvm_send(me, 7);
		show("sent", pvm_getsbuf());
		pvm_recv(me, 7);
		show("received", pvm_getrbuf());
	}
	/* setminfo on a send buffer */
	id = pvm_initsend(PvmDataDefault);
	pvm_getminfo(id, &mi);
	mi.len = 99;
	mi.ctx = 3;
	mi.tag = 4;
	mi.wid = 5;
	mi.enc = 6;
	mi.crc = 7;
	mi.src = 8;
	mi.dst = 9;
	SHOW(pvm_setminfo(id, &mi));
	show("set", id);
	pvm_pkint(&n, 1, 1);
	SHOW(pvm_send(me, 10));
	show("set and sent", id);
	SHOWID(pvm_recv(me, 10));
	show("received", pvm_getrbuf());
	/* and on a received one */
	pvm_getminfo(pvm_getrbuf(), &mi);
	mi.tag = 77;
	mi.src = me + 1;
	SHOW(pvm_setminfo(pvm_getrbuf(), &mi));
	show("received, set", pvm_getrbuf());
	pvm_bufinfo(pvm_getrbuf(), (int *)0, &k, &n);
	printf("bufinfo tag %d src changed %d\n", k, n == me + 1);
	pvm_exit();
	return 0;
}
