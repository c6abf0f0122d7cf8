// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Running the tool and looking into what it says; see tool.h.
 */
#include <math.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <json-c/json.h>
#include "tests/support/synthetic.h"
#include "output/output.h"
#include "tests/support/tool.h"
#include "tests/support/unit.h"

char *out, *err;

/* One in so many is checked: a number that goes into no round of what tests run by turns. */
#define CHECKED_ONE_OF	7

/*
 * The tool that was built with this test: it lies a folder above. $KJOULE is another one,
 * $KJOULE_CHECKED one that some are run by.
 */
static const char *binary_path(void)
{
	static unsigned int runs;
	static char path[300];
	ssize_t n;

	if (getenv("KJOULE_CHECKED") && runs++ % CHECKED_ONE_OF == 0)
		return getenv("KJOULE_CHECKED");
	if (getenv("KJOULE"))
		return getenv("KJOULE");
	n = readlink("/proc/self/exe", path, sizeof(path) - 16);
	for (int up = 0; up < 2 && n > 0;)
		up += path[--n] == '/';
	strcpy(path + (n > 0 ? n : 0), "/kjoule");
	return path;
}

/* A command line ends with where its standard error goes. */
static void command_line_make(char *line, size_t size, const char *fmt, va_list ap)
{
	size_t at = snprintf(line, size, "%s ", binary_path());

	at += vsnprintf(line + at, size - at, fmt, ap);
	snprintf(line + at, size - at, " 2>%s", temp_path("stderr"));
}

