/* Items in one call each, of all encodings and lengths about each border, between two tasks: what neopvm_receive_items
   tells of a message is what neopvm_receive and neopvm_info tell of its twin, and its items are those that were sent. */
#include "e2e.h"
#include "neopvm.h"

enum { TAG = 7, NEXT = 8, MOST = 40000 };
static const int lengths[] = {0, 1, 2, 15, 16, 17, 20, 51, 52, 53, 75, 250, 1023, 1024, 1025, 1040, 2500, 8192, MOST};
enum { LENGTHS = sizeof lengths / sizeof *lengths };
static int sent[MOST], taken[MOST + 1];

static void send_all(int to)
{
	int encoding, i;
	for (encoding = 0; encoding < 3; encoding++)
		for (i = 0; i < LENGTHS; i++) {
			/* Where it waits for the first of two already, and where it does not. */
			if (i % 2)
				CALL(pvm_recv(to, NEXT));
			CALL(neopvm_send_items(encoding, NEOPVM_INT, sent, lengths[i], to, TAG, NEOPVM_CURRENT_CONTEXT));
			CALL(neopvm_send_items(encoding, NEOPVM_INT, sent, lengths[i], to, TAG, NEOPVM_CURRENT_CONTEXT));
			if (i % 2 == 0)
				CALL(pvm_recv(to, NEXT));
		}
}

static int is_alike(const struct neopvm_info *a, const struct neopvm_info *b)
{
	return a->source == b->source && a->destination == b->destination && a->tag == b->tag && a->context == b->context &&
	       a->encoding == b->encoding && a->wait_id == b->wait_id && a->bytes == b->bytes && a->left == b->left;
}

static void take_pair(int from, int length)
{
	struct neopvm_received got;
	struct neopvm_info twin, again;
	int buffer, bytes = length * (int)sizeof *sent;
	memset(&got, 0xee, sizeof got);
	memset(taken, 0xee, sizeof taken);
	CALL(neopvm_receive_items(from, TAG, NEOPVM_CURRENT_CONTEXT, NEOPVM_FOREVER, &got));
	CHECK((got.buffer == 0) == (bytes <= (int)sizeof got.items));
	if (got.buffer == 0) {
		int is_raw = got.info.encoding == NEOPVM_RAW || length == 0;
		CHECK(got.type == (is_raw ? NEOPVM_BYTE : NEOPVM_INT) && (int)got.count == (is_raw ? bytes : length));
		memcpy(taken, got.items, bytes);
	} else {
		CALL(neopvm_info(got.buffer, &again));
		CHECK(is_alike(&got.info, &again) && got.type == 0);
		CALL(neopvm_unpack(got.buffer, NEOPVM_INT, taken, length, 1));
		CALL(neopvm_free(got.buffer));
	}
	CHECK(memcmp(taken, sent, bytes) == 0 && taken[length] == (int)0xeeeeeeee);
	CALL(neopvm_receive(from, TAG, NEOPVM_CURRENT_CONTEXT, NEOPVM_FOREVER, &buffer));
	CALL(neopvm_info(buffer, &twin));
	CHECK(is_alike(&got.info, &twin));
	CALL(neopvm_free(buffer));
}

int main(int argc, char **argv)
{
	static char self[4096];
	int other, i, encoding, parent = pvm_parent();
	(void)argc;
	fill((unsigned *)sent, MOST, 7);
	if (parent > 0) {
		send_all(parent);
		pvm_exit();
		return 0;
	}
	CHECK(realpath(argv[0], self) && pvm_spawn(self, 0, PvmTaskDefault, "", 1, &other) == 1);
	for (encoding = 0; encoding < 3; encoding++)
		for (i = 0; i < LENGTHS; i++) {
			/* So that both lie there. */
			if (i % 3 == 0 && i % 2 == 0)
				pause_ms(2);
			if (i % 2)
				CALL((pvm_initsend(PvmDataRaw), pvm_send(other, NEXT)));
			take_pair(other, lengths[i]);
			if (i % 2 == 0)
				CALL((pvm_initsend(PvmDataRaw), pvm_send(other, NEXT)));
		}
	printf("pairs %d\n", 3 * LENGTHS);
	pvm_exit();
	return 0;
}
