/* Random calls: options, names, contexts, groups, tasks and hosts. */

static void do_option(int step UNUSED)
{
	/* Not those with which the library prints, ends the program, or sends to us by itself. */
	static int settable[] = { PvmRoute, PvmFragSize, PvmResvTids, PvmSelfOutputCode, PvmSelfTraceCode, PvmOutputCode, PvmTraceCode,
		PvmOutputContext, PvmTraceContext, PvmTraceBuffer, PvmSelfTraceBuffer, PvmTraceOptions, PvmSelfTraceOptions, PvmAutoErr, PvmNoReset, PvmPollTime, PvmPollType };
	static int values[] = { 0, 1, 2, 3, 5, -1, 100, 1000, 4080 };
	int what = rnd(2) ? PICK(settable) : (int)rnd(26) - 2, value = PICK(values);

	if (rnd(2)) {
		printf("getopt %d = ", what);
		value = pvm_getopt(what);
		printf("%s", value == me ? "me" : code(value));
		return;
	}
	what = PICK(settable);
	if (what == PvmAutoErr)
		value &= 1;
	printf("setopt %d %d = %s", what, value, code(pvm_setopt(what, value)));
	fragmented |= pvm_getopt(PvmFragSize) < 4080;
}

static void do_mailbox(int step UNUSED)
{
	static int flags[] = { 0, 0, PvmMboxMultiInstance, PvmMboxMultiInstance, PvmMboxOverWritable, PvmMboxFirstAvail, PvmMboxReadAndDelete, 8 | 4 };
	char *key = name();
	int flag = PICK(flags), index = (int)rnd(4) - 1, cc;
	struct pvmminfo info;

	switch (rnd(4)) {
	case 0:
	case 1:
		flag &= ~PvmMboxPersistent;
		if (pvm_getsbuf() <= 0) {
			/* The original waits for ever. */
			printf("putinfo of nothing");
			return;
		}
		if (encoding_of(pvm_getsbuf()) == IN_PLACE) {
			/* Who receives it cannot read it in the original. */
			printf("putinfo in place");
			return;
		}
		/* In the original the entry keeps what the buffer had. */
		memset(&info, 0, sizeof info);
		pvm_getminfo(pvm_getsbuf(), &info);
		info.tag = 0;
		info.src = me;
		pvm_setminfo(pvm_getsbuf(), &info);
		printf("putinfo \"%s\" %d = ", key, flag);
		printf("%s", code(pvm_putinfo(key, pvm_getsbuf(), flag)));
		break;
	case 2:
		flag &= ~PvmMboxWaitForInfo;
		forget(pvm_getrbuf());
		printf("recvinfo \"%s\" %d %d = ", key, index, flag);
		cc = pvm_recvinfo(key, index, flag);
		printf("%s", handle(cc));
		keep(cc);
		if (cc > 0)
			show_message(cc);
		break;
	default:
		printf("delinfo \"%s\" %d %d = ", key, index, flag);
		printf("%s", code(pvm_delinfo(key, index, flag)));
	}
}

static void do_names(int step UNUSED)
{
	char *key = name();
	int index = (int)rnd(4) - 1, value = -9, cc;
	switch (rnd(3)) {
	case 0:
		printf("insert \"%s\" %d = %s", key, index, code(pvm_insert(key, index, 42)));
		break;
	case 1:
		cc = pvm_lookup(key, index, &value);
		/* Of an entry that is shorter than an int the original gives what there is of one. */
		printf("lookup \"%s\" %d = %s %s", key, index, code(cc), cc >= 0 && value == 42 ? "42" : "-");
		break;
	default:
		printf("delete \"%s\" %d = %s", key, index, code(pvm_delete(key, index)));
	}
}

static void do_mboxinfo(int step UNUSED)
{
	static char *patterns[] = { "*", "one", "t*", "", "[" };
	char *pattern = PICK(patterns);
	struct pvmmboxinfo *classes;
	int n = -9, cc, i, j;

	cc = pvm_getmboxinfo(pattern, &n, &classes);
	printf("getmboxinfo \"%s\" = %s", pattern, code(cc));
	for (i = 0; cc >= 0 && i < n; i++) {
		/* The group server's own entry is a task of the original's. */
		if (!strncmp(classes[i].mi_name, "pvm", 3))
			continue;
		printf(" (%s %d", classes[i].mi_name, classes[i].mi_nentries);
		for (j = 0; j < classes[i].mi_nentries; j++)
			printf(" %d:%s:%d", classes[i].mi_indices[j], task_name(classes[i].mi_owners[j]), classes[i].mi_flags[j]);
		printf(")");
	}
}

