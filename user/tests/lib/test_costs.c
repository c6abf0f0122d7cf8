// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cost of reading simulated recordings: each has many of one thing, and reading it takes a time
 * that grows with their number, not with its square. The limit for any single input is checked by
 * the fuzz targets (fuzz/capture.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "lib/control/ring.h"
#include "lib/file/datafile.h"
#include "lib/file/meta.h"
#include "lib/file/pack.h"
#include "tests/support/synthetic.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

/*
 * CPU time of one run of the tool. The slowest of them takes a tenth of it (make -C user check), so
 * that a slow machine passes, and what is quadratic takes ten times as much and more.
 */
#ifdef __SANITIZE_ADDRESS__
#define MOST_SECONDS	24.0
#else
#define MOST_SECONDS	8.0
#endif

static void write_text(struct kjoule_writer *w, enum kjoule_chunk_type type, char *text)
{
	assert_non_null(text);
	assert_int_equal(kjoule_writer_chunk(w, type, 0, text, strlen(text), NULL), 0);
	free(text);
}

static void write_ring(struct kjoule_writer *w, uint32_t cpu, const struct buffer *records)
{
	const struct kjoule_record *rec;
	struct kjoule_packer packer = { 0 };
	struct buffer b = { 0 };
	uint8_t item[65536 + 8];
	size_t off = 0;

	while (kjoule_record_next(records->data, records->len, &off, &rec) > 0) {
		put_bytes(&b, item, kjoule_pack(&packer, rec, item));
		if (b.len < 1 << 20 && off != records->len)
			continue;
		assert_int_equal(kjoule_writer_chunk(w, KJOULE_CHUNK_RING, cpu, b.data, b.len,
						     NULL), 0);
		memset(&packer, 0, sizeof(packer));
		b.len = 0;
	}
	free(b.data);
}

/* A meta with so many CPUs, each of a package of its own if @packages. */
static void many_cpus(struct kjoule_meta *meta, uint32_t n, bool packages)
{
	make_meta(meta, 1, 1000000, KJOULE_TARGET_SYSTEM);
	meta->places = calloc(n, sizeof(*meta->places));
	assert_non_null(meta->places);
	meta->n_places = n;
	for (uint32_t i = 0; i < n; i++) {
		meta->places[i] = (struct kjoule_cpu_place){ i, packages ? i : 0 };
		kjoule_cpus_add(&meta->session.cpus, i);
	}
}

static struct kjoule_writer *begin_recording(const char *name, const struct kjoule_meta *meta)
{
	struct kjoule_writer *w;

	assert_int_equal(kjoule_writer_open(temp_path(name), &w, NULL), 0);
	write_text(w, KJOULE_CHUNK_META, kjoule_meta_encode(meta));
	return w;
}

static void end_recording(struct kjoule_writer *w, uint64_t ticks)
{
	struct kjoule_end end = { .reason = "command ended",
				  .stop_ns = 1000000000 + ticks * 1000000 };

	write_text(w, KJOULE_CHUNK_END, kjoule_end_encode(&end));
	assert_int_equal(kjoule_writer_close(w, NULL), 0);
}

static double seconds_of_children(void)
{
	struct rusage use;

	getrusage(RUSAGE_CHILDREN, &use);
	return use.ru_utime.tv_sec + use.ru_stime.tv_sec +
	       1e-6 * (use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

/* Each way to look at it ends, and soon. */
static void reading_ends_soon(const char *name)
{
	static const char *const verbs[] = { "report", "report --by region", "report --children",
					     "script --json", "diff", "annotate" };

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		double before = seconds_of_children(), took;
		bool twice = !strcmp(verbs[i], "diff");
		const char *path = temp_path(name);

		/* what does not end is ended: the limit is of CPU time, as the judgement is */
		kjoule("%s %s %s", verbs[i], path, twice ? path : "");
		took = seconds_of_children() - before;
		if (getenv("KJOULE_TEST_TIMES") || took > MOST_SECONDS)
			print_message("%s of %s: %.2f s of CPU time (%.60s)\n", verbs[i], name,
				      took, err);
		assert_true(took <= MOST_SECONDS);
	}
}

/* A program of domains, each of each CPU. */
static void many_series(const char *name, uint32_t cpus, uint32_t sources, bool packages)
{
	const uint64_t uj[KJOULE_MAX_DOMAINS] = { 0 };
	struct buffer b = { 0 };
	struct kjoule_meta meta;
	struct kjoule_writer *w;

	many_cpus(&meta, cpus, packages);
	for (uint32_t s = 0; s < sources; s++) {
		struct kjoule_source_info *src = &meta.session.sources[0];

		if (s)
			src = add_source(&meta, "", KJOULE_KIND_ENERGY, 0, "");
		snprintf(src->name, sizeof(src->name), "source%u", s);
		strcpy(src->meter, "meter");
		src->n_domains = KJOULE_MAX_DOMAINS;
		for (uint32_t d = 0; d < KJOULE_MAX_DOMAINS; d++) {
			src->domains[d] = (struct kjoule_domain_info){ .index = d, .parent = -1 };
			snprintf(src->domains[d].name, sizeof(src->domains[d].name), "domain%u", d);
		}
	}
	for (uint32_t s = 0; s < sources; s++)
		for (uint32_t cpu = 0; cpu < cpus; cpu++)
			put_energy_of(&b, s, cpu, 0, 100, (1u << KJOULE_MAX_DOMAINS) - 1, uj);
	w = begin_recording(name, &meta);
	write_ring(w, 0, &b);
	end_recording(w, 100);
	free(b.data);
	free(meta.places);
	kjoule_session_info_clear(&meta.session);
}

TEST(readings_of_many_domains_and_cpus)
{
	many_series("series", 1024, KJOULE_MAX_SOURCES - 1, false);
	reading_ends_soon("series");
}

TEST(counters_of_as_many_packages)
{
	many_series("packages", KJOULE_MAX_CPUS, 1, true);
	reading_ends_soon("packages");
}

/* Samples of as many CPUs as there can be, no two of them close to each other. */
TEST(samples_of_many_cpus_that_never_meet)
{
	const uint32_t apart = 2048, each = 40;
	struct buffer b = { 0 };
	struct kjoule_meta meta;
	struct kjoule_writer *w;

	many_cpus(&meta, KJOULE_MAX_CPUS, false);
	w = begin_recording("apart", &meta);
	for (uint32_t cpu = 0; cpu < KJOULE_MAX_CPUS; cpu++) {
		b.len = 0;
		put_task(&b, 100, 100);
		for (uint32_t i = 0; i < each; i++)
			put_sample(&b, (i * KJOULE_MAX_CPUS + cpu) * apart, 0x10001000, 0, 1000000,
				   100);
		write_ring(w, cpu, &b);
	}
	end_recording(w, (uint64_t)KJOULE_MAX_CPUS * each * apart);
	free(b.data);
	free(meta.places);
	reading_ends_soon("apart");
}

/* Chunk after chunk is missing, of one CPU of many. */
TEST(many_missing_chunks)
{
	struct kjoule_chunk_header h;
	struct buffer b = { 0 };
	struct kjoule_meta meta;
	struct kjoule_writer *w;
	uint32_t sequence = 0;
	size_t len;
	uint8_t *data;
	const char *path = temp_path("missing");

	many_cpus(&meta, KJOULE_MAX_CPUS, false);
	w = begin_recording("missing", &meta);
	put_task(&b, 100, 100);
	put_sample(&b, 1, 0x10001000, 0, 1000000, 100);
	for (uint32_t i = 0; i < 5 * KJOULE_MAX_CPUS; i++)
		write_ring(w, i < KJOULE_MAX_CPUS ? i : 0, &b);
	end_recording(w, 1000);
	free(b.data);
	free(meta.places);
	/* each has a number too high by one */
	data = read_file(path, &len);
	for (size_t at = sizeof(struct kjoule_file_header); at < len;
	     at += (sizeof(h) + h.stored_len + 7) & ~(size_t)7) {
		memcpy(&h, data + at, sizeof(h));
		h.sequence = sequence;
		sequence += 2;
		h.checksum = kjoule_crc32(&h, offsetof(struct kjoule_chunk_header, checksum));
		memcpy(data + at, &h, sizeof(h));
	}
	write_file(path, data, len);
	free(data);
	reading_ends_soon("missing");
}

/* Each source says over and over that all CPUs share its counters. */
TEST(scopes_that_are_reported_repeatedly)
{
	struct buffer b = { 0 }, records = { 0 };
	struct kjoule_meta meta;
	struct kjoule_writer *w;
	char *text, *sources;

	many_cpus(&meta, 64, false);
	text = kjoule_meta_encode(&meta);
	sources = strstr(text, "\"domains\":");
	assert_non_null(sources);
	put_bytes(&b, text, sources - text);
	put_bytes(&b, "\"scopes\":[", 10);
	for (uint32_t i = 0; i < 400000; i++)
		put_bytes(&b, "\"0-8191\",", 9);
	put_bytes(&b, "\"8191\"],", 8);
	put_bytes(&b, sources, strlen(sources));
	free(text);
	w = begin_recording("scopes", &meta);
	for (int i = 0; i < 8; i++)
		assert_int_equal(kjoule_writer_chunk(w, KJOULE_CHUNK_META, 0, b.data, b.len, NULL),
				 0);
	put_task(&records, 100, 100);
	put_sample(&records, 1, 0x10001000, 0, 1000000, 100);
	write_ring(w, 0, &records);
	end_recording(w, 1000);
	free(records.data);
	free(b.data);
	free(meta.places);
	reading_ends_soon("scopes");
}

/* The inverse of a multiplier that tables are often made with. */
static uint64_t inverse(uint64_t of)
{
	uint64_t x = of;

	for (int i = 0; i < 6; i++)
		x *= 2 - of * x;
	return x;
}

/* Callers whose addresses were chosen to be in one place of a table. */
TEST(callers_that_meet_in_a_table)
{
	const uint64_t back = inverse(0x9e3779b97f4a7c15ull);
	const uint32_t samples = 2500, depth = 100;
	struct buffer b = { 0 };
	struct kjoule_meta meta;
	struct kjoule_writer *w;
	uint64_t ips[100], k = 1;

	many_cpus(&meta, 1, false);
	meta.session.flags = KJOULE_FLAG_USER_CHAIN;
	meta.session.chain_depth = depth;
	put_task(&b, 100, 100);
	for (uint32_t i = 0; i < samples; i++) {
		put_sample(&b, i, 0x10001000, 0, 1000000, 100);
		for (uint32_t d = 0; d < depth; d++)
			ips[d] = (k++ << 44) * back;
		put_chain(&b, 0, 0, depth, ips);
	}
	w = begin_recording("callers", &meta);
	write_ring(w, 0, &b);
	end_recording(w, samples);
	free(b.data);
	free(meta.places);
	reading_ends_soon("callers");
}
