/*
 * The arguments that mean something special, or nothing, in each call: 0, -1, NULL, "". For each call its result and whether
 * the library told of an error by itself (PvmAutoErr 1): "told" is what PvmAutoErr 2 would end the program for.
 */
#include "common.h"
#include <fcntl.h>


static int report, kept;

static void before(void)
{
	fflush(stderr);
	ftruncate(report, 0);
	lseek(report, 0, SEEK_SET);
	dup2(report, 2);
	pvm_setopt(PvmAutoErr, 1);
}

static char *after(void)
{
	pvm_setopt(PvmAutoErr, 0);
	fflush(stderr);
	dup2(kept, 2);
	return lseek(report, 0, SEEK_END) > 0 ? " (told)" : "";
}

#define TRY(show, call)                                        \
	{                                                      \
		int cc_;                                       \
		before();                                      \
		cc_ = (call);                                  \
		printf("%s = %s", #call, show);                \
		printf("%s\n", after());                       \
	}
#define IS(call) TRY(code(cc_), call)
#define ID(call) TRY(handle(cc_), call)
#define NOT_NULL(call) TRY(cc_ ? "something" : "null", (call) != 0)

static int me, n = 1, list[4], len, tag, src;
static long l;
static char text[4096];
static double d[4];
static float f[4];
static short s[4];

static int fn(int id) { return 0; }
static void op(int *type, void *x, void *y, int *num, int *info) { }

static void no_buffers(void)
{
	pvm_freebuf(pvm_setsbuf(0));
	pvm_freebuf(pvm_setrbuf(0));
}

static void fresh(int encoding)
{
	pvm_initsend(encoding);
	pvm_pkint(&n, 1, 1);
}

static void buffers(void)
{
	struct pvmminfo mi;
	int b;

	ID(pvm_initsend(-1));
	ID(pvm_initsend(0));
	ID(pvm_mkbuf(-1));
	ID(pvm_mkbuf(0));
	IS(pvm_freebuf(-1));
	IS(pvm_freebuf(0));
	IS(pvm_freebuf(4711));
	IS(pvm_setsbuf(-1));
	IS(pvm_setsbuf(4711));
	IS(pvm_setrbuf(-1));
	IS(pvm_setrbuf(4711));
	IS(pvm_bufinfo(-1, &n, &n, &n));
	IS(pvm_bufinfo(0, &n, &n, &n));
	IS(pvm_bufinfo(4711, &n, &n, &n));
	n = 1;
	IS(pvm_getminfo(-1, &mi));
	IS(pvm_getminfo(0, &mi));
	IS(pvm_getminfo(4711, &mi));
	IS(pvm_setminfo(-1, &mi));
	IS(pvm_setminfo(0, &mi));
	IS(pvm_setminfo(4711, &mi));
	b = pvm_mkbuf(PvmDataDefault);
	IS(pvm_bufinfo(b, (int *)0, (int *)0, (int *)0));
	pvm_freebuf(b);
}

#define PACKS(name, at)                        \
	IS(pvm_pk##name(at, 1, 1));            \
	IS(pvm_pk##name(at, 0, 1));            \
	IS(pvm_pk##name(at, -1, 1));           \
	IS(pvm_pk##name(0, 0, 1));             \
	IS(pvm_upk##name(at, 1, 1));           \
	IS(pvm_upk##name(at, 0, 1));           \
	IS(pvm_upk##name(at, -1, 1));          \
	IS(pvm_upk##name(0, 0, 1))

static void all_packs(void)
{
	PACKS(byte, text);
	PACKS(short, s);
	PACKS(ushort, (unsigned short *)s);
	PACKS(int, &n);
	PACKS(uint, (unsigned *)&n);
	PACKS(long, &l);
	PACKS(ulong, (unsigned long *)&l);
	PACKS(float, f);
	PACKS(double, d);
	PACKS(cplx, f);
	PACKS(dcplx, d);
	n = 1;
	IS(pvm_pkstr(""));
	IS(pvm_upkstr(text));
	IS(pvm_packf("%d", 1));
	IS(pvm_packf("%*d", 0, &n));
	IS(pvm_packf("%*d", -1, &n));
	IS(pvm_packf(""));
	IS(pvm_packf("no conversion"));
	IS(pvm_packf("%"));
	IS(pvm_packf("%q"));
	IS(pvm_packf("%+", -1));
	IS(pvm_unpackf("%d", &n));
	IS(pvm_unpackf("%*d", 0, &n));
	IS(pvm_unpackf("%*d", -1, &n));
	IS(pvm_unpackf(""));
	IS(pvm_unpackf("no conversion"));
	IS(pvm_unpackf("%"));
	IS(pvm_unpackf("%q"));
	IS(pvm_unpackf("%+"));
	n = 1;
	IS(pvm_pkmesg(-1));
	IS(pvm_pkmesg(0));
	IS(pvm_pkmesg(4711));
	IS(pvm_pkmesgbody(-1));
	IS(pvm_pkmesgbody(0));
	IS(pvm_pkmesgbody(4711));
	ID(pvm_upkmesg());
}

static void packing(void)
{
	int b;

	printf("-- packing without buffers\n");
	no_buffers();
	all_packs();
	IS(pvm_pkmesg(pvm_getsbuf()));
	b = pvm_mkbuf(PvmDataDefault);
	IS(pvm_pkmesg(b));
	IS(pvm_pkmesgbody(b));
	pvm_freebuf(b);
	printf("-- packing with empty buffers\n");
	pvm_initsend(PvmDataDefault);
	pvm_send(me, 1);
	pvm_recv(me, 1);
	pvm_initsend(PvmDataDefault);
	IS(pvm_pkmesg(pvm_getsbuf()));
	IS(pvm_pkmesgbody(pvm_getsbuf()));
	pvm_initsend(PvmDataDefault);
	all_packs();
	pvm_initsend(PvmDataInPlace);
	printf("-- packing in place\n");
	IS(pvm_pkint(&n, 1, 1));
	IS(pvm_pkint(&n, 1, 2));
	IS(pvm_pkint(&n, 0, 1));
	IS(pvm_pkint(&n, 2, 0));
	IS(pvm_pkstr(""));
	IS(pvm_packf("%d", 1));
	IS(pvm_packf("%s", "x"));
	IS(pvm_packf("%+ %d", PvmDataInPlace, 1));
	b = pvm_mkbuf(PvmDataRaw);
	IS(pvm_pkmesg(b));
	IS(pvm_pkmesgbody(b));
	pvm_freebuf(b);
	no_buffers();
}

static void sends(void)
{
	IS(pvm_send(me, 1));
	IS(pvm_send(me, -1));
	IS(pvm_send(0, 1));
	IS(pvm_send(-1, 1));
	IS(pvm_send(1, 1));
	IS(pvm_send(0x3ffff, 1));
	IS(pvm_send(0x40000, 1));
	IS(pvm_send(0x7fffffff, 1));
	IS(pvm_mcast(list, 0, 1));
	IS(pvm_mcast(list, -1, 1));
	IS(pvm_mcast((int *)0, 0, 1));
	IS(pvm_mcast((int *)0, -1, 1));
	list[0] = 0;
	IS(pvm_mcast(list, 1, 1));
	list[0] = -1;
	IS(pvm_mcast(list, 1, 1));
	list[0] = 1;
	IS(pvm_mcast(list, 1, 1));
	list[0] = 0x40000;
	IS(pvm_mcast(list, 1, 1));
	list[0] = me;
	IS(pvm_mcast(list, 1, -1));
	IS(pvm_mcast(list, 1, 1));
	IS(pvm_bcast("", 1));
	IS(pvm_bcast((char *)0, 1));
	IS(pvm_bcast("no-such-group", 1));
	IS(pvm_bcast("no-such-group", -1));
}

static void bulk(void)
{
	IS(pvm_psend(me, -1, (char *)&n, 1, PVM_INT));
	IS(pvm_psend(0, 1, (char *)&n, 1, PVM_INT));
	IS(pvm_psend(-1, 1, (char *)&n, 1, PVM_INT));
	IS(pvm_psend(1, 1, (char *)&n, 1, PVM_INT));
	IS(pvm_psend(0x40000, 1, (char *)&n, 1, PVM_INT));
	IS(pvm_psend(me, 1, (char *)&n, 1, -1));
	IS(pvm_psend(me, 1, (char *)&n, 1, 0));
	IS(pvm_psend(me, 1, (char *)&n, 1, 99));
	IS(pvm_psend(me, -1, (char *)&n, 1, 99));
	IS(pvm_psend(-1, 1, (char *)&n, 1, 99));
	IS(pvm_precv(me, 1, (char *)&n, 1, -1, &src, &tag, &len));
	IS(pvm_precv(me, 1, (char *)&n, 1, 0, &src, &tag, &len));
	IS(pvm_precv(me, 1, (char *)&n, 1, 99, &src, &tag, &len));
	IS(pvm_psend(me, 2, (char *)0, 0, PVM_INT));
	IS(pvm_precv(me, 2, (char *)0, 0, PVM_INT, (int *)0, (int *)0, (int *)0));
	IS(pvm_psend(me, 3, (char *)&n, -1, PVM_INT));
	IS(pvm_precv(me, 3, (char *)&n, -1, PVM_INT, &src, &tag, &len));
}

static void receives(void)
{
	struct timeval tv;
	int *fds;

	IS(pvm_nrecv(0, 0));
	IS(pvm_nrecv(0, -1));
	IS(pvm_nrecv(-1, -2));
	IS(pvm_nrecv(1, -1));
	IS(pvm_nrecv(0x40000, -1));
	IS(pvm_probe(0, 0));
	IS(pvm_probe(0, -1));
	IS(pvm_probe(-1, -2));
	IS(pvm_probe(0x40000, -1));
	tv.tv_sec = tv.tv_usec = 0;
	IS(pvm_trecv(0, 0, &tv));
	IS(pvm_trecv(-1, -2, &tv));
	IS(pvm_trecv(0x40000, -1, &tv));
	tv.tv_sec = tv.tv_usec = -1;
	IS(pvm_trecv(-1, -1, &tv) > 0);
	IS(pvm_getfds(&fds) > 0);
}

static void mailboxes(void)
{
	int b, nclasses;
	struct pvmmboxinfo *classes;

	b = pvm_mkbuf(PvmDataDefault);
	IS(pvm_putinfo("", b, 0));
	IS(pvm_putinfo("special", b, -1));
	IS(pvm_delinfo("special", 0, 0));
	IS(pvm_recvinfo("", 0, 0));
	IS(pvm_recvinfo("none", 0, 0));
	IS(pvm_recvinfo("none", -1, 0));
	IS(pvm_recvinfo("none", 0, -1 & ~PvmMboxWaitForInfo));
	IS(pvm_delinfo("", 0, 0));
	IS(pvm_delinfo("none", 0, 0));
	IS(pvm_delinfo("none", -1, 0));
	IS(pvm_getmboxinfo("", &nclasses, &classes));
	IS(pvm_getmboxinfo((char *)0, &nclasses, &classes));
	IS(pvm_getmboxinfo("none", &nclasses, &classes));
	IS(pvm_getmboxinfo("none", &nclasses, (struct pvmmboxinfo **)0));
	IS(pvm_getmboxinfo("none", (int *)0, &classes));
	IS(pvm_insert("", 0, 5));
	IS(pvm_insert("special", -2, 5));
	IS(pvm_insert("special", -1, 5));
	IS(pvm_insert("special", 0, 5));
	IS(pvm_insert("special", 5, 5));
	IS(pvm_lookup("", 0, &n));
	IS(pvm_lookup("special", -1, (int *)0));
	IS(pvm_lookup("special", 0, (int *)0));
	IS(pvm_lookup("special", 1, &n));
	IS(pvm_lookup("special", -2, &n));
	IS(pvm_lookup("none", -1, &n));
	IS(pvm_lookup("none", 0, &n));
	IS(pvm_delete("", 0));
	IS(pvm_delete("none", 0));
	IS(pvm_delete("none", -1));
	IS(pvm_delete("special", -1));
	IS(pvm_delete("special", 1));
	IS(pvm_delete("special", 0));
	IS(pvm_delete("special", 5));
	pvm_freebuf(b);
	n = 1;
}

static void groups(void)
{
	IS(pvm_joingroup(""));
	IS(pvm_joingroup((char *)0));
	IS(pvm_lvgroup(""));
	IS(pvm_lvgroup((char *)0));
	IS(pvm_lvgroup("none"));
	IS(pvm_gettid("", 0));
	IS(pvm_gettid((char *)0, 0));
	IS(pvm_gettid("none", 0));
	IS(pvm_gettid("none", -1));
	IS(pvm_getinst("", me));
	IS(pvm_getinst((char *)0, me));
	IS(pvm_getinst("none", me));
	IS(pvm_getinst("none", -1));
	IS(pvm_gsize(""));
	IS(pvm_gsize((char *)0));
	IS(pvm_gsize("none"));
	IS(pvm_barrier("", 1));
	IS(pvm_barrier((char *)0, 1));
	IS(pvm_barrier("none", 1));
	IS(pvm_barrier("none", 0));
	IS(pvm_barrier("none", -1));
	IS(pvm_freezegroup("", 1));
	IS(pvm_freezegroup((char *)0, 1));
	IS(pvm_freezegroup("none", 1));
	IS(pvm_freezegroup("none", 0));
	IS(pvm_freezegroup("none", -1));
	IS(pvm_joingroup("some"));
	IS(pvm_joingroup("some"));
	IS(pvm_gettid("some", 0) == me);
	IS(pvm_gettid("some", -1));
	IS(pvm_gettid("some", 1));
	IS(pvm_getinst("some", me));
	IS(pvm_getinst("some", -1));
	IS(pvm_getinst("some", 0));
	IS(pvm_getinst("some", 1));
	IS(pvm_getinst("some", 0x40fff));
	IS(pvm_bcast("some", 1));
	IS(pvm_barrier("some", -1));
	IS(pvm_barrier("some", 1));
}

static void collective(void)
{
	IS(pvm_reduce(PvmSum, (void *)0, 1, PVM_INT, 1, "some", 0));
	IS(pvm_reduce(PvmSum, &n, 0, PVM_INT, 1, "some", 0));
	IS(pvm_reduce(PvmSum, &n, -1, PVM_INT, 1, "some", 0));
	IS(pvm_reduce(PvmSum, &n, 1, -1, 1, "some", 0));
	IS(pvm_reduce(PvmSum, &n, 1, 0, 1, "some", 0));
	IS(pvm_reduce(PvmSum, &n, 1, 99, 1, "some", 0));
	IS(pvm_reduce(PvmSum, &n, 1, PVM_INT, -1, "some", 0));
	IS(pvm_reduce(PvmSum, &n, 1, PVM_INT, 1, "", 0));
	IS(pvm_reduce(PvmSum, &n, 1, PVM_INT, 1, (char *)0, 0));
	IS(pvm_reduce(PvmSum, &n, 1, PVM_INT, 1, "none", 0));
	IS(pvm_reduce(PvmSum, &n, 1, 99, 1, "none", 0));
	IS(pvm_reduce(PvmSum, &n, 0, PVM_INT, 1, "none", 0));
	IS(pvm_reduce(PvmSum, &n, 0, PVM_INT, 1, "", 0));
	IS(pvm_reduce(PvmSum, &n, 1, PVM_INT, 1, "some", -1));
	IS(pvm_reduce(PvmSum, &n, 1, PVM_INT, 1, "some", 1));
	IS(pvm_reduce(PvmSum, &n, 1, PVM_INT, 1, "some", 0));
	IS(pvm_gather((void *)0, (void *)0, 1, PVM_INT, 1, "some", 0));
	IS(pvm_gather(list, &n, 0, PVM_INT, 1, "some", 0));
	IS(pvm_gather(list, &n, -1, PVM_INT, 1, "some", 0));
	IS(pvm_gather(list, &n, 1, -1, 1, "some", 0));
	IS(pvm_gather(list, &n, 1, 0, 1, "some", 0));
	IS(pvm_gather(list, &n, 1, 99, 1, "some", 0));
	IS(pvm_gather(list, &n, 1, PVM_INT, -1, "some", 0));
	IS(pvm_gather(list, &n, 1, PVM_INT, 1, "", 0));
	IS(pvm_gather(list, &n, 1, PVM_INT, 1, (char *)0, 0));
	IS(pvm_gather(list, &n, 1, PVM_INT, 1, "none", 0));
	IS(pvm_gather(list, &n, 1, 99, 1, "none", 0));
	IS(pvm_gather(list, &n, 0, PVM_INT, 1, "", 0));
	IS(pvm_gather(list, &n, 1, PVM_INT, 1, "some", -1));
	IS(pvm_gather(list, &n, 1, PVM_INT, 1, "some", 1));
	IS(pvm_gather(list, &n, 1, PVM_INT, 1, "some", 0));
	IS(pvm_scatter((void *)0, (void *)0, 1, PVM_INT, 1, "some", 0));
	IS(pvm_scatter(&n, list, 0, PVM_INT, 1, "some", 0));
	IS(pvm_scatter(&n, list, -1, PVM_INT, 1, "some", 0));
	IS(pvm_scatter(&n, list, 1, -1, 1, "some", 0));
	IS(pvm_scatter(&n, list, 1, 0, 1, "some", 0));
	IS(pvm_scatter(&n, list, 1, 99, 1, "some", 0));
	IS(pvm_scatter(&n, list, 1, PVM_INT, -1, "some", 0));
	IS(pvm_scatter(&n, list, 1, PVM_INT, 1, "", 0));
	IS(pvm_scatter(&n, list, 1, PVM_INT, 1, (char *)0, 0));
	IS(pvm_scatter(&n, list, 1, PVM_INT, 1, "none", 0));
	IS(pvm_scatter(&n, list, 1, 99, 1, "none", 0));
	IS(pvm_scatter(&n, list, 0, PVM_INT, 1, "", 0));
	IS(pvm_scatter(&n, list, 1, PVM_INT, 1, "some", -1));
	IS(pvm_scatter(&n, list, 1, PVM_INT, 1, "some", 1));
	IS(pvm_scatter(&n, list, 1, PVM_INT, 1, "some", 0));
	IS(pvm_lvgroup("some"));
	n = 1;
}

static void tasks(void)
{
	struct pvmtaskinfo *table;
	int *sibs;
	char *args[1];

	args[0] = (char *)0;
	IS(pvm_kill(0));
	IS(pvm_kill(-1));
	IS(pvm_kill(1));
	IS(pvm_kill(0x40000));
	IS(pvm_kill(0x40fff));
	IS(pvm_sendsig(0, 0));
	IS(pvm_sendsig(-1, 0));
	IS(pvm_sendsig(1, 0));
	IS(pvm_sendsig(me, 0));
	IS(pvm_sendsig(0x40fff, -1));
	IS(pvm_sendsig(0x40fff, 0));
	IS(pvm_pstat(0));
	IS(pvm_pstat(-1));
	IS(pvm_pstat(1));
	IS(pvm_pstat(0x3ffff));
	IS(pvm_pstat(0x40000));
	IS(pvm_pstat(0x40fff));
	IS(pvm_pstat(0xfc0001));
	IS(pvm_pstat(me));
	IS(pvm_tasks(-1, &n, &table));
	IS(pvm_tasks(1, &n, &table));
	IS(pvm_tasks(0x40000, &n, &table));
	IS(pvm_tasks((int)0x80040000, &n, &table));
	IS(n > 0);
	IS(pvm_tasks((int)0x80000000, &n, &table));
	IS(pvm_tasks(0xfc0000, &n, &table));
	IS(pvm_tasks(0, (int *)0, (struct pvmtaskinfo **)0));
	n = 1;
	IS(pvm_tidtohost(0));
	IS(pvm_tidtohost(-1));
	IS(pvm_tidtohost(1));
	IS(pvm_tidtohost(0x40000) == 0x40000);
	IS(pvm_parent());
	IS(pvm_siblings(&sibs));
	IS(pvm_spawn((char *)0, args, 0, "", 0, list));
	IS(pvm_spawn("", args, 0, "", 1, list));
	IS(list[0]);
	IS(pvm_spawn("none", args, 0, "", 0, list));
	IS(pvm_spawn("none", args, 0, "", -1, list));
	IS(pvm_spawn("none", (char **)0, 0, (char *)0, 1, (int *)0));
	IS(pvm_spawn("none", args, -1 & ~PvmMppFront, "", 1, list));
	IS(pvm_spawn("none", args, PvmTaskHost, (char *)0, 1, list));
	IS(pvm_spawn("none", args, PvmTaskHost, "", 1, list));
	IS(list[0]);
	IS(pvm_export(""));
	IS(pvm_unexport(""));
}

static void hosts(void)
{
	char *names[2];
	int info[2], nhost, narch;
	struct timeval clock, delta;
	struct pvmhostinfo *table;

	names[0] = names[1] = "";
	IS(pvm_addhosts(names, 0, info));
	IS(pvm_addhosts(names, -1, info));
	IS(pvm_addhosts((char **)0, 0, info));
	IS(pvm_addhosts(names, 1, info));
	IS(info[0]);
	IS(pvm_delhosts(names, 0, info));
	IS(pvm_delhosts(names, -1, info));
	IS(pvm_delhosts((char **)0, 0, info));
	IS(pvm_delhosts(names, 1, info));
	IS(info[0]);
	names[0] = "none.invalid";
	IS(pvm_delhosts(names, 1, (int *)0));
	IS(pvm_config((int *)0, (int *)0, (struct pvmhostinfo **)0));
	IS(pvm_config(&nhost, &narch, &table));
	IS(pvm_mstat(""));
	IS(pvm_mstat("none.invalid"));
	IS(pvm_mstat((char *)0));
	IS(pvm_archcode(""));
	IS(pvm_archcode("NOARCH"));
	IS(pvm_archcode((char *)0));
	IS(pvm_hostsync(0, &clock, &delta));
	IS(pvm_hostsync(-1, &clock, &delta));
	IS(pvm_hostsync(1, &clock, &delta));
	IS(pvm_hostsync((int)0x80040000, &clock, &delta));
	IS(pvm_hostsync(0xfc0000, &clock, &delta));
	IS(pvm_hostsync(0x40000, (struct timeval *)0, (struct timeval *)0));
	IS(pvm_start_pvmd(0, (char **)0, 0));
	IS(pvm_start_pvmd(0, (char **)0, 1));
}

static void notify_of(char *what, int tid)
{
	list[0] = tid;
	printf("notify of %s\n", what);
	IS(pvm_notify(PvmTaskExit, 50, 1, list));
	IS(pvm_notify(PvmTaskExit | PvmNotifyCancel, 50, 1, list));
	IS(pvm_notify(PvmHostDelete, 51, 1, list));
	IS(pvm_notify(PvmHostDelete | PvmNotifyCancel, 51, 1, list));
	IS(pvm_notify(PvmRouteDelete, 52, 1, list));
	IS(pvm_notify(PvmRouteDelete | PvmNotifyCancel, 52, 1, list));
	IS(pvm_notify(PvmRouteAdd, 53, 1, list));
	IS(pvm_notify(PvmRouteAdd | PvmNotifyCancel, 53, 1, list));
}

static void notices(void)
{
	list[0] = me;
	IS(pvm_notify(0, 1, 1, list));
	IS(pvm_notify(-1, 1, 1, list));
	IS(pvm_notify(99, 1, 1, list));
	IS(pvm_notify(PvmTaskExit, -1, 1, list));
	IS(pvm_notify(PvmTaskExit, 0, 0, list));
	IS(pvm_notify(PvmTaskExit, 0, -1, list));
	IS(pvm_notify(PvmTaskExit, 0, 0, (int *)0));
	IS(pvm_notify(PvmHostDelete, -1, 1, list));
	IS(pvm_notify(PvmHostDelete, 0, 0, list));
	IS(pvm_notify(PvmHostAdd, -1, 1, list));
	IS(pvm_notify(PvmHostAdd, 54, 0, (int *)0));
	IS(pvm_notify(PvmHostAdd | PvmNotifyCancel, 54, 0, (int *)0));
	IS(pvm_notify(PvmRouteAdd, -1, 1, list));
	IS(pvm_notify(PvmRouteAdd, 55, 0, (int *)0));
	IS(pvm_notify(PvmRouteAdd, 55, -1, (int *)0));
	IS(pvm_notify(PvmRouteAdd | PvmNotifyCancel, 55, 0, (int *)0));
	IS(pvm_notify(PvmRouteDelete, -1, 1, list));
	IS(pvm_notify(PvmRouteDelete, 0, 0, list));
	notify_of("0", 0);
	notify_of("-1", -1);
	notify_of("1", 1);
	notify_of("0x40000", 0x40000);
	notify_of("0x40fff", 0x40fff);
	notify_of("0xfc0000", 0xfc0000);
	notify_of("0x7fffffff", 0x7fffffff);
	notify_of("0x80000000", (int)0x80000000);
	notify_of("0x80040000", (int)0x80040000);
}

static void rest(void)
{
	int *resets;
	char mask[64];

	IS(pvm_addmhf(-1, -1, -1, fn));
	IS(pvm_addmhf(0, 0, 0, fn) >= 0);
	IS(pvm_addmhf(0, 0, 0, fn));
	IS(pvm_delmhf(-1));
	IS(pvm_delmhf(4711));
	IS(pvm_setcontext(-1));
	IS(pvm_setcontext(0));
	IS(pvm_freecontext(-1));
	IS(pvm_freecontext(0) > 0);
	IS(pvm_freecontext(4711));
	IS(pvm_getnoresets((int **)0, (int *)0));
	IS(pvm_getnoresets(&resets, &n));
	n = 1;
	IS(pvm_getopt(0));
	IS(pvm_getopt(-1));
	IS(pvm_getopt(99));
	IS(pvm_setopt(0, 0));
	IS(pvm_setopt(-1, 0));
	IS(pvm_setopt(99, 0));
	IS(pvm_setopt(PvmRoute, -1));
	IS(pvm_setopt(PvmRoute, 0));
	IS(pvm_setopt(PvmFragSize, -1));
	IS(pvm_setopt(PvmFragSize, 0));
	IS(pvm_setopt(PvmOutputTid, -1));
	IS(pvm_setopt(PvmTraceTid, -1));
	IS(pvm_setopt(PvmTraceOptions, 0));
	IS(pvm_setopt(PvmPollType, 0));
	IS(pvm_setopt(PvmPollTime, 0));
	IS(pvm_gettmask(-1, mask));
	IS(pvm_settmask(-1, mask));
	IS(pvm_gettmask(PvmTaskSelf, mask));
	IS(pvm_settmask(PvmTaskSelf, mask));
	IS(pvm_tickle(0, (int *)0, (int *)0, (int *)0));
	IS(pvm_perror(""));
	NOT_NULL(pvm_version());
}

int main(int argc, char **argv)
{
	char path[] = "/tmp/pvmcXXXXXX";

	begin(argc, argv);
	report = mkstemp(path);
	unlink(path);
	kept = dup(2);
	me = pvm_mytid();
	printf("-- buffers\n");
	buffers();
	packing();
	printf("-- sends without a buffer\n");
	no_buffers();
	sends();
	printf("-- sends with a buffer\n");
	fresh(PvmDataDefault);
	sends();
	bulk();
	printf("-- receives\n");
	receives();
	printf("-- mailboxes\n");
	mailboxes();
	printf("-- groups\n");
	groups();
	collective();
	printf("-- tasks\n");
	tasks();
	printf("-- hosts\n");
	hosts();
	printf("-- notices\n");
	notices();
	printf("-- the rest\n");
	rest();
	pvm_exit();
	return 0;
}
