// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See boost_cause.h.
 */
#include <math.h>
#include <gsl/gsl_cdf.h>
#include "analysis/boost/boost_cause.h"

#define TAUS	60

static const char *const quantity_names[BOOST_QUANTITIES] = { "power", "temperature", "time" };
static const char *const cause_names[BOOST_CAUSES] = { "power", "temperature", "time", "both",
						       "one_of", "other" };

const char *boost_quantity_name(enum boost_quantity quantity)
{
	return quantity_names[quantity];
}

const char *boost_cause_name(enum boost_cause cause)
{
	return cause_names[cause];
}

/* It ended, with a known value at its end. */
static bool end_is_known(const struct boost_end *end, enum boost_quantity q)
{
	return end->ended && !isnan(end->at[q]);
}

/* One-way analysis of variance over the known values at the ends. */
static void ends_analyse_variance(const struct boost_end *ends, size_t n, enum boost_quantity q,
				  struct boost_why *why)
{
	double all = 0, between = 0, within = 0;
	size_t known = 0, groups = 0, most = 0;

	for (size_t i = 0; i < n; i++) {
		most = ends[i].condition > most ? ends[i].condition : most;
		if (!end_is_known(&ends[i], q))
			continue;
		all += ends[i].at[q];
		known++;
	}
	for (size_t c = 0; c <= most && known; c++) {
		double sum = 0, squares = 0;
		size_t in = 0;

		for (size_t i = 0; i < n; i++) {
			if (ends[i].condition != c || !end_is_known(&ends[i], q))
				continue;
			sum += ends[i].at[q];
			squares += ends[i].at[q] * ends[i].at[q];
			in++;
		}
		if (!in)
			continue;
		groups++;
		within += squares - sum * sum / in;
		between += in * (sum / in - all / known) * (sum / in - all / known);
	}
	why->f = why->p = NAN;
	if (groups < 2 || known <= groups || !(within > 0))
		return;
	why->f = between / (groups - 1) / (within / (known - groups));
	why->p = gsl_cdf_fdist_Q(why->f, groups - 1, known - groups);
}

/* A boost without a value is neutral to a limit that other boosts give. */
static bool limit_explains_end(const struct boost_why *why, const struct boost_end *end,
			       enum boost_quantity q)
{
	if (isnan(why->limit))
		return false;
	if (isnan(end->at[q]))
		return true;
	return end->ended ? end->at[q] >= why->limit - why->near : end->at[q] <= why->limit +
	       why->near;
}

static void limit_find(const struct boost_end *ends, size_t n, enum boost_quantity q, double idle,
		       struct boost_why *why)
{
	*why = (struct boost_why){ .limit = NAN, .near = NAN };
	for (size_t i = 0; i < n; i++) {
		if (!end_is_known(&ends[i], q))
			continue;
		why->known++;
		why->limit = fmax(why->limit, ends[i].at[q]);
	}
	why->near = BOOST_WHY_NEAR * (why->limit - idle);
	if (q == BOOST_TEMPERATURE)
		why->near = fmax(why->near, BOOST_WHY_CELSIUS);
	for (size_t i = 0; i < n; i++)
		why->explained += limit_explains_end(why, &ends[i], q);
	ends_analyse_variance(ends, n, q, why);
}

/* Power or temperature, whichever comes first: a boost that did not end reached neither. */
static bool limits_explain_end(const struct boost_why *why, const struct boost_end *end)
{
	bool power = limit_explains_end(&why[BOOST_POWER], end, BOOST_POWER);
	bool temperature = limit_explains_end(&why[BOOST_TEMPERATURE], end, BOOST_TEMPERATURE);

	return end->ended ? power || temperature : power && temperature;
}

enum boost_cause boost_cause_of(const struct boost_end *ends, size_t n,
				const double idle[BOOST_QUANTITIES], bool fitted,
				struct boost_why why[BOOST_QUANTITIES])
{
	static const enum boost_cause alone[BOOST_QUANTITIES] =
		{ BOOST_BY_POWER, BOOST_BY_TEMPERATURE, BOOST_BY_TIME };
	size_t all = 0, either = 0, unknown = 0, ended = 0;
	enum boost_cause cause = BOOST_BY_OTHER;
	bool differ = false;

	for (unsigned int q = 0; q < BOOST_QUANTITIES; q++) {
		limit_find(ends, n, q, idle[q], &why[q]);
		unknown += !why[q].known;
		if (!n || why[q].explained < n)
			continue;
		all++;
		cause = alone[q];
	}
	if (fitted)
		why[BOOST_POWER].f = why[BOOST_POWER].p = NAN;
	for (size_t i = 0; i < n; i++) {
		ended += ends[i].ended;
		differ |= ends[i].condition != ends[0].condition;
		either += limits_explain_end(why, &ends[i]);
	}
	if (!ended || !differ || all > 1)
		return BOOST_BY_ONE_OF;
	if (!all && either == n)
		cause = BOOST_BY_BOTH;
	/* an unknown quantity may be the cause, unless the known ones explain nothing either */
	return unknown && cause != BOOST_BY_OTHER ? BOOST_BY_ONE_OF : cause;
}

double boost_weighted(const struct boost_slice *s, size_t n, double tau, double w, double at_s)
{
	double power = w, whole = n ? -expm1(-s[0].len_s / tau) : 0;

	for (size_t i = 0; i < n && s[i].t_s < at_s; i++) {
		bool last = s[i].t_s + s[i].len_s > at_s;

		/* an unknown value is like the one before */
		power = isnan(s[i].w) ? power : s[i].w;
		w += (power - w) * (last ? -expm1(-(at_s - s[i].t_s) / tau) : whole);
	}
	return w;
}

double boost_tau(const struct boost_slice *s, size_t n, double idle_w, const double *until_s,
		 size_t n_ends, double longest_s)
{
	double best = INFINITY, tau = NAN;

	for (unsigned int i = 0; i < TAUS; i++) {
		double try = longest_s / 20 * pow(200, (double)i / (TAUS - 1)), least = INFINITY,
		most = -INFINITY, spread;

		for (size_t k = 0; k < n_ends; k++) {
			double w = boost_weighted(s, n, try, idle_w, until_s[k]);

			least = fmin(least, w);
			most = fmax(most, w);
		}
		spread = (most - least) / (most - idle_w);
		if (spread < best) {
			best = spread;
			tau = try;
		}
	}
	return tau;
}
