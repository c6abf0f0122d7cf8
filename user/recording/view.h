/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An open recording: its timeline, and names for addresses and threads. Used by all verbs that read
 * one, by attribute/ and header/.
 */
#ifndef KJOULE_VIEW_H
#define KJOULE_VIEW_H

#include "analysis/ticks/timeline.h"
#include "lib/base/hash_index.h"
#include "lib/code/maps.h"
#include "lib/code/symbols.h"
#include "lib/code/unwind.h"
#include "lib/control/ring.h"
#include "lib/file/records.h"
#include "lib/region/region_timeline.h"

struct view_load;
struct view_object;
struct view_stacks;

/*
 * @source: for energy_columns_choose(); the caller's, NULL: the first
 * @region: use only this region's samples, for blocks_new(); the caller's, NULL: everything
 * @by_region: blocks are regions; the caller's as well
 * @by_process: nothing finer than processes is needed; the caller's as well
 * @cut: only a part of the recording's time, from @from_ns to @to_ns since it began: the ticks from
 *	@cut_from to before @cut_to of the file; all of it has @whole_s
 */
struct view {
	const char *source, *region;
	bool by_region, by_process;
	bool cut;
	uint64_t from_ns, to_ns, cut_from, cut_to;
	double whole_s;
	struct kjoule_recording rec;
	struct timeline tl;
	struct view_load *load;		/* NULL: the timeline is there; else see view_load() */
	uint64_t max_tick;		/* no tick can be larger */
	struct kjoule_maps *maps;
	struct kjoule_regions *regions;
	size_t side_band_skipped;	/* bytes that could not be read */
	struct kjoule_kallsyms *live;	/* of this machine, if it is the same boot */
	size_t n_objects;
	struct view_object *objects;
	uint64_t counted;		/* samples of view_count_samples() */
	struct view_stacks *stacks;	/* unwound; NULL: there are none, or not requested */
	uint64_t unwound[KJOULE_UNWOUND_KINDS];	/* counts by result */
	struct kjoule_hash_index by_path;
	char *vdso;	/* the recording's copy as a file; NULL: it has none, or not requested */
	int vdso_fd;			/* its descriptor */
};

/* A caller. */
struct view_frame {
	uint64_t ip;			/* as recorded: a return address, mostly */
	uint64_t at;			/* inside the call, to be looked up */
	bool kernel;
};

/* More callers than any sample has. */
#define VIEW_FRAMES		2304

/* Where an address is. */
struct view_place {
	const char *symbol;		/* "[unknown]" if it has no name */
	const char *object;		/* file, "[kernel]", "[module]", "[unknown]" */
	const char *file;		/* to be opened for its code; NULL: there is none */
	uint64_t offset;		/* inside the symbol or the object */
	bool known;
	/* as in the object's file, 0 without a file or symbol */
	uint64_t address, start, end;
	/* addresses around it of the same symbol, until the next mapping there; len 0: unknown */
	uint64_t same_start, same_len;
};

struct view_samples;

/**
 * view_samples_open() - before the first sample of a CPU, by its number in the timeline; callers
 * can then be found in the timeline of one with a session as well
 * Return: 0 or -errno
 */
int view_samples_open(const struct view *v, size_t cpu, struct view_samples **s);
/**
 * view_samples_next() - the next one, until the next call
 * Return: 1; 0: there is none; -ESTALE: the file has changed; or -errno
 */
int view_samples_next(struct view_samples *s, const struct timeline_sample **sample);
/**
 * view_samples_batch() - some of the next ones, @n of them, until the next call. Return: as
 * view_samples_next()
 */
int view_samples_batch(struct view_samples *s, const struct timeline_sample **samples, size_t *n);
void view_samples_close(struct view_samples *s);

/**
 * view_open() - Return: 0 or -errno with the reason in @err
 * @path: NULL: no file was named, see kjoule_reader_open()
 *
 * A large recording is read once: its timeline has only the CPUs until blocks_new() or view_load().
 */
int view_open(const char *path, struct view *v, struct kjoule_error *err);
/** view_load() - make the timeline, if necessary. Return: 0; -ESTALE: changed file; or -errno */
int view_load(struct view *v);
void view_close(struct view *v);
/** view_vdso() - the recording's copy of the vDSO, as a file; NULL: it has none */
const char *view_vdso(struct view *v);
/**
 * view_cut() - use a part of the recording's time only, as if nothing else had been recorded
 * @from_ns,@to_ns: nanoseconds since the first tick was due at the earliest; @to_ns may be after
 *   the end
 * Return: 0; -ENODATA with the reason in @err: no tick is in it
 */
