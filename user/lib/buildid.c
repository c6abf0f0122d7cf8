// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Build ids of mapped files, and their chunk in the data file; see buildid.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <json-c/json.h>
#include "buildid.h"

struct kjoule_build_ids {
	size_t n;
	struct {
		char *path;
		char hex[KJOULE_BUILD_ID_HEX];
	} *list;
};

int kjoule_regular_file(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	return S_ISREG(st.st_mode) ? 0 : -ENOEXEC;
}

int kjoule_build_id(const char *path, char hex[KJOULE_BUILD_ID_HEX])
{
	const void *id;
	ssize_t len;
	Elf *elf;
	int fd, ret;

	hex[0] = '\0';
	elf_version(EV_CURRENT);
	ret = kjoule_regular_file(path);
	if (ret)
		return ret;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	len = elf ? dwelf_elf_gnu_build_id(elf, &id) : -1;
	if (len > (KJOULE_BUILD_ID_HEX - 1) / 2)
		len = (KJOULE_BUILD_ID_HEX - 1) / 2;
	for (ssize_t i = 0; i < len; i++)
		snprintf(hex + 2 * i, 3, "%02x", ((const unsigned char *)id)[i]);
	elf_end(elf);
	close(fd);
	return hex[0] ? 0 : -ENODATA;
}

struct kjoule_build_ids *kjoule_build_ids_new(void)
{
	return calloc(1, sizeof(struct kjoule_build_ids));
}

int kjoule_build_ids_add(struct kjoule_build_ids *ids, const char *path, const char *hex)
{
	void *list;

	for (size_t i = 0; i < ids->n; i++)
		if (!strcmp(ids->list[i].path, path))
			return 0;
	list = realloc(ids->list, (ids->n + 1) * sizeof(*ids->list));
	if (!list)
		return -ENOMEM;
	ids->list = list;
	ids->list[ids->n].path = strdup(path);
	if (!ids->list[ids->n].path)
		return -ENOMEM;
	snprintf(ids->list[ids->n++].hex, KJOULE_BUILD_ID_HEX, "%s", hex ? hex : "");
	return 0;
}

void kjoule_build_ids_read(struct kjoule_build_ids *ids)
{
	for (size_t i = 0; i < ids->n; i++)
		if (!ids->list[i].hex[0] && ids->list[i].path[0] == '/' &&
		    ids->list[i].path[1] != '/')
			kjoule_build_id(ids->list[i].path, ids->list[i].hex);
}

const char *kjoule_build_ids_find(const struct kjoule_build_ids *ids, const char *path)
{
	for (size_t i = 0; ids && i < ids->n; i++)
		if (!strcmp(ids->list[i].path, path))
			return ids->list[i].hex[0] ? ids->list[i].hex : NULL;
	return NULL;
}

char *kjoule_build_ids_encode(const struct kjoule_build_ids *ids)
{
	struct json_object *o = json_object_new_object();
	char *text;

	for (size_t i = 0; i < ids->n; i++)
		if (ids->list[i].hex[0])
			json_object_object_add(o, ids->list[i].path,
					       json_object_new_string(ids->list[i].hex));
	text = strdup(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
	json_object_put(o);
	return text;
}

int kjoule_build_ids_decode(const char *text, size_t len, struct kjoule_build_ids *ids)
{
	struct json_tokener *tok = json_tokener_new();
	struct json_object *o;
	int ret = 0;

	if (!tok)
		return -ENOMEM;
	o = json_tokener_parse_ex(tok, text, len > 0x7fffffff ? 0x7fffffff : (int)len);
	if (json_object_is_type(o, json_type_object)) {
		json_object_object_foreach(o, path, hex) {
			if (!ret && json_object_is_type(hex, json_type_string))
				ret = kjoule_build_ids_add(ids, path, json_object_get_string(hex));
		}
	} else {
		ret = -EBADMSG;
	}
	json_object_put(o);
	json_tokener_free(tok);
	return ret;
}

void kjoule_build_ids_free(struct kjoule_build_ids *ids)
{
	if (!ids)
		return;
	for (size_t i = 0; i < ids->n; i++)
		free(ids->list[i].path);
	free(ids->list);
	free(ids);
}
