// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The picture of `kjoule boost run`: how much slower each run was than it would have been at the boosted speed, in the order
 * they were made in (the paper's figure 6), and over how long it took, with what the equations say of runs from a clean
 * history beside (its figure 4). See bench.h.
 */
#include <math.h>
#include "boost/bench.h"
#include "output/picture.h"
#include "output/plot.h"

/* Against the same work at the boosted speed; where that is not known, against the fastest run of its command. */
static double bench_run_slowdown(const struct boost_bench *b, const struct boost_bench_run *r)
{
	double boosted = r->judged.as_boosted_s.v / r->times;

	return 1 - (isnan(boosted) ? b->means[r->command].least : boosted) / (r->judged.seconds / r->times);
}

static void bench_plot_runs(const struct boost_bench *b, const struct picture *p)
{
	FILE *f = p->script;
	char text[128];

	fprintf(f, "set xlabel 'run'\nset ylabel 'slower than boosted, %%'\nplot ");
	for (size_t i = 0; i < b->opt->run.n_commands; i++) {
		fputs(i ? ", " : "", f);
		plot_string(f, p->data_path);
		fprintf(f, " every ::1 using ($1 == %zu ? $2 + %.9g : NaN):4 with boxes lc %zu title ", i + 1,
			(i + 0.5) * 0.8 / b->opt->run.n_commands - 0.4, i + 1);
		plot_string(f, boost_bench_text(b, i, text, sizeof(text)));
	}
	fputc('\n', f);
}

static void bench_plot_lengths(const struct boost_bench *b, const struct picture *p)
{
	double r = b->speeds.boosted / b->speeds.sustained, tb = b->speeds.tb_s;
	bool known = r > 1 && tb > 0;
	FILE *f = p->script;

	fputs("set xlabel 'length of the run, s'\nplot ", f);
	for (size_t i = 0; i < b->opt->run.n_commands; i++) {
		fputs(i ? ", " : "", f);
		plot_string(f, p->data_path);
		fprintf(f, " every ::1 using ($1 == %zu ? $3 : NaN):4 with points pt 7 lc %zu notitle", i + 1, i + 1);
	}
	if (known)
		fprintf(f, ", (x > %.9g ? 100 * %.9g * (x - %.9g) / x : 0) lc 0 dt 2 title 'from a clean history'", tb, 1 - 1 / r, tb);
	fputc('\n', f);
}

int boost_bench_draw(const struct boost_bench *b, const char *path, struct kjoule_error *err)
{
	struct picture p;

	if (!picture_open(&p, path, b->opt->force, err)) {
		fprintf(p.data, "command,run,seconds,slower_percent,class\n");
		for (size_t i = 0; i < b->n; i++) {
			const struct boost_bench_run *r = &b->runs[i];

			fprintf(p.data, "%zu,%zu,%.9g,%.9g,%s\n", r->command + 1, i / b->opt->run.n_commands + 1, r->judged.seconds,
				100 * bench_run_slowdown(b, r), boost_bench_class(b, &r->judged));
		}
		if (!picture_script(&p, err)) {
			plot_begin(p.script, p.path, 1200, 480);
			fprintf(p.script, "set datafile separator ','\nset xrange [0:*]\nset yrange [0:*]\nset grid y\nset style fill solid 0.6\n"
					  "set boxwidth %.9g\nset key outside bottom\nset multiplot layout 1,2\n", 0.8 / b->opt->run.n_commands);
			bench_plot_runs(b, &p);
			bench_plot_lengths(b, &p);
			fputs("unset multiplot\n", p.script);
		}
	}
	return picture_close(&p, err);
}
