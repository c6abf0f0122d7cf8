// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Build ids of mapped files, and their chunk in the data file; see buildid.h.
 */
#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <json-c/json.h>
#include "lib/base/hash_index.h"
#include "lib/base/json.h"
#include "lib/base/plain_file.h"
#include "lib/code/buildid.h"
#include "lib/code/vdso.h"
#include "lib/sideband/sideband.h"

/* So many files of one path are remembered, as containers of one image have them. */
#define FILES	4

/*
 * A chunk's text has no more than this and its last path: KJOULE_JSON_MAX is the limit for readers.
 */
#define TEXT_BYTES	(1u << 20)

struct file {
	uint64_t device, inode;
};

struct item {
	char *path;
	char hex[KJOULE_BUILD_ID_HEX];
	unsigned int n_files;
	struct file files[FILES];
};

struct kjoule_build_ids {
	size_t n, room;
	struct kjoule_hash_index by_path;
	struct item *list;
};

/* Closes what is no plain ELF file: elfutils unpacks what is compressed, to any size. */
static int elf_file_check(int fd)
{
	char ident[SELFMAG] = "";

	if (fd == -EINVAL)
		return -ENOEXEC;
	if (fd < 0)
		return fd;
	if (pread(fd, ident, sizeof(ident), 0) == sizeof(ident) && !memcmp(ident, ELFMAG, SELFMAG))
		return fd;
	close(fd);
	return -ENOEXEC;
}

int kjoule_elf_file_open(const char *path)
{
	return elf_file_check(kjoule_plain_open(AT_FDCWD, path));
}

void kjoule_build_id_format(char hex[KJOULE_BUILD_ID_HEX], const unsigned char *id, size_t len)
{
	if (len > (KJOULE_BUILD_ID_HEX - 1) / 2)
		len = (KJOULE_BUILD_ID_HEX - 1) / 2;
	hex[0] = '\0';
	for (size_t i = 0; i < len; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
}

/* Linkers write the notes of a file into some hundred bytes, and a dozen program headers. */
#define NOTES_MOST	(64u << 10)
#define HEADERS_MOST	64u

static bool notes_find_build_id(const uint8_t *notes, size_t len, size_t align,
				char hex[KJOULE_BUILD_ID_HEX])
{
	Elf64_Nhdr note;	/* as of 32 bits */

	for (size_t at = 0, name, id; at <= len && len - at >= sizeof(note); ) {
		memcpy(&note, notes + at, sizeof(note));
		name = at + sizeof(note);
		if (note.n_namesz > len - name)
			break;
		id = (name + note.n_namesz + align - 1) & ~(align - 1);
		if (id > len || note.n_descsz > len - id)
			break;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(notes + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU))) {
			kjoule_build_id_format(hex, notes + id, note.n_descsz);
			return true;
		}
		at = (id + note.n_descsz + align - 1) & ~(align - 1);
	}
	return false;
}

static bool segment_find_build_id(int fd, uint64_t offset, uint64_t len, uint64_t align,
				  char hex[KJOULE_BUILD_ID_HEX])
{
	uint8_t *notes;
	ssize_t n;
	bool found;

	if (offset > INT64_MAX)
		return false;
	if (len > NOTES_MOST)
		len = NOTES_MOST;
	notes = malloc(len + 1);
	n = notes ? pread(fd, notes, len, offset) : -1;
	found = n > 0 && notes_find_build_id(notes, n, align == 8 ? 8 : 4, hex);
	free(notes);
	return found;
}

/*
 * record does this for any user's running files: libelf would map the file, which kills us if it is
 * truncated, and read as much as the file claims.
 */
