// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the data file; datafile.h has the format. A chunk is compressed in memory and written at
 * once; when the disk is full the file is cut back to its last whole chunk, so that it stays
 * readable. It gets its name with the first chunk, see lib/base/output_file.h.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include "lib/base/output_file.h"
#include "lib/file/datafile.h"
#include "lib/file/pack.h"

/* Fast rather than small: compression shares a machine with what is measured. */
#define COMPRESSION_LEVEL	1

struct kjoule_writer {
	struct kjoule_output_file file;
	bool committed;			/* the file has its name */
	int error;			/* -errno of the first failure */
	uint32_t sequence;
	uint64_t bytes;			/* of whole chunks */
	uint64_t grown;			/* most that readers make of them */
	ZSTD_CCtx *zstd;
	uint8_t *buf;
	size_t room;
};

uint32_t kjoule_crc32(const void *data, size_t len)
{
	return crc32_z(0, data, len);
}

static int file_write_bytes(int fd, const uint8_t *p, size_t len)
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

/* The first bytes of the file. */
static int file_write_header(struct kjoule_writer *w, struct kjoule_error *err)
{
	struct kjoule_file_header h = {
		.magic = KJOULE_FILE_MAGIC,
		.byte_order = KJOULE_FILE_BYTE_ORDER,
		.major = KJOULE_FILE_MAJOR,
		.minor = KJOULE_FILE_MINOR,
	};
	int ret;

	h.checksum = kjoule_crc32(&h, offsetof(struct kjoule_file_header, checksum));
	ret = file_write_bytes(w->file.fd, (const uint8_t *)&h, sizeof(h));
	if (ret)
		return kjoule_fail(err, -ret, "%s: writing: %s; name another file with -o",
				   w->file.path, strerror(-ret));
	w->bytes = sizeof(h);
	return 0;
}

int kjoule_writer_open(const char *path, struct kjoule_writer **out, struct kjoule_error *err)
{
	return kjoule_writer_open_at(AT_FDCWD, path, out, err);
}

int kjoule_writer_open_at(int folder, const char *path, struct kjoule_writer **out,
			  struct kjoule_error *err)
{
	struct kjoule_writer *w = calloc(1, sizeof(*w));
	int ret;

	*out = NULL;
	if (!w)
		return kjoule_fail(err, ENOMEM, "no memory");
	ret = kjoule_output_file_open(&w->file, folder, path, KJOULE_OUTPUT_RECORDING, err);
	if (ret)
		goto err_free;
	w->zstd = ZSTD_createCCtx();
	if (!w->zstd) {
		ret = kjoule_fail(err, ENOMEM, "no memory");
		goto err_close;
	}
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, COMPRESSION_LEVEL);
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1);
	/*
	 * A full disk is reported at the start; the room may be that of the replaced file, though.
	 */
	if (!w->file.replaces) {
		ret = file_write_header(w, err);
		if (ret)
			goto err_close;
	}
	*out = w;
	return 0;

err_close:
	kjoule_output_file_close(&w->file, NULL);
	ZSTD_freeCCtx(w->zstd);
err_free:
	free(w);
	return ret;
}

/*
 * A file that grows by more than KJOULE_GROWTH_* is refused, and the recorded programs influence
 * how well it compresses: thousands of mappings of one long path do by 400. What is too short gets
 * a frame after it that decompressing skips. @n: bytes of the frame at @frame. Return: bytes with
 * it
 */
static size_t frame_lengthen(const struct kjoule_writer *w, uint64_t grown, uint8_t *frame,
			     size_t n)
{
	uint64_t have = w->bytes + sizeof(struct kjoule_chunk_header) + n, least = 0;
	uint32_t head[2] = { htole32(ZSTD_MAGIC_SKIPPABLE_START) };
	size_t more;

	if (grown > KJOULE_GROWTH_LEAST)
		least = (grown - KJOULE_GROWTH_LEAST) / KJOULE_GROWTH_RATIO + 1;
	if (have >= least)
		return n;
	more = least - have > sizeof(head) ? least - have : sizeof(head);
	head[1] = htole32(more - sizeof(head));
	memcpy(frame + n, head, sizeof(head));
	/* zeros at the end of a file are for what was never written */
	memset(frame + n + sizeof(head), 0xff, more - sizeof(head));
	return n + more;
}

