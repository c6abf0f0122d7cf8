// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opens a recording for report and script; see view.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/cmd.h"
#include "lib/base/array.h"
#include "lib/base/privilege.h"
#include "lib/code/vdso.h"
#include "recording/view.h"
#include "recording/view_samples.h"

struct view_object {
	char *path;
	const char *file;	/* to be opened for it; NULL: none */
	struct kjoule_elf *elf;
	int error;		/* why there is none */
	bool nameless;		/* a sampled function has no name */
	bool newer;		/* than the recording, and there is no other proof */
	uint64_t samples, unnamed;	/* of view_count_samples() */
};

static const char unknown[] = "[unknown]";

/* Part of all samples below which an object's names are not missed: half a row that is hidden. */
#define FEW_PART	0.005

/* Limit of a recording's ticks: a century at ten kilohertz has fewer. */
#define TICKS_MOST	(1ull << 45)

/* Addresses of the running kernel help if it is the recorded one. */
static void view_use_live_kernel(struct view *v)
{
	struct kjoule_meta now = { 0 };

	if (v->rec.kallsyms || kjoule_meta_gather(&now))
		goto out;
	if (v->rec.meta.boot_id[0] && !strcmp(now.boot_id, v->rec.meta.boot_id))
		kjoule_kallsyms_read(&v->live);
out:
	kjoule_meta_free(&now);
}

/* Which records there are does not matter before all are read. */
static bool view_may_wait(const struct view *v)
{
	const struct kjoule_session_info *s = &v->rec.meta.session;

	return v->rec.ended && v->rec.end.stop_ns > s->t0_ns && !s->edge_duty &&
	       !s->vpm.interval_ns;
}

const char *view_why_not(int error)
{
	return error == -ESTALE ? "changed while it was read; is it being recorded again?" :
	       strerror(-error);
}

int view_load(struct view *v)
{
	const struct timeline_sample *samples;
	size_t cpu, n;
	int ret = 0;

	if (!v->load)
		return 0;
	while ((ret = view_load_next(v->load, &cpu, &samples, &n)) > 0)
		;
	view_load_end(v);
	return ret;
}

void view_load_end(struct view *v)
{
	view_load_close(v->load);
	v->load = NULL;
	timeline_finish(&v->tl);
}

int view_open(const char *path, struct view *v, struct kjoule_error *err)
{
	uint64_t max_tick = UINT64_MAX;
	const struct kjoule_session_info *s = &v->rec.meta.session;
	int ret;

	memset(v, 0, sizeof(*v));
	ret = kjoule_recording_load(path, &v->rec, err);
	if (ret)
		return ret;
	v->tl.session = s;
	/* the clock has 63 bits */
	if (s->t0_ns < INT64_MAX)
		max_tick = (INT64_MAX - s->t0_ns) / s->interval_ns;
	if (v->rec.ended && v->rec.end.stop_ns > s->t0_ns)
		max_tick = (v->rec.end.stop_ns - s->t0_ns) / s->interval_ns + 2;
	if (max_tick > TICKS_MOST)
		max_tick = TICKS_MOST;
	v->max_tick = max_tick;
	if (v->rec.left_in_file)
		ret = view_load_open(v, &v->load);
	if (!ret && !view_may_wait(v))
		ret = view_load(v);
	for (size_t i = 0; i < v->rec.n_streams && !v->rec.left_in_file && !ret; i++) {
		const struct kjoule_stream *stream = &v->rec.streams[i];

		ret = timeline_add(&v->tl, stream->cpu,
				   kjoule_recording_package(&v->rec, stream->cpu), stream->records,
				   stream->len, max_tick);
	}
	if (!ret && !v->rec.left_in_file)
		timeline_finish(&v->tl);
	if (!ret)
		ret = kjoule_maps_new(v->rec.side_band, v->rec.side_band_len, &v->maps,
				      &v->side_band_skipped);
	if (!ret)
		ret = kjoule_regions_new(v->rec.regions, v->rec.regions_len, v->rec.side_band,
					 v->rec.side_band_len, s->t0_ns, v->rec.ended &&
					 v->rec.end.stop_ns > s->t0_ns ? v->rec.end.stop_ns :
					 view_time(v, v->tl.end_tick, 0), &v->regions);
	if (ret) {
		view_close(v);
		return kjoule_fail(err, -ret, "%s: %s", path ? path : KJOULE_DATA_FILE,
				   view_why_not(ret));
	}
	view_use_live_kernel(v);
	return 0;
}

