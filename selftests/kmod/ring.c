// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The device and its records for the module's selftests; see ring.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "guest.h"
#include "ring.h"

#define DRAIN_LONGER_NS	2000000000ULL

int device_attach(int fd, uint32_t session, uint32_t *cpus)
{
	struct kjoule_attach attach = { .size = sizeof(attach), .session = session };

	if (ioctl(fd, KJOULE_IOC_ATTACH, &attach))
		return -errno;
	if (cpus)
		*cpus = attach.cpus;
	return 0;
}

/* Open the device, not blocking, and attach it to a session. */
int device_open(struct device *d, uint32_t session)
{
	unsigned int i;
	uint32_t n = 0;
	int err;

	memset(d, 0, sizeof(*d));
	d->fd = open(KJOULE_DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (d->fd < 0)
		return -errno;
	err = device_attach(d->fd, session, &n);
	if (!err && n > NL_MAX_CPUS)
		err = -E2BIG;
	for (i = 0; i < n && !err; i++) {
		struct kjoule_ring ring = { .size = sizeof(ring), .index = i };

		if (ioctl(d->fd, KJOULE_IOC_RING, &ring))
			err = -errno;
		d->ring[i].cpu = ring.cpu;
		d->ring[i].size = ring.data_size;
	}
	d->n = n;
	if (err)
		device_close(d);
	return err;
}

int device_map(struct device *d)
{
	long page = sysconf(_SC_PAGESIZE);
	unsigned int i;

	for (i = 0; i < d->n; i++) {
		struct kjoule_ring ring = { .size = sizeof(ring), .index = i };
		struct ring *r = &d->ring[i];
		void *p;

		if (ioctl(d->fd, KJOULE_IOC_RING, &ring))
			return -errno;
		d->mapped = true;	/* some of it, if the rest fails */
		p = mmap(NULL, page + r->size, PROT_READ, MAP_SHARED, d->fd, ring.head_offset);
		if (p == MAP_FAILED)
			return -errno;
		r->head = p;
		r->data = (uint8_t *)p + page;
		p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, d->fd, ring.tail_offset);
		if (p == MAP_FAILED)
			return -errno;
		r->tail = p;
	}
	return 0;
}

void device_unmap(struct device *d)
{
	long page = sysconf(_SC_PAGESIZE);
	unsigned int i;

	for (i = 0; i < d->n && d->mapped; i++) {
		if (d->ring[i].head)
			munmap(d->ring[i].head, page + d->ring[i].size);
		if (d->ring[i].tail)
			munmap(d->ring[i].tail, page);
	}
	d->mapped = false;
}

void device_close(struct device *d)
{
	device_unmap(d);
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
}

uint64_t ring_unread(const struct ring *r)
{
	return __atomic_load_n(&r->head->head, __ATOMIC_ACQUIRE) -
	       __atomic_load_n(&r->tail->tail, __ATOMIC_RELAXED);
}

__attribute__((format(printf, 2, 3)))
static void fault(struct walk *w, const char *format, ...)
{
	va_list args;

	if (w->fault[0])
		return;
	va_start(args, format);
	vsnprintf(w->fault, sizeof(w->fault), format, args);
	va_end(args);
}

/* The module's jitter, written again from its description in the ABI. */
static uint32_t jitter(uint64_t seed, uint64_t tick, uint32_t limit)
{
	uint64_t x = (seed + tick) * 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ULL;
	return ((x >> 32) * limit) >> 32;
}

/* When a tick is due. */
uint64_t walk_due_ns(const struct nl_session *s, uint64_t tick)
{
	return s->t0_ns + tick * s->interval_ns + jitter(s->seed, tick, s->jitter_ns);
}

void walk_begin(struct walk *w, const struct nl_session *session, uint32_t cpu)
{
	memset(w, 0, sizeof(*w));
	w->session = session;
	w->cpu = cpu;
}

/* All bits of a tick's number: it is not before the one to come. */
static uint64_t whole_tick(const struct walk *w, uint32_t tick)
{
	return w->next + (uint32_t)(tick - (uint32_t)w->next);
}

/* Everything before @tick has to be accounted for. */
static void arrive(struct walk *w, uint64_t tick, const char *what)
{
	uint64_t hole = tick - w->next;

	if (hole > 1U << 31) {
		fault(w, "%s of tick %u after tick %llu", what, (uint32_t)tick,
		      (unsigned long long)w->next - 1);
		return;
	}
	if (w->session->target != KJOULE_TARGET_SYSTEM) {
		w->filtered += hole;	/* what was lost is among them */
	} else if (hole && !w->lost_before) {
		fault(w, "%s of tick %llu where %llu was to come, and nothing says why", what,
		      (unsigned long long)tick, (unsigned long long)w->next);
	} else if (hole < w->untold) {
		fault(w, "%llu samples said to be lost in a hole of %llu ticks",
		      (unsigned long long)w->untold, (unsigned long long)hole);
	} else {
		w->gap_ticks += hole - w->untold;	/* their gaps were lost as well */
	}
	w->untold = 0;
	w->lost_before = false;
}

