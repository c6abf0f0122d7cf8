// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads a data file's chunks; see recording.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lib/base/array.h"
#include "lib/code/vdso.h"
#include "lib/control/ring.h"
#include "lib/file/pack.h"
#include "lib/file/recording.h"

/* Limit of packed records of a chunk: record writes about a megabyte. */
#define RING_CHUNK_MAX	(8u << 20)

/* Limit of kernel symbols: more than all of a kernel. */
#define KALLSYMS_MAX	(16u << 20)

uint64_t kjoule_recording_keep_most = 4u << 20;

static struct kjoule_stream *recording_stream(struct kjoule_recording *rec, uint32_t cpu)
{
	size_t i = 0, end = rec->n_streams;
	void *p;

	while (i < end) {
		size_t mid = i + (end - i) / 2;

		if (rec->streams[mid].cpu < cpu)
			i = mid + 1;
		else
			end = mid;
	}
	if (i < rec->n_streams && rec->streams[i].cpu == cpu)
		return &rec->streams[i];
	p = realloc(rec->streams, (rec->n_streams + 1) * sizeof(*rec->streams));
	if (!p)
		return NULL;
	rec->streams = p;
	memmove(rec->streams + i + 1, rec->streams + i,
		(rec->n_streams - i) * sizeof(*rec->streams));
	rec->n_streams++;
	rec->streams[i] = (struct kjoule_stream){ .cpu = cpu, .holes = rec->holes };
	return &rec->streams[i];
}

static int bytes_append(uint8_t **data, size_t *len, size_t *room, const void *more, size_t n)
{
	if (!n)
		return 0;
	if (*room - *len < n) {
		size_t bigger = *room ? *room : 65536;
		uint8_t *p;

		while (bigger - *len < n)
			bigger *= 2;
		p = realloc(*data, bigger);
		if (!p)
			return -ENOMEM;
		*data = p;
		*room = bigger;
	}
	memcpy(*data + *len, more, n);
	*len += n;
	return 0;
}

/* Chunks were missing since the last one of this CPU: what follows, if anything, follows a hole. */
static int stream_mark_hole(struct kjoule_recording *rec, struct kjoule_stream *s)
{
	struct kjoule_lost lost = {
		.rec = { KJOULE_RECORD_LOST, KJOULE_LOST_IN_FILE, sizeof(lost) } };

	if (s->holes == rec->holes)
		return 0;
	s->holes = rec->holes;
	s->hole = true;
	return rec->left_in_file ? 0 : bytes_append(&s->records, &s->len, &s->room, &lost,
						    sizeof(lost));
}

/* The number that stands for a stack's memory. */
union stub {
	struct kjoule_stack stack;
	struct {
		uint8_t head[sizeof(struct kjoule_stack)];
		uint64_t number;
	};
};

/*
 * Stacks are hundred times larger than all else and are read once: only their place stays in
 * memory. Return: what is left of @len
 */
static size_t stream_leave_stacks(struct kjoule_stream *s, uint8_t *records, size_t len,
				  bool *callers)
{
	const struct kjoule_record *rec;
	size_t off = 0, out = 0;

	while (kjoule_record_next(records, len, &off, &rec) > 0) {
		size_t size = rec->size;
		union stub stub;

		*callers |= rec->type == KJOULE_RECORD_STACK || rec->type == KJOULE_RECORD_CHAIN;
		if (rec->type == KJOULE_RECORD_STACK && size >= sizeof(stub)) {
			memcpy(&stub, rec, sizeof(stub.stack));
			stub.stack.rec.size = size = sizeof(stub);
			stub.stack.rec.flags = KJOULE_STACK_IN_FILE;
			stub.stack.bytes = sizeof(stub.number);
			stub.number = s->stacks++;
			memcpy(records + out, &stub, size);
		} else {
			memmove(records + out, rec, size);
		}
		out += size;
	}
	/* the reader will find what is no record */
	memmove(records + out, records + off, len - off);
	return out + len - off;
}

static int stream_add_piece(struct kjoule_stream *s, uint64_t offset)
{
	struct kjoule_piece *p = kjoule_array_grow(&s->pieces, &s->n_pieces, sizeof(*p));

	if (!p)
		return -ENOMEM;
	*p = (struct kjoule_piece){ offset, s->hole };
	s->hole = false;
	return 0;
}

