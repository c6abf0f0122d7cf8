// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The order of a measurement of frequency changes: which frequencies, what a loop takes at each
 * (level.c), then the pairs, each tried until there are enough good tries or none is to be hoped
 * for. See latency.h.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "cli/cmd.h"
#include "cli/signals.h"
#include "latency/latency.h"

/*
 * Loops take as long as frequencies say, to within such a part; clocks are as good, and turbo is
 * not.
 */
#define AS_ASKED	0.03

/*
 * How far a loop may be from its level, in standard deviations, to be taken for one by the engine.
 */
#define LIKE		6.0

static volatile sig_atomic_t caught;
static struct sigaction before[_NSIG];

static void latency_on_signal(int sig)
{
	caught = sig;
}

bool latency_is_ended(void)
{
	return caught;
}

/*
 * The first one lets a try end; a second one of them ends it at once, and what was changed is given
 * back all the same.
 */
static void latency_watch_signals(void)
{
	const struct sigaction note = { .sa_handler = latency_on_signal, .sa_flags = SA_RESETHAND };
	sigset_t ends;

	signals_ends(&ends);
	for (int sig = 1; sig < _NSIG; sig++)
		if (sigismember(&ends, sig) == 1)
			sigaction(sig, &note, &before[sig]);
}

static void latency_unwatch_signals(void)
{
	sigset_t ends;

	signals_ends(&ends);
	for (int sig = 1; sig < _NSIG; sig++)
		if (sigismember(&ends, sig) == 1)
			sigaction(sig, &before[sig], NULL);
}

static double latency_now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec * 1e-9;
}

void latency_loops_free(struct latency_loops *s)
{
	free(s->list);
	free(s->counted);
	*s = (struct latency_loops){ 0 };
}

static bool latency_is_on_terminal(const struct latency *l)
{
	return !l->opt->quiet && isatty(STDERR_FILENO);
}

static int latency_add_frequency(struct latency *l, uint32_t khz)
{
	for (size_t i = 0; i < l->n_f; i++)
		if (l->f[i].khz == khz)
			return 0;
	if (l->n_f == LATENCY_FREQUENCIES)
		return -E2BIG;
	l->f[l->n_f++] = (struct latency_frequency){ .khz = khz, .counted_khz = NAN };
	return 0;
}

static int latency_check_frequency(const struct latency *l, uint32_t khz, struct kjoule_error *err)
{
	const struct kjoule_policy *p = l->policy;
	bool listed = !p->n_available;

	for (size_t i = 0; i < p->n_available; i++)
		listed |= p->available[i] == khz;
	if (!listed) {
		char list[256] = "";
		size_t at = 0;

		for (size_t i = 0; i < p->n_available && at < sizeof(list) - 16; i++)
			at += snprintf(list + at, sizeof(list) - at, "%s%.6g", i ? ", " : "",
				       p->available[i] / 1e3);
		return kjoule_fail(err, EINVAL, "%.6g MHz is no frequency of CPU %u, which has %s MHz",
				   khz / 1e3, l->opt->cpu, list);
	}
	if (khz < p->min_khz || khz > p->max_khz)
		return kjoule_fail(err, ERANGE, "%.6g MHz is outside of the limits of CPU %u, %.6g to %.6g MHz (scaling_min_freq and scaling_max_freq of policy %u)%s",
				   khz / 1e3, l->opt->cpu, p->min_khz / 1e3, p->max_khz / 1e3,
				   p->number,
				   khz >= p->hardware_min_khz && khz <= p->hardware_max_khz ?
				   "; widen these" : "");
	return 0;
}

static int latency_frequency_by_khz(const void *a, const void *b)
{
	const struct latency_frequency *x = a, *y = b;

	return (x->khz > y->khz) - (x->khz < y->khz);
}

