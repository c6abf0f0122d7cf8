/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of `kjoule sweep`: the command line (cmd_sweep.c), the settings and the folder that
 * keeps their recordings (plan.c, folder.c), the runs (run.c), the figures (rows.c), what is
 * printed of them (print.c) and drawn (map.c).
 */
#ifndef KJOULE_SWEEP_CMD_H
#define KJOULE_SWEEP_CMD_H

#include <stdio.h>
#include "analysis/sweep/sweep.h"
#include "attribute/merge_names.h"
#include "lib/machine/frequency.h"
#include "record/record.h"

/* Settings and runs of a sweep, at most. */
#define SWEEP_SETTINGS	1024
#define SWEEP_RUNS	999

/* What a command line names the number of threads by. */
#define SWEEP_THREADS	"{threads}"

#define SWEEP_MANIFEST	"sweep.json"

enum sweep_status {
	SWEEP_GOOD,		/* recorded, and the command was content */
	SWEEP_FAILED,		/* the command failed, or its recording did */
};

/* One run at a setting. */
struct sweep_run {
	char *file;			/* inside the folder */
	enum sweep_status status;
	int exit_code;
};

/**
 * struct sweep_setting - a frequency and a number of threads
 * @khz,@threads: 0: as it is
 * @refused:	why the CPUs could not be held at the frequency; NULL: they were, or it was not
 *		tried
 */
struct sweep_setting {
	uint32_t khz, threads;
	char *refused;
	size_t n_runs;
	struct sweep_run *runs;
};

/**
 * struct sweep_plan - what is run, or was
 * @runs:	of each setting
 * @latency_ns:	that the driver says a change of the frequency takes; 0: not known
 * @finished:	all settings were run, or tried
 */
struct sweep_plan {
	char *folder;
	int argc;
	char **argv;
	char driver[32], host[80], kernel[200];
	uint64_t wall_ns, latency_ns;
	unsigned int runs;
	bool finished;
	size_t n_settings;
	struct sweep_setting *settings;
};

/**
 * sweep_command() - the command of a setting, NULL-terminated; sweep_command_free(). NULL: no
 * memory
 */
char **sweep_command(int argc, char **argv, uint32_t threads);
void sweep_command_free(char **argv);
/** sweep_label() - "1200 MHz, 2 threads" */
const char *sweep_label(const struct sweep_setting *s, char *buf, size_t len);
/**
 * sweep_plan_settings() - each frequency with each number of threads; without any of a kind, as it
 * is. Return: 0, -ENOMEM
 */
int sweep_plan_settings(struct sweep_plan *p, const uint32_t *khz, size_t n_khz,
			const uint32_t *threads, size_t n_threads);
/**
 * sweep_setting_has_failed() - the command failed there, or its frequency was refused: nothing more
 * is measured
 */
bool sweep_setting_has_failed(const struct sweep_setting *s);
/** sweep_plan_command() - a copy. Return: 0 or -ENOMEM */
int sweep_plan_command(struct sweep_plan *p, char **argv);
void sweep_plan_free(struct sweep_plan *p);
/** sweep_plan_add() - one more run of a setting. Return: 0 or -ENOMEM */
int sweep_plan_add(struct sweep_setting *s, const char *file, enum sweep_status status,
		   int exit_code);

/**
 * sweep_folder_new() - make it, or take one that has no sweep yet
 * Return: its descriptor, by which files are made in it whatever is done to its path; -EPERM: it is
 * another user's, or others can write to it; -ENOTDIR: nor is a link followed; -errno; with the
 * reason in @err
 */
int sweep_folder_new(const char *folder, struct kjoule_error *err);
/**
 * sweep_folder_create() - a new file in the folder, in the place of what is there.
 * Return: for writing; -errno
 */
int sweep_folder_create(int folder, const char *name);
/**
 * sweep_folder_write() - the manifest, whole or not at all.
 * Return: 0; -errno with the reason in @err
 */