void view_close(struct view *v)
{
	for (size_t i = 0; i < v->n_objects; i++) {
		kjoule_elf_close(v->objects[i].elf);
		free(v->objects[i].path);
	}
	free(v->objects);
	if (v->vdso)
		close(v->vdso_fd);
	free(v->vdso);
	view_callers_free(v);
	kjoule_hash_index_free(&v->by_path);
	kjoule_kallsyms_free(v->live);
	kjoule_maps_free(v->maps);
	kjoule_regions_free(v->regions);
	view_load_close(v->load);
	timeline_free(&v->tl);
	kjoule_recording_free(&v->rec);
	memset(v, 0, sizeof(*v));
}

const char *view_vdso(struct view *v)
{
	if (v->vdso || !v->rec.vdso)
		return v->vdso;
	v->vdso_fd = kjoule_vdso_file(v->rec.vdso, v->rec.vdso_len);
	if (v->vdso_fd >= 0 && asprintf(&v->vdso, "/proc/self/fd/%d", v->vdso_fd) < 0) {
		v->vdso = NULL;
		close(v->vdso_fd);
	}
	return v->vdso;
}

/* Was a file written after the recording had ended? */
static bool view_file_is_newer(const struct view *v, const char *file)
{
	const struct kjoule_meta *meta = &v->rec.meta;
	uint64_t ended_ns = meta->wall_ns;
	struct stat st;

	if (v->rec.ended && v->rec.end.stop_ns > meta->clock_ns)
		ended_ns += v->rec.end.stop_ns - meta->clock_ns;
	return !stat(file, &st) && st.st_mtim.tv_sec >= 0 && (uint64_t)st.st_mtim.tv_sec >
	       ended_ns / 1000000000ull;
}

/* One that is there already, or NULL. */
static struct view_object *view_object_of(const struct view *v, const char *path)
{
	uint64_t hash = kjoule_hash_text(0, path);
	size_t probe = 0;
	uint32_t i;

	while ((i = kjoule_hash_index_next(&v->by_path, hash, &probe)) != KJOULE_HASH_INDEX_NONE)
		if (!strcmp(v->objects[i].path, path))
			return &v->objects[i];
	return NULL;
}

static struct view_object *view_find_object(struct view *v, const char *path)
{
	const char *build_id;
	uint64_t hash = kjoule_hash_text(0, path);
	struct view_object *o = view_object_of(v, path);
	char *name;

	if (o)
		return o;
	name = strdup(path);
	if (!name || kjoule_hash_index_add(&v->by_path, hash, v->n_objects)) {
		free(name);
		return NULL;
	}
	o = kjoule_array_grow(&v->objects, &v->n_objects, sizeof(*o));
	if (!o) {
		kjoule_hash_index_free(&v->by_path);	/* they are only opened again */
		free(name);
		return NULL;
	}
	o->path = name;
	o->file = kjoule_vdso_is(path) ? view_vdso(v) : path[0] != '/' || path[1] == '/' ?
		  NULL : name;
	build_id = kjoule_build_ids_find(v->rec.build_ids, path);
	/* //anon: no file */
	o->error = o->file ? kjoule_elf_open(o->file, build_id, &o->elf) : -ENODATA;
	kjoule_privilege_note(o->error);
	o->newer = o->elf && o->file == name && !build_id && view_file_is_newer(v, name);
	return o;
}

static void view_resolve_kernel(const struct view *v, uint64_t ip, struct view_place *place)
{
	const struct kjoule_kernel_symbol *s;

	place->object = "[kernel]";
	s = kjoule_kallsyms_find(v->rec.kallsyms ? v->rec.kallsyms : v->live, ip);
	if (!s)
		return;
	place->symbol = s->name;
	if (s->module)
		place->object = s->module;
	place->offset = ip - s->start;
	place->known = true;
}

