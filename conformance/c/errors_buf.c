/* Odd input to the calls on buffers and packing: the table of results. */
#include "common.h"

static void some_buffer(void)
{
	pvm_initsend(PvmDataDefault);
}

int main(int argc, char **argv)
{
	int n = 1, b;
	short s = 1;
	char text[64];
	struct pvmminfo mi;

	begin(argc, argv);
	SHOWID(pvm_initsend(PvmDataDefault));
	pvm_mytid();
	SHOWID(pvm_initsend(PvmDataRaw));
	SHOWID(pvm_initsend(PvmDataInPlace));
	SHOWID(pvm_initsend(PvmDataTrace));
	SHOW(pvm_initsend(3));
	SHOW(pvm_initsend(5));
	SHOW(pvm_initsend(99));
	SHOW(pvm_initsend(-1));
	SHOWID(pvm_mkbuf(PvmDataDefault));
	SHOW(pvm_mkbuf(50));
	SHOW(pvm_mkbuf(-1));
	SHOW(pvm_setsbuf(12345));
	SHOW(pvm_setsbuf(-3));
	SHOW(pvm_setrbuf(12345));
	SHOW(pvm_setrbuf(-3));
	SHOW(pvm_setrbuf(0));
	SHOW(pvm_freebuf(12345));
	SHOW(pvm_freebuf(0));
	SHOW(pvm_freebuf(-3));
	SHOW(pvm_bufinfo(12345, &n, &n, &n));
	SHOW(pvm_bufinfo(0, &n, &n, &n));
	SHOW(pvm_bufinfo(-3, &n, &n, &n));
	SHOW(pvm_getminfo(12345, &mi));
	SHOW(pvm_getminfo(0, &mi));
	SHOW(pvm_getminfo(-3, &mi));
	SHOW(pvm_setminfo(12345, &mi));
	SHOW(pvm_setminfo(0, &mi));

	pvm_setsbuf(0);
	SHOW(pvm_pkint(&n, 1, 1));
	SHOW(pvm_pkstr("x"));
	SHOW(pvm_pkint(&n, -1, 1));
	SHOW(pvm_pkint(&n, 0, 1));
	SHOW(pvm_upkint(&n, 1, 1));
	SHOW(pvm_upkint(&n, -1, 1));
	SHOW(pvm_upkint(&n, 0, 1));
	SHOW(pvm_upkstr(text));
	SHOW(pvm_pkmesg(12345));
	SHOW(pvm_pkmesgbody(12345));
	SHOW(pvm_upkmesg());

	pvm_initsend(PvmDataDefault);
	SHOW(pvm_pkint(&n, -1, 1));
	SHOW(pvm_pkint(&n, 0, 1));
	SHOW(pvm_pkint(&n, 1, 0));
	SHOW(pvm_pkbyte(text, -1, 1));
	SHOW(pvm_pkshort(&s, -1, 1));
	SHOW(pvm_pkmesg(12345));
	SHOW(pvm_pkmesg(0));
	SHOW(pvm_pkmesg(-3));
	SHOW(pvm_pkmesg(pvm_getsbuf()));
	SHOW(pvm_pkmesgbody(12345));
	SHOW(pvm_pkmesgbody(0));
	SHOW(pvm_pkmesgbody(pvm_getsbuf()));
	b = pvm_mkbuf(PvmDataRaw);
	SHOW(pvm_pkmesgbody(b));

	pvm_initsend(PvmDataInPlace);
	SHOW(pvm_pkstr("x"));
	SHOW(pvm_pkint(&n, 1, 2));
	SHOW(pvm_pkint(&n, 1, 1));
	SHOW(pvm_pkint(&n, -1, 1));
	SHOW(pvm_pkint(&n, 0, 1));

	some_buffer();
	n = 5;
	pvm_pkint(&n, 1, 1);
	pvm_send(pvm_mytid(), 1);
	pvm_recv(-1, 1);
	SHOW(pvm_upkint(&n, -1, 1));
	SHOW(pvm_upkint(&n, 0, 1));
	SHOW(pvm_upkint(&n, 1, 1));
	SHOW(pvm_upkint(&n, 1, 1));
	SHOW(pvm_upkint(&n, 0, 1));
	SHOW(pvm_upkstr(text));
	SHOW(pvm_upkmesg());
	pvm_exit();
	SHOW(pvm_exit());
	return 0;
}
