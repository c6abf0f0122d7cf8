// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See series.h.
 */
#include <stdio.h>
#include "tests/support/series.h"
#include "tests/support/synthetic.h"

/* Of no object. */
#define NOWHERE	0x70000000

static uint64_t state = 1;

/* It ran from tick @k - 10 on, and was paused from just before @k - 4 to just before @k. */
static void put_window(struct buffer *b, uint32_t k, uint64_t uj)
{
	uint64_t now = 1000000000ull + k * 1000000ull - 500000;
	struct kjoule_window w = { .rec = { KJOULE_RECORD_WINDOW, KJOULE_WINDOW_LEADER, sizeof(w) },
				   .tick = k, .number = k / 100, .poll_ns = now - 10000000,
				   .begin_ns = now - 10000000, .run_ns = now - 10000000,
				   .pause_ns = now - 4000000, .end_ns = now, .end_uj = uj };

	put_bytes(b, &w, sizeof(w));
}

const char *series_record(const struct series_run *r)
{
	const char *path = temp_path(r->name);
	char *argv[] = { (char *)"./program", (char *)(r->argument ? r->argument : "an argument"),
			 NULL };
	uint32_t n_cpus = r->cpus ? r->cpus : 1;
	uint64_t start = r->start ? r->start : 0x10000000;
	struct buffer b[2] = { { 0 } };
	struct kjoule_meta meta;
	unsigned int block = 0;
	double uj = 0;

	make_meta(&meta, n_cpus, r->interval_ns ? r->interval_ns : 1000000,
		  r->system ? KJOULE_TARGET_SYSTEM : KJOULE_TARGET_PROCESS);
	meta.argv = argv;
	if (r->system && r->argument)
		meta.argc = 2;
	if (r->no_source) {
		meta.session.sources[0] = meta.session.sources[1];
		meta.session.n_sources = 1;
	}
	put_task(&b[0], 100, 100);
	for (uint32_t k = 0; k < r->ticks; k++) {
		bool second = (r->turn ? block == 1 : (k + r->phase) / 100 % 2) || r->kernel_only;
		uint64_t at = r->offset ? r->offset : 0x1000 + (rnd(&state) % 64) * 4;

		if ((k + r->phase) % 10 == 0 && !r->no_energy && !r->no_source)
			put_energy(&b[0], k, 3, (uint64_t[]){ uj, uj / 2 });
		if (r->paused && k % 100 == 50)
			put_window(&b[0], k, uj);
		put_sample(&b[0], k, second ? 0xffffffff81000000 : block == 2 ? NOWHERE + at :
			   start + at, second ? KJOULE_SAMPLE_KERNEL : 0, 1000000, 100);
		if (r->turn && rnd(&state) % r->turn == 0)
			block = (block + 1) % 3;
		uj += 1000 * (second ? 2 : block == 2 ? 3 : r->watt) *
		      (0.9 + 0.2 * rnd_unit(&state));
	}
	put_program(start, r->build_id);
	write_recording(path, &meta, b, n_cpus, r->exe ? r->exe : SERIES_OBJECT, r->ticks);
	return path;
}

const char *series_files(const char *first, size_t n)
{
	static char text[4096];
	size_t at = 0;

	for (size_t i = 0; i < n && at < sizeof(text); i++) {
		char name[64];

		snprintf(name, sizeof(name), "%s.%zu", first, i + 1);
		at += snprintf(text + at, sizeof(text) - at, "%s%s", i ? " " : "", temp_path(name));
	}
	return text;
}