/* Those that were asked for; else all of a list, or some between the limits. */
static int latency_choose_frequencies(struct latency *l, struct kjoule_error *err)
{
	const struct kjoule_policy *p = l->policy;
	int ret = 0;

	for (size_t i = 0; i < l->opt->n_khz && !ret; i++) {
		ret = latency_check_frequency(l, l->opt->khz[i], err);
		if (!ret)
			ret = latency_add_frequency(l, l->opt->khz[i]);
	}
	for (size_t i = 0; !l->opt->n_khz && i < p->n_available && !ret; i++)
		if (p->available[i] >= p->min_khz && p->available[i] <= p->max_khz)
			ret = latency_add_frequency(l, p->available[i]);
	for (uint32_t i = 0;
	     !l->opt->n_khz && !p->n_available && i < KJOULE_FREQUENCY_STEPS && !ret; i++)
		ret = latency_add_frequency(l, p->min_khz + (uint64_t)(p->max_khz - p->min_khz) *
					    i / (KJOULE_FREQUENCY_STEPS - 1));
	if (ret == -E2BIG)
		return kjoule_fail(err, E2BIG,
				   "CPU %u has more than %d frequencies: name some (--freq)",
				   l->opt->cpu, LATENCY_FREQUENCIES);
	if (ret)
		return ret;
	if (l->n_f < 2 && l->opt->n_khz)
		return kjoule_fail(err, EINVAL, "%.6g MHz alone is no change: name two frequencies that differ",
				   l->f[0].khz / 1e3);
	if (l->n_f < 2)
		return kjoule_fail(err, EINVAL, "CPU %u has one frequency only, %.6g MHz, within its limits: there is no change to measure; widen scaling_min_freq and scaling_max_freq of policy %u",
				   l->opt->cpu, (l->n_f ? l->f[0].khz : p->max_khz) / 1e3,
				   p->number);
	if (!l->opt->pair)
		qsort(l->f, l->n_f, sizeof(l->f[0]), latency_frequency_by_khz);
	return 0;
}

static int latency_make_pairs(struct latency *l, struct kjoule_error *err)
{
	l->pairs = calloc(l->n_f * l->n_f, sizeof(*l->pairs));
	if (!l->pairs)
		return kjoule_fail(err, ENOMEM, "no memory");
	if (l->opt->pair) {
		l->pairs[l->n_pairs++] = (struct latency_pair){ .from = 0, .to = 1 };
		return 0;
	}
	for (size_t from = 0; from < l->n_f; from++)
		for (size_t to = 0; to < l->n_f; to++)
			if (from != to)
				l->pairs[l->n_pairs++] =
					(struct latency_pair){ .from = from, .to = to };
	return 0;
}

static void latency_show_progress(const struct latency *l, const char *what, size_t done,
				  size_t all, double since_s)
{
	double spent = latency_now_s() - since_s;

	if (!latency_is_on_terminal(l))
		return;
	fputs("\r\033[K", stderr);
	if (done)
		output_printf(stderr, "kjoule: %s %zu of %zu, some %.0f s to go", what, done + 1,
			      all, spent / done * (all - done));
	else
		output_printf(stderr, "kjoule: %s 1 of %zu", what, all);
}

static int latency_measure_levels(struct latency *l, struct kjoule_error *err)
{
	double since = latency_now_s();

	for (size_t i = 0; i < l->n_f && !caught; i++) {
		struct latency_frequency *f = &l->f[i];
		int ret;

		latency_show_progress(l, "frequency", i, l->n_f, since);
		ret = latency_level(l, f, l->adds, LATENCY_CALIBRATE, err);
		if (ret)
			return ret;
	}
	return 0;
}

/*
 * A loop at @level is within these, on the other level's side no further than half of the way to
 * that.
 */
static void latency_level_limits(const struct transition_level *level,
				 const struct transition_level *other, uint32_t *lo, uint32_t *hi)
{
	double most = LIKE * level->sd_ns, half = fabs(other->median_ns - level->median_ns) / 2;
	double below = other->median_ns < level->median_ns ? fmin(most, half) : most;
	double above = other->median_ns > level->median_ns ? fmin(most, half) : most;

	*lo = fmax(level->median_ns - below, 1);
	*hi = fmin(level->median_ns + above, UINT32_MAX);
}

static int latency_keep_try(struct latency_pair *p, struct latency_loops *s,
			    const struct transition_try *t)
{
	void *tries = realloc(p->tries, (p->n + 1) * sizeof(*p->tries)), *series, *verdicts;

	if (!tries)
		return -ENOMEM;
	p->tries = tries;
	series = realloc(p->series, (p->n + 1) * sizeof(*p->series));
	if (!series)
		return -ENOMEM;
	p->series = series;
	verdicts = realloc(p->verdicts, (p->n + 1) * sizeof(*p->verdicts));
	if (!verdicts)
		return -ENOMEM;
	p->verdicts = verdicts;
	p->tries[p->n] = *t;
	p->series[p->n++] = *s;
	*s = (struct latency_loops){ 0 };
	return 0;
}

