// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The short header of a report: what was recorded, of which energy, what kjoule cost, in a line each, and whatever makes the
 * figures doubtful. header.c has the long one.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "attribute/overhead_cpus.h"
#include "header/header.h"
#include "lib/control/names.h"
#include "output/terminal.h"

/* Lines are not to be wider than a terminal: names give way, a command not to less than this. */
#define COMMAND_LEAST	12
#define NAME_MOST	20
/* Characters of the domains that the table does not show. */
#define OTHERS_MOST	24

/* "mix 30 10", without the folder that it is in; the target's name where there was no command. */
static void summary_print_subject(const struct view *v, size_t most)
{
	const struct kjoule_meta *meta = &v->rec.meta;
	char *command = kjoule_meta_command_line(meta), text[640];
	const char *shown = command;

	if (!meta->argc || !command) {
		output_printf(stdout, "# %s", header_target_text(v, text, sizeof(text)));
	} else {
		if (meta->argv[0][0] == '/' && !strncmp(command, meta->argv[0], strlen(meta->argv[0])))
			shown += strlen(meta->argv[0]) - strlen(basename(meta->argv[0]));
		if (strlen(shown) > most)
			output_printf(stdout, "# %.*s...", (int)most - 3, shown);
		else
			output_printf(stdout, "# %s", shown);
	}
	free(command);
}

static void summary_print_ticks(FILE *f, const struct view *v, uint64_t lost, uint64_t samples)
{
	const struct kjoule_session_info *s = &v->rec.meta.session;
	struct kjoule_cpu_stats sum = view_stats(v);
	char cpus[512];

	kjoule_cpus_format(&s->cpus, cpus, sizeof(cpus));
	output_printf(f, ": %.4g s on %.*s", view_duration_s(v), NAME_MOST, v->rec.meta.host);
	if (v->rec.meta.argc)
		output_printf(f, ", CPU%s %.*s", kjoule_cpus_count(&s->cpus) > 1 ? "s" : "",
			      NAME_MOST, cpus);
	fprintf(f, "; %" PRIu64 " samples at %.4g Hz", samples, 1e9 / s->interval_ns);
	if (!v->rec.n_stats)
		fprintf(f, ", counters missing\n");
	else if (sum.lost)
		fprintf(f, ", %" PRIu64 " records lost, %" PRIu64 " of %" PRIu64 " ticks missed\n",
			sum.lost, sum.missed, sum.due);
	else if (lost)
		fprintf(f, ", %" PRIu64 " samples lost\n", lost);
	else if (sum.missed)
		fprintf(f, ", none lost, %" PRIu64 " of %" PRIu64 " ticks missed\n",
			sum.missed, sum.due);
	else
		fprintf(f, ", none lost or missed\n");
}

static void summary_print_run(const struct view *v, uint64_t lost, uint64_t samples)
{
	char *ticks = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&ticks, &len);

	if (!f)
		return;
	summary_print_ticks(f, v, lost, samples);
	fclose(f);
	/* "# ", and a line feed that is no column */
	len += 2 - 1;
	summary_print_subject(v, len + COMMAND_LEAST > TERMINAL_WIDTH ? COMMAND_LEAST :
			      TERMINAL_WIDTH - len);
	output_printf(stdout, "%s\n", strtok(ticks, "\n"));
	free(ticks);
}

/* As many as there is room for. */
static void summary_print_other_domains(const struct blocks *b)
{
	size_t len = 0;

	for (unsigned int d = 1; d < b->n_domains; d++) {
		len += strlen(b->domains[d]->name);
		if (len > OTHERS_MOST) {
			output_printf(stdout, "%s%u more", d > 1 ? ", " : "; also recorded: ", b->n_domains - d);
			return;
		}
		output_printf(stdout, "%s%s", d > 1 ? ", " : "; also recorded: ",
			      b->domains[d]->name);
	}
}

static void summary_print_energy(const struct view *v, const struct blocks *b)
{
	if (!b->n_domains) {
		output_printf(stdout, "# energy: no source was used, so there is time and frequency only. %s is half a 95 %% interval\n",
		       output_half());
		return;
	}
	output_printf(stdout, "# energy: %.*s (%.*s", NAME_MOST, b->domains[0]->name, NAME_MOST,
		      v->rec.meta.session.sources[b->meters.source[0]].name);
	if (b->domains[0]->update_period_ns)
		printf(", updates every %.3g ms", b->domains[0]->update_period_ns / 1e6);
	printf(")");
	summary_print_other_domains(b);
	output_printf(stdout, ". %s is half a 95 %% interval\n", output_half());
}

static void summary_print_cost(const struct view *v, const struct blocks *b, double outside_j, bool warnings)
{
	struct overhead_cpu *cpus;
	size_t n = overhead_cpus_gather(v, b, &cpus);
	double all = overhead_all(cpus, n);

	free(cpus);
	if (isnan(all))
		printf("# how much kjoule slowed the run is not known");
	else
		printf("# kjoule slowed the run by %.1f %%", 100 * all);
	if (outside_j > 0)
		output_printf(stdout, "%s used %.3g J outside the total", isnan(all) ? "; it" : " and", outside_j);
	output_printf(stdout, "; %s; details: -v\n", warnings ? "warnings below" : "no warnings");
}

/* What a reader has to know before he believes a figure. */
static void summary_print_warnings(FILE *f, const struct view *v, const struct blocks *b,
				   const struct profile *p, uint64_t samples,
				   const struct callgraph *c, const struct power_model *m)
{
	if (!v->rec.ended || v->rec.damage.truncated)
		fprintf(f, "# cut short  the recording has no end: these figures are of what came before\n");
	if (b->lost_unknown)
		fprintf(f, "# lost       parts of the file are damaged; how many samples they had is not known\n");
	if (v->rec.end.side_band_lost)
		fprintf(f, "# sideband   %" PRIu64 " records lost: some code may be [unknown]\n", v->rec.end.side_band_lost);
	if (!samples)
		fprintf(f, "# samples    none\n");
	header_doubts_print(f, v, b, p, c, m);
	header_crowds_print(f, profile_other_set_ticks(p), profile_other_set_part(p));
}

void header_summary_print(const struct view *v, const struct blocks *b, const struct profile *p,
			  uint64_t samples, const struct callgraph *c, const struct power_model *m,
			  double outside_j)
{
	char *warnings = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&warnings, &len);

	if (f) {
		summary_print_warnings(f, v, b, p, samples, c, m);
		fclose(f);
	}
	summary_print_run(v, b->lost, samples);
	summary_print_energy(v, b);
	summary_print_cost(v, b, outside_j, len);
	if (v->cut)
		printf("# shown: %.9g s to %.9g s of it; lost and missed ticks are of all of it\n", v->from_ns * 1e-9,
		       v->to_ns * 1e-9);
	if (warnings)
		fputs(warnings, stdout);
	free(warnings);
}
