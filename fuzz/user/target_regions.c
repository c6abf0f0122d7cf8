// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: marks of regions of any content, with a side band of any content, and asking what
 * was made of them. The first byte of the input says how many eight bytes of side band come before
 * the batches.
 */
#include <string.h>
#include "fuzz/user/capture.h"
#include "fuzz/user/target.h"
#include "lib/region/mark_ring.h"
#include "lib/region/region_timeline.h"

static void ask(const struct kjoule_regions *r, uint32_t tid, uint64_t time_ns)
{
	uint32_t path = kjoule_regions_find(r, tid, time_ns);

	must_hold(path < r->n_paths, "a region that is found is there");
	must_hold(strlen(r->paths[path].text) < 64 * 33, "what it is called ends");
	kjoule_regions_inside(r, path, "load/inner");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const uint64_t begin = 1000000000, end = 1100000000;
	size_t side_len = len ? data[0] * 8 : 0;
	uint8_t *side, *batches;
	struct kjoule_regions *r;
	uint64_t entered = 0, unended = 0;

	must_end_soon(len);
	len -= len > 0;
	data += len > 0;
	side_len = side_len < len ? side_len : len;
	side = malloc(side_len + 1);
	batches = malloc(len - side_len + 1);
	if (!side || !batches)
		abort();
	if (len) {
		memcpy(side, data, side_len);
		memcpy(batches, data + side_len, len - side_len);
	}
	if (kjoule_regions_new(batches, len - side_len, side, side_len, begin, end, &r))
		abort();
	must_hold(r->n_paths >= 2 && r->n_paths <= KJOULE_REGIONS_MOST, "there are as many paths as there may be");
	for (size_t i = 0; i < r->n_counts; i++) {
		const struct kjoule_regions_count *c = &r->counts[i];

		must_hold(c == kjoule_regions_count(r, c->pid, c->path), "a count is found again");
		must_hold(c->path < r->n_paths && c->path != KJOULE_REGIONS_OUTSIDE, "and is that of a region");
		entered += c->entered;
		unended += c->unended;
		ask(r, c->pid, begin + i);
	}
	must_hold(entered == r->entered && unended == r->unended, "counts add up");
	for (uint32_t tid = 99; tid < 103; tid++)
		for (uint64_t t = begin - 1; t <= end; t += 10000000)
			ask(r, tid, t);
	ask(r, 0, UINT64_MAX);
	kjoule_regions_free(r);
	free(side);
	free(batches);
	return 0;
}
