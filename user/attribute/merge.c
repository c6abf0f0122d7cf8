// SPDX-License-Identifier: GPL-2.0-or-later
/* Several recordings as one; see merge.h. Called by report and diff. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "attribute/merge_names.h"
#include "attribute/overhead_cpus.h"
#include "attribute/region_marks.h"
#include "cli/cmd.h"
#include "lib/base/array.h"
#include "lib/base/privilege.h"
#include "lib/control/names.h"

void merge_new(struct merge *m, struct merge_names *names, const struct attribute_options *opt)
{
	memset(m, 0, sizeof(*m));
	m->names = names;
	m->opt = opt;
}

static void merge_run_free(struct merge_run *r)
{
	free(r->command);
	free(r->program);
	free(r->build_id);
	free(r->frequency);
	free(r->elapsed_s);
	free(r->steps);
	groups_free(&r->groups);
}

void merge_free(struct merge *m)
{
	for (size_t i = 0; i < m->n; i++)
		merge_run_free(&m->runs[i]);
	free(m->runs);
	merge_notes_free(&m->notes);
	groups_free(&m->groups);
	memset(m, 0, sizeof(*m));
}

void merge_notes_free(struct merge_notes *notes)
{
	for (size_t i = 0; i < notes->n; i++)
		free(notes->list[i]);
	free(notes->list);
	memset(notes, 0, sizeof(*notes));
}

int merge_note(struct merge_notes *notes, const char *fmt, ...)
{
	char *text = NULL, *clean = NULL, **slot;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (len < 0)
		return -ENOMEM;
	/* names out of files must not steer the terminal */
	clean = output_clean(text);
	free(text);
	slot = clean ? kjoule_array_grow(&notes->list, &notes->n, sizeof(*slot)) : NULL;
	if (!slot) {
		free(clean);
		return -ENOMEM;
	}
	*slot = clean;
	return 0;
}

/* Why it is not a whole run. */
static const char *merge_partial_reason(const struct view *v)
{
	if (!v->rec.ended || v->rec.damage.truncated || v->rec.damage.shrunk)
		return "it was cut short";
	if (!strcmp(v->rec.end.reason, "signal"))
		return "it was ended by a signal";
	if (!strcmp(v->rec.end.reason, "output"))
		return "it could not be written to its end";
	return NULL;
}

static int merge_run_describe(struct merge_run *r, const struct view *v)
{
	const struct kjoule_source_info *f =
		kjoule_recording_source(&v->rec, KJOULE_KIND_FREQUENCY);
	const struct kjoule_meta *meta = &v->rec.meta;
	const char *id, *program = view_program(v, &id);
	struct stat st;

	r->command = kjoule_meta_command_line(meta);
	r->program = program ? strdup(program) : NULL;
	r->build_id = id ? strdup(id) : NULL;
	r->frequency = f ? strdup(f->name) : NULL;
	if (!r->command || (program && !r->program) || (id && !r->build_id) || (f && !r->frequency))
		return -ENOMEM;
	snprintf(r->host, sizeof(r->host), "%s", meta->host);
	snprintf(r->kernel, sizeof(r->kernel), "%s", meta->kernel);
	r->wall_ns = meta->wall_ns;
	r->interval_ns = meta->session.interval_ns;
	r->jitter_ns = meta->session.jitter_ns;
	r->t0_ns = meta->session.t0_ns;
	r->seed = meta->session.seed;
	kjoule_privilege_raise();
	if (!stat(r->path, &st)) {
		r->device = st.st_dev;
		r->inode = st.st_ino;
	}
	kjoule_privilege_lower();
	r->target = meta->session.target;
	r->cpus = meta->session.cpus;
	r->duration_s = view_duration_s(v);
	r->stats = view_stats(v);
	r->exit_code = v->rec.ended ? v->rec.end.exit_code : -1;
	r->partial = merge_partial_reason(v);
	r->calibrated = v->rec.cal.ticks;
	return 0;
}

