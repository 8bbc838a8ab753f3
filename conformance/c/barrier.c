/* pvm_barrier and pvm_bcast: counts, wrong counts, who receives, what the messages look like. */
#include "common.h"

static char *group = "cf-bar";

static void member(void)
{
	int inst, tag, value, src, cc, k;

	pvm_mytid();
	inst = pvm_joingroup(group);
	send_int(pvm_parent(), 1, inst);
	recv_int(pvm_parent(), 2); /* all have joined */
	for (k = 0; k < 3; k++) {
		cc = pvm_barrier(group, 4);
		send_int(pvm_parent(), 3, cc);
	}
	/* a broadcast of the parent, who is a member */
	pvm_recv(-1, 10);
	pvm_bufinfo(pvm_getrbuf(), (int *)0, &tag, &src);
	pvm_upkint(&value, 1, 1);
	pvm_initsend(PvmDataDefault);
	pvm_pkint(&tag, 1, 1);
	pvm_pkint(&src, 1, 1);
	pvm_pkint(&value, 1, 1);
	pvm_send(pvm_parent(), 4);
	/* a broadcast of member 1 */
	if (inst == 1) {
		value = 55;
		pvm_initsend(PvmDataDefault);
		pvm_pkint(&value, 1, 1);
		cc = pvm_bcast(group, 11);
		usleep(20000);
		value = pvm_nrecv(-1, 11);
	} else {
		cc = 0;
		value = recv_int(-1, 11);
	}
	send_int(pvm_parent(), 5, value);
	/* a broadcast of the parent, who is no longer a member */
	value = recv_int(pvm_parent(), 12);
	send_int(pvm_parent(), 6, value);
	recv_int(pvm_parent(), 7);
	pvm_exit();
}

int main(int argc, char **argv)
{
	int kids[3], k, j, value, tag, src, me;

	if (*begin(argc, argv)) {
		member();
		return 0;
	}
	who(me = pvm_mytid());
	SHOW(pvm_joingroup(group));
	SHOW(pvm_barrier(group, 1));
	SHOW(pvm_barrier(group, -1));
	SHOW(pvm_barrier(group, 1));
	SHOW(pvm_barrier("", 1));
	SHOW(pvm_barrier("cf-other", 1));
	pvm_initsend(PvmDataDefault);
	value = 1;
	pvm_pkint(&value, 1, 1);
	SHOW(pvm_bcast(group, 1));
	SHOW(pvm_bcast(group, -1));
	SHOW(pvm_bcast("", 1));
	SHOW(pvm_bcast("cf-other", 1));
	/* one after the other, so that instances follow */
	for (k = 0; k < 3; k++) {
		spawn_self("member", 1, &kids[k]);
		who(kids[k]);
		printf("joined as %d\n", recv_int(kids[k], 1));
	}
	for (k = 0; k < 3; k++)
		send_int(kids[k], 2, 0);
	for (k = 0; k < 3; k++) {
		int early;

		usleep(20000);
		early = pvm_nrecv(-1, 3);
		printf("none passed before the last: %d", early == 0);
		printf(", barrier %s", code(k == 1 ? pvm_barrier(group, -1) : pvm_barrier(group, 4)));
		for (j = 0; j < 3; j++)
			printf(" %s", code(recv_int(kids[j], 3)));
		printf("\n");
	}
	pvm_initsend(PvmDataDefault);
	value = 44;
	pvm_pkint(&value, 1, 1);
	SHOW(pvm_bcast(group, 10));
	for (k = 0; k < 3; k++) {
		pvm_recv(kids[k], 4);
		pvm_upkint(&tag, 1, 1);
		pvm_upkint(&src, 1, 1);
		pvm_upkint(&value, 1, 1);
		printf("got tag %d from %s value %d\n", tag, who(src), value);
	}
	SHOW(pvm_nrecv(me, 10));
	pvm_recv(-1, 11);
	pvm_bufinfo(pvm_getrbuf(), (int *)0, &tag, &src);
	pvm_upkint(&value, 1, 1);
	printf("member 1 broadcasts: tag %d from %s value %d\n", tag, who(src), value);
	for (k = 0; k < 3; k++)
		printf("  %d\n", recv_int(kids[k], 5));
	SHOW(pvm_lvgroup(group));
	pvm_initsend(PvmDataDefault);
	value = 66;
	pvm_pkint(&value, 1, 1);
	SHOW(pvm_bcast(group, 12));
	for (k = 0; k < 3; k++)
		printf("  %d\n", recv_int(kids[k], 6));
	SHOW(pvm_barrier(group, 1));
	for (k = 0; k < 3; k++)
		send_int(kids[k], 7, 0);
	pvm_exit();
	return 0;
}