/* Time goes on with each tick; what is reported at a tick tells the same time. */
static void see_time(struct walk *w, uint64_t tick, uint32_t late_ns, bool at_tick)
{
	uint64_t time = walk_due_ns(w->session, tick) + late_ns;

	if (w->timed && (w->time_tick == tick && at_tick ? time != w->time_ns : time < w->time_ns))
		fault(w, "time goes from %llu to %llu at tick %llu", (unsigned long long)w->time_ns,
		      (unsigned long long)time, (unsigned long long)tick);
	w->time_ns = time;
	w->time_tick = tick;
	w->timed = true;
	if (at_tick && late_ns > w->delay_max_ns)
		w->delay_max_ns = late_ns;
}

static void walk_sample(struct walk *w, const struct kjoule_sample *s)
{
	const uint8_t known = KJOULE_SAMPLE_KERNEL | KJOULE_SAMPLE_PRECISE | KJOULE_SAMPLE_IDLE |
			      KJOULE_SAMPLE_FREQ_REQUESTED | KJOULE_SAMPLE_IP_HIDDEN |
			      KJOULE_SAMPLE_SWITCH;
	uint64_t tick = whole_tick(w, s->tick);

	arrive(w, tick, "sample");
	see_time(w, tick, s->delay_ns, true);
	w->next = tick + 1;
	w->samples++;
	if (!w->task_known)
		fault(w, "sample of tick %llu before any task", (unsigned long long)tick);
	if (s->rec.flags & ~known)
		fault(w, "sample with flags %#x", s->rec.flags);
	if (!!(s->rec.flags & KJOULE_SAMPLE_IDLE) != !w->pid)
		fault(w, "sample of pid %u with flags %#x", w->pid, s->rec.flags);
	if (s->rec.flags & KJOULE_SAMPLE_IDLE && !(s->rec.flags & KJOULE_SAMPLE_KERNEL))
		fault(w, "idle in user mode");
	if (s->rec.flags & KJOULE_SAMPLE_IP_HIDDEN) {
		if (s->ip || !(s->rec.flags & KJOULE_SAMPLE_KERNEL))
			fault(w, "hidden address %#llx with flags %#x", (unsigned long long)s->ip,
			      s->rec.flags);
	} else if (s->rec.flags & KJOULE_SAMPLE_KERNEL ? !(s->ip >> 63) : !s->ip) {
		fault(w, "address %#llx with flags %#x", (unsigned long long)s->ip, s->rec.flags);
	}
	if (w->on_sample)
		w->on_sample(w, tick, s);
}

static void walk_task(struct walk *w, const struct kjoule_task *t)
{
	if (t->reserved || t->rec.flags)
		fault(w, "task with something in its reserved fields");
	if (!t->pid != !t->tgid)
		fault(w, "task with pid %u of process %u", t->pid, t->tgid);
	if (w->task_known && t->pid == w->pid && t->tgid == w->tgid && !w->losts)
		fault(w, "pid %u reported twice in a row", t->pid);
	w->task_known = true;
	w->pid = t->pid;
	w->tgid = t->tgid;
	w->tasks++;
}

static void walk_gap(struct walk *w, const struct kjoule_gap *g)
{
	uint64_t tick = whole_tick(w, g->tick);

	arrive(w, tick, "gap");
	if (!g->count)
		fault(w, "gap of nothing");
	w->gaps++;
	w->gap_ticks += g->count;
	w->next = tick + g->count;
}

static void walk_energy(struct walk *w, const struct kjoule_energy *e)
{
	/*
	 * also read when the CPU goes, falls idle or is back from it: reported from the last tick
	 * then
	 */
	int32_t ahead = e->tick - (uint32_t)w->next;
	uint64_t tick = w->next + ahead;

	if (ahead < -1)
		fault(w, "energy of tick %u after tick %llu", e->tick,
		      (unsigned long long)w->next - 1);
	if (!e->domains || e->rec.size != sizeof(*e) + 8 * __builtin_popcount(e->domains))
		fault(w, "energy of %u bytes with domains %#x", e->rec.size, e->domains);
	see_time(w, tick, e->delay_ns, false);
	if (w->on_energy)
		w->on_energy(w, tick, e);
}

