// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ticks on CPUs without energy in a domain: those of a package without a counter, or whose counter
 * was stuck. See profile_internal.h.
 */
#include <errno.h>
#include <stdlib.h>
#include "analysis/profile/profile_internal.h"

/* Mark the streams that a counter covers. Return: are there others? */
static bool streams_find_covered(const struct profile *p, unsigned int domain, bool *covered)
{
	const struct profile_input *in = p->in;
	bool known = false, all = true;

	for (size_t i = 0; i < in->n_packages; i++) {
		known |= p->packages[i].known[domain];
		for (size_t l = 0; l < profile_n_streams(in, i) && p->packages[i].known[domain];
		     l++)
			covered[profile_stream(in, i, l) - in->streams] = true;
	}
	for (size_t l = 0; l < in->n_streams; l++)
		all &= covered[l] || in->streams[l].shadow;
	return known && !all;
}

int profile_cover(const struct profile *p, unsigned int domain, struct profile_covered **out)
{
	const struct profile_input *in = p->in;
	struct profile_covered *blocks = NULL;
	bool *covered = calloc(in->n_streams + 1, sizeof(*covered));
	struct tick_stream_cursor c;
	int ret = covered ? 0 : -ENOMEM;

	*out = NULL;
	if (!ret && streams_find_covered(p, domain, covered)) {
		blocks = calloc(in->n_blocks + 1ul, sizeof(*blocks));
		ret = blocks ? 0 : -ENOMEM;
	}
	for (size_t l = 0; l < in->n_streams && blocks; l++) {
		if (in->streams[l].shadow)
			continue;
		tick_stream_begin(&c, &in->streams[l].stream, in->streams[l].freq_khz);
		while (tick_stream_next(&c)) {
			struct profile_ticks *of = in->kinds[c.t.block] == CPM_IDLE ?
						   &blocks[c.t.block].idle :
						   &blocks[c.t.block].busy;
			uint64_t ticks = c.t.more + 1ull;

			of->all += ticks;
			of->known_ticks += covered[l] ? ticks : 0;
		}
	}
	free(covered);
	*out = blocks;
	return ret;
}

static void ticks_add(struct profile_ticks *to, const struct profile_ticks *more)
{
	to->all += more->all;
	to->known_ticks += more->known_ticks;
}

void profile_cover_groups(const struct profile_covered *blocks, const uint32_t *group_of,
			  uint32_t n_blocks, struct profile_covered *groups)
{
	for (uint32_t b = 0; b < n_blocks; b++) {
		ticks_add(&groups[group_of[b]].busy, &blocks[b].busy);
		ticks_add(&groups[group_of[b]].idle, &blocks[b].idle);
	}
}

double profile_known_part(const struct profile_covered *c)
{
	/* an idle CPU's energy is its package's: it is no measure of others' */
	const struct profile_ticks *t = c->busy.all ? &c->busy : &c->idle;

	return t->all ? (double)t->known_ticks / t->all : 1;
}
