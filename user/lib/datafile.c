// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the data file; datafile.h has the format. A chunk is compressed in
 * memory and handed to the kernel at once; when the disk is full the file is
 * cut back to its last whole chunk, so that it stays readable to its end.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include "datafile.h"

/* Fast rather than small: compressing shares a machine with what is measured. */
#define COMPRESSION_LEVEL	1

struct kjoule_writer {
	int fd, folder;			/* AT_FDCWD: @path is where it is, not only its last part */
	char *path;
	bool regular;
	bool created;			/* there was no such file before */
	int error;			/* -errno of the first failure */
	uint32_t sequence;
	uint64_t bytes;			/* of whole chunks */
	ZSTD_CCtx *zstd;
	uint8_t *buf;
	size_t room;
};

uint32_t kjoule_crc32(const void *data, size_t len)
{
	return crc32_z(0, data, len);
}

static int write_all(int fd, const uint8_t *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return -ENOSPC;
		p += n;
		len -= n;
	}
	return 0;
}

/* The first bytes of the file, in place of whatever it had. */
static int write_header(struct kjoule_writer *w, struct kjoule_error *err)
{
	struct kjoule_file_header h = {
		.magic = KJOULE_FILE_MAGIC,
		.byte_order = KJOULE_FILE_BYTE_ORDER,
		.major = KJOULE_FILE_MAJOR,
		.minor = KJOULE_FILE_MINOR,
	};
	int ret = 0;

	h.checksum = kjoule_crc32(&h, offsetof(struct kjoule_file_header, checksum));
	if (w->regular && ftruncate(w->fd, 0))
		ret = -errno;
	if (!ret)
		ret = write_all(w->fd, (const uint8_t *)&h, sizeof(h));
	if (ret)
		return kjoule_fail(err, -ret, "%s: writing: %s; name another file with -o", w->path,
				   strerror(-ret));
	w->bytes = sizeof(h);
	return 0;
}

/* What the file is called in the folder that it is made in. */
static const char *name_in(int folder, const char *path)
{
	const char *slash = folder == AT_FDCWD ? NULL : strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int kjoule_writer_open(const char *path, struct kjoule_writer **out, struct kjoule_error *err)
{
	return kjoule_writer_open_at(AT_FDCWD, path, out, err);
}

int kjoule_writer_open_at(int folder, const char *path, struct kjoule_writer **out, struct kjoule_error *err)
{
	const int more = folder == AT_FDCWD ? O_CLOEXEC : O_CLOEXEC | O_NOFOLLOW;
	const char *name = name_in(folder, path);

	struct kjoule_writer *w = calloc(1, sizeof(*w));
	struct stat st;
	int ret;

	*out = NULL;
	if (!w)
		return kjoule_fail(err, ENOMEM, "no memory");
	/* What is there stays until there is something to put in its place. */
	w->folder = folder;
	w->fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	w->created = w->fd >= 0;
	if (w->fd < 0 && errno == EEXIST)
		w->fd = openat(folder, name, O_WRONLY | more);
	if (w->fd < 0) {
		ret = kjoule_fail(err, errno, "%s: can not be written: %s; name another file with -o",
				  path, strerror(errno));
		free(w);
		return ret;
	}
	w->regular = !fstat(w->fd, &st) && S_ISREG(st.st_mode);
	w->path = strdup(path);
	w->zstd = ZSTD_createCCtx();
	ret = -ENOMEM;
	if (!w->path || !w->zstd)
		goto err_close;
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, COMPRESSION_LEVEL);
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1);
	/* a disk that is full says so before anything is started, where nothing can be lost */
	if (w->created || !w->regular) {
		ret = write_header(w, err);
		if (ret)
			goto err_close;
	}
	*out = w;
	return 0;

err_close:
	if (w->created)
		unlinkat(folder, name, 0);
	close(w->fd);
	ZSTD_freeCCtx(w->zstd);
	free(w->path);
	free(w);
	return ret;
}

static int write_chunk(struct kjoule_writer *w, enum kjoule_chunk_type type, uint32_t cpu,
		       const void *data, size_t len, struct kjoule_error *err)
{
	size_t bound = ZSTD_compressBound(len), n, total;
	struct kjoule_chunk_header h = {
		.magic = KJOULE_CHUNK_MAGIC,
		.type = type,
		.sequence = w->sequence,
		.cpu = cpu,
		.raw_len = len,
	};
	int ret;

	if (w->room < sizeof(h) + bound + 8) {
		uint8_t *buf = realloc(w->buf, sizeof(h) + bound + 8);

		if (!buf)
			return kjoule_fail(err, ENOMEM, "no memory");
		w->buf = buf;
		w->room = sizeof(h) + bound + 8;
	}
	n = ZSTD_compress2(w->zstd, w->buf + sizeof(h), bound, data, len);
	if (ZSTD_isError(n))
		return kjoule_fail(err, EIO, "%s: compressing: %s", w->path, ZSTD_getErrorName(n));
	h.stored_len = n;
	h.checksum = kjoule_crc32(&h, offsetof(struct kjoule_chunk_header, checksum));
	memcpy(w->buf, &h, sizeof(h));
	total = (sizeof(h) + n + 7) & ~(size_t)7;
	memset(w->buf + sizeof(h) + n, 0, total - sizeof(h) - n);
	ret = write_all(w->fd, w->buf, total);
	if (ret) {
		/* Half a chunk would be reported as damage: what is whole stays. */
		if (w->regular && (ftruncate(w->fd, w->bytes) || lseek(w->fd, 0, SEEK_END) < 0))
			w->regular = false;
		return kjoule_fail(err, -ret, "%s: writing: %s; what was written before is kept",
				   w->path, strerror(-ret));
	}
	w->bytes += total;
	w->sequence++;
	return 0;
}

int kjoule_writer_chunk(struct kjoule_writer *w, enum kjoule_chunk_type type, uint32_t cpu,
			const void *data, size_t len, struct kjoule_error *err)
{
	const uint8_t *p = data;

	if (w->error)
		return kjoule_fail(err, -w->error, "%s: writing: %s", w->path, strerror(-w->error));
	if (len > KJOULE_CHUNK_MAX)
		return kjoule_fail(err, EFBIG, "%s: a chunk of %zu bytes is too large", w->path, len);
	if (!w->bytes)
		w->error = write_header(w, err);
	if (!w->error)
		w->error = write_chunk(w, type, cpu, p, len, err);
	return w->error;
}

uint64_t kjoule_writer_bytes(const struct kjoule_writer *w)
{
	return w->bytes;
}

int kjoule_writer_close(struct kjoule_writer *w, struct kjoule_error *err)
{
	int ret = 0;

	if (!w)
		return 0;
	if (w->created && !w->sequence)
		unlinkat(w->folder, name_in(w->folder, w->path), 0);
	if (close(w->fd))
		ret = kjoule_fail(err, errno, "%s: closing: %s", w->path, strerror(errno));
	ZSTD_freeCCtx(w->zstd);
	free(w->buf);
	free(w->path);
	free(w);
	return ret;
}