/* Code that was made at run time; its maker may have named it. */
static bool view_resolve_jit(const struct view *v, uint32_t pid, uint64_t ip,
			     struct view_place *place)
{
	const struct kjoule_jit_symbol *s = kjoule_jitmaps_find(v->rec.jitmaps, pid, ip);

	if (!s)
		return false;
	place->symbol = s->name;
	place->offset = ip - s->start;
	place->known = true;
	return true;
}

/* The part of the mapping in [@low, @high), if it is the one at both ends. */
static void view_find_same_part(const struct view *v, const struct kjoule_map *map, uint32_t pid,
				uint64_t time_ns, uint64_t ip, uint64_t low, uint64_t high,
				struct view_place *place)
{
	if (low > ip || low < map->start)
		low = map->start;
	if (high <= ip || high - map->start > map->len)
		high = map->start + map->len;
	if (kjoule_maps_find(v->maps, pid, time_ns, low) != map ||
	    kjoule_maps_find(v->maps, pid, time_ns, high - 1) != map)
		return;
	place->same_start = low;
	place->same_len = high - low;
}

void view_resolve_at(struct view *v, uint32_t pid, uint64_t time_ns, uint64_t ip, bool kernel,
		     struct view_place *place)
{
	const struct kjoule_symbol *symbol;
	const struct kjoule_map *map;
	struct view_object *o;
	uint64_t address, low, high;

	*place = (struct view_place){ .symbol = unknown, .object = unknown, .offset = ip };
	if (kernel) {
		view_resolve_kernel(v, ip, place);
		return;
	}
	map = kjoule_maps_find(v->maps, pid, time_ns, ip);
	if (!map)
		return;
	place->object = map->path;
	place->offset = ip - map->start + map->offset;
	/* what is called like a file may be one */
	if (kjoule_jitmaps_maybe(map->path) && view_resolve_jit(v, pid, ip, place))
		return;
	if (kjoule_vdso_is(map->path) && !kjoule_vdso_is_native(map->start))
		return;
	o = view_find_object(v, map->path);
	if (!o || !o->elf || kjoule_elf_address(o->elf, place->offset, &address))
		return;
	place->address = address;
	place->file = o->file;
	symbol = kjoule_elf_find_around(o->elf, address, &low, &high);
	if (!symbol)
		return;
	view_find_same_part(v, map, pid, time_ns, ip, ip - (address - low), ip + (high - address),
			    place);
	/* see kjoule_symbol */
	o->nameless |= !strncmp(symbol->name, "0x", 2);
	place->start = symbol->start;
	place->end = symbol->end;
	place->symbol = symbol->name;
	place->offset = address - symbol->start;
	place->known = true;
}

int view_code(struct view *v, const char *path, uint64_t address, const char **file,
	      const struct kjoule_symbol **symbol)
{
	struct view_object *o = view_find_object(v, path);

	if (!o)
		return -ENOMEM;
	if (!o->elf)
		return o->error;
	*file = o->file;
	*symbol = kjoule_elf_find(o->elf, address);
	return 0;
}

void view_resolve(struct view *v, const struct timeline_sample *s, struct view_place *place)
{
	if (s->flags & KJOULE_SAMPLE_IP_HIDDEN) {
		*place = (struct view_place){ .symbol = "[hidden]", .object = "[kernel]",
					      .offset = s->ip };
		return;
	}
	view_resolve_at(v, s->tgid, view_time(v, s->tick, s->late_ns), s->ip,
			s->flags & KJOULE_SAMPLE_KERNEL, place);
}

const char *view_program(const struct view *v, const char **build_id)
{
	const struct kjoule_session_info *s = &v->rec.meta.session;
	const char *path = NULL;

	if (s->target == KJOULE_TARGET_PROCESS || s->target == KJOULE_TARGET_THREAD)
		path = kjoule_maps_program(v->maps, s->pid);
	*build_id = path ? kjoule_build_ids_find(v->rec.build_ids, path) : NULL;
	/* which of them it was is unknown */
	if (*build_id && !strcmp(*build_id, KJOULE_BUILD_ID_SEVERAL))
		*build_id = NULL;
	return path;
}

