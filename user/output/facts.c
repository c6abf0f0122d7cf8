// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The head of a JSON document as text; see facts.h. Used by headers of -v.
 */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <json-c/json.h>
#include "output/facts.h"
#include "output/wrap.h"

#define FACTS_TEXT	512

/* How figures of a unit are printed: times a factor; "k", "M" ... in steps of 1000. */
static const struct facts_unit {
	const char *suffix, *unit;
	double factor;
	bool sizes, in_label;
} units[] = {
	{ "_ns", "s", 1e-9, true, false }, { "_s", "s", 1, true, false },
	{ "_uj", "J", 1e-6, true, false }, { "_j", "J", 1, true, false },
	{ "_w", "W", 1, true, false }, { "_khz", "MHz", 1e-3, false, false },
	{ "_mhz", "MHz", 1, false, false }, { "_hz", "Hz", 1, false, false },
	{ "_c", "C", 1, false, false }, { "_bytes", "B", 1, true, false },
	{ "_part", "%", 100, false, false }, { "_percent", "%", 1, false, false },
	{ "_error", "%", 100, false, true },
};

static const struct facts_unit *facts_unit_of(const char *key)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t len = strlen(units[i].suffix);

		if (strlen(key) > len && !strcmp(key + strlen(key) - len, units[i].suffix))
			return &units[i];
		if (!strcmp(key, units[i].suffix + 1))
			return &units[i];
	}
	return NULL;
}

/* "0.0000025", "s": "2.5 us" */
static void facts_write_figure(FILE *out, double v, const struct facts_unit *unit)
{
	static const char *const sizes[] = { "n", "u", "m", "", "k", "M", "G" };
	int size = 3;

	v *= unit->factor;
	while (unit->sizes && fabs(v) < 1 && size > 0) {
		v *= 1000;
		size--;
	}
	while (unit->sizes && fabs(v) >= 10000 && size < 6 && strcmp(unit->unit, "s")) {
		v /= 1000;
		size++;
	}
	fprintf(out, fabs(v) < 1e5 ? "%.5g %s%s" : "%.0f %s%s", v, sizes[size], unit->unit);
}

