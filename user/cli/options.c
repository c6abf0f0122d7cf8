// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Command lines by a table of options, its help, and what completion asks for; see options.h.
 * The verbs call it.
 */
#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/args.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "output/output.h"
#include "output/plot.h"

#define OPTIONS_MOST	64
#define TEXT_MAX	64	/* of an option as it is typed */
#define LONG		256	/* of getopt_long(): what is above is a row by its name */
#define HELP_COLUMN	26
#define HELP_WIDTH	80

struct words {
	const char *at;
	size_t len;
};

/* The next word of @list, which has blanks between. Return: there is one */
static bool word_next(const char **list, struct words *w)
{
	w->at = *list + strspn(*list, " \n");
	w->len = strcspn(w->at, " \n");
	*list = w->at + w->len;
	return w->len;
}

static bool option_is(const struct options_row *o, const struct words *w)
{
	const char letter[] = { o->letter, '\0' }, *name = o->name ? o->name : letter;

	return strlen(name) == w->len && !strncmp(name, w->at, w->len);
}

static const struct options_row *option_find(const struct options_row *rows, const struct words *w)
{
	while (rows->kind && !option_is(rows, w))
		rows++;
	assert(rows->kind);
	return rows;
}

/* As it is typed: "--name", or "-x" where it has no name or @letter. Return: @buf, of TEXT_MAX */
static const char *option_text(const struct options_row *o, bool letter, char *buf)
{
	if (letter || !o->name)
		snprintf(buf, TEXT_MAX, "-%c", o->letter);
	else
		snprintf(buf, TEXT_MAX, "--%s", o->name);
	return buf;
}

/* "energy, time or power" */
static const char *option_words_text(const struct options_row *o, char *buf, size_t len)
{
	size_t at = 0;

	for (size_t i = 0; i < o->n_words && at < len; i++) {
		const char *between = !at ? "" : i + 1 < o->n_words ? ", " : " or ";

		if (o->words[i])
			at += snprintf(buf + at, len - at, "%s%s", between, o->words[i]);
	}
	return buf;
}

static const char *option_expected(const struct options_row *o, char *buf, size_t len)
{
	static const char *const kinds[] = {
		[OPTIONS_PICTURE] = "a file that ends in .svg or .png",
		[OPTIONS_SOURCES] = "names with commas between, none of them empty",
		[OPTIONS_PERCENT] = "a number from 0 to 100",
		[OPTIONS_POWER] = "watts like 2W or 500mW",
		[OPTIONS_TIME] = "a time like 500us, 20ms or 3s",
		[OPTIONS_SECONDS] = "a time like 500ms, 20s or 2m",
		[OPTIONS_RATE] = "a rate like 1000 or 4kHz",
		[OPTIONS_FREQUENCY] = "a frequency like 800MHz, 2.4GHz or 2400000 (kHz)",
		[OPTIONS_CPUS] = "CPUs like 0-3,8",
		[OPTIONS_CALL] = NULL, /* it has to say so itself */
	};

	if (o->expected || kinds[o->kind])
		return o->expected ? o->expected : kinds[o->kind];
	if (o->kind == OPTIONS_WORD)
		return option_words_text(o, buf, len);
	if (o->kind == OPTIONS_NUMBER)
		snprintf(buf, len, "a number from %" PRIu64 " to %" PRIu64, o->least, o->most);
	else
		snprintf(buf, len, "%s", o->value);
	return buf;
}

static int option_parse_word(const struct options_row *o, const char *arg)
{
	for (size_t i = 0; i < o->n_words; i++) {
		if (o->words[i] && !strcmp(arg, o->words[i])) {
			*o->word = i;
			return 0;
		}
	}
	return -EINVAL;
}

static int option_parse_time(const struct options_row *o, const char *arg, uint64_t *ns)
{
	int ret = args_duration(arg, o->bare, ns);

	return !ret && (*ns < o->least || *ns > o->most) ? -ERANGE : ret;
}

static int option_parse_seconds(const char *arg, double *seconds)
{
	uint64_t ns = 0;
	int ret = args_duration(arg, 0, &ns);

	*seconds = ns / 1e9;
	return ret ? ret : ns ? 0 : -ERANGE;
}