double view_duration_s(const struct view *v)
{
	const struct kjoule_session_info *s = &v->rec.meta.session;

	if (v->cut)
		return v->whole_s;
	if (v->rec.ended && v->rec.end.stop_ns > s->t0_ns)
		return (v->rec.end.stop_ns - s->t0_ns) * 1e-9;
	return v->tl.end_tick * 1e-9 * s->interval_ns;
}

uint64_t view_start_ns(const struct view *v)
{
	const struct kjoule_session_info *s = &v->rec.meta.session;

	return s->t0_ns - s->first_tick * s->interval_ns;
}

int view_cut(struct view *v, const char *path, uint64_t from_ns, uint64_t to_ns,
	     struct kjoule_error *err)
{
	struct kjoule_session_info *s = &v->rec.meta.session;
	uint64_t from, end;
	double whole_s;
	int ret = view_load(v);

	if (ret)
		return kjoule_fail(err, -ret, "%s: %s", path, view_why_not(ret));
	whole_s = view_duration_s(v);
	end = v->tl.end_tick;
	from = from_ns / s->interval_ns < end ? timeline_first(s, s->t0_ns + from_ns) : end;
	if (from >= end)
		return kjoule_fail(err, ENODATA, "%s: --from %.9g s: the recording has %.9g s",
				   path, from_ns * 1e-9, whole_s);
	if (to_ns / s->interval_ns < end && timeline_first(s, s->t0_ns + to_ns) < end)
		end = timeline_first(s, s->t0_ns + to_ns);
	if (from >= end)
		return kjoule_fail(err, ENODATA,
				   "%s: there is no tick between %.9g s and %.9g s: they are %.9g s apart",
				   path, from_ns * 1e-9, to_ns * 1e-9, s->interval_ns * 1e-9);
	v->cut = true;
	v->whole_s = whole_s;
	v->from_ns = from_ns;
	v->to_ns = fmin(to_ns, whole_s * 1e9);
	v->cut_from = from;
	v->cut_to = end;
	timeline_cut(&v->tl, s, from, end);
	return 0;
}

struct kjoule_cpu_stats view_stats(const struct view *v)
{
	struct kjoule_cpu_stats sum = { 0 };

	for (size_t i = 0; i < v->rec.n_stats; i++) {
		const struct kjoule_cpu_stats *s = &v->rec.stats[i];

		sum.due += s->due;
		sum.produced += s->produced;
		sum.missed += s->missed;
		sum.parked += s->parked;
		sum.filtered += s->filtered;
		sum.records += s->records;
		sum.lost += s->lost;
		sum.samples += s->samples;
		sum.tick_ns += s->tick_ns;
		sum.source_errors += s->source_errors;
		sum.idle_ns += s->idle_ns;
		sum.stacks_withheld += s->stacks_withheld;
		if (s->late_max_ns > sum.late_max_ns)
			sum.late_max_ns = s->late_max_ns;
	}
	return sum;
}

const char *view_comm(const struct view *v, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	const char *comm;

	if (!pid)
		return "[idle]";
	comm = pid == TIMELINE_NO_TASK ? NULL : kjoule_maps_comm(v->maps, pid, tid, time_ns);
	return comm ? comm : unknown;
}

void view_count_samples(struct view *v, const char *path, const char *symbol, uint64_t samples)
{
	struct view_object *o = view_object_of(v, path);

	v->counted += samples;
	if (!o)
		return;
	o->samples += samples;
	if (!strcmp(symbol, unknown) || !strncmp(symbol, "0x", 2))
		o->unnamed += samples;
}

/* Of a few samples in a library it does not matter whether they have names. */
static bool view_are_few(const struct view *v, uint64_t samples)
{
	return samples < FEW_PART * v->counted;
}