static int latency_judge_try(struct latency *l, struct latency_pair *p, struct latency_loops *s,
			     struct kjoule_error *err)
{
	const struct transition_series series = { s->list, s->n, s->request_ns };
	struct transition_try t;
	int ret = transition_try(&series, &l->f[p->from].level, &l->f[p->to].level, &t);

	if (s->irqs_off_ns > l->irqs_off_ns)
		l->irqs_off_ns = s->irqs_off_ns;
	if (!ret)
		ret = latency_keep_try(p, s, &t);
	latency_loops_free(s);
	return ret ? kjoule_fail(err, -ret, "no memory") : 0;
}

/* Have another try while this one is looked at, if it will be needed whatever comes out. */
static int latency_judge_and_try(struct latency *l, struct latency_pair *p,
				 const struct latency_ask *ask, struct latency_loops *s,
				 bool another, struct kjoule_error *err)
{
	struct kjoule_error other;
	int ret, next;

	if (!another)
		return latency_judge_try(l, p, s, err);
	latency_ahead_begin(l->ahead, ask);
	ret = latency_judge_try(l, p, s, err);
	next = latency_ahead_end(l->ahead, s, ret ? &other : err);
	return ret ? ret : next;
}

static size_t latency_count_good(const struct latency_pair *p)
{
	size_t good = 0;

	for (size_t i = 0; i < p->n; i++)
		good += p->tries[i].verdict == TRANSITION_GOOD;
	return good;
}

/* What tries tell together takes as long as a try: not before there may be enough of them. */
static bool latency_may_be_enough(const struct latency *l, const struct latency_pair *p)
{
	size_t good = latency_count_good(p);

	return good >= l->opt->repeats || (!good && p->n >= TRANSITION_HOPELESS) ||
	       p->n >= 4 * l->opt->repeats;
}

/* Will there have to be another try after the one that is to be looked at? */
static bool latency_needs_another(const struct latency *l, const struct latency_pair *p)
{
	size_t good = latency_count_good(p);

	return l->ahead && good + 1 < l->opt->repeats && (good || p->n + 1 < TRANSITION_HOPELESS) &&
	       p->n + 1 < 4 * l->opt->repeats;
}

/*
 * Does the CPU run at both frequencies as they are called? What is granted otherwise has a level,
 * too.
 */
static bool latency_ratio_is_as_asked(const struct latency_frequency *from,
				      const struct latency_frequency *to)
{
	double ratio = from->level.median_ns * from->khz / (to->level.median_ns * to->khz);

	return ratio < 1 + AS_ASKED && ratio > 1 / (1 + AS_ASKED);
}

static int latency_measure_pair(struct latency *l, struct latency_pair *p, struct kjoule_error *err)
{
	const struct transition_level *from = &l->f[p->from].level, *to = &l->f[p->to].level;
	struct latency_ask ask = {
		.adds = l->adds, .from_khz = l->f[p->from].khz, .to_khz = l->f[p->to].khz,
		.lead = LATENCY_LEAD, .loops = LATENCY_LOOPS_MOST, .confirm = TRANSITION_CONFIRM,
		.timeout_ns = l->opt->timeout_ns, .slice_ns = l->opt->slice_ns };
	struct latency_loops s = { 0 };
	int ret = 0;

	if (l->f[p->from].why || l->f[p->to].why)
		return 0;
	p->apart = transition_levels_apart(from, to, NULL);
	/*
	 * frequencies that are to differ by more than clocks do, and loops that differ by less than
	 * their noise
	 */
	if (p->apart == TRANSITION_TWINS &&
	    !latency_ratio_is_as_asked(&l->f[p->from], &l->f[p->to]))
		p->apart = TRANSITION_SAME;
	p->elsewhere = p->apart == TRANSITION_APART &&
		       !latency_ratio_is_as_asked(&l->f[p->from], &l->f[p->to]);
	if (p->apart != TRANSITION_APART || p->elsewhere)
		return 0;
	if (l->opt->related) {
		ret = latency_others_at(l, ask.from_khz < ask.to_khz ? ask.from_khz : ask.to_khz,
					err);
		if (ret)
			return ret;
	}
	latency_level_limits(from, to, &ask.from_lo_ns, &ask.from_hi_ns);
	latency_level_limits(to, from, &ask.to_lo_ns, &ask.to_hi_ns);
	p->measured = true;
	while (!ret && !caught) {
		if (!s.list)
			ret = l->engine->attempt(l, &ask, &s, err);
		if (!ret)
			ret = latency_judge_and_try(l, p, &ask, &s, latency_needs_another(l, p),
						    err);
		if (ret || !latency_may_be_enough(l, p))
			continue;
		if (transition_pair(p->tries, p->n, l->opt->repeats, p->verdicts, &p->result))
			ret = kjoule_fail(err, ENOMEM, "no memory");
		else if (p->result.state != TRANSITION_MORE)
			return 0;
	}
	/* one that was under way counts like any other */
	if (!ret && s.list)
		ret = latency_judge_try(l, p, &s, err);
	latency_loops_free(&s);
	/* as far as it has come */
	if (!ret && transition_pair(p->tries, p->n, l->opt->repeats, p->verdicts, &p->result))
		ret = kjoule_fail(err, ENOMEM, "no memory");
	return ret;
}