static bool merge_program_is_same(const struct merge_run *a, const struct merge_run *b)
{
	if (a->build_id && b->build_id)
		return !strcmp(a->build_id, b->build_id);
	if (a->program && b->program)
		return !strcmp(a->program, b->program);
	return true;	/* unknown: compare the commands */
}

/* Of commands the program, if there is one. */
static bool merge_command_is_same(const char *a, const char *b)
{
	size_t len = strcspn(a, " ");

	return !*a || !*b || (len == strcspn(b, " ") && !strncmp(a, b, len));
}

bool merge_same(const struct merge_run *a, const struct merge_run *b)
{
	return (a->inode && a->device == b->device && a->inode == b->inode) ||
	       (a->seed && a->seed == b->seed && a->t0_ns == b->t0_ns);
}

static bool merge_cpus_are_same(const struct kjoule_cpus *a, const struct kjoule_cpus *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* May it be averaged with the others, and with which notes? */
static int merge_compare_run(struct merge *m, const struct merge_run *r, struct kjoule_error *err)
{
	const struct merge_run *f = &m->runs[0];
	char cpus[2][200];
	int ret = 0;

	for (size_t i = 0; i < m->n; i++)
		if (merge_same(&m->runs[i], r))
			return kjoule_fail(err, EXDEV,
					   "%.200s is the same recording as %.200s: its samples would count twice",
					   r->path,
					   m->runs[i].path);
	if (!merge_program_is_same(f, r))
		ret = kjoule_fail(err, EXDEV,
				  "%s is a recording of %s%s%.12s, %s of %s%s%.12s: different programs are no one average; see `kjoule diff`",
				  r->path, r->program ? r->program : "?",
				  r->build_id ? ", build id " : "", r->build_id ? r->build_id : "",
				  f->path, f->program ? f->program : "?",
				  f->build_id ? ", build id " : "", f->build_id ? f->build_id : "");
	else if (!f->program && !r->program && !merge_command_is_same(f->command, r->command))
		ret = kjoule_fail(err, EXDEV,
				  "%s is a recording of `%s`, %s of `%s`: different programs are no one average; see `kjoule diff`",
				  r->path, r->command, f->path, f->command);
	else if (strcmp(f->command, r->command))
		ret = merge_note(&m->notes, "%s was run as `%s`, %s as `%s`", r->path, r->command,
				 f->path, f->command);
	if (!ret && f->target != r->target)
		ret = kjoule_fail(err, EXDEV, "%s is a recording of a %s, %s of a %s: they measure different things",
				  r->path,
			     kjoule_target_name(r->target), f->path, kjoule_target_name(f->target));
	if (!ret && f->interval_ns != r->interval_ns)
		ret = merge_note(&m->notes, "%s was recorded at %.6g Hz, %s at %.6g Hz: samples do not weigh the same",
				 r->path,
				 1e9 / r->interval_ns, f->path, 1e9 / f->interval_ns);
	if (!ret && !merge_cpus_are_same(&f->cpus, &r->cpus))
		ret = merge_note(&m->notes, "%s was recorded on CPUs %s, %s on CPUs %s", r->path,
				 kjoule_cpus_format(&r->cpus, cpus[0], sizeof(cpus[0])), f->path,
				 kjoule_cpus_format(&f->cpus, cpus[1], sizeof(cpus[1])));
	if (!ret && strcmp(f->host, r->host))
		ret = merge_note(&m->notes, "%s was recorded on %s, %s on %s", r->path, r->host,
				 f->path, f->host);
	else if (!ret && strcmp(f->kernel, r->kernel))
		ret = merge_note(&m->notes, "%s was recorded on %s, %s on %s", r->path, r->kernel,
				 f->path, f->kernel);
	if (!ret &&
	    strcmp(f->frequency ? f->frequency : "none", r->frequency ? r->frequency : "none"))
		ret = merge_note(&m->notes, "%s has its frequency from %s, %s from %s", r->path,
				 r->frequency ? r->frequency : "none",
				 f->path, f->frequency ? f->frequency : "none");
	if (!ret && f->calibrated != r->calibrated)
		ret = merge_note(&m->notes, "of %s and %s only one knows what a tick costs",
				 r->path, f->path);
	return ret;
}

/* "package (rapl), core (rapl)" */
static const char *merge_domain_names(const struct kjoule_domain_info *const *info,
				      const char *const *sources, unsigned int n, char *buf,
				      size_t len)
{
	size_t at = 0;

	snprintf(buf, len, "no energy");
	for (unsigned int d = 0; d < n && at < len; d++)
		at += snprintf(buf + at, len - at, "%s%s (%s)", d ? ", " : "", info[d]->name,
			       sources[d]);
	return buf;
}

/* All recordings must have the same columns of energy, from the same sources. */
static int merge_compare_domains(struct merge *m, const struct view *v, const struct blocks *b,
				 const char *path, struct kjoule_error *err)
{
	const struct kjoule_domain_info *mine[PROFILE_DOMAINS];
	const char *sources[PROFILE_DOMAINS], *theirs[PROFILE_DOMAINS];
	bool same = !m->n || m->n_domains == b->n_domains;
	char there[300], before[300];

	for (unsigned int d = 0; d < b->n_domains; d++)
		theirs[d] = v->rec.meta.session.sources[b->meters.source[d]].name;
	for (unsigned int d = 0; d < b->n_domains && !m->n; d++) {
		m->domains[d] = *b->domains[d];
		snprintf(m->sources[d], sizeof(m->sources[d]), "%s", theirs[d]);
	}
	if (!m->n)
		m->n_domains = b->n_domains;
	for (unsigned int d = 0; d < m->n_domains; d++) {
		mine[d] = &m->domains[d];
		sources[d] = m->sources[d];
		same = same && !strcmp(m->domains[d].name, b->domains[d]->name) &&
		       !strcmp(sources[d], theirs[d]);
	}
	if (same)
		return 0;
	return kjoule_fail(err, EXDEV,
			   "%s has %s, %s has %s: cannot average different sources; choose one that both have with --source",
			   path,
			   merge_domain_names(b->domains, theirs, b->n_domains, there,
					      sizeof(there)),
			   m->runs[0].path,
			   merge_domain_names(mine, sources, m->n_domains, before, sizeof(before)));
}

/*
 * Numbers of a recording's regions among all, also of those without a sample, as another run may
 * have one; and how they were marked.
 * @process_of,@function_of: see merge_places()
 * @marks: by these numbers; NULL: only make them
 */
static int merge_add_marks(struct merge *m, const struct view *v, const struct blocks *b,
			   const uint32_t *process_of, const uint32_t *function_of,
			   struct region_marks *marks)
{
	const struct kjoule_regions *r = v->regions;
	bool *met = calloc(r->n_counts + 1, sizeof(*met));
	int ret = met ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < b->n_functions && !ret; i++) {
		const struct kjoule_regions_count *c = blocks_marks(b, r, i);

		if (c)
			met[c - r->counts] = true;
		if (marks)
			region_marks_add(&marks[function_of[i]], c);
	}
	for (size_t i = 0; i < r->n_counts && !ret; i++) {
		const struct kjoule_regions_count *c = &r->counts[i];

		for (size_t k = 0; k < b->n_processes && !ret && !met[i] &&
		     c->path > KJOULE_REGIONS_UNKNOWN; k++) {
			uint32_t place;

			if (b->processes[k].pid != c->pid ||
			    b->processes[k].outside !=
			    (v->region && !kjoule_regions_inside(r, c->path, v->region)))
				continue;
			ret = merge_region_place(m->names, &b->regions[c->path], process_of[k],
						 &place);
			if (!ret && marks)
				region_marks_add(&marks[place], c);
		}
	}
	free(met);
	return ret;
}

