// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See transitions.h.
 */
#include <math.h>
#include <stdlib.h>
#include "tests/support/synthetic.h"
#include "tests/support/transitions.h"
#include "tests/support/unit.h"

#define BEFORE		20
#define STOLEN_MOST	3000
#define CALIBRATION	10000

const struct made_change made_slow = {
	.from = 60e3, .to = 30e3, .noise = 0.01, .resolution = 30, .gap = 200, .request = 40e3,
	.latency = 1496e3,
	.pause = 323e3, .slice = 1e6, .irq = 10e3, .dither = true, .after = 103,
};

const struct made_change made_fast = {
	.from = 1063, .to = 500, .noise = 0.005, .resolution = 1, .gap = 20, .request = 2000,
	.latency = 44e3,
	.pause = 9.5e3, .dither = true, .after = 103,
};

/* From @begin to before @end nothing of the loop runs. */
struct stolen {
	double begin, end;
};

struct cpu {
	/* from when on a loop takes so long */
	double at[MADE_STEPS + 2], level[MADE_STEPS + 2];
	size_t n_levels, n_stolen;
	struct stolen stolen[STOLEN_MOST];
};

double made_normal(uint64_t *seed)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += rnd_unit(seed);
	return sum;
}

static void steal(struct cpu *cpu, double begin, double ns)
{
	size_t i = cpu->n_stolen;

	if (i == STOLEN_MOST)
		return;
	for (; i && cpu->stolen[i - 1].begin > begin; i--)
		cpu->stolen[i] = cpu->stolen[i - 1];
	cpu->stolen[i] = (struct stolen){ begin, begin + ns };
	cpu->n_stolen++;
}

static double after_stolen(const struct cpu *cpu, double t)
{
	for (size_t i = 0; i < cpu->n_stolen; i++)
		if (cpu->stolen[i].begin <= t && t < cpu->stolen[i].end)
			t = cpu->stolen[i].end;
	return t;
}

/* Return: when @work of a loop that began at @t is done */
static double run(const struct cpu *cpu, double t, double work)
{
	for (;;) {
		double level = cpu->level[0], next = INFINITY, end;

		t = after_stolen(cpu, t);
		for (size_t i = 0; i < cpu->n_levels; i++) {
			if (cpu->at[i] <= t)
				level = cpu->level[i];
			else
				next = fmin(next, cpu->at[i]);
		}
		for (size_t i = 0; i < cpu->n_stolen; i++)
			if (cpu->stolen[i].begin > t)
				next = fmin(next, cpu->stolen[i].begin);
		end = t + work * level;
		if (end <= next)
			return end;
		work -= (next - t) / level;
		t = next;
	}
}

static void set_changes(const struct made_change *c, uint64_t *seed, struct cpu *cpu,
			struct made_series *m)
{
	double t = c->latency + c->spread * (2 * rnd_unit(seed) - 1);

	*cpu = (struct cpu){ .at = { -INFINITY }, .level = { c->from }, .n_levels = 1 };
	m->latency = m->first = t;
	for (size_t i = 0; i <= c->n_steps; i++) {
		cpu->at[cpu->n_levels] = t;
		cpu->level[cpu->n_levels++] = i < c->n_steps ? c->step[i] : c->to;
		steal(cpu, t, c->pause);
		m->last = t;
		m->settled = t + c->pause;
		t += c->pause + c->step_after;
	}
	if (isfinite(t) && rnd_unit(seed) < c->at_change) {
		double ns = c->at_change_ns * rnd_unit(seed);

		m->disturbed = true;
		steal(cpu, m->first + 2 * c->from * (2 * rnd_unit(seed) - 1), ns);
	}
}

static void disturb(const struct made_change *c, double until, uint64_t *seed, struct cpu *cpu,
		    struct made_series *m)
{
	double loop = fmin(c->from, c->to), near = 3 * fmax(c->from, c->to);

	for (double t = -BEFORE * c->from; t < until; t += loop) {
		double ns = c->stray_ns * rnd_unit(seed);

		if (rnd_unit(seed) >= c->stray)
			continue;
		steal(cpu, t, ns);
		m->disturbed |= t < m->settled + near && t + ns > m->first - near;
	}
}

static double read_clock(const struct made_change *c, double t)
{
	return c->resolution > 0 ? floor(t / c->resolution) * c->resolution : t;
}

/* One pass from @t on. Return: when it ended */
static double add_loop(const struct made_change *c, const struct cpu *cpu, double t, uint64_t *seed,
		       struct made_series *m)
{
	double end = run(cpu, t, 1 + c->noise * made_normal(seed));

	m->loops[m->s.n++] = (struct transition_loop){ read_clock(c, t),
						       read_clock(c, end) - read_clock(c, t) };
	return end;
}

void made_new(const struct made_change *c, uint64_t *seed, struct made_series *m)
{
	double t, sliced = 0, until = c->timeout > 0 ? c->timeout : 1e18;
	static struct cpu cpu;
	size_t after = 0;

	*m = (struct made_series){ .loops = calloc(MADE_MOST, sizeof(*m->loops)),
				   .s.request_ns = c->request };
	assert_non_null(m->loops);
	m->s.loops = m->loops;
	set_changes(c, seed, &cpu, m);
	if (c->stray > 0)
		disturb(c, fmin(until, m->settled + (c->after + 10) * c->to), seed, &cpu, m);
	t = -BEFORE * (c->from * 1.2 + c->gap);
	for (int i = 0; i < BEFORE && t < 0; i++) {
		double end = run(&cpu, t, 1 + c->noise * made_normal(seed));

		if (end >= 0)
			break;
		m->loops[m->s.n++] = (struct transition_loop){ read_clock(c, t),
							       read_clock(c, end) -
							       read_clock(c, t) };
		t = end + c->gap;
	}
	t = c->request + (c->dither ? c->from * rnd_unit(seed) : 0);
	while (after < c->after && t < until && m->s.n < MADE_MOST) {
		double begin = t;

		t = add_loop(c, &cpu, t, seed, m);
		after += t > m->settled;
		t += c->gap;
		if (c->slice > 0 && t > sliced + c->slice) {
			double ns = c->irq * rnd_unit(seed);

			m->disturbed |= m->settled > begin && m->first < t + ns;
			t += ns;
			sliced = t;
		}
	}
}

void made_free(struct made_series *m)
{
	free(m->loops);
	m->loops = NULL;
	m->s.loops = NULL;
}

void made_loops(const struct made_change *c, double ns, uint64_t *seed, double *out, size_t n)
{
	double t = 0;

	for (size_t i = 0; i < n; i++) {
		double end = t + ns * (1 + c->noise * made_normal(seed)) +
			     (rnd_unit(seed) < 0.002 ? 20e3 * rnd_unit(seed) : 0);

		out[i] = read_clock(c, end) - read_clock(c, t);
		t = end + c->gap;
	}
}

void made_level(const struct made_change *c, double ns, uint64_t *seed, struct transition_level *l)
{
	static double loops[CALIBRATION];

	made_loops(c, ns, seed, loops, CALIBRATION);
	assert_int_equal(transition_level(loops, CALIBRATION, c->resolution, l), 0);
}

void made_tries(const struct made_change *c, const struct transition_level *from,
		const struct transition_level *to, uint64_t *seed, struct transition_try *tries,
		struct made_series *made, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct made_series m;

		made_new(c, seed, &m);
		assert_int_equal(transition_try(&m.s, from, to, &tries[i]), 0);
		made_free(&m);
		if (made)
			made[i] = m;
	}
}