static int latency_measure_pairs(struct latency *l, struct kjoule_error *err)
{
	double since = latency_now_s();
	int ret = 0;

	/* without it they come one after the other */
	l->ahead = latency_ahead_new(l);
	for (size_t i = 0; i < l->n_pairs && !ret && !caught; i++) {
		latency_show_progress(l, "pair", i, l->n_pairs, since);
		ret = latency_measure_pair(l, &l->pairs[i], err);
	}
	latency_ahead_free(l->ahead);
	l->ahead = NULL;
	if (latency_is_on_terminal(l))
		fprintf(stderr, "\r\033[K");
	return ret;
}

static int latency_find_trends(struct latency *l)
{
	struct transition_point *points = calloc(l->n_pairs + 1, sizeof(*points));
	size_t n = 0;
	int ret = points ? 0 : -ENOMEM;

	for (size_t i = 0; i < l->n_pairs && points; i++) {
		const struct latency_pair *p = &l->pairs[i];

		if (p->measured && p->result.state == TRANSITION_KNOWN)
			points[n++] = (struct transition_point){ l->f[p->from].khz, l->f[p->to].khz,
								 p->result.last_ns };
	}
	if (!ret)
		ret = transition_trend(points, n, true, &l->up);
	if (!ret)
		ret = transition_trend(points, n, false, &l->down);
	free(points);
	return ret;
}

/* What there is to be undone is undone whatever else fails; the first failure is returned. */
static int latency_close_engine(struct latency *l, struct kjoule_error *err)
{
	struct kjoule_error other = { "" };
	int ret = l->engine->close(l, err);
	int held = frequency_guard_end(&l->guard, l->frequency, ret ? &other : err);

	latency_load_end(l);
	return ret ? ret : held;
}

static int latency_open_engine(struct latency *l, struct kjoule_error *err)
{
	struct kjoule_error other;
	int ret = l->opt->load ? latency_load_start(l, err) : 0;

	if (!ret && l->opt->related)
		ret = frequency_guard_start(&l->guard, l->frequency, err);
	if (!ret)
		ret = l->engine->open(l, err);
	if (ret)
		latency_close_engine(l, &other);
	return ret;
}

int latency_run(struct latency *l, struct kjoule_error *err)
{
	double since = latency_now_s();
	struct kjoule_error other = { "" };
	int ret, closed;

	ret = latency_choose_frequencies(l, err);
	if (!ret)
		ret = latency_make_pairs(l, err);
	if (ret)
		return ret;
	caught = 0;
	latency_watch_signals();
	ret = latency_open_engine(l, err);
	if (ret) {
		latency_unwatch_signals();
		return ret;
	}
	ret = latency_choose_adds(l, err);
	if (!ret)
		ret = latency_measure_levels(l, err);
	if (!ret)
		ret = latency_measure_pairs(l, err);
	closed = latency_close_engine(l, &other);
	latency_unwatch_signals();
	l->stopped = caught;
	l->seconds = latency_now_s() - since;
	if (!ret && closed)
		return kjoule_fail(err, -closed, "%s", other.text);
	if (closed)
		cmd_warn("%s", other.text);
	if (!ret && latency_find_trends(l))
		ret = kjoule_fail(err, ENOMEM, "no memory");
	return ret;
}

void latency_free(struct latency *l)
{
	for (size_t i = 0; i < l->n_pairs; i++) {
		struct latency_pair *p = &l->pairs[i];

		for (size_t k = 0; k < p->n; k++)
			latency_loops_free(&p->series[k]);
		free(p->tries);
		free(p->series);
		free(p->verdicts);
	}
	free(l->pairs);
	l->pairs = NULL;
	l->n_pairs = 0;
}