static int file_write_chunk(struct kjoule_writer *w, enum kjoule_chunk_type type, uint32_t cpu,
			    const void *data, size_t len, struct kjoule_error *err)
{
	uint64_t grown = w->grown + (type == KJOULE_CHUNK_RING ? len * KJOULE_PACK_GROWTH : len);
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
		return kjoule_fail(err, EIO, "%s: compressing: %s", w->file.path,
				   ZSTD_getErrorName(n));
	n = frame_lengthen(w, grown, w->buf + sizeof(h), n);
	h.stored_len = n;
	h.checksum = kjoule_crc32(&h, offsetof(struct kjoule_chunk_header, checksum));
	memcpy(w->buf, &h, sizeof(h));
	total = (sizeof(h) + n + 7) & ~(size_t)7;
	memset(w->buf + sizeof(h) + n, 0, total - sizeof(h) - n);
	ret = file_write_bytes(w->file.fd, w->buf, total);
	if (ret) {
		/* Half a chunk would be reported as damage: cut back to whole ones. */
		if (ftruncate(w->file.fd, w->bytes) || lseek(w->file.fd, 0, SEEK_END) < 0)
			ret = -errno;
		return kjoule_fail(err, -ret, "%s: writing: %s; what was written before is kept",
				   w->file.path, strerror(-ret));
	}
	w->bytes += total;
	w->grown = grown;
	w->sequence++;
	return 0;
}

static int file_write_first(struct kjoule_writer *w, enum kjoule_chunk_type type, uint32_t cpu,
			    const void *data, size_t len, struct kjoule_error *err)
{
	int ret = w->bytes ? 0 : file_write_header(w, err);

	return ret ? ret : file_write_chunk(w, type, cpu, data, len, err);
}

/* There is content to replace the old file with; a killed recorder leaves it from now on. */
static int file_begin(struct kjoule_writer *w, enum kjoule_chunk_type type, uint32_t cpu,
		      const void *data, size_t len, struct kjoule_error *err)
{
	int ret = file_write_first(w, type, cpu, data, len, err);
	bool full = (ret == -ENOSPC || ret == -EDQUOT) && w->file.replaces;
	int unnamed;

	/* the replaced file has the only room there is: it goes first */
	if (!ret || full) {
		unnamed = kjoule_output_file_commit(&w->file, full ? NULL : err);
		if (unnamed)
			return full ? ret : unnamed;
		w->committed = true;
	}
	if (full) {
		w->bytes = 0;
		if (ftruncate(w->file.fd, 0) || lseek(w->file.fd, 0, SEEK_SET))
			return ret;
		ret = file_write_first(w, type, cpu, data, len, err);
	}
	return ret;
}

int kjoule_writer_chunk(struct kjoule_writer *w, enum kjoule_chunk_type type, uint32_t cpu,
			const void *data, size_t len, struct kjoule_error *err)
{
	const uint8_t *p = data;

	if (w->error)
		return kjoule_fail(err, -w->error, "%s: writing: %s", w->file.path,
				   strerror(-w->error));
	if (len > KJOULE_CHUNK_MAX)
		return kjoule_fail(err, EFBIG, "%s: a chunk of %zu bytes is too large",
				   w->file.path, len);
	w->error = w->committed ? file_write_chunk(w, type, cpu, p, len, err) :
				  file_begin(w, type, cpu, p, len, err);
	return w->error;
}

uint64_t kjoule_writer_bytes(const struct kjoule_writer *w)
{
	return w->bytes;
}

int kjoule_writer_close(struct kjoule_writer *w, struct kjoule_error *err)
{
	int ret;

	if (!w)
		return 0;
	ret = kjoule_output_file_close(&w->file, err);
	ZSTD_freeCCtx(w->zstd);
	free(w->buf);
	free(w);
	return ret;
}