static void do_context(int step UNUSED)
{
	int place = (int)rnd(4), cc;
	switch (rnd(4)) {
	case 0:
		cc = pvm_newcontext();
		contexts[place] = cc;
		printf("newcontext = %s", nth(cc));
		break;
	case 1:
		printf("setcontext %s = ", nth(contexts[place]));
		printf("%s", nth(pvm_setcontext(contexts[place])));
		break;
	case 2:
		printf("freecontext %s = ", nth(contexts[place]));
		printf("%s", code(pvm_freecontext(contexts[place])));
		break;
	default:
		printf("getcontext = %s", nth(pvm_getcontext()));
	}
}

static int bit_of(char *group)
{
	return group && *group ? 1 << (*group - 'g') : 0;
}

/* In the original there is a direct route to the group server, of which a notice may tell. */
static int left_out(char *group)
{
	return (stale & bit_of(group)) || pvm_getopt(PvmRoute) == PvmRouteDirect;
}

static void do_group(int step UNUSED)
{
	static char *groups[] = { "g", "g", "h", "", (char *)0 };
	char *group = PICK(groups), *shown = group ? group : "NULL";
	int tid = task(), instance = (int)rnd(4) - 1, cc;

	if (matching || left_out(group)) {
		printf(matching ? "group would wait" : "group left out");
		return;
	}
	switch (rnd(8)) {
	case 0:
		printf("joingroup %s = %s", shown, code(pvm_joingroup(group)));
		break;
	case 1:
		printf("lvgroup %s = %s", shown, code(pvm_lvgroup(group)));
		break;
	case 2:
		printf("getinst %s %s = %s", shown, task_name(tid), code(pvm_getinst(group, tid)));
		break;
	case 3:
		cc = pvm_gettid(group, instance);
		printf("gettid %s %d = %s", shown, instance, cc == me ? "me" : code(cc));
		break;
	case 4:
		printf("gsize %s = %s", shown, code(pvm_gsize(group)));
		break;
	case 5:
		/* In the original a count below 1 sticks to the group, and each later call has one that does not fit. */
		if (pvm_gsize(group) > 0)
			instance = 1;
		printf("barrier %s %d = %s", shown, instance > 1 ? 1 : instance, code(pvm_barrier(group, instance > 1 ? 1 : instance)));
		break;
	case 6:
		if (pvm_gsize(group) > 0)
			instance = 1;
		cc = pvm_freezegroup(group, instance);
		if (cc >= 0)
			frozen |= bit_of(group);
		printf("freezegroup %s %d = %s", shown, instance, code(cc));
		break;
	default:
		printf("bcast %s %d = %s", shown, instance, code(pvm_bcast(group, instance)));
		settle();
	}
}

static void do_collective(int step)
{
	static char *groups[] = { "g", "g", "g", "h", "" };
	char *group = PICK(groups);
	struct type *type = &PICK(types);
	int n = count(), kind = odd_type(type), with = (int)rnd(3) + 1, root = rnd(4) ? 0 : (int)rnd(3) - 1, was = pvm_getsbuf(), cc;
	char *from = data(type, step);

	if (matching || left_out(group)) {
		printf(matching ? "collective would wait" : "collective left out");
		return;
	}
	if (kind == type->type && type->type == PVM_BYTE)
		type = &types[3], kind = PVM_INT;
	memset(&taken, 0x5a, sizeof taken);
	switch (rnd(3)) {
	case 0:
		memcpy(taken.bytes, from, 256);
		cc = pvm_reduce(PvmSum, taken.bytes, n, kind, with, group, root);
		printf("reduce");
		break;
	case 1:
		cc = pvm_gather(taken.bytes, from, n, kind, with, group, root);
		printf("gather");
		break;
	default:
		cc = pvm_scatter(taken.bytes, from, n, kind, with, group, root);
		printf("scatter");
		/* The original spoils the root's send buffer: it frees it, or makes an empty one of it. */
		if (cc >= 0 && root == 0) {
			forget(was);
			pvm_freebuf(pvm_setsbuf(0));
		}
	}
	printf(" %d %s %d %d \"%s\" %d = %s", n, type->name, kind, with, group, root, code(cc));
	show_taken(16);
}

static void do_machine(int step UNUSED)
{
	static char *hosts[] = { ".", "nowhere", "", "127.0.0.1" };
	int tid = task(), n = -9, cc;
	struct pvmtaskinfo *tasks;
	struct timeval clock, delta;
	char *host = PICK(hosts);

	switch (rnd(6)) {
	case 0:
		cc = pvm_tasks(tid, &n, &tasks);
		printf("tasks %s = %s", task_name(tid), code(cc));
		break;
	case 1:
		printf("pstat %s = %s", task_name(tid), code(pvm_pstat(tid)));
		break;
	case 2:
		printf("mstat %s = %s", host, code(pvm_mstat(host)));
		break;
	case 3:
		cc = pvm_tidtohost(tid);
		printf("tidtohost %s = %s", task_name(tid), handle(cc));
		break;
	case 4:
		cc = pvm_hostsync(tid, &clock, &delta);
		printf("hostsync %s = %s", task_name(tid), code(cc));
		break;
	default:
		printf("archcode %s = %d", rnd(2) ? "LINUX64" : "NONE", pvm_archcode(rnd(2) ? "LINUX64" : "NONE"));
	}
}