/* Return: as of OPT_CALL() */
static int option_set(const struct options_row *o, const char *arg, const char **why)
{
	int ret;

	switch (o->kind) {
	case OPTIONS_FLAG:
	case OPTIONS_CLEAR:
		*o->flag = o->kind == OPTIONS_FLAG;
		return 0;
	case OPTIONS_SET:
		*o->word = o->least;
		return 0;
	case OPTIONS_TEXT:
		*o->text = arg;
		return arg[0] ? 0 : -EINVAL;
	case OPTIONS_PICTURE:
		*o->text = arg;
		return plot_kind(arg) ? 0 : -EINVAL;
	case OPTIONS_SOURCES:
		*o->text = arg;
		return args_sources(arg);
	case OPTIONS_NUMBER:
		return args_number(arg, o->least, o->most, o->number);
	case OPTIONS_PERCENT:
		return args_percent(arg, o->real);
	case OPTIONS_POWER:
		return args_power(arg, o->real);
	case OPTIONS_TIME:
		return option_parse_time(o, arg, o->ns);
	case OPTIONS_SECONDS:
		return option_parse_seconds(arg, o->real);
	case OPTIONS_RATE:
		return args_rate(arg, o->ns);
	case OPTIONS_FREQUENCY:
		return args_frequency(arg, 0, 0, o->number);
	case OPTIONS_CPUS:
		ret = kjoule_cpus_parse(arg, o->cpus);
		return ret || kjoule_cpus_count(o->cpus) ? ret : -EINVAL;
	case OPTIONS_WORD:
		return option_parse_word(o, arg);
	case OPTIONS_CALL:
		return o->call(o->context, arg, why);
	case OPTIONS_END:
		break;
	}
	return -EINVAL;
}

/* Return: 0, or the exit code after saying what is wrong */
static int option_parse(const char *verb, const struct options_row *o, bool letter, const char *arg)
{
	const char *why = NULL;
	char text[TEXT_MAX], expected[256];
	int ret = option_set(o, arg, &why);

	if (ret >= 0)
		return ret;
	option_text(o, letter, text);
	if (ret != -EINVAL && ret != -ERANGE)
		return cmd_failed("%s: %s", text, strerror(-ret));
	if (why)
		return cmd_usage(verb, "%s '%s': %s", text, arg, why);
	return cmd_bad_value(verb, ret, text, arg, option_expected(o, expected, sizeof(expected)));
}

/* Return: 0, or EXIT_USAGE after saying what contradicts an option that was given */
static int option_check_not_with(const char *verb, const struct options_row *rows,
				 const unsigned int *given, const struct options_row *o)
{
	const char *list = o->not_with ? o->not_with : "";
	char text[TEXT_MAX], other_text[TEXT_MAX];
	struct words w;

	option_text(o, false, text);
	while (word_next(&list, &w)) {
		const struct options_row *other = option_find(rows, &w);

		if (other == o && given[o - rows] > 1)
			return cmd_usage(verb, "option '%s' can be given once only", text);
		if (other != o && given[other - rows])
			return cmd_usage(verb, "options '%s' and '%s' cannot be used together",
					 text, option_text(other, false, other_text));
	}
	return 0;
}

/* Return: the same of what it needs */
static int option_check_needs(const char *verb, const struct options_row *rows,
			      const unsigned int *given, const struct options_row *o)
{
	const char *list = o->needs ? o->needs : "";
	char text[TEXT_MAX], needed[4 * TEXT_MAX] = "";
	struct words w;
	size_t at = 0;

	while (word_next(&list, &w) && at < sizeof(needed)) {
		const struct options_row *other = option_find(rows, &w);

		if (given[other - rows])
			return 0;
		at += snprintf(needed + at, sizeof(needed) - at, "%s'%s'", at ? " or " : "",
			       option_text(other, false, text));
	}
	option_text(o, false, text);
	return at ? cmd_usage(verb, "option '%s' needs %s", text, needed) : 0;
}

/* "-o, --output FILE " */
static int option_heading(const struct options_row *o, char *buf, size_t len)
{
	const char letter[] = { '-', o->letter, '\0' };
	const char *dashes = !o->name ? "" : o->letter ? ", --" : "  --";
	const char *value = o->value ? o->value : "";

	return snprintf(buf, len, "  %s%s%s%s%s ", o->letter ? letter : "  ", dashes,
			o->name ? o->name : "", value[0] && value[0] != '[' ? " " : "", value);
}

/* What does not fit into a line goes on below. */
static void option_print_help(const struct options_row *o)
{
	const char *rest = o->help;
	struct words w;
	char head[128];
	int column = option_heading(o, head, sizeof(head));

	fputs(head, stdout);
	while (word_next(&rest, &w)) {
		if (column > HELP_COLUMN && column + 1 + w.len > HELP_WIDTH) {
			putchar('\n');
			column = 0;
		}
		for (; column < HELP_COLUMN - 1; column++)
			putchar(' ');
		putchar(' ');
		fwrite(w.at, 1, w.len, stdout);
		column += 1 + w.len;
	}
	putchar('\n');
}

static const struct options_row help_row = { 'h', "help", NULL, "this text", .kind = OPTIONS_FLAG };

static void options_print_help(const struct options_verb *verb, const struct options_row *rows)
{
	const char *line = verb->usage;

	for (const char *lead = "Usage: kjoule "; *line; lead = "\n       kjoule ") {
		int len = strcspn(line, "\n");

		fputs(lead, stdout);
		output_printf(stdout, "%s %.*s", verb->name, len, line);
		line += len + (line[len] == '\n');
	}
	fputs("\n\n", stdout);
	fputs(verb->about, stdout);
	fputs("\n\n", stdout);
	for (; rows->kind; rows++)
		option_print_help(rows);
	option_print_help(&help_row);
	fputs("\nExamples:\n", stdout);
	fputs(verb->examples, stdout);
}

