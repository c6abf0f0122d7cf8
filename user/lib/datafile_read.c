// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the data file; datafile.h has the format. Believes nothing: every length
 * is checked, every content has a checksum, and after damage it looks for the
 * next chunk that is whole.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include "datafile.h"

struct kjoule_reader {
	const uint8_t *data;
	size_t len, at;
	bool mapped;
	uint32_t next_sequence;
	uint32_t major, minor;
	struct kjoule_damage damage;
	ZSTD_DCtx *zstd;
	uint8_t *buf;
	size_t room;
};

static int check_header(struct kjoule_reader *r, const char *name, struct kjoule_error *err)
{
	struct kjoule_file_header h;

	if (r->len < sizeof(h.magic) || memcmp(r->data, KJOULE_FILE_MAGIC, sizeof(h.magic)))
		return kjoule_fail(err, EBADMSG,
				   "%s: not a kjoule data file; make one with `kjoule record`", name);
	if (r->len < sizeof(h))
		return kjoule_fail(err, EBADMSG, "%s: ends inside its header: nothing was recorded",
				   name);
	memcpy(&h, r->data, sizeof(h));
	if (h.byte_order == __builtin_bswap32(KJOULE_FILE_BYTE_ORDER))
		return kjoule_fail(err, EPROTO,
				   "%s: recorded on a machine of the other byte order; read it there",
				   name);
	if (h.checksum != kjoule_crc32(&h, offsetof(struct kjoule_file_header, checksum)))
		return kjoule_fail(err, EBADMSG, "%s: its header (bytes 0 to %zu) is damaged", name,
				   sizeof(h) - 1);
	if (h.major > KJOULE_FILE_MAJOR)
		return kjoule_fail(err, EPROTO,
				   "%s: has format version %u.%u, this program reads up to %u; use a newer kjoule",
				   name, h.major, h.minor, KJOULE_FILE_MAJOR);
	r->major = h.major;
	r->minor = h.minor;
	r->at = sizeof(h);
	return 0;
}

int kjoule_reader_open_memory(const void *data, size_t len, const char *name,
			      struct kjoule_reader **out, struct kjoule_error *err)
{
	struct kjoule_reader *r = calloc(1, sizeof(*r));
	int ret;

	*out = NULL;
	if (!r)
		return kjoule_fail(err, ENOMEM, "no memory");
	r->data = data;
	r->len = len;
	r->zstd = ZSTD_createDCtx();
	if (!r->zstd) {
		free(r);
		return kjoule_fail(err, ENOMEM, "no memory");
	}
	ret = check_header(r, name, err);
	if (ret) {
		kjoule_reader_close(r);
		return ret;
	}
	*out = r;
	return 0;
}

int kjoule_reader_open(const char *path, struct kjoule_reader **out, struct kjoule_error *err)
{
	void *map = NULL;
	struct stat st;
	int fd, ret;

	*out = NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);	/* a pipe would wait */
	if (fd < 0)
		return kjoule_fail(err, errno, "%s: %s%s", path, strerror(errno),
				   errno == ENOENT ? "; make one with `kjoule record`" : "");
	if (fstat(fd, &st)) {
		ret = kjoule_fail(err, errno, "%s: %s", path, strerror(errno));
		close(fd);
		return ret;
	}
	if (!S_ISREG(st.st_mode)) {
		close(fd);
		return kjoule_fail(err, EINVAL, "%s: not a regular file", path);
	}
	if (st.st_size) {
		map = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (map == MAP_FAILED) {
			ret = kjoule_fail(err, errno, "%s: reading: %s", path, strerror(errno));
			close(fd);
			return ret;
		}
	}
	close(fd);
	ret = kjoule_reader_open_memory(map, st.st_size, path, out, err);
	if (ret && map)
		munmap(map, st.st_size);
	if (!ret)
		(*out)->mapped = map;
	return ret;
}

static bool good_header(const struct kjoule_reader *r, size_t at, struct kjoule_chunk_header *h)
{
	memcpy(h, r->data + at, sizeof(*h));
	return h->magic == KJOULE_CHUNK_MAGIC && h->raw_len <= KJOULE_CHUNK_MAX &&
	       h->checksum == kjoule_crc32(h, offsetof(struct kjoule_chunk_header, checksum));
}

