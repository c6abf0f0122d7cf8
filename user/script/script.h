/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of `kjoule script`: which record comes next (read.c), what is
 * written of it (print.c), and the command line (cmd_script.c).
 */
#ifndef KJOULE_SCRIPT_H
#define KJOULE_SCRIPT_H

#include "lib/base/min_heap.h"
#include "lib/sideband/sideband.h"
#include "output/output.h"
#include "recording/view.h"

/*
 * Reading
 */

#define SCRIPT_NO_CPU	UINT32_MAX	/* of an event that does not say where it was */

/* What is next of one CPU. */
struct script_cursor {
	struct kjoule_records *records;
	const struct kjoule_stream *stream;	/* of callers, see script_find_callers() */
	const struct kjoule_record *rec;	/* NULL: nothing left */
	int error;				/* -errno: what is left cannot be read */
	uint64_t tick, time_ns;
	uint32_t pid, tgid;
	struct timeline_callers callers;	/* of a sample */
};

struct script_reader {
	const struct view *v;
	size_t n_cursors;
	struct script_cursor *cursors;
	struct kjoule_min_heap turns;		/* of the cursors */
	struct script_cursor *last;		/* whose record was handed out */
	int error;				/* of a cursor, when all is over */
	size_t n_events, next_event;
	struct kjoule_event *events;
};

/** script_reader_init() - Return: 0 or -ENOMEM; script_reader_exit() in any case */
int script_reader_init(struct script_reader *r, const struct view *v);
void script_reader_exit(struct script_reader *r);
/**
 * script_reader_next() - the next record of a ring, or of the side band, by time
 * @record,@event: out: one of them, the other one NULL; good until the next call
 * Return: false at the end
 */
bool script_reader_next(struct script_reader *r, const struct script_cursor **record,
			const struct kjoule_event **event);

/*
 * Printing
 */

#define SCRIPT_VALUES	48	/* columns of domains */

/* A column: a domain of a source. */
struct script_value {
	uint32_t source;
	const struct kjoule_domain_info *domain;
	char name[160];
};

struct script_printer {
	struct view *v;
	struct output *out;			/* NULL: plain lines */
	bool json;
	struct output_column columns[26 + SCRIPT_VALUES];
	size_t n_columns;
	unsigned int n_values;
	struct script_value values[SCRIPT_VALUES];
	struct view_frame *frames;		/* NULL: no callers were recorded */
};

/** script_printer_init() - Return: 0 or -errno; script_printer_exit() in any case */
int script_printer_init(struct script_printer *s, struct view *v, enum output_format format);
void script_printer_exit(struct script_printer *s);
void script_print_record(struct script_printer *s, const struct script_cursor *c);
void script_print_event(struct script_printer *s, const struct kjoule_event *ev);

#endif /* KJOULE_SCRIPT_H */