/* Elapsed time and execution order of functions, by common numbers. */
static int merge_add_execution_order(const struct blocks *b, const uint32_t *function_of,
				     uint32_t n_functions, struct merge_run *r)
{
	struct cpm_stream *streams = calloc(b->input.n_streams + 1, sizeof(*streams));
	uint32_t *groups = calloc(b->n_functions + 1, sizeof(*groups));
	int ret = streams && groups ? 0 : -ENOMEM;

	for (size_t i = 0; i < b->input.n_streams && !ret; i++)
		streams[i] = b->input.streams[i].stream;
	for (uint32_t i = 0; i < b->n_functions && !ret; i++)
		groups[i] = b->input.kinds[i] == CPM_BUSY ? function_of[i] : COURSE_NONE;
	r->elapsed_s = calloc(n_functions + 1, sizeof(*r->elapsed_s));
	if (!ret && r->elapsed_s)
		ret = execution_order_elapsed(streams, b->input.n_streams, groups, n_functions,
					      r->elapsed_s);
	else
		ret = -ENOMEM;
	for (uint32_t i = 0; i < n_functions && !ret; i++)
		r->elapsed_s[i] *= b->input.interval_ns * 1e-9;
	if (!ret)
		ret = execution_order_steps(streams, b->input.n_streams, groups, &r->steps,
					    &r->n_steps);
	free(groups);
	free(streams);
	return ret;
}

