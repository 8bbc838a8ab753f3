/* gigabytes COUNT: a tuple of NEOTUPLE_FIELDS_MAX fields, and one with an array of COUNT shorts, go into a space and come
   out as they were. */
#include "e2e.h"
#include "neotuple.h"

#define OK(call) do { int32_t status_ = (call); \
	if (status_) { fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, neotuple_text(status_)); exit(1); } \
} while (0)

static neotuple_space space;

static void many_fields(void)
{
	neotuple tuple, any, found;
	int i, value;

	OK(neotuple_new(&tuple));
	OK(neotuple_new(&any));
	for (i = 0; i < NEOTUPLE_FIELDS_MAX; i++) {
		OK(neotuple_add(tuple, NEOTUPLE_INT, &i));
		OK(neotuple_add_formal(any, NEOTUPLE_INT, NEOTUPLE_SCALAR, 0));
	}
	CHECK(neotuple_add(tuple, NEOTUPLE_INT, &i));
	OK(neotuple_out(space, tuple, NEOTUPLE_FOREVER, 0));
	OK(neotuple_in(space, any, NEOTUPLE_FOREVER, &found));
	for (i = 0; i < NEOTUPLE_FIELDS_MAX; i++) {
		OK(neotuple_get(found, i, NEOTUPLE_INT, NEOTUPLE_SCALAR, &value, sizeof value, 0));
		CHECK(value == i);
	}
	OK(neotuple_free(found));
}

static void many_bytes(uint64_t count)
{
	neotuple tuple, any, found;
	uint64_t i, got = 0;
	short *items = malloc(count * sizeof *items);

	CHECK(items);
	for (i = 0; i < count; i++)
		items[i] = i * 40503 >> 8;
	OK(neotuple_new(&tuple));
	OK(neotuple_add_array(tuple, NEOTUPLE_SHORT, items, count));
	OK(neotuple_out(space, tuple, NEOTUPLE_FOREVER, 0));
	OK(neotuple_free(tuple));
	memset(items, 0, count * sizeof *items);
	OK(neotuple_new(&any));
	OK(neotuple_add_formal(any, NEOTUPLE_SHORT, NEOTUPLE_ARRAY, 0));
	OK(neotuple_in(space, any, NEOTUPLE_FOREVER, &found));
	OK(neotuple_get(found, 0, NEOTUPLE_SHORT, NEOTUPLE_ARRAY, items, count * sizeof *items, &got));
	CHECK(got == count);
	for (i = 0; i < count; i++)
		CHECK(items[i] == (short)(i * 40503 >> 8));
	OK(neotuple_free(found));
	free(items);
}

int main(int argc, char **argv)
{
	struct neotuple_options options = {sizeof options, 0, 1ULL << 34, NEOTUPLE_WAIT};

	CHECK(argc == 2);
	CALL(pvm_mytid());
	OK(neotuple_open("huge", NEOTUPLE_CREATE, &options, &space));
	many_fields();
	many_bytes(strtoull(argv[1], 0, 10));
	printf("ended\n");
	return 0;
}
