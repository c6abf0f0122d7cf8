// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * More co-running sets than may be kept: times and energies are nearly those with all of them, and
 * memory stays bounded. Simulated CPUs whose blocks have known powers.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include "analysis/profile/corunning.h"
#include "analysis/profile/profile.h"
#include "analysis/profile/separability.h"
#include "header/header.h"
#include "report/report.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

#define STREAMS_MOST	12
#define BLOCKS		40	/* the last ones are the silence, and the recorder */
#define SILENCE		(BLOCKS - 2)
#define RECORDER	(BLOCKS - 1)
#define PERIOD		10	/* ticks between two readings, mostly */
/* of 100 ticks of the second half, those with the blocks 0, 1, 2, ... */
#define STEADY		60
#define INTERVAL_NS	1e6

/* Room for 50 vectors of so many members each. */
static size_t room_of_50(size_t streams)
{
	return 50 * (CPM_VECTOR_BYTES + streams * CPM_MEMBER_BYTES);
}

/* The blocks of each tick, and the counter. */
struct machine {
	size_t n_streams;
	uint32_t n_ticks, stays;	/* so many ticks in a row are alike */
	double tick_ns;			/* what a tick takes, at 1 W */
	uint32_t *block[STREAMS_MOST];	/* at each tick, SILENCE: none */
	struct tick_stream packed[STREAMS_MOST];
	struct cpm_stream streams[STREAMS_MOST];
	uint8_t kinds[BLOCKS];
	double power[BLOCKS];		/* microjoule a tick, on top of @still */
	double still;
	/* the truth by the model's convention: blocks share by what each draws alone */
	double uj[BLOCKS];
	uint64_t ticks[BLOCKS];
	struct cpm_reading *readings;
	size_t n_readings;
};

static void choose(struct machine *m, uint32_t tick, uint32_t *now, uint64_t *seed)
{
	bool steady = tick > m->n_ticks / 2 && tick / PERIOD * 7 % 100 < STEADY;

	if (tick % m->stays)
		return;
	for (size_t i = 0; i < m->n_streams; i++) {
		if (steady)
			now[i] = i;
		else if (rnd(seed) % 3 || now[i] >= SILENCE)
			now[i] = rnd(seed) % (BLOCKS - 2);
	}
	/* now and then one CPU only: what a block draws alone is known */
	if (tick / PERIOD % 4 == 0)
		for (size_t i = 0; i < m->n_streams; i++)
			now[i] = i == tick / (4 * PERIOD) % m->n_streams ? tick / (4 * PERIOD) %
				 (BLOCKS - 2) : SILENCE;
	else if (!steady && rnd(seed) % 50 == 0)
		now[rnd(seed) % m->n_streams] = RECORDER;
	/* so do the windows at both ends, which readings do not enclose: as in others */
	if (tick / PERIOD % 23 == 7 || tick < PERIOD || tick >= m->n_ticks - PERIOD)
		for (size_t i = 0; i < m->n_streams; i++)
			now[i] = SILENCE;
}

/* What all of them draw together, without the recorder. */
static double own_of(const struct machine *m, const uint32_t *now)
{
	double own = 0;

	for (size_t i = 0; i < m->n_streams; i++)
		own += now[i] < SILENCE ? m->power[now[i]] : 0;
	return own;
}

static void put_tick(struct machine *m, uint32_t tick, const uint32_t *now, double *uj)
{
	double own = 0, alone = 0;

	for (size_t i = 0; i < m->n_streams; i++) {
		m->block[i][tick] = now[i];
		m->ticks[now[i]] += now[i] != SILENCE;
		own += m->power[now[i]];
		alone += now[i] < SILENCE ? m->power[now[i]] + m->still : 0;
		if (now[i] != SILENCE)
			assert_int_equal(tick_stream_put(&m->packed[i],
							 &(struct cpm_tick){ .tick = tick,
									     .block = now[i] }, 0),
					 0);
	}
	for (size_t i = 0; i < m->n_streams; i++) {
		if (now[i] < SILENCE)
			m->uj[now[i]] += (own_of(m, now) + m->still) *
					 (m->power[now[i]] + m->still) / alone;
		else if (now[i] == RECORDER)
			m->uj[RECORDER] += m->power[RECORDER];
	}
	*uj += own + m->still;
}