/* The figures of a run, by common numbers. */
static int merge_add_figures(struct merge *m, struct view *v, const struct blocks *b,
			     struct merge_run *r)
{
	struct merge_alias alias = { NULL, NULL };
	uint32_t *process_of = calloc(b->n_processes + 1, sizeof(*process_of));
	uint32_t *function_of = calloc(b->n_functions + 1, sizeof(*function_of));
	struct profile *p = NULL;
	int ret = process_of && function_of ? 0 : -ENOMEM;

	if (r->program) {
		const struct kjoule_session_info *s = &v->rec.meta.session;

		alias.object = r->program;
		alias.comm = view_comm(v, s->pid, s->pid,
				       v->rec.ended ? v->rec.end.stop_ns : INT64_MAX);
		if (!m->names->object) {
			m->names->object = merge_text(m->names, strrchr(r->program, '/') + 1);
			m->names->comm = merge_text(m->names, alias.comm);
			ret = !ret && m->names->object && m->names->comm ? 0 : -ENOMEM;
		}
	}
	if (!ret)
		ret = merge_places(m->names, &alias, b, process_of, function_of);
	if (!ret && b->regions)
		ret = merge_add_marks(m, v, b, process_of, function_of, NULL);
	if (!ret)
		ret = profile_new(&b->input, &p);
	if (!ret)
		ret = groups_new(b, p, &(struct groups_places){
			m->names->b.n_processes, m->names->b.n_functions, process_of, function_of },
			&r->groups);
	if (!ret && b->regions) {
		r->groups.marks = calloc(r->groups.n_functions + 1, sizeof(*r->groups.marks));
		ret = r->groups.marks ? merge_add_marks(m, v, b, process_of, function_of,
							r->groups.marks) : -ENOMEM;
	}
	if (!ret && m->execution_order)
		ret = merge_add_execution_order(b, function_of, m->names->b.n_functions, r);
	for (unsigned int d = 0; d < b->n_domains && !ret; d++) {
		r->readings[d] = profile_readings(p, d);
		r->unmeasured[d] = profile_unmeasured_part(p, d);
		r->still_s[d] = b->meters.power[d] ? 0 : profile_still_s(p, d);
	}
	r->parallel = ret ? 0 : profile_parallel(p);
	r->other_set_ticks = ret ? 0 : profile_other_set_ticks(p);
	r->crowded = ret ? 0 : profile_other_set_part(p);
	profile_free(p);
	free(process_of);
	free(function_of);
	return ret;
}