int view_cut(struct view *v, const char *path, uint64_t from_ns, uint64_t to_ns,
	     struct kjoule_error *err);
/** view_start_ns() - CLOCK_MONOTONIC that --from and --to are counted from */
uint64_t view_start_ns(const struct view *v);
/** view_time() - CLOCK_MONOTONIC of a record */
static inline uint64_t view_time(const struct view *v, uint64_t tick, uint32_t late_ns)
{
	const struct kjoule_session_info *s = &v->rec.meta.session;

	return s->t0_ns + tick * s->interval_ns + late_ns +
	       (s->jitter_ns ? kjoule_jitter(s->seed, s->first_tick + tick, s->jitter_ns) : 0);
}
/** view_resolve() - strings live as long as the view */
void view_resolve(struct view *v, const struct timeline_sample *s, struct view_place *place);
/** view_resolve_at() - the same for any address of a process */
void view_resolve_at(struct view *v, uint32_t pid, uint64_t time_ns, uint64_t ip, bool kernel,
		     struct view_place *place);
/**
 * view_code() - the file with an object's code, and the function around an address of it
 * @object: its path
 * @address: as in the file
 * @symbol: out: NULL: there is none
 * Return: 0; -ENODATA: it has no functions at all, or is no file; -ESTALE: another file by now;
 *   -errno
 */
int view_code(struct view *v, const char *object, uint64_t address, const char **file,
	      const struct kjoule_symbol **symbol);
/** view_has_callers() - is there a chain or a stack in it? */
bool view_has_callers(const struct view *v);
/** view_unwind() - unwind all stacks, before view_callers(). Return: 0 or -errno */
int view_unwind(struct view *v);
/**
 * view_callers() - the call chain of a sample
 * @cpu: of the sample
 * @frames: room for VIEW_FRAMES, innermost first
 * @cut: out: there were more, or may have been
 * Return: how many
 */
size_t view_callers(struct view *v, uint32_t cpu, const struct timeline_sample *s,
		    const struct timeline_callers *c, struct view_frame *frames, bool *cut);
/** view_callers_free() - of view_close() */
void view_callers_free(struct view *v);
/**
 * view_program() - the file that the recorded process ran first
 * @build_id: out: in hex, NULL: unknown
 * Return: its path; NULL if unknown, or no process was recorded
 */
const char *view_program(const struct view *v, const char **build_id);
/** view_duration_s() - from the first tick to the end */
double view_duration_s(const struct view *v);
/** view_stats() - sum over CPUs */
struct kjoule_cpu_stats view_stats(const struct view *v);
/** view_comm() - name of a thread, "[unknown]" without one */
const char *view_comm(const struct view *v, uint32_t pid, uint32_t tid, uint64_t time_ns);
/* There are symbols, but perhaps not those of the recorded file. */
#define VIEW_NEWER	(-ETIME)

/**
 * view_count_samples() - so many samples fell into a function of this object
 *
 * Where samples are counted, objects of which hardly any has no name are none of view_missing()'s.
 */
void view_count_samples(struct view *v, const char *path, const char *symbol, uint64_t samples);
/**
 * view_missing() - the next object from *@i on without symbols, with functions that have no name,
 * or that may be another file, and why; one may be both. NULL if there is none
 */
const char *view_missing(const struct view *v, size_t *i, int *error);
/**
 * view_complain() - report on standard error what is wrong with the file
 * Return: the exit code: 1 if something inside is damaged; an end that is missing is 0
 */
int view_complain(const struct view *v, const char *path);
/** view_is_damaged() - view_complain_file() has something to report */
bool view_is_damaged(const struct view *v);
/** view_complain_file() - the same of the file itself, not of objects without symbols */
int view_complain_file(const struct view *v, const char *path);
/** view_why_not() - message for a failure to read the samples */
const char *view_why_not(int error);
/** view_why_missing() - message for view_missing()'s @error; until the next call */
const char *view_why_missing(int error);

#endif /* KJOULE_VIEW_H */
