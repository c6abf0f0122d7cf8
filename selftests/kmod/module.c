// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loading and unloading kjoule.ko for the selftests; see module.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "module.h"

/* From KJOULE_KO, or from where the build puts it next to this program. */
const char *module_path(void)
{
	static char path[PATH_MAX + 128];
	char self[PATH_MAX] = "";
	struct utsname u;

	if (getenv("KJOULE_KO"))
		return getenv("KJOULE_KO");
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0 || uname(&u))
		return "";
	snprintf(path, sizeof(path), "%s/../../kmod-%s/kjoule/kjoule.ko", dirname(self), u.release);
	return path;
}

int module_load(void)
{
	int fd = open(module_path(), O_RDONLY | O_CLOEXEC), err;

	if (fd < 0 && errno == ENOENT)	/* as it is installed, compressed or not */
		return system("modprobe kjoule") ? -ENOENT : 0;
	if (fd < 0)
		return -errno;
	err = syscall(SYS_finit_module, fd, "", 0) ? -errno : 0;
	close(fd);
	return err;
}

int module_load_image(const void *image, size_t bytes)
{
	return syscall(SYS_init_module, image, bytes, "") ? -errno : 0;
}

int module_unload(void)
{
	return syscall(SYS_delete_module, "kjoule", O_NONBLOCK) ? -errno : 0;
}

void *module_image(size_t *bytes)
{
	int fd = open(module_path(), O_RDONLY | O_CLOEXEC);
	struct stat st;
	size_t at = 0;
	ssize_t got = 1;
	char *image;

	if (fd < 0 || fstat(fd, &st))
		return NULL;
	image = malloc(st.st_size);
	while (image && at < (size_t)st.st_size && got > 0) {
		got = read(fd, image + at, st.st_size - at);
		at += got > 0 ? got : 0;
	}
	close(fd);
	*bytes = at;
	return image && at == (size_t)st.st_size ? image : NULL;
}