static void facts_write_date(FILE *out, int64_t unix_ns)
{
	time_t t = unix_ns / 1000000000;
	char when[64] = "?";
	struct tm tm;

	if (localtime_r(&t, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	fputs(when, out);
}

/* Is there nothing in it that people have to read? */
static bool facts_is_nothing(struct json_object *v)
{
	switch (json_object_get_type(v)) {
	case json_type_null:
		return true;
	case json_type_boolean:
		return !json_object_get_boolean(v);
	case json_type_double:
	case json_type_int:
		return json_object_get_double(v) == 0;
	case json_type_string:
		return !json_object_get_string_len(v);
	case json_type_array:
		for (size_t i = 0; i < json_object_array_length(v); i++)
			if (!facts_is_nothing(json_object_array_get_idx(v, i)))
				return false;
		return true;
	case json_type_object:
		break;
	}
	return false;
}

static bool facts_is_list_of_objects(struct json_object *v)
{
	return json_object_is_type(v, json_type_array) && json_object_array_length(v) &&
	       json_object_is_type(json_object_array_get_idx(v, 0), json_type_object);
}

/* A name without its unit, in words. */
static void facts_write_label(FILE *out, const char *key)
{
	const struct facts_unit *unit = facts_unit_of(key);
	size_t len = strlen(key);

	if (unit && !unit->in_label && len > strlen(unit->suffix))
		len -= strlen(unit->suffix);
	if (len > 5 && !strncmp(key + len - 5, "_unix", 5))
		len -= 5;
	for (size_t i = 0; i < len; i++)
		fputc(key[i] == '_' ? ' ' : key[i], out);
}

/* One of a command's: so that it can be typed again. */
static void facts_write_word(FILE *out, const char *word)
{
	if (*word && !word[strcspn(word, " \t\n'\"\\$`*?;&|<>()#~")]) {
		fputs(word, out);
		return;
	}
	fputc('\'', out);
	for (; *word; word++)
		fputs(*word == '\'' ? "'\\''" : (char[]){ *word, '\0' }, out);
	fputc('\'', out);
}

static void facts_write_value(FILE *out, const char *key, struct json_object *v)
{
	const struct facts_unit *unit = facts_unit_of(key);
	const char *text;

	switch (json_object_get_type(v)) {
	case json_type_double:
	case json_type_int:
		if (strstr(key, "_unix_ns"))
			facts_write_date(out, json_object_get_int64(v));
		else if (unit)
			facts_write_figure(out, json_object_get_double(v), unit);
		else if (json_object_is_type(v, json_type_int))
			fprintf(out, "%" PRIi64, json_object_get_int64(v));
		else
			fprintf(out, "%.4g", json_object_get_double(v));
		break;
	case json_type_string:
		text = json_object_get_string(v);
		fprintf(out, strchr(text, ' ') ? "\"%s\"" : "%s", text);
		break;
	case json_type_array:
		for (size_t i = 0; i < json_object_array_length(v); i++) {
			struct json_object *one = json_object_array_get_idx(v, i);

			fputs(i ? " " : "", out);
			if (json_object_is_type(one, json_type_string))
				facts_write_word(out, json_object_get_string(one));
			else
				facts_write_value(out, key, one);
		}
		break;
	case json_type_boolean:
		fputs(json_object_get_boolean(v) ? "yes" : "no", out);
		break;
	case json_type_null:
	case json_type_object:
		fputc('-', out);
		break;
	}
}

/* "due 6000, taken 6000": members that are no objects nor lists of them. Return: how many */
static size_t facts_write_members(FILE *out, struct json_object *facts, bool element)
{
	size_t n = 0;

	json_object_object_foreach(facts, key, v) {
		bool names = element && !n;

		if (!names && (facts_is_nothing(v) || json_object_is_type(v, json_type_object) ||
			       facts_is_list_of_objects(v)))
			continue;
		if (n)
			fputs(element && n == 1 ? ": " : ", ", out);
		/* "mix: samples 5" and "cpu 0: samples 5" */
		if (!names || !json_object_is_type(v, json_type_string))
			facts_write_label(out, key);
		if (!names && json_object_is_type(v, json_type_boolean)) {
			n++;
			continue;
		}
		if (!names || !json_object_is_type(v, json_type_string))
			fputc(' ', out);
		facts_write_value(out, key, v);
		n++;
	}
	return n;
}

/* @element: of a list: its first member says which it is */
static void facts_print_line(FILE *file, const char *name, struct json_object *facts, bool element)
{
	char *text = NULL;
	size_t len, n;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return;
	n = facts_write_members(out, facts, element);
	fclose(out);
	if (n)
		wrap_comment(file, name, "%s", text);
	free(text);
}

static void facts_print_lists(FILE *file, const char *outer, struct json_object *facts);

static void facts_print_member(FILE *file, const char *name, struct json_object *v)
{
	if (json_object_is_type(v, json_type_object)) {
		facts_print_line(file, name, v, false);
		facts_print_lists(file, name, v);
	} else if (facts_is_list_of_objects(v)) {
		for (size_t i = 0; i < json_object_array_length(v); i++) {
			struct json_object *one = json_object_array_get_idx(v, i);

			facts_print_line(file, name, one, true);
			facts_print_lists(file, name, one);
		}
	}
}

/* @outer: what the object is a member of; "" */
static void facts_print_lists(FILE *file, const char *outer, struct json_object *facts)
{
	json_object_object_foreach(facts, key, v) {
		char name[64];

		snprintf(name, sizeof(name), "%s%s%s", outer, *outer ? " " : "", key);
		for (char *at = strchr(name, '_'); at; at = strchr(at, '_'))
			*at = ' ';
		facts_print_member(file, name, v);
	}
}

void facts_print(FILE *file, const char *name, struct json_object *facts)
{
	facts_print_line(file, name, facts, false);
	facts_print_lists(file, "", facts);
}
