/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of a verb's options: parsing, what contradicts what, -h and completion come from its
 * rows. A verb fills a table with the addresses of what it wants to know and hands it to
 * options_parse(); what depends on values it checks itself, afterwards. Values are read by args.h.
 */
#ifndef KJOULE_CLI_OPTIONS_H
#define KJOULE_CLI_OPTIONS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include "lib/base/cpus.h"

enum options_kind {
	OPTIONS_END, OPTIONS_FLAG, OPTIONS_CLEAR, OPTIONS_SET, OPTIONS_TEXT, OPTIONS_PICTURE,
	OPTIONS_SOURCES, OPTIONS_NUMBER, OPTIONS_PERCENT, OPTIONS_POWER, OPTIONS_TIME,
	OPTIONS_SECONDS, OPTIONS_RATE, OPTIONS_FREQUENCY, OPTIONS_CPUS, OPTIONS_WORD, OPTIONS_CALL,
};

/**
 * struct options_row - an option
 * @letter:	0: it has none
 * @name:	long; NULL: it has a letter only
 * @value:	what its argument is called; NULL: it takes none; "[=NAME]": it may take one
 * @help:	for -h, one line where that is possible
 * @kind:	by one of the macros below, with where the value goes
 * @given:	out: the option was given; may be NULL
 * @not_with:	options that contradict it, with blanks between; its own name: it can be given once
 * @needs:	options of which one has to be given as well, with blanks between
 * @expected:	what values there are, for who gave another; NULL: as the kind says it
 */
struct options_row {
	char letter;
	const char *name, *value, *help;
	enum options_kind kind;
	union {
		bool *flag;
		unsigned int *word;
		const char **text;
		uint32_t *number;
		uint64_t *ns;
		double *real;
		struct kjoule_cpus *cpus;
		void *context;
	};
	uint64_t least, most, bare;
	const char *const *words;
	size_t n_words;
	int (*call)(void *context, const char *arg, const char **why);
	bool *given;
	const char *not_with, *needs, *expected;
};

/* Without a value: it becomes true, false, or @to_ */
#define OPT_FLAG(out)			.kind = OPTIONS_FLAG, .flag = (out)
#define OPT_CLEAR(out)			.kind = OPTIONS_CLEAR, .flag = (out)
#define OPT_SET(out, to_)		.kind = OPTIONS_SET, .word = (out), .least = (to_)
/* A name that is not empty; a picture's; names of sources */
#define OPT_TEXT(out)			.kind = OPTIONS_TEXT, .text = (out)
#define OPT_PICTURE(out)		.kind = OPTIONS_PICTURE, .text = (out)
#define OPT_SOURCES(out)		.kind = OPTIONS_SOURCES, .text = (out)
#define OPT_NUMBER(out, least_, most_) \
	.kind = OPTIONS_NUMBER, .number = (out), .least = (least_), .most = (most_)
#define OPT_PID(out)			OPT_NUMBER(out, 1, INT_MAX), .expected = "a process id"
#define OPT_PERCENT(out)		.kind = OPTIONS_PERCENT, .real = (out)
#define OPT_POWER(out)			.kind = OPTIONS_POWER, .real = (out)
/* In nanoseconds, of which a number without a unit counts @bare_ each; 0: it needs a unit */
#define OPT_TIME(out, bare_, least_, most_) \
	.kind = OPTIONS_TIME, .ns = (out), .bare = (bare_), .least = (least_), .most = (most_)
/* A time above 0, in seconds */
#define OPT_SECONDS(out)		.kind = OPTIONS_SECONDS, .real = (out)
/* The interval of a rate, in nanoseconds */
#define OPT_RATE(out)			.kind = OPTIONS_RATE, .ns = (out)
/* In kHz */
#define OPT_FREQUENCY(out)		.kind = OPTIONS_FREQUENCY, .number = (out)
#define OPT_CPUS(out)			.kind = OPTIONS_CPUS, .cpus = (out)
/* One of these; their order, or [NUMBER] = "word", is that of an enum */
#define OPT_WORD(out, ...)		.kind = OPTIONS_WORD, .word = (out), OPT_OFFER(__VA_ARGS__)
#define OPT_WORD_OF(out, words_, n) \
	.kind = OPTIONS_WORD, .word = (out), .words = (words_), .n_words = (n)
/*
 * Anything else. @call_ returns 0; -EINVAL or -ERANGE, with the reason in @why if it has one;
 * another -errno; or an exit code after saying why. @arg is NULL where there is none.
 */
#define OPT_CALL(call_, context_)	.kind = OPTIONS_CALL, .call = (call_), .context = (context_)

/* Besides, of any kind: what completion offers */
#define OPT_OFFER(...) \
	.words = (const char *const []){ __VA_ARGS__ }, \
	.n_words = sizeof((const char *const []){ __VA_ARGS__ }) / sizeof(const char *)

/* What many verbs have */
#define OPT_JSON(format) \
	{ 0, "json", NULL, "one JSON document", OPT_SET(format, OUTPUT_JSON), .not_with = "csv" }
#define OPT_CSV(format) \
	{ 0, "csv", NULL, "as CSV", OPT_SET(format, OUTPUT_CSV) }
#define OPT_FORCE(flag, pictures) \
	{ 0, "force", NULL, "replace the data of a picture that are there already", \
	  OPT_FLAG(flag), .needs = pictures }
#define OPT_QUIET(flag) \
	{ 'q', "quiet", NULL, "no progress", OPT_FLAG(flag) }

/**
 * struct options_verb - what has options
 * @name:	"record", or "boost run"
 * @usage:	what follows on its name, a line for each way
 * @about:	what it does, in lines of up to 80 columns
 * @examples:	three lines
 * @command:	what is no option begins a command, whose options are its own
 */
struct options_verb {
	const char *name, *usage, *about, *examples;
	bool command;
};

/**
 * options_parse() - read a command line; -h is answered here
 * @rows:	up to one of OPTIONS_END
 * Return: the index of the first argument that is no option, which is above 0; or an exit code,
 *	   negated, after printing what was asked for or what is wrong
 */
int options_parse(const struct options_verb *verb, const struct options_row *rows, int argc,
		  char **argv);

/**
 * options_print_complete() - a line for completion, with tabs between
 * @names:	as it is typed, with blanks between; @value: what its argument is called
 * @words:	that the argument can be, with blanks between
 */
void options_print_complete(const char *names, const char *value, const char *words,
			    const char *help);

#endif /* KJOULE_CLI_OPTIONS_H */
