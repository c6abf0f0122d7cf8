// SPDX-License-Identifier: GPL-2.0-or-later
/* See debug_file.h. Called by dwfl.c, in elfutils' callback. */
#include <elf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "lib/code/buildid.h"
#include "lib/code/debug_file.h"

#define DEBUG_FOLDER	"/usr/lib/debug"

/* Checksums are of at most so many bytes: any user can name sparse files of any size. */
#define CHECKSUM_MOST	(1l << 30)

static off_t checksum_left = CHECKSUM_MOST;

/* Required properties of a debug file. */
struct wanted {
	const char *build_id;		/* NULL: the checksum */
	uint32_t crc;
	uid_t owner;			/* if it is neither root nor we */
};

static bool file_has_crc(int fd, uint32_t crc)
{
	uint8_t buf[65536];
	uint32_t sum = 0;
	struct stat st;
	off_t at = 0;
	ssize_t n;

	if (fstat(fd, &st) || st.st_size > checksum_left)
		return false;
	checksum_left -= st.st_size;
	/* it may grow meanwhile */
	while (at < st.st_size && (n = pread(fd, buf, sizeof(buf), at)) > 0) {
		sum = crc32_z(sum, buf, n);
		at += n;
	}
	return at == st.st_size && sum == crc;
}

static bool file_is_wanted(int fd, const struct wanted *wanted)
{
	char hex[KJOULE_BUILD_ID_HEX];
	struct stat st;

	if (fstat(fd, &st) || (st.st_uid && st.st_uid != geteuid() && st.st_uid != wanted->owner))
		return false;
	if (wanted->build_id)
		return !kjoule_build_id_of(fd, hex) && !strcmp(hex, wanted->build_id);
	return file_has_crc(fd, wanted->crc);
}

/* Consumes @path, as asprintf() makes it. Return: a descriptor, or -ENOENT */
static int candidate_open(char *path, const struct wanted *wanted, char **found)
{
	int fd = path ? kjoule_elf_file_open(path) : -ENOENT;

	if (fd >= 0 && file_is_wanted(fd, wanted)) {
		*found = path;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	free(path);
	return -ENOENT;
}

static char *path_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static char *path_format(const char *fmt, ...)
{
	va_list args;
	char *path;
	int n;

	va_start(args, fmt);
	n = vasprintf(&path, fmt, args);
	va_end(args);
	return n < 0 ? NULL : path;
}

static int debug_file_by_build_id(const struct wanted *wanted, char **found)
{
	if (!wanted->build_id || strlen(wanted->build_id) < 3)
		return -ENOENT;
	return candidate_open(path_format(DEBUG_FOLDER "/.build-id/%.2s/%s.debug", wanted->build_id,
					  wanted->build_id + 2), wanted, found);
}

/* The folder of a file as it was named, to be freed. NULL: no memory */
static char *file_folder(const char *file)
{
	char *path = strdup(file), *folder;

	folder = path ? strdup(dirname(path)) : NULL;
	free(path);
	return folder;
}

static int debug_file_by_name(const char *folder, const char *name, const struct wanted *wanted,
			      char **found)
{
	int fd = candidate_open(path_format("%s/%s", folder, name), wanted, found);

	if (fd < 0)
		fd = candidate_open(path_format("%s/.debug/%s", folder, name), wanted, found);
	if (fd < 0 && folder[0] == '/')
		fd = candidate_open(path_format(DEBUG_FOLDER "%s/%s", folder, name), wanted, found);
	return fd;
}

int kjoule_debug_file_open(const char *file, const char *build_id, const char *link, uint32_t crc,
			   uid_t owner, char **found)
{
	const struct wanted wanted = { build_id, crc, owner };
	int fd = debug_file_by_build_id(&wanted, found);
	char *folder, *name;

	/* without a link the name is a guess, which only a build id confirms */
	if (fd >= 0 || !file || (link ? strchr(link, '/') != NULL : !build_id))
		return fd;
	folder = file_folder(file);
	name = link ? strdup(link) :
	       path_format("%s.debug", strrchr(file, '/') ? strrchr(file, '/') + 1 : file);
	if (folder && name)
		fd = debug_file_by_name(folder, name, &wanted, found);
	free(folder);
	free(name);
	return fd;
}

/* A longer .gnu_debugaltlink is invalid: it has a path and a build id. */
#define ALTLINK_MOST	(PATH_MAX + 64)

static Elf_Scn *altlink_find(Elf *e)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(e, &names))
		return NULL;
	while ((scn = elf_nextscn(e, scn))) {
		const char *name;
		GElf_Shdr sh;

		name = gelf_getshdr(scn, &sh) ? elf_strptr(e, names, sh.sh_name) : NULL;
		if (name && !strcmp(name, ".gnu_debugaltlink"))
			break;
	}
	return scn;
}