static void machine_new(struct machine *m, size_t n_streams, uint32_t n_ticks, uint32_t stays,
			uint64_t seed)
{
	uint32_t now[STREAMS_MOST] = { 0 };
	double uj = 0;

	*m = (struct machine){ .n_streams = n_streams, .n_ticks = n_ticks, .stays = stays,
			       .still = 500 };
	m->readings = calloc(n_ticks, sizeof(*m->readings));
	for (uint32_t b = 0; b < SILENCE; b++)
		m->power[b] = 500 + 50 * b;
	m->power[RECORDER] = 300;
	m->kinds[RECORDER] = CPM_MARGINAL;
	m->kinds[SILENCE] = CPM_IDLE;
	for (size_t i = 0; i < n_streams; i++)
		m->block[i] = calloc(n_ticks, sizeof(*m->block[i]));
	for (uint32_t k = 0; k < n_ticks; k++) {
		if (k % PERIOD == 0)
			m->readings[m->n_readings++] = (struct cpm_reading){ k, uj };
		choose(m, k, now, &seed);
		put_tick(m, k, now, &uj);
	}
	for (size_t i = 0; i < n_streams; i++) {
		assert_int_equal(tick_stream_seal(&m->packed[i]), 0);
		m->streams[i].packed = &m->packed[i];
	}
}

static void machine_free(struct machine *m)
{
	for (size_t i = 0; i < m->n_streams; i++) {
		free(m->block[i]);
		tick_stream_free(&m->packed[i]);
	}
	free(m->readings);
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Events have the blocks of each tick, and each set of blocks is always the same vector. */
static void check_events(const struct machine *m, const struct cpm_vectors *v)
{
	struct cpm_events e;
	uint64_t other_sets = 0, all = 0;

	assert_int_equal(cpm_events_begin(v, &e), 0);
	while (cpm_events_next(&e)) {
		for (uint64_t tick = e.tick; tick < e.tick + e.count; tick++) {
			uint32_t blocks[STREAMS_MOST], n = 0, others = 0;

			for (size_t i = 0; i < m->n_streams; i++) {
				if (m->block[i][tick] == SILENCE)
					continue;
				blocks[n++] = m->block[i][tick];
				others += m->block[i][tick] != RECORDER;
			}
			qsort(blocks, n, sizeof(*blocks), by_number);
			assert_int_equal(e.n, n);
			assert_memory_equal(e.walk.blocks, blocks, n * sizeof(*blocks));
			if (cpm_is_other_set(v, e.vector)) {
				assert_true(n > 1);
				assert_int_equal(cpm_other_set_size(v, e.vector), others);
				assert_int_equal(v->base[e.vector] == e.vector, others == n);
			} else {
				assert_int_equal(v->first[e.vector + 1] - v->first[e.vector], n);
				assert_memory_equal(v->members + v->first[e.vector], blocks,
						    n * sizeof(*blocks));
			}
			all++;
			other_sets += cpm_is_other_set(v, e.vector);
		}
	}
	assert_int_equal(all, v->ticks);
	assert_int_equal(other_sets, v->other_set_ticks);
	cpm_events_end(&e);
}

/* The vector of the steady blocks, UINT32_MAX: it is not there. */
static uint32_t steady_vector(const struct machine *m, const struct cpm_vectors *v)
{
	for (uint32_t i = 0; i < v->n_vectors; i++) {
		uint32_t n = v->first[i + 1] - v->first[i], same = 0;

		for (uint32_t k = 0; k < n; k++)
			same += v->members[v->first[i] + k] == k;
		if (n == m->n_streams && same == n)
			return i;
	}
	return UINT32_MAX;
}

/*
 * A few are kept, the frequent one among them though others were there before it, and all that a
 * block runs alone in.
 */
TEST(frequent_sets_are_kept_and_the_others_counted)
{
	static const size_t streams[] = { 2, 3, 8, 9, STREAMS_MOST };

	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
		struct cpm_vectors all, few;
		struct machine m;
		uint32_t kept = 0;

		machine_new(&m, streams[i], 20000, 1, 5 + i);
		assert_int_equal(cpm_vectors_new(m.streams, m.n_streams, m.kinds, &all), 0);
		assert_false(cpm_has_other_sets(&all));
		assert_int_equal(all.other_set_ticks, 0);
		assert_true(all.n_vectors > 700);
		assert_int_equal(cpm_vectors_collect(m.streams, m.n_streams, m.kinds,
						     room_of_50(m.n_streams), &few, NULL, 0), 0);
		assert_true(cpm_has_other_sets(&few));
		for (uint32_t k = 0; k < few.first_other_set; k++)
			kept += few.first[k + 1] - few.first[k] > 1;
		print_message("%zu CPUs: %u vectors, %u kept, %.1f %% of ticks in all other sets\n",
			      streams[i], all.n_vectors, kept,
			      100. * few.other_set_ticks / few.ticks);
		assert_in_range(kept, 1, 100);	/* with some of their bases */
		assert_in_range(few.n_vectors, 1, 100 + 1 + BLOCKS + 2 * (STREAMS_MOST + 1));
		assert_in_range(few.first[few.n_vectors], 1, 100 * STREAMS_MOST + BLOCKS);
		assert_true(steady_vector(&m, &few) != UINT32_MAX);
		assert_int_equal(few.ticks, all.ticks);
		assert_int_equal(few.multi, all.multi);
		assert_true(few.other_set_ticks > few.ticks / 5 && few.other_set_ticks < few.ticks *
			    7 / 10);
		check_events(&m, &all);
		check_events(&m, &few);
		cpm_vectors_free(&all);
		cpm_vectors_free(&few);
		machine_free(&m);
	}
}

