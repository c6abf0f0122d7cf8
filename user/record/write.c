// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a recording puts into its file. Records are kept back until there is a
 * second's worth or a good lump of them; each chunk begins with the task that its
 * first samples belong to, so that it can be read without the ones before it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "lib/base/hash_index.h"
#include "lib/code/buildid.h"
#include "lib/code/jitmap.h"
#include "lib/code/kallsyms.h"
#include "lib/code/vdso.h"
#include "lib/file/datafile.h"
#include "lib/file/meta.h"
#include "lib/file/pack.h"
#include "lib/sideband/sideband.h"
#include "record/record.h"

#define CHUNK_BYTES	(1u << 20)

/*
 * Of the command's arguments, which may be many megabytes: a description that is too long for
 * readers says nothing.
 */
#define COMMAND_BYTES	(1u << 20)

/*
 * Marks of regions that are kept before the recording begins, at most: a command can make any
 * number.
 */
#define REGIONS_BEFORE	(32u << 20)

struct buffer {
	uint8_t *data;
	size_t len, room;
};

struct cpu_stream {
	struct buffer buf;		/* packed */
	struct kjoule_packer packer;
	struct kjoule_task task;	/* of the samples to come; rec.size 0: not known */
	uint64_t samples;
};

/* Kernel addresses that were seen, whose functions go into the file. */
struct ip_set {
	uint64_t *slots;
	size_t n, room;
};

/* Processes that may have made code at run time, and whose they were when that was seen. */
struct jit_processes {
	size_t n;
	struct jit_process {
		uint32_t pid;
		bool owned;
		uid_t owner;
	} *list;
	struct kjoule_hash_index by_pid;
};

struct record_writer {
	struct kjoule_writer *file;
	struct kjoule_meta meta;
	uint64_t start_ns;
	unsigned int n_cpus;
	struct cpu_stream *cpus;
	struct buffer side_band, awake, regions;
	struct kjoule_build_ids *build_ids;
	struct ip_set ips;
	struct jit_processes jits;
	struct record_jit_left_out jit_left_out;
	bool kernel_hidden;		/* these have addresses, but no names for us */
	struct kjoule_error err;	/* of a write out of a sink */
};

/* Without @data: room for so much. */
static int record_buffer_append(struct buffer *b, const void *data, size_t len)
{
	if (b->room - b->len < len) {
		size_t room = b->room ? b->room : 65536;
		uint8_t *p;

		while (room - b->len < len)
			room *= 2;
		p = realloc(b->data, room);
		if (!p)
			return -ENOMEM;
		b->data = p;
		b->room = room;
	}
	if (data)
		memcpy(b->data + b->len, data, len);
	b->len += data ? len : 0;
	return 0;
}

static void ip_set_add(struct ip_set *set, uint64_t ip)
{
	size_t i;

	if (set->n * 2 >= set->room) {
		struct ip_set bigger = { .room = set->room ? 2 * set->room : 4096 };

		bigger.slots = calloc(bigger.room, sizeof(*bigger.slots));
		if (!bigger.slots)
			return;
		for (i = 0; i < set->room; i++)
			if (set->slots[i])
				ip_set_add(&bigger, set->slots[i]);
		free(set->slots);
		*set = bigger;
	}
	i = (ip * 0x9e3779b97f4a7c15ull >> 20) & (set->room - 1);
	while (set->slots[i] && set->slots[i] != ip)
		i = (i + 1) & (set->room - 1);
	if (!set->slots[i]) {
		set->slots[i] = ip;
		set->n++;
	}
}

int record_writer_open(int folder, const char *path, struct record_writer **out,
		       struct kjoule_error *err)
{
	struct record_writer *w = calloc(1, sizeof(*w));
	int ret;

	*out = NULL;
	if (!w)
		return kjoule_fail(err, ENOMEM, "no memory");
	w->build_ids = kjoule_build_ids_new();
	ret = w->build_ids ? kjoule_writer_open_at(folder, path, &w->file, err) :
			     kjoule_fail(err, ENOMEM, "no memory");
	if (ret) {
		kjoule_build_ids_free(w->build_ids);
		free(w);
		return ret;
	}
	*out = w;
	return 0;
}