/* The build id in .gnu_debugaltlink, after the name. Return: false: there is no such link */
static bool altlink_build_id(int fd, const char *link, char hex[KJOULE_BUILD_ID_HEX])
{
	Elf *e = elf_begin(fd, ELF_C_READ, NULL);
	Elf_Scn *scn = e ? altlink_find(e) : NULL;
	const Elf_Data *data = NULL;
	size_t len = strlen(link) + 1;
	GElf_Shdr sh;
	bool is;

	if (scn && gelf_getshdr(scn, &sh) && sh.sh_type != SHT_NOBITS && sh.sh_size <= ALTLINK_MOST)
		data = elf_rawdata(scn, NULL);
	is = data && data->d_buf && data->d_size > len && !memcmp(data->d_buf, link, len);
	if (is)
		kjoule_build_id_format(hex, (const unsigned char *)data->d_buf + len,
				       data->d_size - len);
	elf_end(e);
	return is;
}

/*
 * libdw looks for an alternative by itself if the one that it was given is no debug information,
 * and if that one names another.
 */
static bool alternative_is_last(int fd)
{
	Elf *e = elf_begin(fd, ELF_C_READ, NULL);
	Dwarf *dwarf = e && !altlink_find(e) ? dwarf_begin_elf(e, DWARF_C_READ, NULL) : NULL;
	bool is = dwarf;

	dwarf_end(dwarf);
	elf_end(e);
	return is;
}

/* Is that a path under the folder of debug files, which only an administrator writes to? */
static bool path_is_installed(const char *path)
{
	return !strncmp(path, DEBUG_FOLDER "/", strlen(DEBUG_FOLDER "/")) &&
	       !strstr(path, "/../") &&
	       !strstr(path, "/./");
}

static int alternative_find(const char *file, const char *link, uid_t owner, char **found)
{
	int fd = file ? kjoule_elf_file_open(file) : -ENOENT;
	char hex[KJOULE_BUILD_ID_HEX] = "", *folder;
	const struct wanted wanted = { hex, 0, owner };
	bool is;

	if (fd < 0)
		return -ENOENT;
	is = altlink_build_id(fd, link, hex);
	close(fd);
	if (!is)
		return -ENOENT;
	fd = debug_file_by_build_id(&wanted, found);
	if (fd < 0 && path_is_installed(link))
		fd = candidate_open(strdup(link), &wanted, found);
	if (fd >= 0 || strchr(link, '/'))
		return fd;
	folder = file_folder(file);
	if (folder)
		fd = candidate_open(path_format("%s/%s", folder, link), &wanted, found);
	free(folder);
	return fd;
}

int kjoule_debug_file_open_alternative(const char *file, const char *link, uid_t owner,
				       char **found)
{
	int fd = alternative_find(file, link, owner, found);

	if (fd < 0 || alternative_is_last(fd))
		return fd;
	close(fd);
	free(*found);
	*found = NULL;
	return -ENOENT;
}

int kjoule_debug_file_empty(void)
{
	/* libdw takes a file for debug information by a section such as this one */
	static const struct empty_image {
		Elf64_Ehdr head;
		Elf64_Shdr section[3];
		char names[24];
	} image = {
		.head = {
			.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				     EV_CURRENT },
			.e_type = ET_EXEC,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_ehsize = sizeof(Elf64_Ehdr),
			.e_shoff = sizeof(Elf64_Ehdr),
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = 3,
			.e_shstrndx = 2,
		},
		.section = {
			[1] = { .sh_name = 1, .sh_type = SHT_PROGBITS,
				.sh_offset = offsetof(struct empty_image, names), .sh_size = 1,
				.sh_addralign = 1 },
			[2] = { .sh_name = 13, .sh_type = SHT_STRTAB,
				.sh_offset = offsetof(struct empty_image, names),
				.sh_size = sizeof(image.names), .sh_addralign = 1 },
		},
		.names = "\0.debug_line\0.shstrtab",
	};
	int fd = memfd_create("no debug information", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (write(fd, &image, sizeof(image)) == sizeof(image))
		return fd;
	close(fd);
	return -EIO;
}
