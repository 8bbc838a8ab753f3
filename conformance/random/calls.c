/*
 * Random calls from a seed, one line each: what a program can see of them must be the same on the original and on ours.
 *
 *   calls SEED COUNT [STEP...]   makes COUNT calls; the STEPs are left out
 *
 * What a step does depends on the seed and its number alone, never on what came before, so a difference can be
 * minimised by leaving steps out (cargo xtask differ). What blocks for ever by design is only called when
 * it need not wait. Task ids are shown as T1, T2 ..., contexts as they were first seen. Numbers of buffers come
 * again in another order, so they are not shown, and none is used when its buffer is gone.
 */
#include "../c/common.h"
#include "dice.h"
extern int pvm_errno;

#define NAMES 6
#define SLOTS 6
#define ITEMS 64

static int me;
static int bufs[SLOTS], contexts[4], nseen, seen[512];
static int handled, asked;
/* With a matching function of the program's, calls that wait for an answer of their own hang in the original. */
static int matching;
/* Messages were packed in several fragments, each of which pvm_pkmesg counts 4 bytes for in the original. */
static int fragmented;
/* Groups that were frozen in this life, and in a former one: of those the original's library tells what it knew then. */
static int frozen, stale;

#include "calls_values.h"
#include "calls_messages.h"
#include "calls_machine.h"

static struct { int weight; void (*run)(int); } steps[] = {
	{ 6, do_mkbuf }, { 14, do_initsend }, { 5, do_freebuf }, { 3, do_current }, { 8, do_setbuf }, { 26, do_pack }, { 24, do_unpack },
	{ 8, do_text }, { 6, do_format }, { 18, do_send }, { 4, do_mcast }, { 6, do_psend }, { 14, do_nrecv }, { 5, do_probe }, { 8, do_recv },
	{ 4, do_precv }, { 6, do_bufinfo }, { 5, do_minfo }, { 8, do_mesg }, { 6, do_nested }, { 9, do_option }, { 10, do_mailbox }, { 4, do_names },
	{ 3, do_mboxinfo }, { 5, do_context }, { 6, do_group }, { 4, do_collective }, { 4, do_machine }, { 5, do_notify }, { 3, do_hooks },
	{ 2, do_signal }, { 5, do_small }, { 5, do_nothing }, { 1, do_life }
};

static void one(int step)
{
	unsigned sum = 0, i, at;
	for (i = 0; i < sizeof steps / sizeof steps[0]; i++)
		sum += (unsigned)steps[i].weight;
	at = rnd(sum);
	for (i = 0; at >= (unsigned)steps[i].weight; i++)
		at -= (unsigned)steps[i].weight;
	printf("%d ", step);
	fflush(stdout);
	steps[i].run(step);
	if (handled || asked)
		printf(" handled %d asked %d", handled, asked);
	handled = asked = 0;
	printf("\n");
}

int main(int argc, char **argv)
{
	int seed = argc > 1 ? atoi(argv[1]) : 1, n = argc > 2 ? atoi(argv[2]) : 150, step, i, left_out;

	setvbuf(stdout, (char *)0, _IOLBF, 0);
	dup2(1, 2);
	alarm(6);
	pvm_setopt(PvmAutoErr, 0);
	me = pvm_mytid();
	if (me <= 0) {
		printf("no machine: %s\n", code(me));
		return 1;
	}
	for (step = 1; step <= n; step++) {
		state = (unsigned long long)seed * 1000003u + (unsigned long long)step * 7919u + 88172645463325252ULL;
		for (i = 0; i < 8; i++)
			rnd(2);
		for (i = 3, left_out = 0; i < argc; i++)
			left_out |= atoi(argv[i]) == step;
		if (!left_out)
			one(step);
	}
	printf("end\n");
	pvm_exit();
	return 0;
}
