/* views: data are read where they lie and sent from where they were made. views hold: the child is
   killed with views open. */
#include "e2e.h"
#include "neopvm.h"

#define COUNT 50000

static void look(int parent, int hold)
{
	neopvm_buffer buffer = 0, other;
	const void *bytes, *ints, *doubles;
	int child, status, i;
	CHECK(neopvm_receive(parent, 1, NEOPVM_CURRENT_CONTEXT, NEOPVM_FOREVER, &buffer) == 0);
	CHECK(neopvm_view_items(buffer, NEOPVM_INT, 1, &ints) == NEOPVM_NOT_POSSIBLE);
	CHECK(neopvm_view_items(buffer, NEOPVM_BYTE, 3, &bytes) == 0 && !memcmp(bytes, "abc", 3));
	CHECK(neopvm_view_items(buffer, NEOPVM_INT, COUNT, &ints) == 0);
	CHECK(is_filled(memcpy(words, ints, COUNT * 4), COUNT, 5));
	CHECK(neopvm_view_items(buffer, NEOPVM_DOUBLE, 3, &doubles) == NEOPVM_END);
	CHECK(neopvm_view_items(buffer, NEOPVM_DOUBLE, 2, &doubles) == 0);
	CHECK(neopvm_view_items(buffer, NEOPVM_BYTE, 1, &bytes) == NEOPVM_END);
	CHECK(neopvm_view_items(buffer, 99, 1, &bytes) == NEOPVM_BAD_PARAMETER);
	CHECK(neopvm_view_items(buffer, NEOPVM_BYTE, 0, 0) == NEOPVM_BAD_PARAMETER);
	if (hold) {
		send_int(parent, 3, getpid());
		for (;;)
			pause_ms(1000);
	}
	fflush(stdout);
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		/* Not its message: the number is void here, whatever is asked of it. */
		_exit(neopvm_view_items(buffer, NEOPVM_INT, 1, &ints) == NEOPVM_NO_BUFFER
		              && neopvm_free(buffer) == NEOPVM_NO_BUFFER
		          ? 0
		          : 1);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	/* The fork has let go of nothing. */
	CHECK(neopvm_rewind(buffer) == 0);
	CHECK(neopvm_view_items(buffer, NEOPVM_BYTE, 3, &bytes) == 0 && !memcmp(bytes, "abc", 3));
	CHECK(neopvm_free(buffer) == 0);
	CHECK(neopvm_free(buffer) == NEOPVM_NO_BUFFER);
	CHECK(neopvm_view_items(buffer, NEOPVM_BYTE, 1, &bytes) == NEOPVM_NO_BUFFER);
	for (i = 0; i < 2; i++) {
		CHECK(neopvm_receive(parent, 2, NEOPVM_CURRENT_CONTEXT, NEOPVM_FOREVER, &other) == 0);
		CHECK(neopvm_view_items(other, NEOPVM_INT, COUNT, &ints) == 0);
		CHECK(is_filled(ints, COUNT, 6 + i));
		send_int(parent, 3, getpid());
		receive_int(parent, 4);
		CHECK(neopvm_free(other) == 0);
		send_int(parent, 3, 0);
	}
}

static void give(int child, int hold)
{
	neopvm_buffer buffer = 0, again;
	void *items = 0, *first;
	const double two[2] = {1, 2};
	int32_t reading;
	int i, pid;
	fill(words, COUNT, 5);
	CHECK(neopvm_new(NEOPVM_DEFAULT, &buffer) == 0);
	CHECK(neopvm_pack(buffer, NEOPVM_BYTE, "abc", 3, 1) == 0);
	CHECK(neopvm_pack(buffer, NEOPVM_INT, words, COUNT, 1) == 0);
	CHECK(neopvm_pack(buffer, NEOPVM_DOUBLE, two, 2, 1) == 0);
	CHECK(neopvm_send(buffer, child, 1, NEOPVM_CURRENT_CONTEXT) == 0);
	CHECK(neopvm_free(buffer) == 0);
	if (hold) {
		pid = receive_int(child, 3);
		kill(pid, SIGKILL);
		await_end(pid);
		return;
	}
	CHECK(neopvm_new(NEOPVM_IN_PLACE, &buffer) == 0);
	CHECK(neopvm_allocate(buffer, NEOPVM_INT, 1, &items) == NEOPVM_NOT_POSSIBLE);
	CHECK(neopvm_free(buffer) == 0);
	CHECK(neopvm_new(NEOPVM_RAW, &buffer) == 0);
	CHECK(neopvm_allocate(buffer, NEOPVM_INT, UINT64_MAX, &items) == NEOPVM_NO_MEMORY);
	CHECK(neopvm_allocate(buffer, NEOPVM_INT, COUNT, &first) == 0);
	for (i = 0; i < 2; i++) {
		fill(first, COUNT, 6 + i);
		CHECK(neopvm_is_being_read(buffer, &reading) == 0 && reading == 0);
		CHECK(neopvm_send(buffer, child, 2, NEOPVM_CURRENT_CONTEXT) == 0);
		receive_int(child, 3);
		CHECK(neopvm_is_being_read(buffer, &reading) == 0 && reading == 1);
		reading = 0;
		CHECK(neopvm_is_read(buffer, &reading) == 0 && reading == 1);
		/* Memory that is being read is not given out again. */
		CHECK(neopvm_new(NEOPVM_RAW, &again) == 0);
		CHECK(neopvm_allocate(again, NEOPVM_INT, COUNT, &items) == 0 && items != first);
		CHECK(neopvm_free(again) == 0);
		send_int(child, 4, 0);
		receive_int(child, 3);
		CHECK(neopvm_is_being_read(buffer, &reading) == 0 && reading == 0);
	}
	CHECK(neopvm_free(buffer) == 0);
	CHECK(neopvm_is_being_read(buffer, &reading) == NEOPVM_NO_BUFFER);
}

int main(int argc, char **argv)
{
	int hold = argc > 1, i, parent;
	char line[8];
	CALL(pvm_mytid());
	parent = pvm_parent();
	if (parent > 0) {
		look(parent, hold);
		pvm_exit();
		return 0;
	}
	for (i = 0; i < (hold ? 20 : 1); i++)
		give(spawn_one("views", hold ? "hold" : 0, 0, 0), hold);
	if (hold) {
		puts("ready");
		CHECK(fgets(line, sizeof line, stdin));
	}
	pvm_exit();
	return 0;
}
