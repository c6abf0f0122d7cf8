/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a view to the numbers that analyses work on: the process and function of every tick of every
 * CPU, and what becomes of ticks that were missed, lost or skipped.
 */
#ifndef KJOULE_BLOCKS_H
#define KJOULE_BLOCKS_H

#include "analysis/profile/profile.h"
#include "attribute/blocks_phases.h"
#include "attribute/code_units.h"
#include "attribute/edge_windows.h"
#include "attribute/energy_columns.h"
#include "attribute/missed_ticks.h"
#include "recording/view.h"

struct blocks_process {
	uint32_t pid;
	const char *comm;
	uint8_t kind;			/* enum cpm_kind */
	bool outside;	/* what it did outside of the selected region, or no process at all */
};

/* A block: a function of a process, or a unit of another granularity. */
struct blocks_function {
	uint32_t process;		/* index */
	const char *symbol, *object;
	bool kernel;
	uint64_t samples;		/* of the recording, whatever becomes of them */
	uint64_t precise;		/* samples whose address is precise */
	uint64_t timed, took_ns;	/* samples whose ticks have a length, and its sum */
	/* samples of user mode, and of these the ones delayed by an interrupt */
	uint64_t user, late;
	double slowness;		/* sum over @user of one by the frequency in MHz */
	struct blocks_delay *delay;	/* of those that are not in these yet */
	bool clocked;			/* these have a frequency */
	bool merged;			/* all that it has is another block's now */
	const struct code_unit *unit;	/* NULL: a function, without another granularity */
	uint32_t region;		/* path, of a unit of CODE_UNIT_REGION */
};

struct blocks {
	size_t n_processes, n_functions;
	struct blocks_process *processes;
	struct blocks_function *functions;
	uint32_t other;			/* the function that stands for all but the target */
	uint32_t bystander;		/* the same, on busy CPUs; UINT32_MAX: there is none */
	uint32_t paused;			/* ticks at which edge windows paused the CPUs */
	/* the recorder, where only a process is sampled; UINT32_MAX: none */
	uint32_t recorder;
	uint64_t filled;		/* recorded ticks without a sample */
	uint64_t left_out;		/* more of these, that were too many to keep */
	uint64_t interpolated;	/* missed ticks that were attributed to a neighbouring sample */
	uint64_t unattributed;		/* more of them, in gaps that are too long for that */
	uint64_t lost;			/* samples that are known to be lost */
	bool lost_unknown;		/* an unknown number more are */
	struct profile_input input;	/* ready for profile_new() */
	unsigned int n_domains;
	const struct kjoule_domain_info *domains[PROFILE_DOMAINS];
	unsigned int shown_first;	/* of them: its energy orders rows, and hides small ones */
	uint8_t *kinds;
	/* part of the time in other interrupts in the calibration */
	double other_calibrated;
	double other_unsure;		/* twice its standard error */
	struct blocks_phases phases;	/* of ticks that met interrupts */
	/* how many times as often as by its part of the time an interrupt was met; 0: unknown */
	double late_scale;
	struct profile_cost *costs;
	struct missed_ticks_stream *ticks;	/* of each stream */
	struct profile_stream *streams;
	/* of the CPUs' streams, and of the recorder's */
	struct tick_stream_counts counts, others;
	struct edge_windows windows;
	size_t n_readings;		/* for which a CPU was paused */
	struct energy_columns meters;
	struct blocks_index *index;
	struct code_units *units;		/* the caller's; NULL: functions */
	size_t n_names;			/* of inseparable.c, as what follows */
	char **names;
	bool *loose;
	struct mixture_range *unknown;	/* ticks of unknown code */
	struct code_unit *regions;	/* by path; NULL unless blocks are regions */
};

/**
 * blocks_new() - sort all samples into processes and functions
 * @v: selects with @region and @by_region
 * @units: another granularity than functions; must stay. NULL: none
 * @raw: leave out the cost of ticks and interrupts, and refine nothing: ALEA's own model
 * Return: 0 or -ENOMEM
 */
int blocks_new(struct view *v, struct code_units *units, bool raw, struct blocks *b);
/** blocks_names_new() - names only, common to recordings (merge.h). Return: 0 or -ENOMEM */
int blocks_names_new(struct blocks *b);
/** blocks_process() - the number of a process, which may be new. Return: 0 or -ENOMEM */
int blocks_process(struct blocks *b, const struct blocks_process *like, uint32_t *process);
/** blocks_domain_names() - of the columns of energy. Return: how many */
size_t blocks_domain_names(const struct blocks *b, const char *names[PROFILE_DOMAINS]);

/* The process that stands for CPUs that edge windows paused. */
#define BLOCKS_PAUSED_CPUS	"[paused]"

/** blocks_process_is_outside() - in no total: the recorder of a process, and paused CPUs */
bool blocks_process_is_outside(const struct blocks_process *p);
/**
 * blocks_find() - blocks_function() for any block: @like without its samples. Return: 0 or -ENOMEM
 */
int blocks_find(struct blocks *b, const struct blocks_function *like, uint32_t *function);
/**
 * blocks_function() - the number of a function of a process, made if necessary
 * After the last one blocks_seal() must be called, before profile_new().
 * Return: 0 or -ENOMEM
 */
int blocks_function(struct blocks *b, uint32_t process, const char *symbol, const char *object,
		    bool kernel, uint32_t *function);
/** blocks_marks() - how the region that a block is was marked; NULL: it is none, or unknown */
const struct kjoule_regions_count *blocks_marks(const struct blocks *b,
						const struct kjoule_regions *r, uint32_t function);
/** blocks_is_unattributed() - a function that stands for what is not the target */
static inline bool blocks_is_unattributed(const struct blocks *b, uint32_t function)
{
	return function == b->other || function == b->bystander;
}
/** blocks_seal() - after the last function. Return: 0 or -ENOMEM */
int blocks_seal(struct blocks *b);
void blocks_free(struct blocks *b);

/**
 * blocks_paused_by() - the option of record by which CPUs were paused repeatedly, NULL: they were
 * not
 *
 * Only `kjoule report` of one recording has models for that. Other verbs report BLOCKS_PAUSED with
 * the path and this option.
 */
const char *blocks_paused_by(const struct blocks *b);
#define BLOCKS_PAUSED	"%s was recorded with %s: its CPUs were held again and again, which is in no total, and took longer; figures are those of the constant power model, `kjoule report` of one recording has the model for it"

#endif /* KJOULE_BLOCKS_H */
