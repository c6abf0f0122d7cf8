/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Members of JSON objects of the data file, for lib/file/meta.c and lib/file/meta_stats.c. Files
 * may be damaged: a member that is missing, or of another type, is 0 or empty.
 */
#ifndef KJOULE_META_JSON_H
#define KJOULE_META_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <json-c/json.h>
#include "lib/base/error.h"

/* The longest JSON that is read: parsed, it takes tens of times its length. */
#define KJOULE_JSON_MAX	(8u << 20)

void kjoule_json_put_u64(struct json_object *o, const char *key, uint64_t v);
void kjoule_json_put_i64(struct json_object *o, const char *key, int64_t v);
void kjoule_json_put_str(struct json_object *o, const char *key, const char *v);
void kjoule_json_put_real(struct json_object *o, const char *key, double v);
/** kjoule_json_finish() - the object as a string of the caller's; drops the object */
char *kjoule_json_finish(struct json_object *o);

/**
 * kjoule_json_write() - the object as a file
 * @folder,@path,@flags: of kjoule_output_file_open()
 * @format: JSON_C_TO_STRING_*
 * Return: 0 or -errno with the reason in @err
 */
int kjoule_json_write(struct json_object *o, int folder, const char *path, unsigned int flags,
		      int format, struct kjoule_error *err);

/** kjoule_json_parse() - an object. Return: to be dropped with json_object_put(), or NULL */
struct json_object *kjoule_json_parse(const char *text, size_t len);
/** kjoule_json_get() - a member of this type, or NULL; @o may be NULL */
struct json_object *kjoule_json_get(struct json_object *o, const char *key, enum json_type type);
uint64_t kjoule_json_get_u64(struct json_object *o, const char *key);
int64_t kjoule_json_get_i64(struct json_object *o, const char *key, int64_t otherwise);
double kjoule_json_get_real(struct json_object *o, const char *key);
/** kjoule_json_get_str() - cleaned as by kjoule_text_clean(), as it may be printed */
void kjoule_json_get_str(struct json_object *o, const char *key, char *buf, size_t len);
bool kjoule_json_get_bool(struct json_object *o, const char *key);

/**
 * struct kjoule_json_member - a plain member of a structure, written and read by its name
 */
struct kjoule_json_member {
	const char *key;
	size_t offset;
	enum { KJOULE_JSON_U32, KJOULE_JSON_U64, KJOULE_JSON_REAL, KJOULE_JSON_STR } type;
	size_t len;		/* room of KJOULE_JSON_STR */
};

/* Member @name of struct @of, under that name or under @key. */
#define KJOULE_JSON_MEMBER_AS(key, of, name, type) \
	{ key, offsetof(struct of, name), KJOULE_JSON_##type, sizeof(((struct of *)NULL)->name) }
#define KJOULE_JSON_MEMBER(of, name, type) KJOULE_JSON_MEMBER_AS(#name, of, name, type)

void kjoule_json_put_members(struct json_object *o, const struct kjoule_json_member *list, size_t n,
			     const void *from);
void kjoule_json_get_members(struct json_object *o, const struct kjoule_json_member *list, size_t n,
			     void *to);

#endif /* KJOULE_META_JSON_H */
