// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Members of JSON objects, written and read with care; see json.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "lib/base/json.h"
#include "lib/base/output_file.h"
#include "lib/base/text.h"

void kjoule_json_put_u64(struct json_object *o, const char *key, uint64_t v)
{
	json_object_object_add(o, key, json_object_new_uint64(v));
}

void kjoule_json_put_i64(struct json_object *o, const char *key, int64_t v)
{
	json_object_object_add(o, key, json_object_new_int64(v));
}

void kjoule_json_put_str(struct json_object *o, const char *key, const char *v)
{
	json_object_object_add(o, key, json_object_new_string(v));
}

void kjoule_json_put_real(struct json_object *o, const char *key, double v)
{
	json_object_object_add(o, key, json_object_new_double(v));
}

char *kjoule_json_finish(struct json_object *o)
{
	char *text = strdup(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));

	json_object_put(o);
	return text;
}

int kjoule_json_write(struct json_object *o, int folder, const char *path, unsigned int flags,
		      int format, struct kjoule_error *err)
{
	const char *text = json_object_to_json_string_ext(o, format);
	struct kjoule_output_file f;
	int ret;

	if (!text)
		return kjoule_fail(err, ENOMEM, "no memory");
	ret = kjoule_output_file_open(&f, folder, path, flags, err);
	if (ret)
		return ret;
	if (fputs(text, f.stream) < 0 || fflush(f.stream) || fsync(f.fd)) {
		ret = kjoule_fail(err, errno, "%s: writing: %s", path, strerror(errno));
		kjoule_output_file_close(&f, NULL);
		return ret;
	}
	return kjoule_output_file_finish(&f, err);
}

struct json_object *kjoule_json_get(struct json_object *o, const char *key, enum json_type type)
{
	struct json_object *v = NULL;

	if (!o || !json_object_object_get_ex(o, key, &v) || !json_object_is_type(v, type))
		return NULL;
	return v;
}

uint64_t kjoule_json_get_u64(struct json_object *o, const char *key)
{
	struct json_object *v = kjoule_json_get(o, key, json_type_int);

	return v ? json_object_get_uint64(v) : 0;
}

int64_t kjoule_json_get_i64(struct json_object *o, const char *key, int64_t otherwise)
{
	struct json_object *v = kjoule_json_get(o, key, json_type_int);

	return v ? json_object_get_int64(v) : otherwise;
}

double kjoule_json_get_real(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	if (!json_object_object_get_ex(o, key, &v))
		return 0;
	return json_object_get_double(v);
}

void kjoule_json_get_str(struct json_object *o, const char *key, char *buf, size_t len)
{
	struct json_object *v = kjoule_json_get(o, key, json_type_string);

	strncpy(buf, v ? json_object_get_string(v) : "", len - 1);
	buf[len - 1] = '\0';
	kjoule_text_clean(buf);
}

bool kjoule_json_get_bool(struct json_object *o, const char *key)
{
	struct json_object *v = kjoule_json_get(o, key, json_type_boolean);

	return v && json_object_get_boolean(v);
}

struct json_object *kjoule_json_parse(const char *text, size_t len)
{
	struct json_tokener *tok = len <= KJOULE_JSON_MAX ? json_tokener_new() : NULL;
	struct json_object *o;

	if (!tok)
		return NULL;
	o = json_tokener_parse_ex(tok, text, len);
	if (json_tokener_get_error(tok) != json_tokener_success ||
	    !json_object_is_type(o, json_type_object)) {
		json_object_put(o);
		o = NULL;
	}
	json_tokener_free(tok);
	return o;
}

void kjoule_json_put_members(struct json_object *o, const struct kjoule_json_member *list, size_t n,
			     const void *from)
{
	for (size_t i = 0; i < n; i++) {
		const void *at = (const char *)from + list[i].offset;

		if (list[i].type == KJOULE_JSON_STR)
			kjoule_json_put_str(o, list[i].key, at);
		else if (list[i].type == KJOULE_JSON_REAL)
			kjoule_json_put_real(o, list[i].key, *(const double *)at);
		else
			kjoule_json_put_u64(o, list[i].key, list[i].type == KJOULE_JSON_U32 ?
					    *(const uint32_t *)at : *(const uint64_t *)at);
	}
}

void kjoule_json_get_members(struct json_object *o, const struct kjoule_json_member *list, size_t n,
			     void *to)
{
	for (size_t i = 0; i < n; i++) {
		void *at = (char *)to + list[i].offset;

		if (list[i].type == KJOULE_JSON_STR)
			kjoule_json_get_str(o, list[i].key, at, list[i].len);
		else if (list[i].type == KJOULE_JSON_REAL)
			*(double *)at = kjoule_json_get_real(o, list[i].key);
		else if (list[i].type == KJOULE_JSON_U32)
			*(uint32_t *)at = kjoule_json_get_u64(o, list[i].key);
		else
			*(uint64_t *)at = kjoule_json_get_u64(o, list[i].key);
	}
}
