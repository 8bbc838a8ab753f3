/* history TASK MILLISECONDS: names and groups that several such tasks use at random. Each call is two lines
   BEGIN END CALL OBJECT ARGUMENT ANSWER, with times in nanoseconds of the clock that all hosts of a
   computer share: one when it begins, whose end is that of all time, and one with its answer.
   What a call answers besides its values and "not there" is an error. */
#include "e2e.h"

#define PUT (PvmMboxPersistent | PvmMboxOverWritable)

static long long nanoseconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int put(char *name, int value, int flags)
{
	CALL(pvm_initsend(PvmDataDefault));
	CALL(pvm_pkint(&value, 1, 1));
	return pvm_putinfo(name, pvm_getsbuf(), flags);
}

static int get(char *name, int flags)
{
	int value, buffer = pvm_recvinfo(name, 0, flags), before;
	if (buffer < 0)
		return buffer;
	before = pvm_setrbuf(buffer);
	CALL(pvm_upkint(&value, 1, 1));
	CALL(pvm_freebuf(pvm_setrbuf(before)));
	return value;
}

int main(int argc, char **argv)
{
	static char *calls[] = {"put", "get", "take", "add", "take", "join"};
	char object[16], *call;
	int task, value, answer, kind, member[2] = {0, 0};
	long long begin, end;
	CHECK(argc == 3);
	task = atoi(argv[1]);
	value = task * 1000000;
	srand(task);
	CALL(pvm_mytid());
	end = nanoseconds() + atoi(argv[2]) * 1000000LL;
	while (nanoseconds() < end) {
		int which = rand() % 2;
		kind = rand() % 6;
		call = calls[kind];
		/* Names of one value, names of several, groups. */
		snprintf(object, sizeof object, "%s%d", kind < 3 ? "one" : kind < 5 ? "many" : "group", which);
		if (kind == 5 && member[which])
			call = "leave";
		value++;
		begin = nanoseconds();
		printf("%lld 18446744073709551615 %s %s %d 0\n", begin, call, object, kind == 5 ? task : value);
		switch (kind) {
		case 0: answer = put(object, value, PUT); break;
		case 1: answer = get(object, PvmMboxDefault); break;
		case 2: answer = get(object, PvmMboxReadAndDelete); break;
		case 3: answer = put(object, value, PUT | PvmMboxMultiInstance); break;
		case 4: answer = get(object, PvmMboxReadAndDelete | PvmMboxFirstAvail); break;
		default:
			answer = member[which] ? pvm_lvgroup(object) : pvm_joingroup(object);
			member[which] = !member[which];
		}
		printf("%lld %lld %s %s %d %d\n", begin, nanoseconds(), call, object,
			kind == 5 ? task : value, answer);
		if (answer != PvmNotFound)
			must(answer, __FILE__, __LINE__, call);
		pause_ms(rand() % 20);
	}
	CALL(pvm_exit());
	return 0;
}