/* Objects without names, each once for all recordings. */
static void merge_warn_of_objects(struct merge *m, const struct view *v)
{
	const char *path;
	int error;

	for (size_t i = 0; (path = view_missing(v, &i, &error)); i++) {
		size_t before = m->names->n_texts;
		char text[4200];

		snprintf(text, sizeof(text), "%s: %s", path, view_why_missing(error));
		merge_text(m->names, text);
		m->warned = true;
		if (m->names->n_texts > before)
			cmd_warn("%s", text);
	}
}

/*
 * A region that this run never entered takes no time of it; a run without any marks has no regions.
 */
static int merge_check_regions(struct merge *m, const struct view *v, const char *path,
			       struct kjoule_error *err)
{
	char *missing, *rest, *line;
	int ret = region_marks_check(v, path, err);

	if (ret == -ESRCH) {
		ret = merge_note(&m->notes, "%s", err->text);
		err->text[0] = '\0';
	}
	if (ret || (!v->region && !v->by_region))
		return ret;
	missing = rest = region_marks_missing(v);
	while (!ret && (line = strsep(&rest, "\n")))
		if (line[0])
			ret = merge_note(&m->notes, "%s: of regions, %s", path, line);
	free(missing);
	return ret;
}

/* Windows need one recording's model. */
static int merge_compare_windows(struct merge *m, const struct merge_run *r)
{
	const char *first = m->n ? m->runs[0].path : NULL;

	if (m->n && !m->runs[0].paused != !r->paused)
		return merge_note(&m->notes, "%s was recorded with %s, %s without: only the former's CPUs were held again and again, which took time",
				  r->paused ? r->path : first,
				  r->paused ? r->paused : m->runs[0].paused,
				  r->paused ? first : r->path);
	return m->n || !r->paused ? 0 :
	       merge_note(&m->notes, BLOCKS_PAUSED, r->path, r->paused);
}

static int merge_add_view(struct merge *m, struct view *v, struct merge_run *r,
			  struct kjoule_error *err)
{
	const struct attribute_options *opt = m->opt;
	bool chosen[KJOULE_MAX_SOURCES];
	struct code_units *grain = NULL;
	struct user_blocks named = opt->named;
	struct blocks b = { 0 };
	int ret;

	v->source = opt->source;
	v->region = opt->region;
	v->by_region = opt->by_region;
	ret = merge_run_describe(r, v);
	if (!ret && m->n)
		ret = merge_compare_run(m, r, err);
	if (!ret)
		ret = merge_check_regions(m, v, r->path, err);
	if (!ret)
		ret = energy_columns_choose(v, opt->source, chosen, err);
	if (!ret && opt->units)
		ret = code_units_new(opt->grain, &named, &grain);
	if (!ret)
		ret = blocks_new(v, grain, opt->raw, &b);
	if (!ret) {
		r->paused = blocks_paused_by(&b);
		ret = merge_compare_domains(m, v, &b, r->path, err);
		if (!ret)
			ret = merge_compare_windows(m, r);
		if (!ret)
			ret = merge_add_figures(m, v, &b, r);
		r->lost = b.lost;
		r->lost_unknown = b.lost_unknown;
		r->interpolated = b.interpolated;
		r->unattributed = b.unattributed;
		r->calibration_error = b.input.calibration_error;
		r->overhead = overhead_cpus_all(v, &b);
		blocks_free(&b);
	}
	code_units_free(grain);
	return ret;
}

int merge_add(struct merge *m, const char *path, struct kjoule_error *err)
{
	struct merge_run run = { .path = path }, *slot;
	struct view v;
	int ret = view_open(path, &v, err);

	if (ret)
		return ret;
	err->text[0] = '\0';
	ret = merge_add_view(m, &v, &run, err);
	if (!ret) {
		slot = kjoule_array_grow(&m->runs, &m->n, sizeof(*slot));
		if (slot)
			*slot = run;
		ret = slot ? 0 : -ENOMEM;
	}
	if (ret)
		merge_run_free(&run);
	if (ret && !err->text[0])
		kjoule_fail(err, -ret, "%s: %s", path, view_why_not(ret));
	if (!ret) {
		m->damaged |= view_complain_file(&v, path) != EXIT_DONE;
		merge_warn_of_objects(m, &v);
	}
	view_close(&v);
	return ret;
}