static void walk_parked(struct walk *w, const struct kjoule_idle *p)
{
	uint64_t tick = whole_tick(w, p->tick);

	arrive(w, tick, "skipped ticks");
	if (!p->count)
		fault(w, "skipped for no tick");
	if (p->begin_ns > walk_due_ns(w->session, tick) ||
	    p->end_ns < walk_due_ns(w->session, tick + p->count - 1))
		fault(w, "tick %llu and %llu more skipped from %llu to %llu ns",
		      (unsigned long long)tick, (unsigned long long)p->count - 1,
		      (unsigned long long)p->begin_ns, (unsigned long long)p->end_ns);
	if (w->timed && p->end_ns < w->time_ns)
		fault(w, "skipped until %llu, before %llu", (unsigned long long)p->end_ns,
		      (unsigned long long)w->time_ns);
	w->parks++;
	w->parked_ticks += p->count;
	w->parked_ns += p->end_ns - p->begin_ns;
	w->gap_ticks += p->count;
	w->next = tick + p->count;
}

static void walk_value(struct walk *w, const struct kjoule_value *v)
{
	if (v->reserved)
		fault(w, "value with something in its reserved field");
	/* read before it was written, and that before the ticks that follow */
	if (whole_tick(w, v->tick) - w->next > 1U << 31)
		fault(w, "value of tick %u after tick %llu", v->tick,
		      (unsigned long long)w->next - 1);
	if (v->time_ns + v->duration_ns > now_ns())
		fault(w, "value read in the future");
	w->values++;
	if (w->on_value)
		w->on_value(w, v);
}

static void walk_lost(struct walk *w, const struct kjoule_lost *l)
{
	if (!l->records || l->samples > l->records)
		fault(w, "lost %llu records, %llu samples of them", (unsigned long long)l->records,
		      (unsigned long long)l->samples);
	w->losts++;
	w->lost_records += l->records;
	w->lost_samples += l->samples;
	w->untold += l->samples;
	w->lost_before = true;
}

/* Belongs to the sample right before it. */
static void walk_chain(struct walk *w, const struct kjoule_chain *c)
{
	const uint8_t known = KJOULE_CHAIN_KERNEL_CUT | KJOULE_CHAIN_USER_CUT |
			      KJOULE_CHAIN_KERNEL_HIDDEN;
	bool kernel = w->sample.rec.flags & KJOULE_SAMPLE_KERNEL;
	unsigned int i;

	if (!w->sample_before || w->chain_before)
		fault(w, "chain without a sample right before it");
	if (c->rec.size < sizeof(*c) || c->rec.size != sizeof(*c) + 8UL * (c->kernel + c->user)) {
		fault(w, "chain of %u bytes with %u + %u frames", c->rec.size, c->kernel, c->user);
		return;
	}
	if (c->rec.flags & ~known || (c->kernel && !kernel) ||
	    (c->kernel && c->rec.flags & KJOULE_CHAIN_KERNEL_HIDDEN))
		fault(w, "chain with flags %#x and %u kernel frames after a sample with flags %#x",
		      c->rec.flags, c->kernel, w->sample.rec.flags);
	if (c->kernel > w->session->chain_depth || c->user > w->session->chain_depth)
		fault(w, "chain of %u + %u frames, at most %u of each were asked for", c->kernel,
		      c->user, w->session->chain_depth);
	for (i = 0; i < c->kernel + c->user; i++)
		if (i < c->kernel ? !(c->ip[i] >> 63) : !c->ip[i] || c->ip[i] >> 47)
			fault(w, "frame %u of %u + %u is %#llx", i, c->kernel, c->user,
			      (unsigned long long)c->ip[i]);
	w->chains++;
	w->chain_before = true;
	if (w->on_chain)
		w->on_chain(w, c);
}

static void walk_stack(struct walk *w, const struct kjoule_stack *s)
{
	if (!w->sample_before)
		fault(w, "stack without a sample before it");
	if (s->rec.size < sizeof(*s) || s->rec.flags & ~KJOULE_STACK_WITHHELD ||
	    s->bytes > (s->rec.flags ? 0 : w->session->stack_bytes) ||
	    s->rec.size != sizeof(*s) + (s->bytes + 7UL) / 8 * 8)
		fault(w, "stack of %u bytes in a record of %u with flags %#x", s->bytes,
		      s->rec.size, s->rec.flags);
	w->stacks++;
	w->sample_before = false;
	if (w->on_stack)
		w->on_stack(w, s);
}