static void do_notify(int step UNUSED)
{
	static int kinds[] = { PvmTaskExit, PvmTaskExit, PvmHostDelete, PvmHostAdd, PvmTaskExit | PvmNotifyCancel,
		PvmHostDelete | PvmNotifyCancel, PvmHostAdd | PvmNotifyCancel, 0, 6, -1 };
	int what = PICK(kinds), n = (int)rnd(4) - 1, with = tag(), tids[2];

	tids[0] = task();
	tids[1] = task();
	printf("notify %d %d %d %s %s = ", what, with, n, task_name(tids[0]), task_name(tids[1]));
	printf("%s", code(pvm_notify(what, with, n, tids)));
	settle();
}

static int handler(int buf UNUSED)
{
	handled++;
	return 0;
}

static int accepts(int buf UNUSED, int from UNUSED, int with UNUSED)
{
	asked++;
	return 1;
}

static int refuses(int buf UNUSED, int from UNUSED, int with UNUSED)
{
	asked++;
	return 0;
}

static void do_hooks(int step UNUSED)
{
	static int (*chosen[3])(), (*old)();
	int which, with = tag();
	static int last = -1;

	chosen[1] = accepts;
	chosen[2] = refuses;
	switch (rnd(4)) {
	case 0:
		/* Whether every tag is also a tag below 0, which no message has, is nobody's question. */
		if (with < -1)
			with = 5;
		last = pvm_addmhf(rnd(2) ? -1 : task(), with, 0, handler);
		printf("addmhf %d = %s", with, handle(last));
		break;
	case 1:
		printf("delmhf = %s", code(pvm_delmhf(last)));
		last = -1;
		break;
	case 2:
		which = (int)rnd(3);
		matching = which != 0;
		old = pvm_recvf(chosen[which]);
		printf("recvf %d = %s", which, old == accepts ? "accepts" : old == refuses ? "refuses" : old ? "default" : "none");
		break;
	default:
		matching = 0;
		old = pvm_recvf(0);
		printf("recvf 0 = %s", old == accepts ? "accepts" : old == refuses ? "refuses" : old ? "default" : "none");
	}
}

static void do_signal(int step UNUSED)
{
	int tid = task();
	if (tid == me)
		tid = me + 900;
	if (rnd(2))
		printf("kill %s = %s", task_name(tid), code(pvm_kill(tid)));
	else
		printf("sendsig %s = %s", task_name(tid), code(pvm_sendsig(tid, (int)rnd(2))));
}

static void do_small(int step UNUSED)
{
	int n, *tids, cc;
	switch (rnd(7)) {
	case 0:
		cc = pvm_siblings(&tids);
		printf("siblings = %s", code(cc));
		break;
	case 1:
		printf("parent = %s", code(pvm_parent()));
		break;
	case 2:
		printf("mytid = %s", pvm_mytid() == me ? "me" : "another");
		break;
	case 3:
		n = (int)rnd(50) - 45;
		pvm_errno = n;
		printf("strerror %d: ", n);
		fflush(stdout);
		pvm_perror(rnd(3) ? "words" : "");
		break;
	case 4:
		printf("export = %s", code(pvm_export(rnd(2) ? "CONFORMANCE" : "")));
		break;
	case 5:
		printf("unexport = %s", code(pvm_unexport(rnd(2) ? "CONFORMANCE" : "")));
		break;
	default:
		n = (int)rnd(3) - 1;
		cc = pvm_spawn(rnd(2) ? "no-such-program" : "", (char **)0, 0, "", n, (int *)taken.bytes);
		printf("spawn %d = %s %s", n, code(cc), n == 1 && cc == 0 ? code(*(int *)taken.bytes) : "");
	}
}