int kjoule_build_id_of(int fd, char hex[KJOULE_BUILD_ID_HEX])
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr e32;
		Elf64_Ehdr e64;
	} head = { 0 };
	bool is_64, found = false;
	unsigned int n;

	hex[0] = '\0';
	if (pread(fd, &head, sizeof(head), 0) < (ssize_t)sizeof(head.e32) ||
	    head.ident[EI_DATA] != (__BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB))
		return -ENODATA;
	is_64 = head.ident[EI_CLASS] == ELFCLASS64;
	n = is_64 ? head.e64.e_phnum : head.e32.e_phnum;
	for (unsigned int i = 0; i < n && i < HEADERS_MOST && !found; i++) {
		uint64_t at = is_64 ? head.e64.e_phoff + i * sizeof(Elf64_Phdr) : head.e32.e_phoff +
			      i * sizeof(Elf32_Phdr);
		Elf64_Phdr p = { 0 };
		Elf32_Phdr p32;

		if (at > INT64_MAX)
			break;
		if (is_64) {
			if (pread(fd, &p, sizeof(p), at) != sizeof(p))
				break;
		} else {
			if (pread(fd, &p32, sizeof(p32), at) != sizeof(p32))
				break;
			p = (Elf64_Phdr){ .p_type = p32.p_type, .p_offset = p32.p_offset,
					  .p_filesz = p32.p_filesz, .p_align = p32.p_align };
		}
		found = p.p_type == PT_NOTE &&
			segment_find_build_id(fd, p.p_offset, p.p_filesz, p.p_align, hex);
	}
	return hex[0] ? 0 : -ENODATA;
}

/* Consumes @fd, of elf_file_check(). */
static int build_id_read(int fd, char hex[KJOULE_BUILD_ID_HEX])
{
	int ret;

	hex[0] = '\0';
	if (fd < 0)
		return fd;
	ret = kjoule_build_id_of(fd, hex);
	close(fd);
	return ret;
}

int kjoule_build_id(const char *path, char hex[KJOULE_BUILD_ID_HEX])
{
	return build_id_read(kjoule_elf_file_open(path), hex);
}

struct kjoule_build_ids *kjoule_build_ids_new(void)
{
	return calloc(1, sizeof(struct kjoule_build_ids));
}

/* Its place in the list, or KJOULE_HASH_INDEX_NONE. */
static uint32_t build_id_place(const struct kjoule_build_ids *ids, const char *path)
{
	uint64_t hash = kjoule_hash_text(0, path);
	size_t probe = 0;
	uint32_t i;

	do
		i = kjoule_hash_index_next(&ids->by_path, hash, &probe);
	while (i != KJOULE_HASH_INDEX_NONE && strcmp(ids->list[i].path, path));
	return i;
}

int kjoule_build_ids_add(struct kjoule_build_ids *ids, const char *path, const char *hex)
{
	if (build_id_place(ids, path) != KJOULE_HASH_INDEX_NONE)
		return 0;
	if (ids->n == ids->room) {
		size_t room = ids->room ? 2 * ids->room : 64;
		void *list = realloc(ids->list, room * sizeof(*ids->list));

		if (!list)
			return -ENOMEM;
		ids->list = list;
		ids->room = room;
	}
	ids->list[ids->n].path = strdup(path);
	if (!ids->list[ids->n].path)
		return -ENOMEM;
	if (kjoule_hash_index_add(&ids->by_path, kjoule_hash_text(0, path), ids->n)) {
		free(ids->list[ids->n].path);
		return -ENOMEM;
	}
	ids->list[ids->n].n_files = 0;
	snprintf(ids->list[ids->n++].hex, KJOULE_BUILD_ID_HEX, "%s", hex ? hex : "");
	return 0;
}