/* After all that belongs to a sample. */
static void walk_took(struct walk *w, const struct kjoule_duration *t)
{
	if (t->tick != w->sample.tick || (w->tooks && t->tick == w->took_tick) || t->reserved)
		fault(w, "a tick %u that lasted %u ns after the sample of tick %u", t->tick,
		      t->duration_ns, w->sample.tick);
	/* the largest stack is copied in milliseconds */
	if (t->duration_ns > 100000000)
		fault(w, "a tick that lasted %u ns", t->duration_ns);
	w->took_tick = t->tick;
	w->took_ns += t->duration_ns;
	w->tooks++;
	w->sample_before = false;
}

/* Take in a record. */
void walk_record(struct walk *w, const struct kjoule_record *rec)
{
	static const uint16_t size[] = {
		[KJOULE_RECORD_SAMPLE] = sizeof(struct kjoule_sample),
		[KJOULE_RECORD_TASK] = sizeof(struct kjoule_task),
		[KJOULE_RECORD_GAP] = sizeof(struct kjoule_gap),
		[KJOULE_RECORD_LOST] = sizeof(struct kjoule_lost),
		[KJOULE_RECORD_IDLE] = sizeof(struct kjoule_idle),
		[KJOULE_RECORD_VALUE] = sizeof(struct kjoule_value),
		[KJOULE_RECORD_WINDOW] = sizeof(struct kjoule_window),
		[KJOULE_RECORD_READING] = sizeof(struct kjoule_vpm_reading),
		[KJOULE_RECORD_DURATION] = sizeof(struct kjoule_duration),
	};

	w->bytes += rec->size;
	if (rec->size < 8 || rec->size % 8)
		fault(w, "record of type %u with size %u", rec->type, rec->size);
	if (rec->type < sizeof(size) / sizeof(size[0]) && size[rec->type] &&
	    size[rec->type] != rec->size)
		fault(w, "record of type %u with size %u", rec->type, rec->size);
	if (rec->type == KJOULE_RECORD_PAD)
		return;
	w->records++;
	switch (rec->type) {
	case KJOULE_RECORD_SAMPLE:
		walk_sample(w, (const struct kjoule_sample *)rec);
		w->sample = *(const struct kjoule_sample *)rec;
		w->sample_before = true;
		w->chain_before = false;
		return;
	case KJOULE_RECORD_TASK:
		walk_task(w, (const struct kjoule_task *)rec);
		break;
	case KJOULE_RECORD_ENERGY:
		walk_energy(w, (const struct kjoule_energy *)rec);
		break;
	case KJOULE_RECORD_GAP:
		walk_gap(w, (const struct kjoule_gap *)rec);
		break;
	case KJOULE_RECORD_VALUE:
		walk_value(w, (const struct kjoule_value *)rec);
		break;
	case KJOULE_RECORD_WINDOW:
		if (w->on_window)
			w->on_window(w, (const struct kjoule_window *)rec);
		break;
	case KJOULE_RECORD_READING:
		if (w->on_reading)
			w->on_reading(w, (const struct kjoule_vpm_reading *)rec);
		break;
	case KJOULE_RECORD_LOST:
		/* the sample's chain may be what was lost, and its stack follow */
		walk_lost(w, (const struct kjoule_lost *)rec);
		return;
	case KJOULE_RECORD_CHAIN:
		walk_chain(w, (const struct kjoule_chain *)rec);
		return;
	case KJOULE_RECORD_STACK:
		walk_stack(w, (const struct kjoule_stack *)rec);
		return;
	case KJOULE_RECORD_DURATION:
		walk_took(w, (const struct kjoule_duration *)rec);
		return;
	case KJOULE_RECORD_IDLE:
		walk_parked(w, (const struct kjoule_idle *)rec);
		break;
	default:
		fault(w, "record of unknown type %u", rec->type);
	}
	w->sample_before = false;
}

static void not_in_future(struct walk *w)
{
	uint64_t now = now_ns();

	if (w->time_ns > now)
		fault(w, "a time %llu ns in the future", (unsigned long long)(w->time_ns - now));
}

