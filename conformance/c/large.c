/* Large messages, all encodings and many sizes around the fragment size, there and back. */
#include "common.h"

static char data[3000003];

static void echo(void)
{
	int n, k, sum = 0, bytes;

	for (;;) {
		pvm_recv(pvm_parent(), 1);
		pvm_bufinfo(pvm_getrbuf(), &bytes, (int *)0, (int *)0);
		pvm_upkint(&n, 1, 1);
		if (n < 0)
			break;
		memset(data, 0, n);
		pvm_upkbyte(data, n, 1);
		for (sum = k = 0; k < n; k++)
			sum = sum * 31 + data[k];
		pvm_initsend(PvmDataRaw);
		pvm_pkint(&sum, 1, 1);
		pvm_pkint(&bytes, 1, 1);
		pvm_pkbyte(data, n, 1);
		pvm_send(pvm_parent(), 2);
	}
	pvm_exit();
}

int main(int argc, char **argv)
{
	static int sizes[] = { 0, 1, 3, 4040, 4060, 4076, 4080, 4081, 8160, 16384, 65536, 1000000, 3000003 };
	int kid, s, e, k, n, sum, got, bytes;
	static char back[3000003];

	if (*begin(argc, argv)) {
		echo();
		return 0;
	}
	for (k = 0; k < (int)sizeof data; k++)
		data[k] = k * 7 + k / 251;
	pvm_mytid();
	spawn_self("echo", 1, &kid);
	for (e = 0; e < 3; e++)
		for (s = 0; s < (int)(sizeof sizes / sizeof sizes[0]); s++) {
			n = sizes[s];
			pvm_initsend(e);
			pvm_pkint(&n, 1, 1);
			pvm_pkbyte(data, n, 1);
			pvm_send(kid, 1);
			pvm_recv(kid, 2);
			pvm_upkint(&got, 1, 1);
			pvm_upkint(&bytes, 1, 1);
			memset(back, 0, n);
			pvm_upkbyte(back, n, 1);
			for (sum = k = 0; k < n; k++)
				sum = sum * 31 + data[k];
			printf("encoding %d, %7d bytes: length %7d there %s back %s\n", e, n, bytes,
				sum == got ? "right" : "wrong", memcmp(data, back, n) ? "wrong" : "right");
		}
	n = -1;
	send_int(kid, 1, n);
	pvm_psend(pvm_mytid(), 3, data, sizeof data, PVM_BYTE);
	memset(back, 0, sizeof back);
	pvm_precv(-1, 3, back, sizeof back, PVM_BYTE, (int *)0, (int *)0, &bytes);
	printf("psend to myself: %d bytes %s\n", bytes, memcmp(data, back, sizeof data) ? "wrong" : "right");
	pvm_exit();
	return 0;
}