void options_print_complete(const char *names, const char *value, const char *words,
			    const char *help)
{
	const char *const cells[] = { names, value, words, help };

	/* shells take tabs one after the other for one */
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		fputs(cells[i] && cells[i][0] ? cells[i] : "-", stdout);
		putchar(i + 1 < sizeof(cells) / sizeof(cells[0]) ? '\t' : '\n');
	}
}

static void option_print_complete(const struct options_row *o)
{
	char text[TEXT_MAX], names[2 * TEXT_MAX], words[256] = "";
	size_t at = 0;

	snprintf(names, sizeof(names), "%s", option_text(o, o->letter, text));
	if (o->letter && o->name)
		snprintf(names, sizeof(names), "-%c --%s", o->letter, o->name);
	for (size_t i = 0; i < o->n_words && at < sizeof(words); i++)
		if (o->words[i])
			at += snprintf(words + at, sizeof(words) - at, "%s%s", at ? " " : "",
				       o->words[i]);
	options_print_complete(names, o->value, words, o->help);
}

/* Names that "--begin" may be short for, as "--begins and --beginning"; "": none or one. */
static const char *options_list_alike(const struct options_row *rows, const char *arg, char *buf,
				      size_t len)
{
	const char *begin = arg + strspn(arg, "-");
	size_t chars = strcspn(begin, "="), n = 0, at = 0;

	buf[0] = '\0';
	for (const struct options_row *o = rows; o->kind && *begin && at < len; o++) {
		if (!o->name || strncmp(o->name, begin, chars))
			continue;
		at += snprintf(buf + at, len - at, "%s'--%s'", n++ ? " or " : "", o->name);
	}
	if (n < 2)
		buf[0] = '\0';
	return buf;
}

/* What getopt_long() complains about with '?' or ':'. */
static int options_getopt_error(const char *verb, const struct options_row *rows, int c,
				const char *arg)
{
	char alike[512];

	if (c == ':')
		return cmd_usage(verb, "option '%s' needs a value", arg);
	if (optopt >= LONG || (optopt == 'h' && arg[1] == '-'))
		return cmd_usage(verb, "option '%s' takes no value", arg);
	if (!optopt && *options_list_alike(rows, arg, alike, sizeof(alike)))
		return cmd_usage(verb, "option '%s' is ambiguous: it may be %s", arg, alike);
	if (optopt > 0 && optopt < 128)
		return cmd_usage(verb, "unknown option '-%c'", optopt);
	return cmd_usage(verb, "unknown option '%s'", arg);
}

static int option_has_argument(const struct options_row *o)
{
	return !o->value ? no_argument : o->value[0] == '[' ? optional_argument : required_argument;
}

/* What getopt_long() wants of them. */
static void options_for_getopt(const struct options_verb *verb, const struct options_row *rows,
			       struct option *longs, char *letters)
{
	letters += sprintf(letters, "%s:h", verb->command ? "+" : "");
	*longs++ = (struct option){ "help", no_argument, NULL, 'h' };
	for (const struct options_row *o = rows; o->kind; o++) {
		assert(o - rows < OPTIONS_MOST);
		if (o->letter)
			letters += sprintf(letters, "%c%s", o->letter, o->value ? ":" : "");
		if (o->name)
			*longs++ = (struct option){ o->name, option_has_argument(o), NULL,
						    LONG + (o - rows) };
	}
}

static const struct options_row *option_by_letter(const struct options_row *rows, int c)
{
	while (rows->letter != c)
		rows++;
	return rows;
}

int options_parse(const struct options_verb *verb, const struct options_row *rows, int argc,
		  char **argv)
{
	char letters[2 * OPTIONS_MOST + 8];
	struct option longs[OPTIONS_MOST + 2] = { 0 };
	unsigned int given[OPTIONS_MOST] = { 0 };
	const struct options_row *o;
	int c, code = 0;

	options_for_getopt(verb, rows, longs, letters);
	if (argc == 2 && !strcmp(argv[1], "--complete-options")) {
		for (o = rows; o->kind; o++)
			option_print_complete(o);
		option_print_complete(&help_row);
		return -EXIT_DONE;
	}
	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		if (c == 'h') {
			options_print_help(verb, rows);
			return -EXIT_DONE;
		}
		if (c == '?' || c == ':')
			return -options_getopt_error(verb->name, rows, c, argv[optind - 1]);
		o = c < LONG ? option_by_letter(rows, c) : &rows[c - LONG];
		code = option_parse(verb->name, o, c < LONG, optarg);
		if (code)
			return -code;
		given[o - rows]++;
		if (o->given)
			*o->given = true;
	}
	for (o = rows; o->kind && !code; o++)
		if (given[o - rows])
			code = option_check_not_with(verb->name, rows, given, o) ?:
				       option_check_needs(verb->name, rows, given, o);
	return code ? -code : optind;
}