/* They are too many for memory. Chains and stacks are pointed at. */
static void recording_leave_records(struct kjoule_recording *rec)
{
	const uint32_t callers = KJOULE_FLAG_KERNEL_CHAIN | KJOULE_FLAG_USER_CHAIN |
				 KJOULE_FLAG_USER_STACK;

	if (rec->left_in_file || rec->packed_len <= kjoule_recording_keep_most ||
	    !rec->meta.session.interval_ns || rec->meta.session.flags & callers || rec->callers)
		return;
	rec->left_in_file = true;
	for (size_t i = 0; i < rec->n_streams; i++) {
		free(rec->streams[i].records);
		rec->streams[i].records = NULL;
		rec->streams[i].len = rec->streams[i].room = 0;
	}
}

static int recording_add_ring(struct kjoule_recording *rec, const struct kjoule_chunk *c)
{
	struct kjoule_stream *s = c->cpu < KJOULE_MAX_CPUS ? recording_stream(rec, c->cpu) : NULL;
	uint8_t *records;
	size_t len;
	int ret;

	if (c->cpu >= KJOULE_MAX_CPUS)
		return 0;
	if (!s)
		return -ENOMEM;
	ret = stream_mark_hole(rec, s);
	if (ret)
		return ret;
	if (c->len > RING_CHUNK_MAX) {
		rec->unpackable++;
		return 0;
	}
	ret = stream_add_piece(s, c->offset);
	if (ret)
		return ret;
	rec->packed_len += c->len;
	recording_leave_records(rec);
	if (rec->left_in_file)
		return 0;
	ret = kjoule_unpack(c->data, c->len, &records, &len);
	if (ret == -EBADMSG)
		rec->unpackable++;
	else if (ret)
		return ret;
	len = stream_leave_stacks(s, records, len, &rec->callers);
	rec->records_len += len;
	if (rec->records_len > KJOULE_GROWTH_LEAST + KJOULE_GROWTH_RATIO * rec->file_bytes) {
		free(records);
		return -EFBIG;
	}
	ret = bytes_append(&s->records, &s->len, &s->room, records, len);
	free(records);
	return ret;
}

static int recording_add_meta(struct kjoule_recording *rec, const struct kjoule_chunk *c)
{
	struct kjoule_meta meta;
	int ret = kjoule_meta_decode(c->data, c->len, &meta);

	if (ret)
		return ret;
	kjoule_meta_free(&rec->meta);
	rec->meta = meta;
	return 0;
}

static int recording_add_stats(struct kjoule_recording *rec, const struct kjoule_chunk *c)
{
	struct kjoule_cpu_stats *stats;
	size_t n;
	int ret = kjoule_stats_decode(c->data, c->len, &stats, &n);

	if (ret)
		return ret;
	free(rec->stats);
	rec->stats = stats;
	rec->n_stats = n;
	return 0;
}

static int recording_add_vdso(struct kjoule_recording *rec, const struct kjoule_chunk *c)
{
	if (rec->vdso || !c->len || c->len > KJOULE_VDSO_MAX)
		return rec->vdso ? 0 : -EBADMSG;
	rec->vdso = malloc(c->len);
	if (!rec->vdso)
		return -ENOMEM;
	memcpy(rec->vdso, c->data, c->len);
	rec->vdso_len = c->len;
	return 0;
}

static int recording_add_wakeups(struct kjoule_recording *rec, const struct kjoule_chunk *c)
{
	size_t n = c->len / sizeof(*rec->wakeups);
	void *p = realloc(rec->wakeups, (rec->n_wakeups + n + 1) * sizeof(*rec->wakeups));

	if (!p)
		return -ENOMEM;
	rec->wakeups = p;
	memcpy(rec->wakeups + rec->n_wakeups, c->data, n * sizeof(*rec->wakeups));
	rec->n_wakeups += n;
	return 0;
}

/* Append to what grows by chunks of any number. */
struct rooms {
	size_t side, regions;
};

static int recording_add_chunk(struct kjoule_recording *rec, const struct kjoule_chunk *c,
			       struct rooms *rooms)
{
	int ret = 0;

