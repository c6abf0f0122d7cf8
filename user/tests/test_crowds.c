// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * More different sets of blocks ran together than may be kept: times and energies are those that they are with all of
 * them, nearly, and what is kept stays small. Made-up CPUs whose blocks have known powers.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "profile.h"
#include "synthetic.h"
#include "together.h"

#define LANES_MOST	12
#define BLOCKS		40	/* the last ones are the silence, and the recorder */
#define SILENCE		(BLOCKS - 2)
#define RECORDER	(BLOCKS - 1)
#define PERIOD		10	/* ticks between two readings, mostly */
#define STEADY		60	/* of 100 ticks of the second half, those with the blocks 0, 1, 2, ... */
#define INTERVAL_NS	1e6

/* Room for 50 vectors of so many members each. */
static size_t room_of_50(size_t lanes)
{
	return 50 * (CPM_VECTOR_BYTES + lanes * CPM_MEMBER_BYTES);
}

/* What ran, and what the counter told. */
struct machine {
	size_t n_lanes;
	uint32_t n_ticks, stays;	/* so many ticks in a row are alike */
	uint32_t *block[LANES_MOST];	/* at each tick, SILENCE: none */
	struct lane packed[LANES_MOST];
	struct cpm_lane lanes[LANES_MOST];
	uint8_t kinds[BLOCKS];
	double power[BLOCKS];		/* microjoule a tick, on top of @still */
	double still;
	double uj[BLOCKS];		/* the truth by the model's convention: what ran shares by what each draws alone */
	uint64_t ticks[BLOCKS];
	struct cpm_reading *readings;
	size_t n_readings;
};

static void choose(struct machine *m, uint32_t tick, uint32_t *now, uint64_t *seed)
{
	bool steady = tick > m->n_ticks / 2 && tick / PERIOD * 7 % 100 < STEADY;

	if (tick % m->stays)
		return;
	for (size_t i = 0; i < m->n_lanes; i++) {
		if (steady)
			now[i] = i;
		else if (rnd(seed) % 3 || now[i] >= SILENCE)
			now[i] = rnd(seed) % (BLOCKS - 2);
	}
	/* now and then one CPU only: what a block draws alone is known */
	if (tick / PERIOD % 4 == 0)
		for (size_t i = 0; i < m->n_lanes; i++)
			now[i] = i == tick / (4 * PERIOD) % m->n_lanes ? tick / (4 * PERIOD) % (BLOCKS - 2) : SILENCE;
	else if (!steady && rnd(seed) % 50 == 0)
		now[rnd(seed) % m->n_lanes] = RECORDER;
	/* so do the windows at both ends, of which the counter does not tell all: what is told of them is what is told elsewhere */
	if (tick / PERIOD % 23 == 7 || tick < PERIOD || tick >= m->n_ticks - PERIOD)
		for (size_t i = 0; i < m->n_lanes; i++)
			now[i] = SILENCE;
}

/* What all of them draw together, without the recorder. */
static double own_of(const struct machine *m, const uint32_t *now)
{
	double own = 0;

	for (size_t i = 0; i < m->n_lanes; i++)
		own += now[i] < SILENCE ? m->power[now[i]] : 0;
	return own;
}

static void put_tick(struct machine *m, uint32_t tick, const uint32_t *now, double *uj)
{
	double own = 0, alone = 0;

	for (size_t i = 0; i < m->n_lanes; i++) {
		m->block[i][tick] = now[i];
		m->ticks[now[i]] += now[i] != SILENCE;
		own += m->power[now[i]];
		alone += now[i] < SILENCE ? m->power[now[i]] + m->still : 0;
		if (now[i] != SILENCE)
			assert_int_equal(lane_put(&m->packed[i], &(struct cpm_tick){ .tick = tick, .block = now[i] }, 0), 0);
	}
	for (size_t i = 0; i < m->n_lanes; i++) {
		if (now[i] < SILENCE)
			m->uj[now[i]] += (own_of(m, now) + m->still) * (m->power[now[i]] + m->still) / alone;
		else if (now[i] == RECORDER)
			m->uj[RECORDER] += m->power[RECORDER];
	}
	*uj += own + m->still;
}

static void machine_new(struct machine *m, size_t n_lanes, uint32_t n_ticks, uint32_t stays, uint64_t seed)
{
	uint32_t now[LANES_MOST] = { 0 };
	double uj = 0;

	*m = (struct machine){ .n_lanes = n_lanes, .n_ticks = n_ticks, .stays = stays, .still = 500 };
	m->readings = calloc(n_ticks, sizeof(*m->readings));
	for (uint32_t b = 0; b < SILENCE; b++)
		m->power[b] = 500 + 50 * b;
	m->power[RECORDER] = 300;
	m->kinds[RECORDER] = CPM_MARGINAL;
	m->kinds[SILENCE] = CPM_IDLE;
	for (size_t i = 0; i < n_lanes; i++)
		m->block[i] = calloc(n_ticks, sizeof(*m->block[i]));
	for (uint32_t k = 0; k < n_ticks; k++) {
		if (k % PERIOD == 0)
			m->readings[m->n_readings++] = (struct cpm_reading){ k, uj };
		choose(m, k, now, &seed);
		put_tick(m, k, now, &uj);
	}
	for (size_t i = 0; i < n_lanes; i++) {
		assert_int_equal(lane_seal(&m->packed[i]), 0);
		m->lanes[i].packed = &m->packed[i];
	}
}