static int record_write_text(struct record_writer *w, enum kjoule_chunk_type type, char *text,
			     struct kjoule_error *err)
{
	int ret = text ? kjoule_writer_chunk(w->file, type, 0, text, strlen(text), err) :
			 kjoule_fail(err, ENOMEM, "no memory");

	free(text);
	return ret;
}

/* What is left out of a command has "..." in its place. */
static int record_keep_command(struct kjoule_meta *meta, char *const *command)
{
	size_t argc = 0, bytes = 0;

	while (command[argc])
		argc++;
	meta->argv = calloc(argc + 1, sizeof(*meta->argv));
	for (size_t i = 0; meta->argv && i < argc && bytes <= COMMAND_BYTES; i++) {
		bytes += strlen(command[i]) + 1;
		meta->argv[i] = strdup(bytes <= COMMAND_BYTES ? command[i] : "...");
		if (!meta->argv[i])
			return -ENOMEM;
		meta->argc++;
	}
	return meta->argv ? 0 : -ENOMEM;
}

int record_writer_start(struct record_writer *w, const struct record_options *opt,
			const struct kjoule_session_info *session,
			const struct kjoule_calibration *cal, struct kjoule_error *err)
{
	int ret = kjoule_meta_gather(&w->meta);

	if (ret)
		return kjoule_fail(err, -ret, "asking for the machine's CPUs: %s", strerror(-ret));
	w->start_ns = w->meta.clock_ns;
	w->meta.session = *session;
	w->meta.overhead_ppm = opt->overhead * 1e6 + 0.5;
	snprintf(w->meta.cgroup, sizeof(w->meta.cgroup), "%s", opt->cgroup ? opt->cgroup : "");
	if (opt->command && record_keep_command(&w->meta, opt->command))
		return kjoule_fail(err, ENOMEM, "no memory");
	ret = record_write_text(w, KJOULE_CHUNK_META, kjoule_meta_encode(&w->meta), err);
	if (!ret && cal->ticks)
		ret = record_write_text(w, KJOULE_CHUNK_CALIBRATION, kjoule_calibration_encode(cal),
					err);
	return ret;
}

static struct cpu_stream *record_stream_of_cpu(struct record_writer *w, unsigned int cpu)
{
	if (cpu >= w->n_cpus) {
		void *p = realloc(w->cpus, (cpu + 1) * sizeof(*w->cpus));

		if (!p)
			return NULL;
		w->cpus = p;
		memset(w->cpus + w->n_cpus, 0, (cpu + 1 - w->n_cpus) * sizeof(*w->cpus));
		w->n_cpus = cpu + 1;
	}
	return &w->cpus[cpu];
}

static int record_flush_cpu(struct record_writer *w, unsigned int cpu, struct kjoule_error *err)
{
	struct buffer *b = &w->cpus[cpu].buf;
	int ret;

	if (!b->len)
		return 0;
	ret = kjoule_writer_chunk(w->file, KJOULE_CHUNK_RING, cpu, b->data, b->len, err);
	b->len = 0;
	return ret;
}

/* Pack the records and follow them: whose samples come next, which kernel addresses were met. */
static void record_pack_records(struct record_writer *w, struct cpu_stream *s, const void *records,
				size_t len)
{
	const struct kjoule_record *rec;
	size_t off = 0;

	while (kjoule_record_next(records, len, &off, &rec) > 0) {
		if (rec->type == KJOULE_RECORD_TASK) {
			memcpy(&s->task, rec, sizeof(s->task));
			s->task.rec.size = sizeof(s->task);
		} else if (rec->type == KJOULE_RECORD_SAMPLE) {
			const struct kjoule_sample *sample = (const struct kjoule_sample *)rec;

			s->samples++;
			if ((rec->flags & KJOULE_SAMPLE_KERNEL) && sample->ip)
				ip_set_add(&w->ips, sample->ip);
		} else if (rec->type == KJOULE_RECORD_CHAIN) {
			const struct kjoule_chain *chain = (const struct kjoule_chain *)rec;

			/* a return address may lie behind its function */
			for (unsigned int i = 0; i < chain->kernel; i++)
				ip_set_add(&w->ips, kjoule_chain_ips(chain)[i] - 1);
		}
		s->buf.len += kjoule_pack(&s->packer, rec, s->buf.data + s->buf.len);
	}
}

