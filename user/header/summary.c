// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The short header: what was recorded, of which energy, what kjoule cost, in a line each, and the
 * warnings below; see summary.h.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/runs/runs.h"
#include "header/summary.h"
#include "output/output.h"
#include "output/terminal.h"
#include "output/wrap.h"

/* Lines are not to be wider than a terminal: names give way, a command not to less than this. */
#define COMMAND_LEAST	12
#define NAME_MOST	20
/* Characters of the domains that the table does not show. */
#define OTHERS_MOST	24

const char *summary_command(const char *text)
{
	size_t word = strcspn(text, " '");

	while (word && text[word - 1] != '/')
		word--;
	return text + word;
}

static void summary_write_ticks(FILE *f, const struct summary *s)
{
	char cpus[512];

	kjoule_cpus_format(s->cpus, cpus, sizeof(cpus));
	if (s->runs)
		fprintf(f, ": %zu run%s of", s->runs, s->runs > 1 ? "s" : "");
	else
		fputc(':', f);
	output_printf(f, " %.4g s on %.*s", s->duration_s, NAME_MOST, s->host);
	if (s->of_command)
		output_printf(f, ", CPU%s %.*s", kjoule_cpus_count(s->cpus) > 1 ? "s" : "",
			      NAME_MOST, cpus);
	fprintf(f, "; %" PRIu64 " samples at %.4g Hz", s->samples, 1e9 / s->interval_ns);
	if (!s->counted)
		fprintf(f, ", counters missing");
	else if (s->lost)
		fprintf(f, ", %" PRIu64 " records lost, %" PRIu64 " of %" PRIu64 " ticks missed",
			s->lost, s->missed, s->due);
	else if (s->lost_samples)
		fprintf(f, ", %" PRIu64 " samples lost", s->lost_samples);
	else if (s->missed)
		fprintf(f,
			", none lost, %" PRIu64 " of %" PRIu64 " ticks missed", s->missed, s->due);
	else
		fprintf(f, ", none lost or missed");
}

/* At most so many bytes of a text, and no part of a character. */
static size_t summary_cut(const char *text, size_t most)
{
	while (most && ((unsigned char)text[most] & 0xc0) == 0x80)
		most--;
	return most;
}

static void summary_print_run(const struct summary *s)
{
	size_t width = terminal_width(), most;
	char *ticks = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&ticks, &len);

	if (!f)
		return;
	summary_write_ticks(f, s);
	fclose(f);
	width = width < TERMINAL_WIDTH ? width : TERMINAL_WIDTH;
	len += strlen("# ");
	most = len + COMMAND_LEAST > width ? COMMAND_LEAST : width - len;
	if (s->of_command && strlen(s->subject) > most)
		wrap_line(stdout, "%.*s...%s", (int)summary_cut(s->subject, most - 3), s->subject,
			  ticks);
	else
		wrap_line(stdout, "%s%s", s->subject, ticks);
	free(ticks);
}

/* As many as there is room for. */
static void summary_write_others(FILE *f, const struct summary *s)
{
	size_t len = 0;

	for (size_t i = 0; i < s->n_others; i++) {
		len += strlen(s->others[i]);
		if (len > OTHERS_MOST) {
			fprintf(f, "%s%zu more", i ? ", " : "; also recorded: ",
				      s->n_others - i);
			return;
		}
		fprintf(f, "%s%s", i ? ", " : "; also recorded: ", s->others[i]);
	}
}

static void summary_print_energy(const struct summary *s)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return;
	if (s->domain) {
		fprintf(f, "%.*s (%.*s", NAME_MOST, s->domain, NAME_MOST, s->source);
		if (s->update_period_ns)
			fprintf(f, ", updates every %.3g ms", s->update_period_ns / 1e6);
		fputc(')', f);
		if (s->model)
			fprintf(f, ", model %s", s->model);
		summary_write_others(f, s);
	} else {
		fputs("no source was used, so there is time and frequency only", f);
	}
	if (s->runs < 2)
		fprintf(f, ". %s is half a 95 %% interval", output_half());
	fclose(f);
	wrap_line(stdout, "energy: %s", text);
	free(text);
	if (s->runs > 1 && s->runs_differ)
		wrap_line(stdout, "figures are means; %s is half a 95 %% interval, which includes how runs differ",
			  output_half());
	else if (s->runs > 1)
		wrap_line(stdout, "figures are means; %s is half a 95 %% interval, without how runs differ: that takes %d",
			  output_half(), RUNS_SPREAD);
}

static void summary_print_cost(const struct summary *s)
{
	const char *of = s->runs > 1 ? "runs" : "run";
	char slowed[80], outside[64] = "";

	if (isnan(s->slowdown))
		snprintf(slowed, sizeof(slowed), "how much kjoule slowed the %s is not known", of);
	else
		snprintf(slowed, sizeof(slowed),
			 "kjoule slowed the %s by %.1f %%", of, 100 * s->slowdown);
	if (s->outside_j > 0)
		snprintf(outside, sizeof(outside), "%s used %.2g J outside the total",
			 isnan(s->slowdown) ? "; it" : " and", s->outside_j);
	wrap_line(stdout, "%s%s; %s%s", slowed, outside,
		  s->warnings[0] || s->messages ? "warnings below" : "no warnings",
		  s->verbose ? "" : "; details: -v");
}

void summary_print(const struct summary *s)
{
	summary_print_run(s);
	summary_print_energy(s);
	summary_print_cost(s);
	fputs(s->warnings, stdout);
}