/* Arguments that are none, in calls that do not crash in the original, and calls that need nobody. */
static void do_nothing(int step UNUSED)
{
	int hosts, *list, zero[2] = { 0, 0 }, n = -9, cc;
	struct timeval none;

	none.tv_sec = none.tv_usec = 0;
	forget(pvm_getrbuf());
#define IS(number, call) case number: printf("%s = ", #call); printf("%s", code(call)); break
	switch (rnd(48)) {
	IS(0, pvm_config((int *)0, (int *)0, (struct pvmhostinfo **)0));
	IS(1, pvm_tasks(0, (int *)0, (struct pvmtaskinfo **)0));
	IS(2, pvm_pkint((int *)0, 0, 1));
	IS(3, pvm_pkbyte((char *)0, 0, 3));
	IS(4, pvm_upkdouble((double *)0, 0, -1));
	IS(5, pvm_mcast((int *)0, 0, 1));
	IS(6, pvm_mcast((int *)0, -1, 1));
	IS(7, pvm_getminfo(0, (struct pvmminfo *)0));
	IS(8, pvm_setminfo(-1, (struct pvmminfo *)0));
	IS(9, pvm_mstat((char *)0));
	IS(10, pvm_archcode((char *)0));
	IS(11, pvm_spawn("no-such-program", (char **)0, PvmTaskDefault, (char *)0, 1, (int *)0));
	IS(12, pvm_spawn("no-such-program", (char **)0, PvmTaskHost | PvmHostCompl, ".", 1, &n));
	IS(13, pvm_notify(PvmHostAdd, 3, 1, (int *)0));
	IS(14, pvm_notify(PvmHostAdd, 3, -1, (int *)0));
	IS(15, pvm_notify(PvmHostAdd, 3, 0, (int *)0));
	IS(16, pvm_notify(PvmRouteAdd, 3, -1, (int *)0));
	IS(17, pvm_insert((char *)0, 0, 1));
	IS(18, pvm_lookup((char *)0, 0, &n));
	IS(19, pvm_lookup("one", 0, (int *)0));
	IS(20, pvm_delete((char *)0, 0));
	IS(21, pvm_putinfo((char *)0, pvm_getsbuf(), 0));
	IS(22, pvm_recvinfo((char *)0, 0, 0));
	IS(23, pvm_delinfo((char *)0, 0, 0));
	IS(24, pvm_getmboxinfo("*", (int *)0, (struct pvmmboxinfo **)0));
	IS(25, pvm_getfds(&list));
	IS(26, pvm_start_pvmd(0, (char **)0, 1));
	IS(27, pvm_addhosts((char **)0, 0, (int *)0));
	IS(28, pvm_delhosts((char **)0, -1, &n));
	IS(29, pvm_hostsync(-1, (struct timeval *)0, (struct timeval *)0));
	IS(30, pvm_hostsync(0, (struct timeval *)0, (struct timeval *)0));
	IS(31, pvm_tidtohost(-1));
	case 32:
		printf("trecv of what never comes = %s", handle(pvm_trecv(-1, 0x7ffffff2, &none)));
		break;
	IS(33, strcmp(pvm_version(), PVM_VER));
	IS(34, pvm_tickle(0, (int *)0, (int *)0, (int *)0));
	case 35:
		printf("psend of nothing = %s", code(pvm_psend(me, 1, (void *)0, 0, PVM_INT)));
		settle();
		break;
	IS(36, pvm_psend(me, 1, (void *)0, 0, PVM_STR));
	IS(37, pvm_precv(-1, 0x7ffffff2, (void *)0, 0, 99, (int *)0, (int *)0, (int *)0));
	IS(38, pvm_unpackf(""));
	IS(39, pvm_freebuf(0));
	IS(40, pvm_bufinfo(pvm_getrbuf(), (int *)0, (int *)0, (int *)0));
	IS(41, pvm_mstat(""));
	IS(42, pvm_delmhf(-1));
	IS(43, pvm_setopt(999, 1));
	IS(44, pvm_getopt(-1));
	case 45:
		settle();
		cc = pvm_getnoresets(&list, &n);
		printf("getnoresets = %s %d", code(cc), n);
		break;
	case 46:
		cc = pvm_config(&hosts, &n, (struct pvmhostinfo **)0);
		printf("config = %s %d %d", code(cc), hosts, n);
		break;
	default:
		if (matching) {
			printf("would wait");
			break;
		}
		printf("reduce of nothing = %s", code(pvm_reduce(PvmSum, (void *)0, 1, PVM_INT, 1, "g", 0)));
		printf(" gather %s", code(pvm_gather((void *)0, (void *)0, 1, PVM_INT, 1, "g", 0)));
		printf(" scatter %s", code(pvm_scatter((void *)0, (void *)0, 1, PVM_INT, 1, "g", 0)));
		printf(" nobody's %s", code(pvm_reduce(PvmMax, zero, 1, PVM_INT, 1, (char *)0, 0)));
	}
}

static void do_life(int step UNUSED)
{
	if (matching) {
		printf("exit would wait");
		return;
	}
	/* The original forgets it, and says still that it is set. */
	pvm_setopt(PvmNoReset, 0);
	printf("exit = %s", code(pvm_exit()));
	memset(bufs, 0, sizeof bufs);
	stale |= frozen;
	me = pvm_mytid();
	printf(" mytid %s", me > 0 ? "id" : code(me));
	settle();
}
