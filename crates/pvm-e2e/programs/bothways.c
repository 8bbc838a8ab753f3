/* bothways: messages of 1 MB in both directions at once, in every encoding and several types. */
#include "e2e.h"

#define BYTES (1 << 20)
#define AT_ONCE 8
#define TURNS 4

static double doubles[BYTES / 8];
static short shorts[BYTES / 2];
static char bytes[BYTES + 1];

static void pack(int encoding, int i, int seed)
{
	int j, n = BYTES / 4;
	CALL(pvm_initsend(encoding));
	switch (i % 4) {
	case 0:
		fill(words, n, seed);
		CALL(pvm_pkint((int *)words, n, 1));
		break;
	case 1:
		for (j = 0; j < BYTES / 8; j++)
			doubles[j] = seed + j * 0.5;
		CALL(pvm_pkdouble(doubles, BYTES / 8, 1));
		break;
	case 2: /* With a stride, which data in place cannot have. */
		for (j = 0; j < BYTES / 2; j++)
			shorts[j] = seed + j;
		if (encoding == PvmDataInPlace) {
			CALL(pvm_pkshort(shorts, BYTES / 2, 1));
			break;
		}
		CALL(pvm_pkshort(shorts, BYTES / 4, 2));
		CALL(pvm_pkshort(shorts + 1, BYTES / 4, 2));
		break;
	default:
		for (j = 0; j < BYTES; j++)
			bytes[j] = 'a' + (seed + j) % 26;
		CALL(pvm_pkbyte(bytes, BYTES, 1));
		if (encoding != PvmDataInPlace)
			CALL(pvm_pkstr("end"));
	}
}

static void unpack(int encoding, int i, int seed)
{
	char end[8] = "";
	int j, n = BYTES / 4;
	switch (i % 4) {
	case 0:
		memset(words, 0, BYTES);
		CALL(pvm_upkint((int *)words, n, 1));
		CHECK(is_filled(words, n, seed));
		break;
	case 1:
		memset(doubles, 0, BYTES);
		CALL(pvm_upkdouble(doubles, BYTES / 8, 1));
		for (j = 0; j < BYTES / 8; j++)
			CHECK(doubles[j] == seed + j * 0.5);
		break;
	case 2:
		memset(shorts, 0, BYTES);
		if (encoding == PvmDataInPlace) {
			CALL(pvm_upkshort(shorts, BYTES / 2, 1));
		} else {
			CALL(pvm_upkshort(shorts, BYTES / 4, 2));
			CALL(pvm_upkshort(shorts + 1, BYTES / 4, 2));
		}
		for (j = 0; j < BYTES / 2; j++)
			CHECK(shorts[j] == (short)(seed + j));
		break;
	default:
		memset(bytes, 0, BYTES);
		CALL(pvm_upkbyte(bytes, BYTES, 1));
		for (j = 0; j < BYTES; j++)
			CHECK(bytes[j] == 'a' + (seed + j) % 26);
		if (encoding != PvmDataInPlace) {
			CALL(pvm_upkstr(end));
			CHECK(strcmp(end, "end") == 0);
		}
	}
}

int main(int argc, char **argv)
{
	int peer, e, turn, i, mine = argc > 1 ? 1000 : 0, theirs = 1000 - mine;
	double start;
	CALL(pvm_mytid());
	peer = argc > 1 ? CALL(pvm_parent()) : spawn_one("bothways", "child", 0, 0);
	for (e = 0; e < 3; e++) {
		start = now();
		for (turn = 0; turn < TURNS; turn++) {
			for (i = 0; i < AT_ONCE; i++) {
				pack(encodings[e], i, turn * AT_ONCE + i + mine);
				CALL(pvm_send(peer, i));
			}
			for (i = 0; i < AT_ONCE; i++) {
				/* The last first: the others wait in the mailbox. */
				int k = turn % 2 ? AT_ONCE - 1 - i : i;
				CALL(pvm_recv(peer, k));
				unpack(encodings[e], k, turn * AT_ONCE + k + theirs);
			}
		}
		if (!mine)
			printf("encoding %d: %.2f s\n", encodings[e], now() - start);
	}
	pvm_exit();
	return 0;
}