	switch (c->type) {
	case KJOULE_CHUNK_META:
		return recording_add_meta(rec, c);
	case KJOULE_CHUNK_RING:
		return recording_add_ring(rec, c);
	case KJOULE_CHUNK_SIDE_BAND:
		return bytes_append(&rec->side_band, &rec->side_band_len, &rooms->side, c->data,
				    c->len);
	case KJOULE_CHUNK_REGIONS:
		return bytes_append(&rec->regions, &rec->regions_len, &rooms->regions, c->data,
				    c->len);
	case KJOULE_CHUNK_STATS:
		return recording_add_stats(rec, c);
	case KJOULE_CHUNK_CALIBRATION:
		ret = kjoule_calibration_decode(c->data, c->len, &rec->cal);
		break;
	case KJOULE_CHUNK_KALLSYMS:
		if (c->len > KALLSYMS_MAX)
			ret = -EBADMSG;
		else if (!rec->kallsyms)
			ret = kjoule_kallsyms_parse(c->data, c->len, &rec->kallsyms);
		break;
	case KJOULE_CHUNK_JITMAP:
		rec->jitmaps_len += c->len;
		ret = rec->jitmaps_len > KJOULE_JITMAPS_MAX ? -EBADMSG :
		      kjoule_jitmaps_decode(c->data, c->len, rec->jitmaps);
		break;
	case KJOULE_CHUNK_BUILD_IDS:
		ret = kjoule_build_ids_decode(c->data, c->len, rec->build_ids);
		break;
	case KJOULE_CHUNK_VDSO:
		return recording_add_vdso(rec, c);
	case KJOULE_CHUNK_WAKEUPS:
		return recording_add_wakeups(rec, c);
	case KJOULE_CHUNK_END:
		ret = kjoule_end_decode(c->data, c->len, &rec->end);
		rec->ended = !ret;
		break;
	}
	return ret;
}

/* Of several for a CPU the first counts. */
static int recording_number_packages(struct kjoule_recording *rec)
{
	const struct kjoule_cpu_place *places = rec->meta.places;

	rec->packages = calloc(KJOULE_MAX_CPUS, sizeof(*rec->packages));
	if (!rec->packages)
		return -ENOMEM;
	for (uint32_t i = rec->meta.n_places; i-- > 0;)
		if (places[i].cpu < KJOULE_MAX_CPUS)
			rec->packages[places[i].cpu] = places[i].package;
	return 0;
}

static int recording_load(struct kjoule_reader *r, const char *name, struct kjoule_recording *rec,
			  struct kjoule_error *err)
{
	struct kjoule_chunk chunk;
	struct rooms rooms = { 0 };
	unsigned int missing = 0;
	int ret;

	rec->file_bytes = kjoule_reader_bytes(r);
	rec->build_ids = kjoule_build_ids_new();
	rec->jitmaps = kjoule_jitmaps_new();
	if (!rec->build_ids || !rec->jitmaps)
		return kjoule_fail(err, ENOMEM, "no memory");
	while ((ret = kjoule_reader_next(r, &chunk)) > 0) {
		const struct kjoule_damage *damage = kjoule_reader_damage(r);

		if (damage->missing != missing) {
			missing = damage->missing;
			/* each stream notices when it goes on: there may be many of both */
			rec->holes++;
		}
		ret = recording_add_chunk(rec, &chunk, &rooms);
		if (ret == -EBADMSG)
			rec->unpackable++;
		else if (ret && ret != -EPERM)	/* addresses were hidden from the recorder */
			break;
	}
	for (size_t i = 0; i < rec->n_streams && !ret; i++)
		ret = stream_mark_hole(rec, &rec->streams[i]);
	rec->damage = *kjoule_reader_damage(r);
	if (ret == -EFBIG)
		return kjoule_fail(err, EFBIG,
				   "%s: grows to more than a recording of its size could: it is damaged or forged",
				   name);
	if (ret)
		return kjoule_fail(err, -ret, "%s: %s", name, strerror(-ret));
	if (!rec->meta.session.interval_ns)
		return kjoule_fail(err, EBADMSG,
				   "%s: does not say what was recorded (%s)",
				   name, rec->damage.chunks ? rec->damage.first :
				   "the recording ended before it began");
	return recording_number_packages(rec) ? kjoule_fail(err, ENOMEM, "no memory") : 0;
}

static int recording_finish_load(int ret, struct kjoule_reader *r, struct kjoule_recording *rec)
{
	kjoule_reader_close(r);
	if (ret)
		kjoule_recording_free(rec);
	return ret;
}