int record_writer_ring(struct record_writer *w, unsigned int cpu, const void *records, size_t len,
		       struct kjoule_error *err)
{
	struct cpu_stream *s = record_stream_of_cpu(w, cpu);

	if (!len)
		return 0;
	/* the smallest record has 8 bytes, and a byte more when packed */
	if (!s || record_buffer_append(&s->buf, NULL, len + len / 8 + 64))
		return kjoule_fail(err, ENOMEM, "no memory");
	if (!s->buf.len) {
		memset(&s->packer, 0, sizeof(s->packer));
		if (s->task.rec.size)
			s->buf.len += kjoule_pack(&s->packer, &s->task.rec, s->buf.data);
	}
	record_pack_records(w, s, records, len);
	return s->buf.len >= CHUNK_BYTES ? record_flush_cpu(w, cpu, err) : 0;
}

/* In chunks of whole records: before the start a lot may have come together. */
static int record_flush_side_band(struct record_writer *w, struct kjoule_error *err)
{
	const uint8_t *data = w->side_band.data;
	size_t from = 0, off = 0, len = w->side_band.len;
	struct kjoule_event ev;
	int ret = 0;

	while (from < len && !ret) {
		while (off - from < CHUNK_BYTES && kjoule_event_next(data, len, &off, &ev) > 0)
			;
		if (off == from)
			off = len;	/* no record: what it is, the reader will say */
		ret = kjoule_writer_chunk(w->file, KJOULE_CHUNK_SIDE_BAND, 0, data + from,
					  off - from, err);
		from = off;
	}
	w->side_band.len = 0;
	return ret;
}

static struct jit_process *jit_process_find_or_add(struct jit_processes *jits, uint32_t pid)
{
	struct jit_process *p;
	size_t probe = 0;
	uint32_t i;

	while ((i = kjoule_hash_index_next(&jits->by_pid, kjoule_hash_text(pid, ""), &probe)) !=
	       KJOULE_HASH_INDEX_NONE)
		if (jits->list[i].pid == pid)
			return &jits->list[i];
	p = kjoule_array_grow(&jits->list, &jits->n, sizeof(*p));
	if (!p)
		return NULL;
	*p = (struct jit_process){ .pid = pid };
	if (kjoule_hash_index_add(&jits->by_pid, kjoule_hash_text(pid, ""), jits->n - 1)) {
		jits->n--;
		return NULL;
	}
	return p;
}

/* When the recording ends it may be gone, and it is not known any more whose it was. */
static int jit_process_note_owner(struct jit_processes *jits, uint32_t pid)
{
	struct jit_process *p = jit_process_find_or_add(jits, pid);

	if (!p)
		return -ENOMEM;
	/* who has become another user since then maps its own code after that */
	if (!kjoule_jitmaps_owner(pid, &p->owner))
		p->owned = true;
	return 0;
}

int record_writer_side_band(void *arg, const void *records, size_t len)
{
	struct record_writer *w = arg;
	struct kjoule_event ev;
	size_t off = 0;
	int ret = record_buffer_append(&w->side_band, records, len);

	while (!ret && kjoule_event_next(records, len, &off, &ev) > 0) {
		if (ev.type != KJOULE_EVENT_MAP)
			continue;
		ret = kjoule_build_ids_meet(w->build_ids, &ev);
		if (!ret && kjoule_jitmaps_maybe(ev.text))
			ret = jit_process_note_owner(&w->jits, ev.pid);
	}
	/* Not before the file says who is recorded: until then the one of before stays. */
	if (!ret && w->start_ns && w->side_band.len >= CHUNK_BYTES)
		ret = record_flush_side_band(w, &w->err);
	return ret;
}

static int record_flush_regions(struct record_writer *w, struct kjoule_error *err)
{
	int ret = w->regions.len ? kjoule_writer_chunk(w->file, KJOULE_CHUNK_REGIONS, 0,
						       w->regions.data, w->regions.len, err) : 0;

	w->regions.len = 0;
	return ret;
}