static int run_tool(const char *fmt, va_list ap)
{
	char line[2048];
	int status;

	command_line_make(line, sizeof(line), fmt, ap);
	strcat(strcat(line, " >"), temp_path("stdout"));
	status = system(line);
	free(out);
	free(err);
	out = read_text(temp_path("stdout"));
	err = read_text(temp_path("stderr"));
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int kjoule(const char *fmt, ...)
{
	va_list ap;
	int code;

	va_start(ap, fmt);
	code = run_tool(fmt, ap);
	va_end(ap);
	return code;
}

/* All that was printed: a test may look at several. */
static struct json_object *docs;

struct json_object *kjoule_json(int code, const char *fmt, ...)
{
	struct json_object *doc;
	va_list ap;
	int found;

	va_start(ap, fmt);
	found = run_tool(fmt, ap);
	va_end(ap);
	doc = json_tokener_parse(out);
	if (found != code || !doc)
		fail_msg("exit code %d, %s JSON: %s", found, doc ? "with" : "without", err);
	docs = docs ? docs : json_object_new_array();
	json_object_array_add(docs, doc);
	return doc;
}

struct json_object *report_json(const char *options, const char *name)
{
	return kjoule_json(0, "report --json %s %s", options, temp_path(name));
}

/* A terminal turns line feeds into two characters: those of the tool are wanted. */
static char *terminal_read_all(int master)
{
	size_t len = 0, room = 1 << 16;
	char *text = malloc(room + 1), byte;

	assert_non_null(text);
	while (read(master, &byte, 1) == 1) {
		if (byte == '\r')
			continue;
		if (len == room)
			text = realloc(text, (room *= 2) + 1);
		assert_non_null(text);
		text[len++] = byte;
	}
	text[len] = '\0';
	return text;
}

int kjoule_on_terminal(unsigned short columns, const char *fmt, ...)
{
	const struct winsize size = { .ws_row = 24, .ws_col = columns };
	char command[2048];
	int master, status;
	pid_t child;
	va_list ap;

	va_start(ap, fmt);
	command_line_make(command, sizeof(command), fmt, ap);
	va_end(ap);
	child = forkpty(&master, NULL, NULL, &size);
	assert_true(child >= 0);
	if (!child) {
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	free(out);
	free(err);
	out = terminal_read_all(master);
	close(master);
	assert_int_equal(waitpid(child, &status, 0), child);
	err = read_text(temp_path("stderr"));
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Where a wrapped text goes on in the next line: behind the sign of a comment, and blanks. */
static const char *next_line(const char *text)
{
	const char *at = text + 1;

	if (*text != '\n')
		return NULL;
	if (at[0] == '#' && at[1] == ' ')
		at++;
	return *at == ' ' || at[-1] == '\n' ? at + strspn(at, " ") : NULL;
}

static bool begins_with(const char *text, const char *what)
{
	for (; *what; what++) {
		const char *next = *what == ' ' ? next_line(text) : NULL;

		if (next)
			text = next;
		else if (*text == *what)
			text++;
		else
			return false;
	}
	return true;
}

bool says(const char *text, const char *what)
{
	for (const char *at = text; *at; at++)
		if (begins_with(at, what))
			return true;
	/* cmocka cuts what is longer than a kilobyte, and the end of the line with it */
	print_message("looked for: %.200s\nfound: %.600s\n", what, text);
	return false;
}

struct json_object *member(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	json_object_object_get_ex(o, key, &v);
	return v;
}

const char *text_of(struct json_object *o, const char *key)
{
	const char *text = json_object_get_string(member(o, key));

	return text ? text : "";
}

struct json_object *item_of(struct json_object *o, const char *key, size_t i)
{
	struct json_object *array = member(o, key);

	return array ? json_object_array_get_idx(array, i) : NULL;
}

struct json_object *row_with(struct json_object *doc, const char *key, ...)
{
	struct json_object *row;

	for (size_t i = 0; (row = item_of(doc, "rows", i)); i++) {
		const char *k = key;
		va_list ap;

		va_start(ap, key);
		while (k && !strcmp(text_of(row, k), va_arg(ap, const char *)))
			k = va_arg(ap, const char *);
		va_end(ap);
		if (!k)
			return row;
	}
	return NULL;
}

struct json_object *find_row(struct json_object *doc, const char *kind, const char *object)
{
	return object ? row_with(doc, "kind", kind, "object", object, NULL) :
	       row_with(doc, "kind", kind, NULL);
}

struct json_object *find_named(struct json_object *doc, const char *function)
{
	return row_with(doc, "kind", "function", "function", function, NULL);
}

/* CSV calls "energy_j" of "package" "energy_package_j", and "energy_ratio_lo" likewise. */
static bool is_figure_of(const char *name, const char *of, const char *key)
{
	for (const char *at = name; (at = strchr(at, '_')); at++) {
		char flat[200];

		snprintf(flat, sizeof(flat), "%.*s%s%s", (int)(at - name), name, of, at + 1);
		if (!strcmp(flat, key))
			return true;
	}
	return false;
}

/* Of a figure of a domain, by the name that CSV has. Return: false: there is no such key */
static bool find_domain_figure(struct json_object *row, const char *key, struct json_object **found)
{
	struct json_object *domain;

	for (size_t i = 0; (domain = item_of(row, "domains", i)); i++) {
		char of[96];

		snprintf(of, sizeof(of), "_%s_", text_of(domain, "name"));
		output_identifier(of);
		json_object_object_foreach(domain, k, v) {
			*found = v;
			if (is_figure_of(k, of, key))
				return true;
		}
	}
	*found = NULL;
	return false;
}

struct json_object *figure_of(struct json_object *row, const char *key)
{
	struct json_object *v;

	if (!json_object_object_get_ex(row, key, &v) && !find_domain_figure(row, key, &v))
		fail_msg("there is no %s in %s", key, json_object_to_json_string(row));
	return v;
}

double number(struct json_object *row, const char *key)
{
	struct json_object *v = member(row, key);

	if (!v)
		find_domain_figure(row, key, &v);
	return v ? json_object_get_double(v) : NAN;
}

bool near(double a, double b, double by)
{
	if (fabs(a - b) <= by)
		return true;
	print_message("%g instead of %g\n", a, b);
	return false;
}