int kjoule_recording_load(const char *path, struct kjoule_recording *rec, struct kjoule_error *err)
{
	struct kjoule_reader *r;
	int ret = kjoule_reader_open(path, &r, err);

	memset(rec, 0, sizeof(*rec));
	if (ret)
		return ret;
	rec->unnamed = !path;
	rec->path = strdup(path ? path : KJOULE_DATA_FILE);
	ret = rec->path ? recording_load(r, rec->path, rec, err) :
			  kjoule_fail(err, ENOMEM, "no memory");
	return recording_finish_load(ret, r, rec);
}

int kjoule_recording_reopen(const struct kjoule_recording *rec, struct kjoule_reader **r)
{
	return rec->path ? kjoule_reader_open(rec->unnamed ? NULL : rec->path, r, NULL) :
	       kjoule_reader_open_memory(rec->memory, rec->memory_len, "", r, NULL);
}

int kjoule_recording_load_memory(const void *data, size_t len, const char *name,
				 struct kjoule_recording *rec, struct kjoule_error *err)
{
	struct kjoule_reader *r;
	int ret = kjoule_reader_open_memory(data, len, name, &r, err);

	memset(rec, 0, sizeof(*rec));
	rec->memory = data;
	rec->memory_len = len;
	return ret ? ret : recording_finish_load(recording_load(r, name, rec, err), r, rec);
}

/* The stacks of a chunk; @numbers: how many each CPU has had. */
static int chunk_for_each_stack(const struct kjoule_chunk *c, uint64_t *number,
				int (*sink)(void *arg, uint32_t cpu, uint64_t number,
					    const struct kjoule_stack *stack), void *arg)
{
	const struct kjoule_record *rec;
	uint8_t *records;
	size_t len, off = 0;
	int ret = kjoule_unpack(c->data, c->len, &records, &len);

	if (ret && ret != -EBADMSG)
		return ret;
	for (ret = 0; !ret && kjoule_record_next(records, len, &off, &rec) > 0;)
		if (rec->type == KJOULE_RECORD_STACK && rec->size >= sizeof(union stub))
			ret = sink(arg, c->cpu, (*number)++, (const struct kjoule_stack *)rec);
	free(records);
	return ret;
}

int kjoule_recording_stacks(const struct kjoule_recording *rec,
			    int (*sink)(void *arg, uint32_t cpu, uint64_t number,
					const struct kjoule_stack *stack),
			    void *arg)
{
	uint64_t *numbers = calloc(KJOULE_MAX_CPUS, sizeof(*numbers));
	struct kjoule_reader *r = NULL;
	struct kjoule_chunk chunk;
	int ret = -ENOMEM;

	if (numbers)
		ret = kjoule_recording_reopen(rec, &r);
	while (!ret && (ret = kjoule_reader_next(r, &chunk)) > 0) {
		ret = 0;
		if (chunk.type == KJOULE_CHUNK_RING && chunk.cpu < KJOULE_MAX_CPUS)
			ret = chunk_for_each_stack(&chunk, &numbers[chunk.cpu], sink, arg);
	}
	kjoule_reader_close(r);
	free(numbers);
	return ret;
}

void kjoule_recording_free(struct kjoule_recording *rec)
{
	free(rec->path);
	for (size_t i = 0; i < rec->n_streams; i++) {
		free(rec->streams[i].records);
		free(rec->streams[i].pieces);
	}
	free(rec->streams);
	free(rec->packages);
	free(rec->stats);
	free(rec->wakeups);
	free(rec->side_band);
	free(rec->regions);
	free(rec->vdso);
	kjoule_kallsyms_free(rec->kallsyms);
	kjoule_build_ids_free(rec->build_ids);
	kjoule_jitmaps_free(rec->jitmaps);
	kjoule_meta_free(&rec->meta);
	memset(rec, 0, sizeof(*rec));
}

const struct kjoule_source_info *kjoule_recording_source(const struct kjoule_recording *rec,
							 uint32_t kind)
{
	for (uint32_t i = 0; i < rec->meta.session.n_sources; i++)
		if (rec->meta.session.sources[i].kind == kind)
			return &rec->meta.session.sources[i];
	return NULL;
}

uint32_t kjoule_recording_package(const struct kjoule_recording *rec, uint32_t cpu)
{
	return rec->packages && cpu < KJOULE_MAX_CPUS ? rec->packages[cpu] : 0;
}
