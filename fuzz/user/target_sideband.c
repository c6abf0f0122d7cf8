// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target: perf's side band of any content, and asking the maps made of it. The input
 * is the records.
 */
#include <string.h>
#include "fuzz/user/capture.h"
#include "fuzz/user/target.h"
#include "lib/code/maps.h"
#include "lib/sideband/sideband.h"

static void ask(const struct kjoule_maps *maps, uint32_t pid, uint32_t tid, uint64_t time_ns,
		uint64_t ip)
{
	const struct kjoule_map *map = kjoule_maps_find(maps, pid, time_ns, ip);
	const char *comm = kjoule_maps_comm(maps, pid, tid, time_ns);

	if (map)
		must_hold(ip - map->start < map->len && map->time_ns <= time_ns &&
			  strlen(map->path) < 65536,
			  "a mapping that is found was there");
	if (comm)
		must_hold(strlen(comm) < 65536, "a name ends");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);	/* aligned as record buffers are */
	struct kjoule_event ev, last = { 0 };
	struct kjoule_maps *maps;
	size_t off = 0, skipped, asked = 0;

	must_end_soon(len);
	if (!copy)
		abort();
	memcpy(copy, data, len);
	if (kjoule_maps_new(copy, len, &maps, &skipped))
		abort();
	while (kjoule_event_next(copy, len, &off, &ev) > 0) {
		must_hold(off <= len, "an event ends in its buffer");
		if (asked++ > 1000)
			continue;
		ask(maps, ev.pid, ev.tid, ev.time_ns, ev.start + ev.len / 2);
		ask(maps, last.pid, ev.tid, ev.time_ns, last.start);
		ask(maps, ev.pid, last.tid, last.time_ns, ev.start);
		ask(maps, ev.ppid, ev.tid, UINT64_MAX, last.start + 1);
		last = ev;
	}
	must_hold(off + skipped == len, "what was not read is reported");
	kjoule_maps_free(maps);
	free(copy);
	return 0;
}