static void damaged(struct kjoule_reader *r, size_t at, const char *what)
{
	if (!r->damage.chunks++) {
		r->damage.first_offset = at;
		snprintf(r->damage.first, sizeof(r->damage.first), "%s at byte %zu (chunk %u)",
			 what, at, r->next_sequence);
	}
}

static bool only_zeros(const uint8_t *p, size_t len)
{
	while (len && !*p) {
		p++;
		len--;
	}
	return !len;
}

/* The next whole header after damage at @at. Return: its offset, or r->len. */
static size_t resync(struct kjoule_reader *r, size_t at)
{
	struct kjoule_chunk_header h;

	for (at += 8; at + sizeof(h) <= r->len; at += 8)
		if (good_header(r, at, &h) && h.sequence >= r->next_sequence)
			return at;
	return r->len;
}

static void truncated(struct kjoule_reader *r)
{
	r->damage.truncated = true;
	r->damage.truncated_offset = r->at;
	r->at = r->len;
}

static int decompress(struct kjoule_reader *r, const uint8_t *src,
		      const struct kjoule_chunk_header *h)
{
	size_t n;

	if (r->room < h->raw_len + 1ul) {
		free(r->buf);
		r->room = 0;
		r->buf = malloc(h->raw_len + 1ul);
		if (!r->buf)
			return -ENOMEM;
		r->room = h->raw_len + 1ul;
	}
	n = ZSTD_decompressDCtx(r->zstd, r->buf, h->raw_len, src, h->stored_len);
	if (ZSTD_isError(n) || n != h->raw_len)
		return -EBADMSG;
	r->buf[n] = '\0';	/* JSON and text can be read as strings */
	return 0;
}

int kjoule_reader_next(struct kjoule_reader *r, struct kjoule_chunk *chunk)
{
	struct kjoule_chunk_header h;
	size_t at, end;
	int ret;

	while (r->at < r->len) {
		at = r->at;
		if (r->len - at < sizeof(h)) {
			truncated(r);
			break;
		}
		if (!good_header(r, at, &h)) {
			/* A file system may leave zeros where data never arrived. */
			if (only_zeros(r->data + at, r->len - at)) {
				truncated(r);
				break;
			}
			damaged(r, at, "damaged chunk header");
			r->at = resync(r, at);
			continue;
		}
		end = at + sizeof(h) + h.stored_len;
		if (h.stored_len > r->len - at - sizeof(h)) {
			truncated(r);
			break;
		}
		r->at = (end + 7) & ~(size_t)7;
		if (r->at > r->len)
			r->at = r->len;
		ret = decompress(r, r->data + at + sizeof(h), &h);
		if (ret == -ENOMEM)
			return ret;
		if (h.sequence > r->next_sequence)
			r->damage.missing += h.sequence - r->next_sequence;
		r->next_sequence = h.sequence + 1;
		if (ret) {
			if (r->at == r->len && only_zeros(r->data + end - 1, 1)) {
				/* the last chunk, its end never written */
				r->at = at;
				truncated(r);
				break;
			}
			r->next_sequence--;
			damaged(r, at, "damaged chunk");
			r->next_sequence++;
			r->damage.missing++;
			continue;
		}
		chunk->type = h.type;
		chunk->sequence = h.sequence;
		chunk->cpu = h.cpu;
		chunk->offset = at;
		chunk->data = r->buf;
		chunk->len = h.raw_len;
		return 1;
	}
	return 0;
}

const struct kjoule_damage *kjoule_reader_damage(const struct kjoule_reader *r)
{
	return &r->damage;
}

void kjoule_reader_version(const struct kjoule_reader *r, uint32_t *major, uint32_t *minor)
{
	*major = r->major;
	*minor = r->minor;
}

void kjoule_reader_close(struct kjoule_reader *r)
{
	if (!r)
		return;
	if (r->mapped)
		munmap((void *)r->data, r->len);
	ZSTD_freeDCtx(r->zstd);
	free(r->buf);
	free(r);
}
