// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See drawn.h.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tests/support/drawn.h"
#include "tests/support/synthetic.h"

static char *path_before;

void drawn_begin(void)
{
	static const char keeps[] =
		"#!/bin/sh\ncat >\"$0.script\"\nPATH=${PATH#*:}\n"
		"command -v gnuplot >/dev/null || exit 0\nexec gnuplot - <\"$0.script\"\n";
	char path[4096];

	path_before = strdup(getenv("PATH"));
	assert(path_before);
	write_file(temp_path("gnuplot"), keeps, strlen(keeps));
	assert(!chmod(temp_path("gnuplot"), 0755));
	snprintf(path, sizeof(path), "%s:%s", temp_path(""), path_before);
	setenv("PATH", path, 1);
}

char *drawn_end(void)
{
	char *script;

	setenv("PATH", path_before, 1);
	free(path_before);
	script = kept_text(temp_path("gnuplot.script"));
	unlink(temp_path("gnuplot.script"));
	unlink(temp_path("gnuplot"));
	return script;
}

size_t drawn_count(const char *script, const char *text)
{
	size_t n = 0;

	for (const char *p = script; (p = strstr(p, text)); p++)
		n++;
	return n;
}

/* A cell is a line "x,y,value,0,number" or "x,y,value,1,letter". */
static size_t drawn_count_cells(const char *script, int without, char letter)
{
	unsigned int x, y;
	size_t n = 0;
	double v;
	int gone;
	char c;

	for (const char *line = script; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		n += sscanf(line, "%u,%u,%lf,%d,%c", &x, &y, &v, &gone, &c) == 5 &&
		     gone == without && (!letter || c == letter);
	}
	return n;
}

size_t drawn_figures(const char *script)
{
	return drawn_count_cells(script, 0, 0);
}

size_t drawn_letters(const char *script, char letter)
{
	return drawn_count_cells(script, 1, letter);
}