int record_writer_regions(void *arg, const struct kjoule_region_batch *batch,
			  const struct kjoule_region_unit *units)
{
	struct record_writer *w = arg;
	size_t len = batch->units * sizeof(*units);
	int ret;

	/* the reader sees by the numbers of the units that some are gone */
	if (!w->start_ns && w->regions.len + len > REGIONS_BEFORE)
		return 0;
	ret = record_buffer_append(&w->regions, batch, sizeof(*batch));
	if (!ret && len)
		ret = record_buffer_append(&w->regions, units, len);
	if (!ret && w->start_ns && w->regions.len >= CHUNK_BYTES)
		ret = record_flush_regions(w, &w->err);
	return ret;
}

int record_writer_awake(struct record_writer *w, unsigned int cpu, uint64_t begin_ns,
			uint64_t end_ns)
{
	struct kjoule_wakeup a = { .begin_ns = begin_ns, .end_ns = end_ns, .cpu = cpu };

	return record_buffer_append(&w->awake, &a, sizeof(a));
}

int record_writer_flush(struct record_writer *w, struct kjoule_error *err)
{
	int ret = record_flush_side_band(w, err);

	if (!ret)
		ret = record_flush_regions(w, err);
	if (!ret && w->awake.len)
		ret = kjoule_writer_chunk(w->file, KJOULE_CHUNK_WAKEUPS, 0, w->awake.data,
					  w->awake.len, err);
	w->awake.len = 0;
	for (unsigned int cpu = 0; cpu < w->n_cpus && !ret; cpu++)
		ret = record_flush_cpu(w, cpu, err);
	return ret;
}

int record_writer_stats(struct record_writer *w, const struct kjoule_cpu_stats *stats, size_t n,
			struct kjoule_error *err)
{
	return record_write_text(w, KJOULE_CHUNK_STATS, kjoule_stats_encode(stats, n), err);
}

/*
 * Several chunks where they are many: programs may have any number of files, and readers parse no
 * longer text.
 */
static int record_write_build_ids(struct record_writer *w, struct kjoule_error *err)
{
	size_t at = 0;
	int ret = 0;

	while (!ret && at != SIZE_MAX)
		ret = record_write_text(w, KJOULE_CHUNK_BUILD_IDS,
					kjoule_build_ids_encode(w->build_ids, &at), err);
	return ret;
}

static int record_write_kernel_symbols(struct record_writer *w, struct kjoule_error *err)
{
	struct kjoule_kallsyms *all;
	uint64_t *ips;
	char *text = NULL;
	size_t n = 0, len;
	int ret;

	if (!w->ips.n)
		return 0;
	if (kjoule_kallsyms_read(&all)) {
		w->kernel_hidden = true;
		return 0;
	}
	ips = calloc(w->ips.n, sizeof(*ips));
	if (!ips) {
		kjoule_kallsyms_free(all);
		return kjoule_fail(err, ENOMEM, "no memory");
	}
	for (size_t i = 0; i < w->ips.room; i++)
		if (w->ips.slots[i])
			ips[n++] = w->ips.slots[i];
	ret = kjoule_kallsyms_subset(all, ips, n, &text, &len);
	if (!ret)
		ret = kjoule_writer_chunk(w->file, KJOULE_CHUNK_KALLSYMS, 0, text, len, err);
	free(text);
	free(ips);
	kjoule_kallsyms_free(all);
	return ret;
}

/* The text of a process's map, NULL: it has none, or it is left out. */
static char *record_read_jitmap(struct kjoule_jitmaps *maps, struct record_jit_left_out *left_out,
				const struct jit_process *p)
{
	int ret = kjoule_jitmaps_read(maps, p->pid, p->owned ? &p->owner : NULL);
	char *text = ret ? NULL : kjoule_jitmaps_encode(maps, p->pid);

	if (ret == -EFBIG)
		left_out->full++;
	else if (ret == -EPERM || ret == -ELOOP || ret == -EXDEV)
		left_out->foreign++;
	else if (ret == -ESRCH)
		left_out->gone++;
	else if ((ret && ret != -ENOENT) || (!ret && !text))
		left_out->unreadable++;
	if (text && text[0])
		return text;
	free(text);
	return NULL;
}