/* A process may have another root than ours; one that has ended is taken to have had the same. */
static void build_id_look_for(const char *path, uint32_t pid, char hex[KJOULE_BUILD_ID_HEX])
{
	char root[32], *folder, *name;
	int ret;

	hex[0] = '\0';
	if (kjoule_vdso_is(path)) {
		kjoule_vdso_build_id(hex);
		return;
	}
	if (path[0] != '/' || path[1] == '/')
		return;
	folder = strdup(path);
	if (!folder)
		return;
	name = strrchr(folder, '/');
	*name++ = '\0';
	ret = build_id_read(elf_file_check(kjoule_plain_open_process(pid, *folder ? folder : "/",
								     name)), hex);
	free(folder);
	/* another file than ours of that path, across a mount: ours must not name its code */
	if (ret == -EXDEV)
		snprintf(hex, KJOULE_BUILD_ID_HEX, "%s", KJOULE_BUILD_ID_SEVERAL);
	snprintf(root, sizeof(root), "/proc/%" PRIu32 "/root", pid);
	/* it may have ended meanwhile */
	if (ret && ret != -EXDEV && access(root, F_OK))
		kjoule_build_id(path, hex);
}

/* Has a file of this number been seen under this path? Notes it in the place of the oldest. */
static bool file_is_looked_at(struct item *item, uint64_t device, uint64_t inode)
{
	for (unsigned int i = 0; i < item->n_files && i < FILES; i++)
		if (item->files[i].device == device && item->files[i].inode == inode)
			return true;
	item->files[item->n_files++ % FILES] = (struct file){ device, inode };
	return false;
}

int kjoule_build_ids_meet(struct kjoule_build_ids *ids, const struct kjoule_event *map)
{
	uint32_t at = build_id_place(ids, map->text);
	char hex[KJOULE_BUILD_ID_HEX];
	struct item *item;

	if (at == KJOULE_HASH_INDEX_NONE && kjoule_build_ids_add(ids, map->text, NULL))
		return -ENOMEM;
	item = &ids->list[at == KJOULE_HASH_INDEX_NONE ? ids->n - 1 : at];
	if (map->build_id_len)
		kjoule_build_id_format(hex, map->build_id, map->build_id_len);
	else if (file_is_looked_at(item, map->device, map->inode) ||
		 !strcmp(item->hex, KJOULE_BUILD_ID_SEVERAL))
		return 0;
	else
		build_id_look_for(map->text, map->pid, hex);
	if (!hex[0])
		return 0;
	if (!item->hex[0])
		snprintf(item->hex, sizeof(hex), "%s", hex);
	else if (strcmp(item->hex, hex))
		snprintf(item->hex, sizeof(hex), "%s", KJOULE_BUILD_ID_SEVERAL);
	return 0;
}

const char *kjoule_build_ids_find(const struct kjoule_build_ids *ids, const char *path)
{
	uint32_t i = ids ? build_id_place(ids, path) : KJOULE_HASH_INDEX_NONE;

	return i != KJOULE_HASH_INDEX_NONE && ids->list[i].hex[0] ? ids->list[i].hex : NULL;
}

char *kjoule_build_ids_encode(const struct kjoule_build_ids *ids, size_t *at)
{
	struct json_object *o = json_object_new_object();
	size_t len = 0;
	char *text;

	for (; *at < ids->n && len < TEXT_BYTES; ++*at) {
		const struct item *item = &ids->list[*at];

		if (!item->hex[0])
			continue;
		json_object_object_add(o, item->path, json_object_new_string(item->hex));
		/* a control character takes six */
		len += 6 * strlen(item->path) + sizeof(item->hex);
	}
	if (*at == ids->n)
		*at = SIZE_MAX;
	text = strdup(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
	json_object_put(o);
	return text;
}

int kjoule_build_ids_decode(const char *text, size_t len, struct kjoule_build_ids *ids)
{
	struct json_tokener *tok;
	struct json_object *o;
	int ret = 0;

	if (len > KJOULE_JSON_MAX)
		return -EBADMSG;
	tok = json_tokener_new();
	if (!tok)
		return -ENOMEM;
	o = json_tokener_parse_ex(tok, text, len);
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
	kjoule_hash_index_free(&ids->by_path);
	free(ids);
}