static double merge_value_deviation(const struct value *v)
{
	return (v->hi - v->lo) / 2 / 1.96;
}

/* What is compared between runs that are not left out: the total, in the first domain. */
static int merge_find_outliers(struct merge *m, enum merge_figure figure)
{
	double *x = calloc(m->n + 1, sizeof(*x)), *sd = calloc(m->n + 1, sizeof(*sd));
	struct outlier *found = calloc(m->n + 1, sizeof(*found));
	int ret = x && sd && found ? 0 : -ENOMEM;
	bool known = true;
	size_t n = 0;

	for (size_t i = 0; i < m->n && !ret; i++) {
		const struct profile_group *g = m->runs[i].groups.total;
		const struct value *v = figure == MERGE_TIME ? &g->time_s :
					figure == MERGE_ENERGY ? &g->energy[0].j : &g->energy[0].w;

		m->runs[i].figures[figure] = m->n_domains || figure == MERGE_TIME ? v->v : NAN;
		if (m->runs[i].left_out)
			continue;
		x[n] = m->runs[i].figures[figure];
		sd[n] = merge_value_deviation(v);
		known &= !isnan(x[n++]);
	}
	m->median[figure] = NAN;
	if (!ret && known)
		ret = outliers_find(x, sd, n, found, &m->median[figure]);
	n = 0;
	for (size_t i = 0; i < m->n && !ret; i++) {
		if (m->runs[i].left_out)
			continue;
		m->runs[i].outliers[figure] = found[n];
		m->runs[i].differs |= found[n].differs;
		m->has_outliers |= found[n++].differs;
	}
	free(found);
	free(sd);
	free(x);
	return ret;
}

/* A command that ended with the same code each time ended as expected. Return: 0 or -ENOMEM */
static int merge_note_exits(struct merge *m)
{
	size_t alike = 0;
	int ret = 0;

	for (size_t i = 0; i < m->n; i++)
		alike += m->runs[i].exit_code == m->runs[0].exit_code;
	if (m->n > 1 && alike == m->n)
		return m->runs[0].exit_code <= 0 ? 0 :
		       merge_note(&m->notes,
				  "the command of all recordings ended with exit code %d",
				  m->runs[0].exit_code);
	for (size_t i = 0; i < m->n && !ret; i++)
		if (m->runs[i].exit_code > 0)
			ret = merge_note(&m->notes, "the command of %s ended with exit code %d",
					 m->runs[i].path, m->runs[i].exit_code);
	return ret;
}

static int merge_note_partial(struct merge *m)
{
	int ret = 0;

	for (size_t i = 0; i < m->n && !ret; i++)
		if (m->runs[i].partial)
			ret = merge_note(&m->notes, "%s is not a whole run%s: %s", m->runs[i].path,
					 m->runs[i].left_out ? " and is left out" : "",
					 m->runs[i].partial);
	return ret;
}

int merge_outliers(struct merge *m, bool leave_out)
{
	bool whole = false;
	int ret = m->exits_known ? 0 : merge_note_exits(m);

	for (size_t i = 0; i < m->n; i++)
		whole |= !m->runs[i].partial;
	/* the time of a part of a run is no run's, nor are others compared with it */
	m->judged = 0;
	for (size_t i = 0; i < m->n; i++) {
		m->runs[i].left_out = whole && m->runs[i].partial;
		m->judged += !m->runs[i].left_out;
	}
	if (!ret)
		ret = merge_note_partial(m);
	for (enum merge_figure f = 0; f < MERGE_FIGURES && !ret; f++)
		ret = merge_find_outliers(m, f);
	m->kept = 0;
	for (size_t i = 0; i < m->n; i++) {
		m->runs[i].left_out |= leave_out && m->runs[i].differs;
		m->kept += !m->runs[i].left_out;
	}
	return ret ? ret : m->kept ? 0 : -ENODATA;
}

