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

int kjoule(const char *fmt, ...)
{
	const char *binary = binary_path();
	char args[1024], command[2048], out_path[300], err_path[300];
	size_t len;
	va_list ap;
	int status;

	va_start(ap, fmt);
	vsnprintf(args, sizeof(args), fmt, ap);
	va_end(ap);
	snprintf(out_path, sizeof(out_path), "%s", temp_path("stdout"));
	snprintf(err_path, sizeof(err_path), "%s", temp_path("stderr"));
	snprintf(command, sizeof(command), "%s %s >%s 2>%s", binary, args, out_path, err_path);
	status = system(command);
	free(out);
	free(err);
	out = (char *)read_file(out_path, &len);
	out[len] = '\0';
	err = (char *)read_file(err_path, &len);
	err[len] = '\0';
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
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
	const char *binary = binary_path();
	char args[1024], command[2048], err_path[300];
	int master, status;
	size_t len;
	pid_t child;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(args, sizeof(args), fmt, ap);
	va_end(ap);
	snprintf(err_path, sizeof(err_path), "%s", temp_path("stderr"));
	snprintf(command, sizeof(command), "%s %s 2>%s", binary, args, err_path);
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
	err = (char *)read_file(err_path, &len);
	err[len] = '\0';
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int tool_done(void **state)
{
	(void)state;
	free(out);
	free(err);
	return 0;
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

struct json_object *find_row(struct json_object *doc, const char *kind, const char *object)
{
	struct json_object *rows = member(doc, "rows");

	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);

		if (strcmp(json_object_get_string(member(row, "kind")), kind))
			continue;
		if (!object || !strcmp(json_object_get_string(member(row, "object")), object))
			return row;
	}
	return NULL;
}

struct json_object *find_named(struct json_object *doc, const char *function)
{
	struct json_object *rows = member(doc, "rows");

	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *row = json_object_array_get_idx(rows, i);

		if (!strcmp(json_object_get_string(member(row, "kind")), "function") &&
		    !strcmp(json_object_get_string(member(row, "function")), function))
			return row;
	}
	return NULL;
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
	struct json_object *domains = member(row, "domains");

	for (size_t i = 0; domains && i < json_object_array_length(domains); i++) {
		struct json_object *domain = json_object_array_get_idx(domains, i);
		char of[96];

		snprintf(of, sizeof(of), "_%s_", json_object_get_string(member(domain, "name")));
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