const char *view_missing(const struct view *v, size_t *i, int *error)
{
	for (; *i < v->n_objects; ++*i) {
		const struct view_object *o = &v->objects[*i];

		if ((o->elf && !o->nameless) || o->path[0] != '/' || o->path[1] == '/')
			continue;
		if (view_are_few(v, o->unnamed))
			continue;
		*error = o->elf ? -ENOMSG : o->error;
		return o->path;
	}
	/* these may be there already, and this is reported as well */
	for (; *i < 2 * v->n_objects; ++*i) {
		const struct view_object *o = &v->objects[*i - v->n_objects];

		if (!o->newer || view_are_few(v, o->samples))
			continue;
		*error = VIEW_NEWER;
		return o->path;
	}
	return NULL;
}

const char *view_why_missing(int error)
{
	static char text[128];

	switch (error) {
	case -ESTALE:
		return "no symbols: its build id differs from the recorded file's; it was replaced, or a container has another file at this path";
	case -ENODATA:
		return "no symbols: it has none; install its debug symbols or build it without stripping";
	case VIEW_NEWER:
		return "it has no build id and is newer than the recording: it may not be the file that was recorded, and names may be wrong";
	case -ENOMSG:
		return "no symbols for some functions, which are shown by their addresses; install its debug symbols or build it without stripping";
	default:
		snprintf(text, sizeof(text), "no symbols: %s", strerror(-error));
		return text;
	}
}

bool view_is_damaged(const struct view *v)
{
	const struct kjoule_damage *d = &v->rec.damage;

	return d->shrunk || d->truncated || !v->rec.ended || d->chunks || d->missing ||
	       v->tl.damaged || v->tl.disorder || v->side_band_skipped || v->rec.unpackable ||
	       v->rec.end.ring_damaged || v->tl.backwards;
}

int view_complain_file(const struct view *v, const char *path)
{
	const struct kjoule_damage *d = &v->rec.damage;

	if (d->shrunk) {
		cmd_warn("%s: became shorter while it was read; is it being recorded again? what was read before is used",
			 path);
	} else if (d->truncated) {
		cmd_warn("%s: ends inside the chunk at byte %" PRIu64
			 ": the recording was cut short; what is whole before is used",
			 path, d->truncated_offset);
	} else if (!v->rec.ended) {
		cmd_warn("%s: has no end: the recording was cut short; what it has is used", path);
	}
	if (d->chunks || d->missing)
		cmd_warn("%s: %u damaged or missing chunks%s%s; the rest is used", path,
			 d->missing > d->chunks ? d->missing : d->chunks,
			 d->chunks ? ", first: " : "", d->first);
	if (v->tl.damaged || v->tl.disorder || v->side_band_skipped || v->rec.unpackable)
		cmd_warn("%s: %u chunks, %" PRIu64 " bytes of records, %" PRIu64
			 " out of order, %zu bytes of side band make no sense and are left out",
			 path, v->rec.unpackable, v->tl.damaged, v->tl.disorder,
			 v->side_band_skipped);
	if (v->rec.end.ring_damaged || v->tl.backwards)
		cmd_warn("%s: skipped %" PRIu64 " damaged parts of rings and %" PRIu64
			 " energy readings lower than the one before", path,
			 v->rec.end.ring_damaged, v->tl.backwards);
	return view_is_damaged(v) ? EXIT_FAILED : EXIT_DONE;
}

/* An object without symbols. */
struct missing {
	const char *path;
	int error;
};

static int view_missing_by_path(const void *a, const void *b)
{
	const struct missing *x = a, *y = b;

	int order = strcmp(x->path, y->path);

	return order ? order : (x->error > y->error) - (x->error < y->error);
}

/* Independent of the order of samples, which may come CPU by CPU, or from all in turns. */
int view_complain(const struct view *v, const char *path)
{
	struct missing *all = calloc(2 * v->n_objects + 1, sizeof(*all)), one;
	int code = view_complain_file(v, path);
	size_t n = 0;

	for (size_t i = 0; (one.path = view_missing(v, &i, &one.error)); i++) {
		if (all)
			all[n++] = one;
		else
			cmd_warn("%s: %s", one.path, view_why_missing(one.error));
	}
	if (n)
		qsort(all, n, sizeof(*all), view_missing_by_path);
	for (size_t i = 0; i < n; i++)
		cmd_warn("%s: %s", all[i].path, view_why_missing(all[i].error));
	free(all);
	return code;
}
