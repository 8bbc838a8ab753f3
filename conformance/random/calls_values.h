/* What the random calls draw, and how they show what came. */

/* A context's number, as the how-manyth it is that is shown. */
static char *nth(int number)
{
	static char text[8][16];
	static int turn;
	int i;

	if (number <= 0)
		return code(number);
	for (i = 0; i < nseen && seen[i] != number; i++)
		;
	if (i == nseen && nseen < 512)
		seen[nseen++] = number;
	turn = (turn + 1) % 8;
	sprintf(text[turn], "n%d", i + 1);
	return text[turn];
}

static int count(void)
{
	static int list[] = { 1, 1, 1, 2, 3, 5, 17, 0, -1 };
	return PICK(list);
}

static int stride(void)
{
	static int list[] = { 1, 1, 1, 1, 2, 3, 0, -1 };
	return PICK(list);
}

static int tag(void)
{
	static int list[] = { 1, 1, 2, 3, 7, 0, -1, -2, 0x7fffffff, -2147483647 };
	return PICK(list);
}

static int encoding(void)
{
	static int list[] = { 0, 0, 1, 1, 2, 2, 3, -1, 99 };
	return PICK(list);
}

static int task(void)
{
	static int list[] = { 0, -1, 5, 0x3ffff, 0x40000, 0x7ffff, 0x7fffffff, (int)0x80000000, (int)0x80040000 };
	return rnd(3) ? me : rnd(2) ? me + 900 : PICK(list);
}

static char *task_name(int tid)
{
	return tid == me ? "me" : tid == me + 900 ? "nobody" : who(tid);
}

static int buffer(void)
{
	static int list[] = { 0, -1, 99999 };
	return rnd(5) ? bufs[rnd(SLOTS)] : PICK(list);
}

static void keep(int number)
{
	if (number > 0)
		bufs[rnd(SLOTS)] = number;
}

static char *name(void)
{
	static char *list[] = { "one", "two", "three", "", "a name with blanks", "one" };
	return PICK(list);
}

/* A buffer that a call frees: its number may come again. */
static void forget(int number)
{
	int i;
	for (i = 0; i < SLOTS; i++)
		if (bufs[i] == number)
			bufs[i] = 0;
}

/* What the daemon answers comes behind what it had for us. */
static void settle(void)
{
	int hosts, archs;
	pvm_config(&hosts, &archs, (struct pvmhostinfo **)0);
	pvm_probe(-1, 0x7ffffff1);
}

static void show_message(int bufid)
{
	int bytes = -9, its_tag = -9, its_tid = -9, cc;
	cc = pvm_bufinfo(bufid, &bytes, &its_tag, &its_tid);
	printf(" [%s %d %d %s]", code(cc), bytes, its_tag, task_name(its_tid));
}

static int length(int bufid)
{
	int bytes = -1;
	pvm_bufinfo(bufid, &bytes, (int *)0, (int *)0);
	return bytes;
}

/* What pvm_getminfo calls an encoding: 0x10000000 default, 0x20000000 in place, else raw. */
static unsigned encoding_of(int bufid)
{
	struct pvmminfo info;
	memset(&info, 0, sizeof info);
	return pvm_getminfo(bufid, &info) < 0 ? 0 : (unsigned)info.enc;
}

#define IN_PLACE 0x20000000
#define DEFAULT 0x10000000

/* Types: size of an item, and how it is packed, unpacked and shown. */
static struct type {
	char *name;
	int type, size;
	int (*pack)(), (*unpack)();
} types[] = {
	{ "byte", PVM_BYTE, 1, pvm_pkbyte, pvm_upkbyte },
	{ "short", PVM_SHORT, 2, pvm_pkshort, pvm_upkshort },
	{ "ushort", PVM_USHORT, 2, pvm_pkushort, pvm_upkushort },
	{ "int", PVM_INT, 4, pvm_pkint, pvm_upkint },
	{ "uint", PVM_UINT, 4, pvm_pkuint, pvm_upkuint },
	{ "long", PVM_LONG, 8, pvm_pklong, pvm_upklong },
	{ "ulong", PVM_ULONG, 8, pvm_pkulong, pvm_upkulong },
	{ "float", PVM_FLOAT, 4, pvm_pkfloat, pvm_upkfloat },
	{ "double", PVM_DOUBLE, 8, pvm_pkdouble, pvm_upkdouble },
	{ "cplx", PVM_CPLX, 8, pvm_pkcplx, pvm_upkcplx },
	{ "dcplx", PVM_DCPLX, 16, pvm_pkdcplx, pvm_upkdcplx }
};

/* In-place data must live on, so each step has its own. */
static union { char bytes[16 * ITEMS * 4]; double align; } given[32], taken;

static char *data(struct type *type, int step)
{
	char *bytes = given[step % 32].bytes;
	int i;

	for (i = 0; i < ITEMS; i++)
		switch (type->type) {
		case PVM_BYTE: bytes[i] = (char)rnd(100); break;
		case PVM_SHORT: case PVM_USHORT: ((short *)bytes)[i] = (short)rnd(30000); break;
		case PVM_INT: case PVM_UINT: ((int *)bytes)[i] = (int)rnd(1000000); break;
		case PVM_LONG: case PVM_ULONG: ((long *)bytes)[i] = (long)rnd(1000000); break;
		case PVM_FLOAT: case PVM_CPLX: ((float *)bytes)[i] = (float)rnd(1000) / 8; break;
		default: ((double *)bytes)[i] = (double)rnd(1000) / 8; break;
		}
	return bytes;
}

/* The first items of what was unpacked, byte by byte. */
static void show_taken(int size)
{
	unsigned sum = 0;
	int i;

	for (i = 0; i < (int)sizeof taken.bytes; i++)
		sum = sum * 31 + (unsigned char)taken.bytes[i];
	printf(" {");
	for (i = 0; i < size; i++)
		printf("%02x", (unsigned char)taken.bytes[i]);
	printf(" %08x}", sum);
}
