// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many hosts do not tell a guest what they take of its time, and a build machine may be such a guest: steal in its
 * /proc/stat is 0 then, whatever happens. The chip sees it. One number of a fixed length is written over and over.
 */
#include "held.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int fd = -1;
static uint64_t held_ns;

int held_open(const char *path)
{
	char text[32];
	ssize_t n;

	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	n = pread(fd, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	held_ns = strtoull(text, NULL, 10);
	return 0;
}

void held_add(uint64_t ns)
{
	char text[32];
	int len;

	if (fd < 0 || ns < HELD_LEAST_NS)
		return;
	pthread_mutex_lock(&lock);
	held_ns += ns;
	len = snprintf(text, sizeof(text), "%020" PRIu64 "\n", held_ns);
	/* who can not be told has the steal of /proc/stat still */
	if (pwrite(fd, text, (size_t)len, 0) != len)
		fd = -1;
	pthread_mutex_unlock(&lock);
}