enum merge_level { TOTAL, PROCESSES, FUNCTIONS };

static const struct profile_group *merge_group_of(const struct groups *g, enum merge_level level,
						  uint32_t i)
{
	if (level == TOTAL)
		return &g->total[0];
	if (level == PROCESSES)
		return i < g->n_processes ? &g->processes[i] : NULL;
	return i < g->n_functions ? &g->functions[i] : NULL;
}

/* The figures of code that a run does not have: 0, in the domains whose energy is known. */
static void merge_set_unsampled(const struct merge *m, const struct merge_run *r,
				struct profile_group *g)
{
	memset(g, 0, sizeof(*g));
	g->khz = (struct value){ NAN, NAN, NAN };
	for (unsigned int d = 0; d < m->n_domains; d++)
		if (isnan(r->groups.total->energy[d].j.v))
			profile_energy_set_unknown(&g->energy[d]);
}

static int merge_average_level(const struct merge *m, size_t n, enum merge_level level,
			       uint32_t n_groups, const struct profile_group *absent,
			       struct profile_group **out, struct runs_between **between)
{
	const struct profile_group **of = calloc(n + 1, sizeof(*of));
	int ret;

	*out = calloc(n_groups + 1, sizeof(**out));
	*between = calloc(n_groups + 1, sizeof(**between));
	ret = of && *out && *between ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < n_groups && !ret; i++) {
		size_t kept = 0;

		for (size_t k = 0; k < n; k++) {
			if (m->runs[k].left_out)
				continue;
			of[kept] = merge_group_of(&m->runs[k].groups, level, i);
			if (!of[kept])
				of[kept] = &absent[k];
			kept++;
		}
		ret = runs_average(of, kept, m->n_domains, &(*out)[i], &(*between)[i]);
	}
	free(of);
	return ret;
}

/* How often regions were entered in all runs together, and the mean time in them. */
static int merge_sum_marks(const struct merge *m, size_t n, size_t kept, struct groups *out)
{
	out->marks = calloc(out->n_functions + 1, sizeof(*out->marks));
	if (!out->marks)
		return -ENOMEM;
	for (size_t k = 0; k < n; k++) {
		const struct groups *g = &m->runs[k].groups;

		for (uint32_t i = 0; i < g->n_functions && !m->runs[k].left_out; i++) {
			out->marks[i].known |= g->marks[i].known;
			out->marks[i].entered += g->marks[i].entered;
			out->marks[i].unended += g->marks[i].unended;
			out->marks[i].marked_s += g->marks[i].marked_s / kept;
		}
	}
	return 0;
}

int merge_average(struct merge *m, size_t n, struct groups *out)
{
	struct profile_group *absent = calloc(n + 1, sizeof(*absent));
	size_t kept = 0;
	int ret = absent ? 0 : -ENOMEM;

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < n && !ret; i++) {
		merge_set_unsampled(m, &m->runs[i], &absent[i]);
		kept += !m->runs[i].left_out;
	}
	out->n_processes = m->names->b.n_processes;
	out->n_functions = m->names->b.n_functions;
	if (!ret && !kept)
		ret = -ENODATA;
	if (!ret)
		ret = merge_average_level(m, n, TOTAL, 1, absent, &out->total, &out->total_between);
	if (!ret)
		ret = merge_average_level(m, n, PROCESSES, out->n_processes, absent,
					  &out->processes, &out->processes_between);
	if (!ret)
		ret = merge_average_level(m, n, FUNCTIONS, out->n_functions, absent,
					  &out->functions, &out->functions_between);
	if (!ret && m->opt->by_region)
		ret = merge_sum_marks(m, n, kept, out);
	if (ret)
		groups_free(out);
	free(absent);
	return ret;
}
