/* What pvm_bufinfo says of a send buffer behind pvm_mcast, and of the message at a receiver. */
#include "common.h"

static void about(char *when, int bufid)
{
	int bytes = -1, tag = -1, tid = -1;

	SHOW(pvm_bufinfo(bufid, &bytes, &tag, &tid));
	printf("%s: %d bytes, tag %d, tid %s\n", when, bytes, tag, who(tid));
}

int main(int argc, char **argv)
{
	int tids[2], value = 7;

	if (*begin(argc, argv)) {
		pvm_recv(pvm_parent(), 3);
		pvm_upkint(&value, 1, 1);
		send_int(pvm_parent(), 4, value);
		rest_until_told();
		pvm_exit();
		return 0;
	}
	printf("the examiner is %s\n", who(pvm_mytid()));
	spawn_self("partner", 2, tids);
	printf("one partner is %s\n", who(tids[0]));
	printf("the other one is %s\n", who(tids[1]));
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&value, 1, 1);
	about("before", pvm_getsbuf());
	SHOW(pvm_mcast(tids, 2, 3));
	about("behind", pvm_getsbuf());
	printf("answers %d and %d\n", recv_int(tids[0], 4), recv_int(tids[1], 4));
	about("an answer", pvm_getrbuf());
	tell_end(tids[0]);
	tell_end(tids[1]);
	pvm_exit();
	return 0;
}