/* No room at all, and room for one: what is kept then is what is always kept. */
TEST(without_room_blocks_alone_are_left)
{
	struct cpm_vectors v;
	struct machine m;

	machine_new(&m, 3, 5000, 1, 9);
	for (size_t room = 1; room < 400; room += 300) {
		assert_int_equal(cpm_vectors_collect(m.streams, m.n_streams, m.kinds, room, &v,
						     NULL, 0), 0);
		check_events(&m, &v);
		assert_in_range(v.n_vectors - 2 * (m.n_streams + 1), 2, BLOCKS + 1);
		cpm_vectors_free(&v);
	}
	machine_free(&m);
}

/* A machine's profile, with so much room for co-running sets. */
struct seen {
	struct profile_stream streams[STREAMS_MOST];
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
	for (size_t i = 0; i < m->n_streams; i++)
		s->streams[i] = (struct profile_stream){ .stream = m->streams[i],
							 .tick_ns = m->tick_ns };
	s->package = (struct profile_package){ .readings = { m->readings },
					       .n_readings = { m->n_readings } };
	s->in = (struct profile_input){
		.interval_ns = INTERVAL_NS, .jitter = 1, .end_tick = m->n_ticks,
		.n_streams = m->n_streams, .streams = s->streams,
		.n_packages = 1, .packages = &s->package, .n_domains = 1, .n_blocks = BLOCKS,
		.kinds = m->kinds,
		.unsampled_block = SILENCE, .steps = CPM_STEPS, .model = model,
		.irq_w = { m->tick_ns > 0 ? 1 : NAN }, .idle_uj = { NAN },
		.vectors_room = room };
	for (uint32_t b = 0; b < BLOCKS; b++)
		group_of[b] = b;
	assert_int_equal(profile_new(&s->in, &s->p), 0);
	assert_int_equal(profile_groups(s->p, group_of, BLOCKS, s->groups), 0);
	for (uint32_t b = 0; b < BLOCKS; b++)
		s->total_uj += s->groups[b].energy[0].j.v * 1e6;
}

/*
 * How far apart energies of blocks are at most, and from the truth with all vectors, and with 50.
 */
