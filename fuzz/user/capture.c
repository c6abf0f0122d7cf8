// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Catches and judges output; see capture.h. The first megabytes are kept, the rest is
 * counted: a bomb in the output is not one in memory.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <json-c/json.h>
#include "fuzz/user/capture.h"
#include "lib/base/text.h"

#define KEPT	(4u << 20)

/*
 * CPU time that an input may take: so much, so much for each of its bytes, and for each that is
 * printed. Measured on all regressions and seeds, on 28 November 2026, with the code as it is
 * shipped: files below 400 kB take 7 ms at most; larger ones 0.18 us a byte at most
 * (build-ids-of-a-hundred-thousand-files), and 8 ns for a byte of output
 * (records-out-of-nothing). Ten times as much is allowed, for a slow machine. What is quadratic
 * takes hundreds of times as much (1024-cpus-of-240-domains: 35 s where 5.8 s are allowed).
 * Sanitizers and coverage are up to eight times slower.
 */
#define NS_EACH		1000000000ull
#define NS_BYTE		2000ull
#define NS_PRINTED	80ull
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#endif
#if defined(SANITIZED) || defined(__SANITIZE_ADDRESS__)
#define SLOWER		8
#else
#define SLOWER		1
#endif

struct caught {
	char *text;
	size_t len, all;
};

static struct caught out, err;
static FILE *out_stream, *err_stream, *real_out, *real_err;

static ssize_t keep(void *cookie, const char *data, size_t len)
{
	struct caught *c = cookie;
	size_t n = KEPT - c->len < len ? KEPT - c->len : len;

	memcpy(c->text + c->len, data, n);
	c->len += n;
	c->all += len;
	return len;
}

static FILE *open_stream(struct caught *c)
{
	FILE *f = fopencookie(c, "w", (cookie_io_functions_t){ .write = keep });

	c->text = malloc(KEPT + 1);
	if (!f || !c->text)
		abort();
	return f;
}

void capture_begin(void)
{
	if (!out_stream) {
		out_stream = open_stream(&out);
		err_stream = open_stream(&err);
	}
	out.len = out.all = err.len = err.all = 0;
	real_out = stdout;
	real_err = stderr;
	stdout = out_stream;
	stderr = err_stream;
}

void must_hold(bool condition, const char *promise)
{
	if (condition)
		return;
	fprintf(stderr, "broken promise: %s\n", promise);
	abort();
}

static uint64_t began_ns, allowed_ns;

static uint64_t used_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void look_again_after(uint64_t ns)
{
	const uint64_t us = ns / 1000 + 1;
	const struct itimerval timer = { .it_value = { us / 1000000, us % 1000000 } };

	if (setitimer(ITIMER_PROF, &timer, NULL))
		abort();
}

static void too_long(int sig)
{
	static const char text[] =
		"broken promise: the CPU time of an input has a limit\n";
	uint64_t allowed = allowed_ns + SLOWER * NS_PRINTED * out.all, used = used_ns() - began_ns;

	(void)sig;
	if (used < allowed) {
		look_again_after(allowed - used);
		return;
	}
	if (write(STDERR_FILENO, text, sizeof(text) - 1) > 0)
		abort();
	_exit(1);
}

void must_end_soon(size_t bytes)
{
	out.all = 0;
	began_ns = used_ns();
	allowed_ns = SLOWER * (NS_EACH + NS_BYTE * bytes);
	signal(SIGPROF, too_long);
	look_again_after(allowed_ns);
}

static void judge(bool good, const char *promise, const char *text)
{
	if (!good)
		fprintf(stderr, "in: %.2000s\n", text);
	must_hold(good, promise);
}

/* May a terminal have it? @control: characters that the format has */
static bool plain(const struct caught *c, const char *control)
{
	const char *p = c->text + kjoule_text_safe_len(c->text), *end = c->text + c->len;

	while (*p && strchr(control, *p))
		p += 1 + kjoule_text_safe_len(p + 1);
	/* what had no room may begin within a character */
	return p == end || (c->len < c->all && p + 4 > end);
}

static bool is_json(const char *text, size_t len)
{
	struct json_tokener *tok = json_tokener_new();
	struct json_object *o;
	bool good;

	json_tokener_set_flags(tok, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	o = json_tokener_parse_ex(tok, text, len);
	good = json_tokener_get_error(tok) == json_tokener_success &&
	       json_object_is_type(o, json_type_object);
	json_object_put(o);
	json_tokener_free(tok);
	return good;
}

static bool are_json_lines(const char *text)
{
	const char *end;

	for (; *text; text = end + 1) {
		end = strchr(text, '\n');
		if (!end || !is_json(text, end - text))
			return false;
	}
	return true;
}

/* Every row has as many cells as the head. */
static bool is_csv(const char *text)
{
	size_t cells = 1, first = 0;
	bool quoted = false;

	for (; *text; text++) {
		if (*text == '"') {
			quoted = !quoted;
		} else if (!quoted && *text == ',') {
			cells++;
		} else if (!quoted && text[0] == '\r' && text[1] == '\n') {
			first = first ? first : cells;
			if (cells != first)
				return false;
			cells = 1;
			text++;
		}
	}
	return !quoted;
}

void capture_end(enum capture_kind kind, int code)
{
	bool whole;

	fflush(stdout);
	fflush(stderr);
	stdout = real_out;
	stderr = real_err;
	out.text[out.len] = '\0';
	err.text[err.len] = '\0';
	whole = out.len == out.all;
	judge(plain(&err, "\n"), "messages have no control characters", err.text);
	judge(code == 0 || code == 1, "a data file's content is never a usage error", err.text);
	judge(!code || err.all, "what fails says why", "");
	judge(plain(&out, kind == CAPTURE_CSV ? "\r\t\n" : "\n"),
	      "output has no control characters", out.text);
	if (!out.all || !whole)
		return;
	if (kind == CAPTURE_JSON)
		judge(out.text[out.len - 1] == '\n' && is_json(out.text, out.len - 1),
		      "--json is JSON", out.text);
	if (kind == CAPTURE_JSON_LINES)
		judge(are_json_lines(out.text), "--json is JSON, a line each", out.text);
	if (kind == CAPTURE_CSV)
		judge(strlen(out.text) == out.len && is_csv(out.text), "--csv is CSV", out.text);
}
