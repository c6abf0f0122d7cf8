// SPDX-License-Identifier: GPL-2.0-or-later
/* When a CPU was paused, by simulated edge windows. */
#include "attribute/edge_windows.h"
#include "lib/control/control.h"
#include "tests/support/unit.h"

#define MS	1000000ull
#define T0	(1000 * MS)

static const struct edge_windows_cost free_of_cost;

/* The only hold of a CPU that has that window alone. */
static struct edge_windows_pause hold_of(const struct timeline_window *window,
					 const struct edge_windows_cost *cost)
{
	struct timeline_window told = *window;
	struct timeline_cpu cpu = { .n_windows = 1, .windows = &told };
	struct kjoule_session_info session = { .interval_ns = MS, .t0_ns = T0 };
	struct timeline tl = { .session = &session, .n_cpus = 1, .cpus = &cpu, .end_tick = 100 };
	struct edge_windows_pause only = { 0, 0 };
	struct edge_windows w;

	session.cpus.bits[0] = 1;
	assert_int_equal(edge_windows_new(&tl, cost, &w), 0);
	assert_int_equal(w.n_cpus, 1);
	if (w.cpus[0].n == 1)
		only = w.cpus[0].pauses[0];
	edge_windows_free(&w);
	return only;
}

/*
 * A CPU that has waited for an update in vain has run nothing from then until the end of the pause.
 */
TEST(test_search_failed)
{
	struct timeline_window window = {
		.seek_ns = T0 + 5 * MS, .a_ns = T0 + 16 * MS, .from_ns = T0 + 16 * MS,
		.b_ns = T0 + 16 * MS, .c_ns = T0 + 36 * MS,
		.flags = KJOULE_WINDOW_FAILED | KJOULE_WINDOW_LEADER };
	struct edge_windows_pause pause = hold_of(&window, &free_of_cost);

	assert_int_equal(pause.from_ns, window.seek_ns);
	assert_int_equal(pause.to_ns, window.c_ns);
	/* one that has not waited, or a module that did not report it */
	window.seek_ns = window.a_ns;
	pause = hold_of(&window, &free_of_cost);
	assert_int_equal(pause.from_ns, window.b_ns);
	assert_int_equal(pause.to_ns, window.c_ns);
	/* no search is that long */
	window.seek_ns = 0;
	window.a_ns += 2 * EDGE_WINDOWS_LONGEST_NS;
	window.from_ns = window.b_ns = window.a_ns;
	window.c_ns = window.b_ns + MS;
	pause = hold_of(&window, &free_of_cost);
	assert_int_equal(pause.to_ns, 0);
}

/*
 * Interrupts that are due in a hold come after it: a tick, and one of the others however long the
 * hold was.
 */
TEST(test_interrupts_after_pause)
{
	static const struct { uint64_t paused_ns, others_ns; } pauses[] =
		{ { 2 * MS, 30000 }, { 4 * MS, 60000 }, { 12 * MS, 60000 } };
	struct edge_windows_cost cost = { .entry_ns = 20000, .tick_ns = 30000, .other = 0.015,
					  .other_hz = 250 };

	for (size_t i = 0; i < sizeof(pauses) / sizeof(pauses[0]); i++) {
		struct timeline_window window = {
			.seek_ns = T0 + 5 * MS, .a_ns = T0 + 5 * MS, .from_ns = T0 + 5 * MS,
			.b_ns = T0 + 16 * MS,
			.c_ns = T0 + 16 * MS + pauses[i].paused_ns, .flags = KJOULE_WINDOW_LEADER };
		struct edge_windows_pause pause = hold_of(&window, &cost);

		assert_int_equal(pause.from_ns, window.b_ns - 10000);
		assert_int_equal(pause.to_ns, window.c_ns + 10000 + 30000 + pauses[i].others_ns);
	}
	/* how often they come is not known of older recordings */
	cost.other_hz = 0;
	struct timeline_window window = {
		.seek_ns = T0 + 5 * MS, .a_ns = T0 + 5 * MS, .from_ns = T0 + 5 * MS,
		.b_ns = T0 + 16 * MS,
		.c_ns = T0 + 28 * MS, .flags = KJOULE_WINDOW_LEADER };
	assert_int_equal(hold_of(&window, &cost).to_ns, window.c_ns + 10000 + 30000 + 180000);
}
