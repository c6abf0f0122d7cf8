// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the data file; datafile.h has the format. Nothing is trusted: every length is checked,
 * every content has a checksum, and after damage it looks for the next whole chunk. The file is
 * read in pieces, never mapped: it may be truncated or rewritten meanwhile, which would kill a
 * reader of a mapping.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include "lib/base/plain_file.h"
#include "lib/base/privilege.h"
#include "lib/file/datafile.h"

/* Least size of a read. */
#define PIECE	(64u << 10)

struct kjoule_reader {
	int fd;			/* -1: all of it is in @data */
	const uint8_t *data;
	uint8_t *piece;		/* the last piece: @piece_len bytes from @piece_at */
	size_t piece_at, piece_len, piece_room;
	int error;		/* -errno of reading */
	size_t len, at;
	uint64_t grown;		/* bytes of content so far */
	uint32_t next_sequence;
	uint32_t major, minor;
	struct kjoule_damage damage;
	ZSTD_DCtx *zstd;
	uint8_t *buf;
	size_t room;
};

/* Fill the piece with @len bytes from @at. Return: 0 or -errno; the file may have fewer by now */
static int reader_fill_piece(struct kjoule_reader *r, size_t at, size_t len)
{
	r->piece_at = at;
	r->piece_len = 0;
	if (len > r->piece_room) {
		free(r->piece);
		r->piece_room = 0;
		r->piece = malloc(len);
		if (!r->piece)
			return -ENOMEM;
		r->piece_room = len;
	}
	while (r->piece_len < len) {
		ssize_t n = pread(r->fd, r->piece + r->piece_len, len - r->piece_len,
				  at + r->piece_len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n) {
			r->damage.shrunk = true;
			r->len = at + r->piece_len;
			break;
		}
		r->piece_len += n;
	}
	return 0;
}

/*
 * @len bytes of the file from @at on, until the next call. Return: NULL if the file has fewer, or
 *   cannot be read: then @error has the reason
 */
static const uint8_t *reader_bytes(struct kjoule_reader *r, size_t at, size_t len)
{
	size_t most;

	if (r->error || at > r->len || len > r->len - at)
		return NULL;
	if (r->fd < 0)
		return r->data + at;
	if (at < r->piece_at || at - r->piece_at > r->piece_len ||
	    len > r->piece_len - (at - r->piece_at)) {
		most = r->len - at < PIECE ? r->len - at : PIECE;
		r->error = reader_fill_piece(r, at, len > most ? len : most);
		if (r->error || len > r->piece_len)
			return NULL;
	}
	return r->piece + (at - r->piece_at);
}