struct apart {
	double each, all, few;
};

static struct apart compare(uint32_t stays, uint64_t seed)
{
	static const size_t streams[] = { 2, 4, STREAMS_MOST };
	struct apart apart = { 0 };
	struct seen all, few;
	struct machine m;

	machine_new(&m, streams[seed % 3], 40000, stays, seed);
	m.tick_ns = seed % 2 ? 10000 : 0;
	see(&m, 0, PROFILE_CPM, &all);
	see(&m, room_of_50(m.n_streams), PROFILE_CPM, &few);
	assert_int_equal(profile_other_set_ticks(all.p), 0);
	assert_true(profile_other_set_part(few.p) > 0.2);
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
		assert_true(y->energy[0].j.lo < y->energy[0].j.v &&
			    y->energy[0].j.hi > y->energy[0].j.v);
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

TEST(times_are_the_same_and_energies_nearly)
{
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

/* Which blocks have little time does not depend on what is kept. */
TEST(blocks_of_little_time_are_the_same)
{
	const uint32_t pool_of[BLOCKS] = { 0 };
	struct separation all, few;
	struct machine m;
	struct seen s[2];

	machine_new(&m, 2, 40000, PERIOD, 4);
	see(&m, 0, PROFILE_CPM, &s[0]);
	see(&m, room_of_50(m.n_streams), PROFILE_CPM, &s[1]);
	assert_int_equal(separability_new(s[0].p, &s[0].in, pool_of, &all), 0);
	assert_int_equal(separability_new(s[1].p, &s[1].in, pool_of, &few), 0);
	for (uint32_t b = 0; b < SILENCE; b++) {
		assert_int_equal(all.fate[b] == SEPARABILITY_LITTLE, false);
		assert_int_equal(few.fate[b] == SEPARABILITY_LITTLE, false);
	}
	separability_free(&all);
	separability_free(&few);
	profile_free(s[0].p);
	profile_free(s[1].p);
	machine_free(&m);
}

/* A label for each block: what labels of a block's ticks get is what the block gets. */
TEST(labels_of_all_other_sets_add_up_to_their_blocks)
{
	uint32_t *labels[STREAMS_MOST];
	double uj[BLOCKS];
	struct machine m;
	struct seen s;

	machine_new(&m, 4, 10000, 1, 3);
	for (size_t i = 0; i < m.n_streams; i++) {
		struct tick_stream_cursor c;
		size_t n = 0;

		labels[i] = calloc(m.n_ticks, sizeof(*labels[i]));
		tick_stream_begin(&c, &m.streams[i], NULL);
		while (tick_stream_next(&c))
			labels[i][n++] = c.t.block;
	}
	see(&m, room_of_50(m.n_streams), PROFILE_CPM, &s);
	assert_true(profile_other_set_part(s.p) > 0.2);
	assert_int_equal(profile_labels(s.p, 0, (const uint32_t *const *)labels, SILENCE, BLOCKS,
					uj), 0);
	for (uint32_t b = 0; b < BLOCKS; b++)
		assert_true(fabs(uj[b] * 1e-6 - s.groups[b].energy[0].j.v) < 1e-9 * s.total_uj *
			    1e-6);
	profile_free(s.p);
	for (size_t i = 0; i < m.n_streams; i++)
		free(labels[i]);
	machine_free(&m);
}

/* Sets with a row have the figures of an unlimited table; the last row is the rest. */
TEST(sets_that_were_not_kept_are_one_row)
{
	struct corunning all, few;
	struct machine m;
	struct seen s[2];
	uint64_t ticks = 0;
	double uj = 0;

	machine_new(&m, 4, 40000, PERIOD, 4);
	see(&m, 0, PROFILE_CPM, &s[0]);
	see(&m, room_of_50(m.n_streams), PROFILE_CPM, &s[1]);
	assert_int_equal(corunning_new(s[0].p, &s[0].in, 20, &all), 0);
	assert_int_equal(corunning_new(s[1].p, &s[1].in, 20, &few), 0);
	assert_int_equal(few.n, 20);
	assert_true(fabs(few.total_j[0].v / all.total_j[0].v - 1) < 1e-9);
	for (size_t i = 0; i < 20; i++) {
		ticks += few.vectors[i].ticks;
		uj += few.vectors[i].energy[0].j.v * 1e6;
		if (i == 19)
			break;
		assert_int_equal(few.vectors[i].other_set_ticks, 0);
		assert_int_equal(all.vectors[i].other_set_ticks, 0);
		if (i > 5)	/* of the others some have as many ticks */
			continue;
		assert_int_equal(few.vectors[i].n, all.vectors[i].n);
		assert_memory_equal(few.vectors[i].members, all.vectors[i].members,
				    few.vectors[i].n * sizeof(uint32_t));
		assert_int_equal(few.vectors[i].ticks, all.vectors[i].ticks);
		assert_memory_equal(&few.vectors[i].time_s, &all.vectors[i].time_s,
				    sizeof(struct value));
		assert_true(fabs(few.vectors[i].energy[0].j.v / all.vectors[i].energy[0].j.v - 1) <
			    0.005);
	}
	assert_int_equal(ticks, m.n_ticks);
	assert_true(fabs(uj / (few.total_j[0].v * 1e6) - 1) < 1e-9);
	assert_int_equal(few.vectors[19].other_set_ticks, profile_other_set_ticks(s[1].p));
	assert_true(few.vectors[19].others > 0 &&
		    few.vectors[19].ticks > few.vectors[19].other_set_ticks);
	assert_int_equal(few.vectors[19].n, 0);
	corunning_free(&all);
	corunning_free(&few);
	/* fewer were kept than rows allowed */
	assert_int_equal(corunning_new(s[1].p, &s[1].in, 1000, &few), 0);
	assert_int_equal(few.vectors[few.n - 1].others, 0);
	assert_int_equal(few.vectors[few.n - 1].ticks, profile_other_set_ticks(s[1].p));
	assert_int_equal(few.vectors[few.n - 1].other_set_ticks, profile_other_set_ticks(s[1].p));
	corunning_free(&few);
	profile_free(s[0].p);
	profile_free(s[1].p);
	machine_free(&m);
}

/* The mixture model: all other sets are no class of blocks, and their blocks get their energy. */
TEST(mixture_shares_all_other_sets)
{
	double apart = 0, narrow = 9;
	struct machine m;
	struct seen s[2];

	machine_new(&m, 2, 40000, PERIOD, 4);
	see(&m, 0, PROFILE_MIXTURE, &s[0]);
	see(&m, room_of_50(m.n_streams), PROFILE_MIXTURE, &s[1]);
	for (int i = 0; i < 2; i++) {
		assert_non_null(profile_mixture(s[i].p, 0, 0));
		assert_int_equal(profile_mixture(s[i].p, 0, 0)->why, MIXTURE_SOLVED);
	}
	assert_true(fabs(s[1].total_uj / s[0].total_uj - 1) < 1e-6);
	for (uint32_t b = 0; b < SILENCE; b++) {
		const struct value *x = &s[0].groups[b].energy[0].j,
		*y = &s[1].groups[b].energy[0].j;

		apart = fmax(apart, fabs(y->v / x->v - 1));
		/* the power of all other sets is not more certain than a class's */
		narrow = fmin(narrow, (y->hi - y->lo) / (x->hi - x->lo));
	}
	print_message("mixture: blocks are %.1f %% apart at most, intervals at least %.2f times as wide\n",
		      100 * apart, narrow);
	assert_true(apart < 0.15);
	assert_true(narrow > 0.5);
	profile_free(s[0].p);
	profile_free(s[1].p);
	machine_free(&m);
}

#define PROGRAMS	30

/* Three CPUs, each at a program of its own at every tick, 1 W each. */
static void record(const char *name)
{
	struct buffer b[3] = { { 0 } };
	struct kjoule_meta meta;
	uint64_t uj[2] = { 0, 0 }, seed = 1;

	make_meta(&meta, 3, 1000000, KJOULE_TARGET_SYSTEM);
	for (uint32_t k = 0; k < 3000; k++) {
		if (k % 10 == 0)
			put_energy(&b[0], k, 3, uj);
		for (int i = 0; i < 3; i++) {
			uint32_t pid = 100 + rnd(&seed) % PROGRAMS;

			put_task(&b[i], pid, pid);
			put_sample(&b[i], k, 0x10001000, 0, 1000000, 100);
		}
		uj[0] += 3000;
		uj[1] += 1500;
	}
	write_recording(temp_path(name), &meta, b, 3, "/nonexistent/program", 3000);
}

/* What a report says on standard output. */
static char *printed(const struct view *v, const struct blocks *b, const struct profile *p)
{
	const struct power_model model = { .asked = MODEL_CPM, .used = MODEL_CPM };

	begin_to_read();
	header_print(&(struct header){ v, b, p, NULL, &model, "file", 3000, NAN, false });
	return end_to_read();
}

TEST(the_report_counts_ticks_of_all_other_sets)
{
	const struct power_model model = { .asked = MODEL_CPM, .used = MODEL_CPM };
	struct kjoule_error error;
	struct json_object *doc;
	struct profile *p;
	struct blocks b;
	struct view v;
	char expected[160], *text;

	record("sets");
	doc = kjoule_json(0, "report --json %s", temp_path("sets"));
	assert_int_equal(number(doc, "other_set_ticks"), 0);
	assert_true(near(number(doc, "other_set_part"), 0, 0));
	assert_int_equal(kjoule("report %s", temp_path("sets")), 0);
	assert_null(strstr(out, "rarely ran together"));
	assert_int_equal(view_open(temp_path("sets"), &v, &error), 0);
	assert_int_equal(blocks_new(&v, NULL, false, &b), 0);
	b.input.vectors_room = room_of_50(3);
	assert_int_equal(profile_new(&b.input, &p), 0);
	assert_in_range(profile_other_set_ticks(p), 2000, 2999);
	doc = header_json(&(struct header){ &v, &b, p, NULL, &model, "file", 3000, NAN, false });
	assert_int_equal(number(doc, "other_set_ticks"), profile_other_set_ticks(p));
	assert_true(near(number(doc, "other_set_part"), profile_other_set_ticks(p) / 3000., 1e-9));
	json_object_put(doc);
	text = printed(&v, &b, p);
	snprintf(expected, sizeof(expected), "# corunning  at %" PRIu64
		 " busy ticks (%.1f %%) ran what rarely ran together", profile_other_set_ticks(p),
		 100 * profile_other_set_part(p));
	assert_true(says(text, expected));
	profile_free(p);
	blocks_free(&b);
	view_close(&v);
}

/*
 * A counter used for both kinds of windows again is not counted twice: two domains, one half of the
 * other.
 */
TEST(all_counters_begin_anew)
{
	struct profile *p;
	struct kjoule_error error;
	struct blocks b;
	struct view v;

	record("counters");
	assert_int_equal(view_open(temp_path("counters"), &v, &error), 0);
	assert_int_equal(blocks_new(&v, NULL, false, &b), 0);
	b.input.vectors_room = room_of_50(3);
	assert_int_equal(profile_new(&b.input, &p), 0);
	for (unsigned int d = 0; d < 2; d++) {
		const struct cpm_domain *domain = profile_domain(p, 0, d);
		struct cpm_windows c;
		uint64_t ticks = 0;
		double uj = 0;

		/* of 300; what came before the first move is not known */
		assert_int_equal(profile_readings(p, d), 298);
		assert_int_equal(domain->n_windows, 300);
		assert_int_equal(cpm_windows_begin(domain, &c), 0);
		while (cpm_windows_next(&c)) {
			for (size_t i = 0; i < c.w.n_parts; i++)
				ticks += c.w.parts[i].count;
			uj += c.w.uj;
		}
		cpm_windows_end(&c);
		assert_int_equal(ticks, 3000);
		assert_true(near(uj, 298 * 30000. / (d + 1), 298));
	}
	profile_free(p);
	blocks_free(&b);
	view_close(&v);
}