/* The names of code that programs have made at run time, if they tell them. */
static int record_write_jitmaps(struct record_writer *w, struct kjoule_error *err)
{
	/* one for all: it knows how much has been read */
	struct kjoule_jitmaps *maps = kjoule_jitmaps_new();
	size_t total = 0;
	int ret = maps ? 0 : kjoule_fail(err, ENOMEM, "no memory");

	for (size_t i = 0; i < w->jits.n && !ret; i++) {
		char *text = record_read_jitmap(maps, &w->jit_left_out, &w->jits.list[i]);

		if (text && total + strlen(text) > KJOULE_JITMAPS_MAX) {
			w->jit_left_out.full++;
		} else if (text) {
			total += strlen(text);
			ret = kjoule_writer_chunk(w->file, KJOULE_CHUNK_JITMAP, 0, text,
						  strlen(text), err);
		}
		free(text);
	}
	kjoule_jitmaps_free(maps);
	return ret;
}

/* What is in no file that a reader could open. */
static int record_write_vdso(struct record_writer *w, struct kjoule_error *err)
{
	size_t len;
	const void *image = kjoule_vdso_image(&len);

	return image && len <= KJOULE_VDSO_MAX ?
	       kjoule_writer_chunk(w->file, KJOULE_CHUNK_VDSO, 0, image, len, err) : 0;
}

struct record_jit_left_out record_writer_jit_left_out(const struct record_writer *w)
{
	return w ? w->jit_left_out : (struct record_jit_left_out){ 0 };
}

bool record_writer_kernel_hidden(const struct record_writer *w)
{
	return w && w->kernel_hidden;
}

int record_writer_finish(struct record_writer *w, const struct kjoule_session_info *session,
			 const char *reason, int exit_code, uint64_t side_band_lost,
			 uint64_t side_band_anew, uint64_t ring_damaged,
			 const struct kjoule_region_counters *regions, struct kjoule_error *err)
{
	struct kjoule_end end = {
		.start_ns = w->start_ns,
		.stop_ns = session->stop_ns,
		.exit_code = exit_code,
		.side_band_lost = side_band_lost,
		.side_band_anew = side_band_anew,
		.ring_damaged = ring_damaged,
	};
	int ret = record_writer_flush(w, err);

	strncpy(end.reason, reason, sizeof(end.reason) - 1);
	if (regions)
		end.regions = *regions;
	if (ret)
		return ret;
	ret = record_write_build_ids(w, err);
	if (!ret)
		ret = record_write_kernel_symbols(w, err);
	if (!ret)
		ret = record_write_jitmaps(w, err);
	if (!ret)
		ret = record_write_vdso(w, err);
	/* Once more, for readers of a file whose beginning is damaged. */
	w->meta.session.state = session->state;
	w->meta.session.stop_ns = session->stop_ns;
	w->meta.session.children_lost = session->children_lost;
	w->meta.session.edge = session->edge;
	w->meta.session.vpm = session->vpm;
	memcpy(w->meta.session.sources, session->sources, sizeof(session->sources));
	if (!ret)
		ret = record_write_text(w, KJOULE_CHUNK_META, kjoule_meta_encode(&w->meta), err);
	if (!ret)
		ret = record_write_text(w, KJOULE_CHUNK_END, kjoule_end_encode(&end), err);
	return ret;
}

uint64_t record_writer_samples(struct record_writer *w, unsigned int cpu)
{
	uint64_t n = 0;

	if (cpu < w->n_cpus) {
		n = w->cpus[cpu].samples;
		w->cpus[cpu].samples = 0;
	}
	return n;
}

uint64_t record_writer_bytes(const struct record_writer *w)
{
	return kjoule_writer_bytes(w->file);
}

int record_writer_close(struct record_writer *w, struct kjoule_error *err)
{
	int ret;

	if (!w)
		return 0;
	ret = kjoule_writer_close(w->file, err);
	for (unsigned int i = 0; i < w->n_cpus; i++)
		free(w->cpus[i].buf.data);
	free(w->cpus);
	free(w->side_band.data);
	free(w->awake.data);
	free(w->regions.data);
	free(w->ips.slots);
	free(w->jits.list);
	kjoule_hash_index_free(&w->jits.by_pid);
	kjoule_build_ids_free(w->build_ids);
	w->meta.session.n_sources = 0;	/* their scopes are the recorder's */
	kjoule_meta_free(&w->meta);
	free(w);
	return ret;
}
