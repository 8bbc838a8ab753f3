/* pvm_psend and pvm_precv, alone and mixed with send and recv, every type. */
#include "common.h"

int main(int argc, char **argv)
{
	int me, src, tag, len, before, k;
	static struct { int type; char *name; int size; } types[] = {
		{ PVM_BYTE, "byte", 1 }, { PVM_SHORT, "short", 2 }, { PVM_INT, "int", 4 }, { PVM_FLOAT, "float", 4 },
		{ PVM_CPLX, "cplx", 8 }, { PVM_DOUBLE, "double", 8 }, { PVM_DCPLX, "dcplx", 16 }, { PVM_LONG, "long", 8 },
		{ PVM_USHORT, "ushort", 2 }, { PVM_UINT, "uint", 4 }, { PVM_ULONG, "ulong", 8 }
	};
	char out[64], in[64];
	int i[3];
	struct pvmminfo mi;

	begin(argc, argv);
	who(me = pvm_mytid());
	for (k = 0; k < 64; k++)
		out[k] = 7 * k;
	for (k = 0; k < 11; k++) {
		int cc;

		memset(in, 0, sizeof in);
		cc = pvm_psend(me, k, out, 3, types[k].type);
		printf("%s: %s", types[k].name, code(cc));
		cc = pvm_precv(me, k, in, 3, types[k].type, &src, &tag, &len);
		printf(" %s, tag %d from %s, %d bytes, same %d\n", code(cc), tag, who(src), len,
			memcmp(in, out, 3 * types[k].size) == 0 && in[3 * types[k].size] == 0);
	}

	/* psend read by recv: raw encoding */
	i[0] = 1; i[1] = 2; i[2] = 3;
	pvm_psend(me, 20, (char *)i, 3, PVM_INT);
	pvm_recv(me, 20);
	pvm_getminfo(pvm_getrbuf(), &mi);
	printf("psend is raw: %d, length %d\n", mi.enc != 0x10000000 && mi.enc != 0x20000000, mi.len);
	memset(i, 0, sizeof i);
	SHOW(pvm_upkint(i, 3, 1));
	printf("%d %d %d\n", i[0], i[1], i[2]);

	/* send read by precv: only raw makes sense */
	pvm_initsend(PvmDataRaw);
	pvm_pkint(i, 2, 1);
	pvm_pkint(i + 2, 1, 1);
	pvm_send(me, 21);
	memset(i, 0, sizeof i);
	SHOW(pvm_precv(-1, -1, (char *)i, 3, PVM_INT, &src, &tag, &len));
	printf("%d %d %d tag %d len %d\n", i[0], i[1], i[2], tag, len);
	pvm_initsend(PvmDataDefault);
	i[0] = 258;
	pvm_pkint(i, 1, 1);
	pvm_send(me, 22);
	i[0] = 0;
	SHOW(pvm_precv(-1, -1, (char *)i, 1, PVM_INT, &src, &tag, &len));
	printf("tag %d len %d\n", tag, len); /* (the original does not convert) */

	/* neither touches the current buffers */
	pvm_initsend(PvmDataDefault);
	before = pvm_getsbuf();
	pvm_psend(me, 23, (char *)i, 3, PVM_INT);
	printf("send buffer kept: %d\n", before == pvm_getsbuf());
	pvm_send(me, 24);
	pvm_recv(me, 24);
	before = pvm_getrbuf();
	pvm_precv(me, 23, (char *)i, 3, PVM_INT, &src, &tag, &len);
	printf("receive buffer kept: %d\n", before == pvm_getrbuf());
	pvm_exit();
	return 0;
}