static int reader_check_header(struct kjoule_reader *r, const char *name, struct kjoule_error *err)
{
	struct kjoule_file_header h;
	const uint8_t *p = reader_bytes(r, 0, sizeof(h.magic));

	if (r->error)
		return kjoule_fail(err, -r->error, "%s: reading: %s", name, strerror(-r->error));
	if (!p || memcmp(p, KJOULE_FILE_MAGIC, sizeof(h.magic)))
		return kjoule_fail(err, EBADMSG,
				   "%s: not a kjoule data file; make one with `kjoule record`",
				   name);
	p = reader_bytes(r, 0, sizeof(h));
	if (!p)
		return kjoule_fail(err, EBADMSG, "%s: ends inside its header: nothing was recorded",
				   name);
	memcpy(&h, p, sizeof(h));
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

/* Takes @fd, -1: @data is all of it. */
static int reader_open(int fd, const void *data, size_t len, const char *name,
		       struct kjoule_reader **out, struct kjoule_error *err)
{
	struct kjoule_reader *r = calloc(1, sizeof(*r));
	int ret;

	*out = NULL;
	if (!r) {
		if (fd >= 0)
			close(fd);
		return kjoule_fail(err, ENOMEM, "no memory");
	}
	r->fd = fd;
	r->data = data;
	r->len = len;
	r->zstd = ZSTD_createDCtx();
	ret = r->zstd ? reader_check_header(r, name, err) : kjoule_fail(err, ENOMEM, "no memory");
	if (ret) {
		kjoule_reader_close(r);
		return ret;
	}
	*out = r;
	return 0;
}

int kjoule_reader_open_memory(const void *data, size_t len, const char *name,
			      struct kjoule_reader **out, struct kjoule_error *err)
{
	return reader_open(-1, data, len, name, out, err);
}

int kjoule_reader_open(const char *path, struct kjoule_reader **out, struct kjoule_error *err)
{
	bool named = path;
	struct stat st;
	int fd, ret;

	*out = NULL;
	path = named ? path : KJOULE_DATA_FILE;
	kjoule_privilege_raise();
	fd = kjoule_plain_open(AT_FDCWD, path);
	kjoule_privilege_lower();
	if (fd == -EINVAL)
		return kjoule_fail(err, EINVAL,
				   "%s: not a regular file on a disk; copy the recording to one",
				   path);
	if (fd < 0)
		return kjoule_fail(err, -fd, "%s: %s%s", path, strerror(-fd),
				   fd == -ENOENT ? "; make one with `kjoule record`" :
				   fd == -EACCES ? "; if it is root's, read it with sudo" :
				   fd == -ENOSYS ? "; mount /proc" : "");
	if (fstat(fd, &st)) {
		ret = kjoule_fail(err, errno, "%s: %s", path, strerror(errno));
		close(fd);
		return ret;
	}
	if (!named && st.st_uid && st.st_uid != geteuid()) {
		close(fd);
		return kjoule_fail(err, EPERM, "'%s' belongs to user %u, not to user %u or root; give its name to read it",
				   path, st.st_uid, geteuid());
	}
	return reader_open(fd, NULL, st.st_size, path, out, err);
}

static bool reader_header_is_good(struct kjoule_reader *r, size_t at, struct kjoule_chunk_header *h)
{
	const uint8_t *p = reader_bytes(r, at, sizeof(*h));

	if (!p)
		return false;
	memcpy(h, p, sizeof(*h));
	return h->magic == KJOULE_CHUNK_MAGIC && h->raw_len <= KJOULE_CHUNK_MAX &&
	       h->stored_len <= ZSTD_compressBound(h->raw_len) &&
	       h->checksum == kjoule_crc32(h, offsetof(struct kjoule_chunk_header, checksum));
}

static void reader_note_damage(struct kjoule_reader *r, size_t at, const char *what)
{
	if (!r->damage.chunks++) {
		r->damage.first_offset = at;
		snprintf(r->damage.first, sizeof(r->damage.first), "%s at byte %zu (chunk %u)",
			 what, at, r->next_sequence);
	}
}

/* Nothing but zeros from @at to the end of the file? */
static bool reader_has_only_zeros(struct kjoule_reader *r, size_t at)
{
	while (at < r->len) {
		size_t len = r->len - at < PIECE ? r->len - at : PIECE;
		const uint8_t *p = reader_bytes(r, at, len);

		if (!p)
			break;
		for (size_t i = 0; i < len; i++)
			if (p[i])
				return false;
		at += len;
	}
	return true;
}

/* The next whole header after damage at @at. Return: its offset, or r->len. */
static size_t reader_resync(struct kjoule_reader *r, size_t at)
{
	struct kjoule_chunk_header h;

	for (at += 8; at < r->len && r->len - at >= sizeof(h); at += 8)
		if (reader_header_is_good(r, at, &h) && h.sequence >= r->next_sequence)
			return at;
	return r->len;
}

static void reader_note_truncated(struct kjoule_reader *r)
{
	r->damage.truncated = true;
	r->damage.truncated_offset = r->at;
	r->at = r->len;
}

/* The file is shorter than it should be. Return: 0, or -errno if reading failed */
static int reader_cut_short(struct kjoule_reader *r)
{
	if (r->error)
		return r->error;
	reader_note_truncated(r);
	return 0;
}

static int reader_decompress(struct kjoule_reader *r, const uint8_t *src,
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
	const uint8_t *p;
	size_t at, end;
	int ret;

	while (r->at < r->len) {
		at = r->at;
		if (!reader_bytes(r, at, sizeof(h)))
			return reader_cut_short(r);
		if (!reader_header_is_good(r, at, &h)) {
			/* A file system may leave zeros where data never arrived. */
			if (reader_has_only_zeros(r, at))
				return reader_cut_short(r);
			reader_note_damage(r, at, "damaged chunk header");
			r->at = reader_resync(r, at);
			continue;
		}
		end = at + sizeof(h) + h.stored_len;
		p = reader_bytes(r, at + sizeof(h), h.stored_len);
		if (!p)
			return reader_cut_short(r);
		r->at = (end + 7) & ~(size_t)7;
		if (r->at > r->len)
			r->at = r->len;
		r->grown += h.raw_len;
		if (r->grown > KJOULE_GROWTH_LEAST + KJOULE_GROWTH_RATIO * (uint64_t)r->len)
			return -EFBIG;
		ret = reader_decompress(r, p, &h);
		if (ret == -ENOMEM)
			return ret;
		if (h.sequence > r->next_sequence)
			r->damage.missing += h.sequence - r->next_sequence;
		r->next_sequence = h.sequence + 1;
		if (ret) {
			if (r->at == r->len && reader_has_only_zeros(r, end - 1)) {
				/* the last chunk, its end never written */
				r->at = at;
				return reader_cut_short(r);
			}
			r->next_sequence--;
			reader_note_damage(r, at, "damaged chunk");
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
	return r->error;
}

int kjoule_reader_at(struct kjoule_reader *r, uint64_t offset, struct kjoule_chunk *chunk)
{
	struct kjoule_chunk_header h;
	const uint8_t *p = NULL;
	int ret;

	if (reader_header_is_good(r, offset, &h))
		p = reader_bytes(r, offset + sizeof(h), h.stored_len);
	if (!p)
		return r->error ? r->error : -ESTALE;
	ret = reader_decompress(r, p, &h);
	*chunk = (struct kjoule_chunk){ .type = h.type, .sequence = h.sequence, .cpu = h.cpu,
					.offset = offset, .data = r->buf, .len = h.raw_len };
	return ret == -EBADMSG ? -ESTALE : ret;
}

const struct kjoule_damage *kjoule_reader_damage(const struct kjoule_reader *r)
{
	return &r->damage;
}

uint64_t kjoule_reader_bytes(const struct kjoule_reader *r)
{
	return r->len;
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
	if (r->fd >= 0)
		close(r->fd);
	free(r->piece);
	ZSTD_freeDCtx(r->zstd);
	free(r->buf);
	free(r);
}