int sweep_folder_write(const struct sweep_plan *p, int folder, struct kjoule_error *err);
/** sweep_folder_read() - Return: 0; -errno, -EBADMSG with the reason in @err */
int sweep_folder_read(const char *folder, struct sweep_plan *p, struct kjoule_error *err);

/**
 * sweep_run() - run all settings of a plan, and keep the manifest up to date
 * @folder:	of sweep_folder_new(): what is made is made in it
 * @f:		NULL: frequencies are left alone
 * @opt:	of each recording, but for command and output
 * @once:	makes one recording, see record_once()
 * @signal:	out: that ended it, 0: none
 * What was held is given back, whatever comes.
 * Return: an exit code: 0 also if settings failed, as long as one did not
 */
int sweep_run(struct sweep_plan *p, int folder, struct kjoule_frequency *f,
	      const struct record_options *opt,
	      int (*once)(const struct record_options *opt, struct record_result *result),
	      int *signal);

/* What is known of a block, or of everything, at a setting. */
struct sweep_figures {
	bool met;
	uint64_t samples;
	struct value time_s;		/* of CPUs */
	struct value delay_s;		/* by the clock on the wall */
	struct value j, w, product;
	double dof;			/* of @j's interval; 0: it has none */
	double share;			/* see struct cpm_group; NAN: no energy is known */
	double khz;
};

/**
 * struct sweep_block - what is known of one at all settings
 * @function:	UINT32_MAX: the whole program
 * @mixed:	its energy is mixed with its neighbours' at a setting (GROUPS_PURE): what settings
 *		seem to do to it they may do to those, so none is its least, and it has no frequency
 *		of its own
 */
struct sweep_block {
	uint32_t function;
	bool mixed;
	struct sweep_figures *at;	/* by setting */
	struct sweep_best energy, product;
	bool *energy_equal, *product_equal;
};

/**
 * struct sweep - a plan with its figures
 * @merges:	of each setting; n 0: it has none
 * @all:	the whole program
 * @blocks:	those shown, by energy; @n_hidden: those below the limit
 * @mixed:	of all blocks with at least one per cent of the whole, those that are
 * @saving:	of all blocks with at least one per cent of the whole; its setting is SWEEP_NONE
 *		without energy
 * @changes:	of frequency between blocks in a run, at least; @changes_s,@changes_j: what they
 *		take, 0 where that is not known
 * @dof:	see difference_of()
 * @runs_least:	runs of the setting that has the fewest
 */
struct sweep {
	struct sweep_plan plan;
	const struct attribute_options *opt;
	struct merge_names names;
	struct merge *merges;
	bool has_energy;
	struct sweep_block all;
	size_t n_blocks, n_hidden, known, mixed;
	struct sweep_block *blocks;
	struct sweep_saving saving;
	double changes, changes_s, changes_j;
	double dof;			/* 0: that of each figure counts */
	size_t runs_least;
	struct merge_notes notes;
	bool damaged;
};

/**
 * sweep_figures_new() - read all recordings of @s->plan.
 * Return: 0; -errno with the reason in @err
 */
int sweep_figures_new(struct sweep *s, const struct attribute_options *opt,
		      struct kjoule_error *err);
void sweep_free(struct sweep *s);
/** sweep_print() - on standard output. Return: 0 or -ENOMEM */
int sweep_print(const struct sweep *s);
/**
 * sweep_rows() - of each block at each setting. @head: of JSON, taken over.
 * Return: 0 or -ENOMEM
 */
int sweep_rows(const struct sweep *s, FILE *file, enum output_format format,
	       struct json_object *head);
/**
 * sweep_draw() - the heat map, and a file of its data, see picture_open().
 * Return: 0; -errno with the reason in @err
 */
int sweep_draw(const struct sweep *s, const char *path, bool force, struct kjoule_error *err);
/** sweep_block_name() - for people */
const char *sweep_block_name(const struct sweep *s, const struct sweep_block *b);

#endif /* KJOULE_SWEEP_CMD_H */
