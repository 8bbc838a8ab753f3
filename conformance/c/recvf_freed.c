/* pvm_freebuf of messages that a matching function was shown: they stay in the queue, and their
   numbers are not given out again. */
#include "common.h"

static int shown[8], count;

static int refuse(int id, int tid, int tag)
{
	shown[count++ % 8] = id;
	return 0;
}

int main(int argc, char **argv)
{
	int me, k, value, new;

	begin(argc, argv);
	me = pvm_mytid();
	for (k = 1; k <= 4; k++)
		send_int(me, k, k * 100);
	send_int(me, 9, 0);
	recv_int(me, 9); /* now all are in the queue */
	pvm_recvf(refuse);
	printf("refused: %d\n", pvm_nrecv(-1, -1));
	printf("shown: %d\n", count);
	pvm_recvf((int (*)(int, int, int))0);
	printf("freed: %d %d\n", pvm_freebuf(shown[1]), pvm_freebuf(shown[2]));
	new = pvm_mkbuf(PvmDataRaw);
	printf("its number is another's: %d\n", new == shown[1] || new == shown[2]);
	pvm_setsbuf(new);
	value = 77;
	pvm_pkint(&value, 1, 1);
	for (k = 1; k <= 5; k++)
		if (pvm_nrecv(-1, k) > 0) {
			value = -1;
			pvm_upkint(&value, 1, 1);
			printf("tag %d: %d\n", k, value);
		} else {
			printf("tag %d: none\n", k);
		}
	pvm_setrbuf(new);
	value = -1;
	printf("ours is read: %d\n", pvm_upkint(&value, 1, 1));
	printf("value %d\n", value);
	pvm_exit();
	return 0;
}