static void machine_free(struct machine *m)
{
	for (size_t i = 0; i < m->n_lanes; i++) {
		free(m->block[i]);
		lane_free(&m->packed[i]);
	}
	free(m->readings);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Events are what ran at each tick, crowd or not, and each set of blocks is always the same vector. */
static void check_events(const struct machine *m, const struct cpm_vectors *v)
{
	struct cpm_events e;
	uint64_t crowds = 0, all = 0;

	assert_int_equal(cpm_events_begin(v, &e), 0);
	while (cpm_events_next(&e)) {
		for (uint64_t tick = e.tick; tick < e.tick + e.count; tick++) {
			uint32_t blocks[LANES_MOST], n = 0, others = 0;

			for (size_t i = 0; i < m->n_lanes; i++) {
				if (m->block[i][tick] == SILENCE)
					continue;
				blocks[n++] = m->block[i][tick];
				others += m->block[i][tick] != RECORDER;
			}
			qsort(blocks, n, sizeof(*blocks), by_number);
			assert_int_equal(e.n, n);
			assert_memory_equal(e.walk.blocks, blocks, n * sizeof(*blocks));
			if (cpm_is_crowd(v, e.vector)) {
				assert_true(n > 1);
				assert_int_equal(cpm_crowd_others(v, e.vector), others);
				assert_int_equal(v->base[e.vector] == e.vector, others == n);
			} else {
				assert_int_equal(v->first[e.vector + 1] - v->first[e.vector], n);
				assert_memory_equal(v->members + v->first[e.vector], blocks, n * sizeof(*blocks));
			}
			all++;
			crowds += cpm_is_crowd(v, e.vector);
		}
	}
	assert_int_equal(all, v->ticks);
	assert_int_equal(crowds, v->crowd_ticks);
	cpm_events_end(&e);
}

/* The vector of the steady blocks, UINT32_MAX: it is not there. */
static uint32_t steady_vector(const struct machine *m, const struct cpm_vectors *v)
{
	for (uint32_t i = 0; i < v->n_vectors; i++) {
		uint32_t n = v->first[i + 1] - v->first[i], same = 0;

		for (uint32_t k = 0; k < n; k++)
			same += v->members[v->first[i] + k] == k;
		if (n == m->n_lanes && same == n)
			return i;
	}
	return UINT32_MAX;
}

/* A few are kept, the frequent one among them though others were there before it, and all that a block runs alone in. */
static void what_is_frequent_is_kept_and_the_rest_is_counted(void **state)
{
	static const size_t lanes[] = { 2, 3, 8, 9, LANES_MOST };

	(void)state;
	for (size_t i = 0; i < sizeof(lanes) / sizeof(lanes[0]); i++) {
		struct cpm_vectors all, few;
		struct machine m;
		uint32_t kept = 0;

		machine_new(&m, lanes[i], 20000, 1, 5 + i);
		assert_int_equal(cpm_vectors_new(m.lanes, m.n_lanes, m.kinds, &all), 0);
		assert_false(cpm_has_crowds(&all));
		assert_int_equal(all.crowd_ticks, 0);
		assert_true(all.n_vectors > 700);
		assert_int_equal(cpm_vectors_collect(m.lanes, m.n_lanes, m.kinds, room_of_50(m.n_lanes), &few, NULL, 0), 0);
		assert_true(cpm_has_crowds(&few));
		for (uint32_t k = 0; k < few.first_crowd; k++)
			kept += few.first[k + 1] - few.first[k] > 1;
		print_message("%zu CPUs: %u vectors, %u kept, %.1f %% of ticks in crowds\n", lanes[i], all.n_vectors, kept,
			      100. * few.crowd_ticks / few.ticks);
		assert_in_range(kept, 1, 100);	/* with some of their bases */
		assert_in_range(few.n_vectors, 1, 100 + 1 + BLOCKS + 2 * (LANES_MOST + 1));
		assert_in_range(few.first[few.n_vectors], 1, 100 * LANES_MOST + BLOCKS);
		assert_true(steady_vector(&m, &few) != UINT32_MAX);
		assert_int_equal(few.ticks, all.ticks);
		assert_int_equal(few.multi, all.multi);
		assert_true(few.crowd_ticks > few.ticks / 5 && few.crowd_ticks < few.ticks * 7 / 10);
		check_events(&m, &all);
		check_events(&m, &few);
		cpm_vectors_free(&all);
		cpm_vectors_free(&few);
		machine_free(&m);
	}
}

/* No room at all, and room for one: what is kept then is what is always kept. */
static void without_room_blocks_alone_are_left(void **state)
{
	struct cpm_vectors v;
	struct machine m;

	(void)state;
	machine_new(&m, 3, 5000, 1, 9);
	for (size_t room = 1; room < 400; room += 300) {
		assert_int_equal(cpm_vectors_collect(m.lanes, m.n_lanes, m.kinds, room, &v, NULL, 0), 0);
		check_events(&m, &v);
		assert_in_range(v.n_vectors - 2 * (m.n_lanes + 1), 2, BLOCKS + 1);
		cpm_vectors_free(&v);
	}
	machine_free(&m);
}

/* A machine's profile, with so much room for what ran together. */
struct seen {
	struct profile_lane lanes[LANES_MOST];
	struct profile_package package;
	struct profile_input in;
	struct profile *p;
	struct profile_group groups[BLOCKS];
	double total_uj;
};

static void see(const struct machine *m, size_t room, enum profile_model model, struct seen *s)
{
	uint32_t group_of[BLOCKS];

	memset(s, 0, sizeof(*s));
	for (size_t i = 0; i < m->n_lanes; i++)
		s->lanes[i].lane = m->lanes[i];
	s->package = (struct profile_package){ .readings = { m->readings }, .n_readings = { m->n_readings } };
	s->in = (struct profile_input){
		.interval_ns = INTERVAL_NS, .jitter = 1, .end_tick = m->n_ticks, .n_lanes = m->n_lanes, .lanes = s->lanes,
		.n_packages = 1, .packages = &s->package, .n_domains = 1, .n_blocks = BLOCKS, .kinds = m->kinds,
		.silent_block = SILENCE, .steps = CPM_STEPS, .model = model, .irq_w = { NAN }, .idle_uj = { NAN },
		.vectors_room = room };
	for (uint32_t b = 0; b < BLOCKS; b++)
		group_of[b] = b;
	assert_int_equal(profile_new(&s->in, &s->p), 0);
	assert_int_equal(profile_groups(s->p, group_of, BLOCKS, s->groups), 0);
	for (uint32_t b = 0; b < BLOCKS; b++)
		s->total_uj += s->groups[b].energy[0].j.v * 1e6;
}

/* How far apart energies of blocks are at most, and from the truth with all vectors, and with 50. */
struct apart {
	double each, all, few;
};

static struct apart compare(uint32_t stays, uint64_t seed)
{
	static const size_t lanes[] = { 2, 4, LANES_MOST };
	struct apart apart = { 0 };
	struct seen all, few;
	struct machine m;

	machine_new(&m, lanes[seed % 3], 40000, stays, seed);
	see(&m, 0, PROFILE_CPM, &all);
	see(&m, room_of_50(m.n_lanes), PROFILE_CPM, &few);
	assert_int_equal(profile_crowd_ticks(all.p), 0);
	assert_true(profile_crowded(few.p) > 0.2);
	assert_true(fabs(few.total_uj / all.total_uj - 1) < 1e-9);
	assert_true(fabs(few.total_uj / m.readings[m.n_readings - 1].uj - 1) < 1e-3);
	for (uint32_t b = 0; b < BLOCKS; b++) {
		const struct profile_group *x = &all.groups[b], *y = &few.groups[b];
		double j = m.uj[b] * 1e-6;

		assert_int_equal(x->samples, y->samples);
		assert_memory_equal(&x->time_s, &y->time_s, sizeof(x->time_s));
		if (b == SILENCE)
			continue;
		assert_int_equal(x->samples, m.ticks[b]);
		assert_int_equal(x->energy[0].readings, y->energy[0].readings);
		assert_true(y->energy[0].j.lo < y->energy[0].j.v && y->energy[0].j.hi > y->energy[0].j.v);
		if (b == RECORDER)
			continue;
		apart.each = fmax(apart.each, fabs(y->energy[0].j.v / x->energy[0].j.v - 1));
		apart.all = fmax(apart.all, fabs(x->energy[0].j.v / j - 1));
		apart.few = fmax(apart.few, fabs(y->energy[0].j.v / j - 1));
	}
	profile_free(all.p);
	profile_free(few.p);
	machine_free(&m);
	return apart;
}

static void times_are_the_same_and_energies_nearly(void **state)
{
	(void)state;
	for (uint32_t stays = 1; stays <= PERIOD; stays += PERIOD - 1) {
		struct apart worst = { 0 };

		for (uint64_t seed = 1; seed <= 10; seed++) {
			struct apart a = compare(stays, seed);

			worst.each = fmax(worst.each, a.each);
			worst.all = fmax(worst.all, a.all);
			worst.few = fmax(worst.few, a.few);
		}
		print_message("sets of blocks that last for %u ticks: %.3f %% apart at most; %.2f %% from the truth with all vectors, %.2f %% with 50\n",
			      stays, 100 * worst.each, 100 * worst.all, 100 * worst.few);
		assert_true(worst.each < 0.005);
		/* where a window is of one set of blocks nothing is lost at all */
		assert_true(worst.few < worst.all + 0.003);
		assert_true(stays == 1 || worst.few < 0.02);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_frequent_is_kept_and_the_rest_is_counted),
		cmocka_unit_test(without_room_blocks_alone_are_left),
		cmocka_unit_test(times_are_the_same_and_energies_nearly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