long drain_map(struct device *d, struct walk *walk)
{
	unsigned int i;
	long done = 0;

	for (i = 0; i < d->n; i++) {
		struct ring *r = &d->ring[i];
		uint64_t head = __atomic_load_n(&r->head->head, __ATOMIC_ACQUIRE);	/* C */
		uint64_t tail = r->tail->tail;

		while (tail != head) {
			uint64_t at = tail & (r->size - 1);
			const struct kjoule_record *rec = (const void *)(r->data + at);

			if (rec->size < 8 || rec->size > head - tail || at + rec->size > r->size) {
				fault(&walk[i], "record of %u bytes at %llu of %llu", rec->size,
				      (unsigned long long)tail, (unsigned long long)head);
				return -EBADMSG;
			}
			walk_record(&walk[i], rec);
			tail += rec->size;
			done += rec->size;
		}
		__atomic_store_n(&r->tail->tail, tail, __ATOMIC_RELEASE);	/* D */
		not_in_future(&walk[i]);
	}
	return done;
}

bool drain_until(struct device *d, struct walk *walk, unsigned int ms, const uint64_t *counted,
		 uint64_t enough)
{
	uint64_t until;

	sleep_ms(ms);
	until = now_ns() + DRAIN_LONGER_NS;
	drain_map(d, walk);
	while (*counted <= enough && now_ns() < until) {
		sleep_ms(10);
		drain_map(d, walk);
	}
	return *counted > enough;
}

long drain_read(struct device *d, struct walk *walk)
{
	static uint8_t buffer[1 << 15] __attribute__((aligned(8)));
	struct walk *w = NULL;
	long got, at, done = 0;
	unsigned int i;

	for (;;) {
		got = read(d->fd, buffer, sizeof(buffer));
		if (got < 0 && errno == EAGAIN)
			return done;
		if (got <= 0)
			return got < 0 ? -errno : done;
		done += got;
		for (at = 0, w = NULL; at < got;) {
			const struct kjoule_record *rec = (const void *)(buffer + at);

			if (rec->size < 8 || at + rec->size > got)
				return -EBADMSG;
			if (rec->type == KJOULE_RECORD_CPU) {
				for (i = 0, w = NULL; i < d->n; i++) {
					if (d->ring[i].cpu == ((struct kjoule_cpu_mark *)rec)->cpu)
						w = &walk[i];
				}
			} else if (w) {
				walk_record(w, rec);
			}
			if (!w)
				return -EBADMSG;
			at += rec->size;
		}
		for (i = 0; i < d->n; i++)
			not_in_future(&walk[i]);
	}
}

/* What drain_dump() hands to its visitor. */
struct dump {
	uint32_t session;
	struct device *d;
	struct walk *walk;
	unsigned int messages;
	long done;
};

static void walk_bytes(struct dump *dump, uint32_t cpu, const void *data, size_t len)
{
	static uint8_t buffer[1 << 16] __attribute__((aligned(8)));
	struct walk *w = NULL;
	size_t at;
	unsigned int i;

	for (i = 0; i < dump->d->n; i++) {
		if (dump->d->ring[i].cpu == cpu)
			w = &dump->walk[i];
	}
	if (!w) {
		dump->done = -EBADMSG;
		return;
	}
	/* attributes are aligned to 4 bytes only */
	memcpy(buffer, data, len);
	for (at = 0; at < len;) {
		const struct kjoule_record *rec = (const void *)(buffer + at);

		if (len - at < 8 || rec->size < 8 || rec->size > len - at) {
			dump->done = -EBADMSG;
			return;
		}
		walk_record(w, rec);
		at += rec->size;
	}
	dump->done += len;
}

static void visit_records(const struct nlmsghdr *message, void *data)
{
	struct dump *dump = data;
	const struct nlattr *attr, *records = NULL;
	uint32_t session = 0, cpu = UINT32_MAX;

	mnl_attr_for_each(attr, message, sizeof(struct genlmsghdr)) {
		switch (mnl_attr_get_type(attr)) {
		case KJOULE_A_RECORDS_SESSION:
			session = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_RECORDS_CPU:
			cpu = mnl_attr_get_u32(attr);
			break;
		case KJOULE_A_RECORDS_DATA:
			records = attr;
			break;
		}
	}
	dump->messages++;
	if (session != dump->session || !records || dump->done < 0)
		dump->done = -EBADMSG;
	else
		walk_bytes(dump, cpu, mnl_attr_get_payload(records),
			   mnl_attr_get_payload_len(records));
}

long drain_dump(struct nl *nl, uint32_t session, struct device *d, struct walk *walk,
		unsigned int *messages)
{
	struct dump dump = { .session = session, .d = d, .walk = walk };
	struct nlmsghdr *request = nl_request(nl, KJOULE_CMD_RECORDS_GET, NLM_F_DUMP);
	int err;

	mnl_attr_put_u32(request, KJOULE_A_RECORDS_SESSION, session);
	err = nl_talk(nl, request, visit_records, &dump);
	if (messages)
		*messages += dump.messages;
	return err ?: dump.done;
}
