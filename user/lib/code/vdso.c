// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See vdso.h. record saves a copy, view and unwind look into it.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>
#include "lib/code/vdso.h"

bool kjoule_vdso_is(const char *path)
{
	return !strcmp(path, "[vdso]");
}

bool kjoule_vdso_is_native(uint64_t start)
{
	return sizeof(void *) < 8 || start > UINT32_MAX;
}

const void *kjoule_vdso_image(size_t *len)
{
	const Elf64_Ehdr *eh = (const void *)getauxval(AT_SYSINFO_EHDR);

	*len = 0;
	if (!eh || eh->e_ident[EI_CLASS] != ELFCLASS64)
		return NULL;
	*len = eh->e_shoff + (size_t)eh->e_shnum * eh->e_shentsize;
	return eh;
}

int kjoule_vdso_file(const void *image, size_t len)
{
	int fd = memfd_create("vdso", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (write(fd, image, len) == (ssize_t)len)
		return fd;
	close(fd);
	return -EIO;
}

int kjoule_vdso_build_id(char hex[KJOULE_BUILD_ID_HEX])
{
	size_t len;
	const void *image = kjoule_vdso_image(&len);
	int fd = image ? kjoule_vdso_file(image, len) : -ENODATA, ret;
	char path[64];

	hex[0] = '\0';
	if (fd < 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ret = kjoule_build_id(path, hex);
	close(fd);
	return ret;
}
