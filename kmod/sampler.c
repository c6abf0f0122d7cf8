// SPDX-License-Identifier: GPL-2.0-only
/*
 * What happens at a tick; see sampler.h. All CPUs tick at the same instants
 * t0 + k * interval, so that the samples with the same k form a vector of what
 * ran at once. The order inside a tick matters: energy before the instruction
 * pointer, as the ALEA paper asks (section 3.3.1).
 *
 * Nothing here allocates, prints or takes a lock. Ticks that could not happen in
 * time are counted and told by a gap record, never made up for.
 */
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>
#include <asm/irq_regs.h>

#include <linux/kjoule_netlink.h>

#include "compat/compat.h"
#include "sampler.h"

/* So many ticks in a row may last past the next one's due time before one is left out. */
#define OVERRUNS_MAX	8

/**
 * kjoule_jitter() - by how much a tick is delayed on purpose
 * @seed:	of the session
 * @tick:	k
 * @limit:	in nanoseconds; 0 for no jitter
 *
 * The same on every CPU, so that jittered ticks still form vectors. Two rounds of
 * multiply and xor-shift; part of the ABI, because readers must repeat it.
 *
 * Context: any.
 * Return: 0 to @limit - 1 nanoseconds.
 */
u32 kjoule_jitter(u64 seed, u64 tick, u32 limit)
{
	u64 x = (seed + tick) * 0x9e3779b97f4a7c15ULL;

	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	return ((x >> 32) * limit) >> 32;
}

static u64 tick_due(const struct kjoule_plan *plan, u64 tick, u64 grid_ns)
{
	return plan->jitter_ns ? grid_ns + kjoule_jitter(plan->seed, tick, plan->jitter_ns) :
				 grid_ns;
}

/* Make tick @tick the next one. */
static void expect_tick(struct kjoule_sampler *s, u64 tick, u64 grid_ns)
{
	s->tick = tick;
	s->grid_ns = grid_ns;
	s->due_ns = tick_due(s->plan, tick, grid_ns);
}

/* The books are written between these two; see struct kjoule_ring_head.seq. */
static void books_open(struct kjoule_ring_head *page)
{
	WRITE_ONCE(page->seq, page->seq + 1);
	smp_wmb();	/* E, pairs with F in kjoule_sampler_books() and in the reader */
}

static void books_close(struct kjoule_ring_head *page)
{
	smp_wmb();	/* E, pairs with F */
	WRITE_ONCE(page->seq, page->seq + 1);
}

/* @count ticks from the next one on will not happen. */
static void miss_ticks(struct kjoule_sampler *s, u64 count)
{
	struct kjoule_gap *gap;

	gap = kjoule_ring_reserve(&s->ring, KJOULE_RECORD_GAP, 0, sizeof(*gap), s->tick);
	if (gap) {
		gap->tick = s->tick;
		gap->count = count;
	}
	s->ring.page->missed += count;
	expect_tick(s, s->tick + count, s->grid_ns + count * s->plan->interval_ns);
}

/* How many ticks after the next one are due by @now as well. */
static u64 ticks_behind(const struct kjoule_sampler *s, u64 now)
{
	const struct kjoule_plan *plan = s->plan;
	u64 behind;

	if (now < s->grid_ns + plan->interval_ns)
		return 0;
	behind = div64_u64(now - s->grid_ns, plan->interval_ns);
	/* with jitter, the last tick on the grid may still be to come */
	if (tick_due(plan, s->tick + behind, s->grid_ns + behind * plan->interval_ns) > now)
		behind--;
	return behind;
}

static void read_energy(struct kjoule_sampler *s)
{
	struct kjoule_source *src = s->plan->energy;
	typeof(src->ops->read_energy) read = src->ops->read_energy;
	unsigned int n = src->n_domains, i;
	bool started = s->started == (1U << n) - 1;
	u64 raw;

	for (i = 0; i < n; i++) {
		if (unlikely(read(src, i, &raw))) {
			s->ring.page->source_errors++;
		} else if (likely(raw == s->counter[i].last_raw && started)) {
			continue;	/* most counters move once in many ticks */
		} else if (unlikely(!(s->started & (1U << i)))) {
			/* the baseline could not be read: this is it */
			kjoule_counter_start(&s->counter[i], raw);
			s->started |= 1U << i;
		} else if (kjoule_counter_add(&s->counter[i], raw, src->domains[i].width)) {
			s->moved |= 1U << i;
		}
	}
}

static void write_energy(struct kjoule_sampler *s, u32 late_ns)
{
	const struct kjoule_domain *domains = s->plan->energy->domains;
	u16 size = sizeof(struct kjoule_energy) + hweight32(s->moved) * sizeof(u64);
	struct kjoule_energy *rec;
	u32 moved = s->moved;
	u64 *uj;

	rec = kjoule_ring_reserve(&s->ring, KJOULE_RECORD_ENERGY, 0, size, s->tick);
	if (!rec)
		return;		/* the counters go on; the next record tells the sum */
	rec->tick = s->tick;
	rec->late_ns = late_ns;
	rec->domains = moved;
	for (uj = rec->energy_uj; moved; moved &= moved - 1) {
		unsigned int i = __ffs(moved);

		*uj++ = kjoule_counter_scale(s->counter[i].total, domains[i].unit_mult,
					     domains[i].unit_shift);
	}
	s->moved = 0;
}

/* Mean frequency since the last tick while not halted; the last known if it was halted. */
static void read_frequency(struct kjoule_sampler *s)
{
	struct kjoule_source *src = s->plan->frequency;
	struct kjoule_cycles now;
	u64 cycles, reference;

	if (!src->ops->read_cycles) {
		s->freq_khz = src->ops->read_khz(src);
		return;
	}
	if (unlikely(src->ops->read_cycles(src, &now))) {
		s->ring.page->source_errors++;
		s->cycles_known = false;
		s->freq_khz = 0;
		return;
	}
	if (unlikely(!s->cycles_known)) {
		s->cycles = now;
		s->cycles_known = true;
		return;
	}
	cycles = now.cycles - s->cycles.cycles;
	reference = now.reference - s->cycles.reference;
	s->cycles = now;
	if (likely(reference))
		s->freq_khz = div64_u64(cycles * src->reference_khz, reference);
}

/* The task of the samples to come; told only when it is another than before. */
static bool write_task(struct kjoule_sampler *s)
{
	struct kjoule_task *rec;

	if (likely(s->task_known && s->pid == current->pid && s->tgid == current->tgid))
		return true;
	rec = kjoule_ring_reserve(&s->ring, KJOULE_RECORD_TASK, 0, sizeof(*rec), s->tick);
	s->task_known = rec;
	if (!rec)
		return false;
	s->pid = current->pid;
	s->tgid = current->tgid;
	rec->pid = s->pid;
	rec->tgid = s->tgid;
	rec->reserved = 0;
	return true;
}

static void write_sample(struct kjoule_sampler *s, u32 late_ns)
{
	struct kjoule_source *freq = s->plan->frequency;
	struct pt_regs *regs = get_irq_regs();
	struct kjoule_sample *rec;
	u8 flags = 0;
	u64 ip = 0;

	if (!write_task(s)) {
		kjoule_ring_lose(&s->ring, KJOULE_RECORD_SAMPLE, s->tick);
		return;
	}
	if (likely(regs)) {
		ip = instruction_pointer(regs);
		if (!user_mode(regs))
			flags |= KJOULE_SAMPLE_KERNEL;
	}
	if (is_idle_task(current))
		flags |= KJOULE_SAMPLE_IDLE;
	if (freq) {
		if (freq->requested_only)
			flags |= KJOULE_SAMPLE_FREQ_REQUESTED;
		if (regs && freq->ops->precise_ip && !freq->ops->precise_ip(freq, regs, &ip))
			flags |= KJOULE_SAMPLE_PRECISE;
	}
	/* a precise one may be in the kernel where the registers are not */
	if (unlikely(!s->plan->kernel_ip &&
		     ((flags & KJOULE_SAMPLE_KERNEL) || ip >= TASK_SIZE_MAX))) {
		flags |= KJOULE_SAMPLE_IP_HIDDEN;
		ip = 0;
	}

	rec = kjoule_ring_reserve(&s->ring, KJOULE_RECORD_SAMPLE, flags, sizeof(*rec), s->tick);
	if (!rec)
		return;
	rec->tick = s->tick;
	rec->late_ns = late_ns;
	rec->freq_khz = s->freq_khz;
	rec->ip = ip;
	s->ring.page->samples++;
}

static void take_tick(struct kjoule_sampler *s, u64 now)
{
	const struct kjoule_plan *plan = s->plan;
	u64 late = now > s->due_ns ? now - s->due_ns : 0;
	u32 late_ns = min_t(u64, late, U32_MAX);

	if (late > s->late_max_ns)
		s->late_max_ns = late;
	if (s->leader) {
		read_energy(s);
		if (s->moved)
			write_energy(s, late_ns);
	}
	if (plan->frequency)
		read_frequency(s);
	if (!plan->target || task_tgid(current) == plan->target)
		write_sample(s, late_ns);
	else
		s->ring.page->filtered++;
	s->ring.page->produced++;
	expect_tick(s, s->tick + 1, s->grid_ns + plan->interval_ns);
}

/* Show the reader the tick's records and books. */
static void publish(struct kjoule_sampler *s)
{
	struct kjoule_ring_head *page = s->ring.page;

	page->due = s->tick;
	page->records = s->ring.records;
	page->lost = s->ring.lost_total;
	kjoule_ring_commit(&s->ring);
}

/*
 * Does the reader have to be woken? Looked at a few times for each mark's worth of records:
 * a reader that took only some of them may be asleep again just below the mark.
 */
static bool mark_is_reached(struct kjoule_sampler *s)
{
	if (likely(s->ring.head - s->checked_at < s->plan->wakeup_bytes / 8))
		return false;
	s->checked_at = s->ring.head;
	return kjoule_ring_unread(&s->ring) >= s->plan->wakeup_bytes;
}

static enum hrtimer_restart tick(struct hrtimer *timer)
{
	struct kjoule_sampler *s = container_of(timer, struct kjoule_sampler, timer);
	u64 begin = ktime_get_ns(), end, behind;

	books_open(s->ring.page);
	if (unlikely(begin >= s->grid_ns + s->plan->interval_ns)) {
		behind = ticks_behind(s, begin);
		if (behind)
			miss_ticks(s, behind);
	}
	take_tick(s, begin);

	if (mark_is_reached(s) || unlikely(s->ring.lost && s->woken_at != s->ring.head)) {
		s->woken_at = s->ring.head;
		irq_work_queue(&s->wake);
	}

	end = ktime_get_ns();
	s->ring.page->tick_ns += end - begin;
	if (unlikely(end >= s->due_ns)) {
		/* never let ticks alone keep the CPU */
		if (++s->overruns >= OVERRUNS_MAX) {
			miss_ticks(s, 1 + ticks_behind(s, end));
			s->overruns = 0;
		}
	} else {
		s->overruns = 0;
	}
	publish(s);
	books_close(s->ring.page);

	hrtimer_set_expires(timer, ns_to_ktime(s->due_ns));
	return HRTIMER_RESTART;
}

static void wake_reader(struct irq_work *work)
{
	struct kjoule_sampler *s = container_of(work, struct kjoule_sampler, wake);

	wake_up_interruptible(s->plan->reader);
}

/**
 * kjoule_sampler_init() - make ready for a CPU
 * @s:		to be filled, zeroed
 * @plan:	what to sample; may be completed until kjoule_sampler_start()
 * @cpu:	which CPU
 * @leader:	this CPU reads the energy of its package
 * @ring_bytes:	data of the ring, a power of two
 *
 * Context: process, sleeps.
 * Return: 0 or -ENOMEM.
 */
int kjoule_sampler_init(struct kjoule_sampler *s, const struct kjoule_plan *plan,
			unsigned int cpu, bool leader, u64 ring_bytes)
{
	s->plan = plan;
	s->cpu = cpu;
	s->leader = leader;
	init_irq_work(&s->wake, wake_reader);
	hrtimer_setup(&s->timer, tick, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
	return kjoule_ring_alloc(&s->ring, cpu, ring_bytes);
}

/**
 * kjoule_sampler_exit() - undo kjoule_sampler_init()
 * @s:	stopped
 *
 * Context: process, sleeps.
 */
void kjoule_sampler_exit(struct kjoule_sampler *s)
{
	irq_work_sync(&s->wake);
	kjoule_ring_free(&s->ring);
}

/* Where the counters stand before the first tick. */
static void read_baseline(struct kjoule_sampler *s)
{
	const struct kjoule_plan *plan = s->plan;
	unsigned int i;
	u64 raw;

	for (i = 0; s->leader && i < plan->energy->n_domains; i++) {
		if (plan->energy->ops->read_energy(plan->energy, i, &raw)) {
			s->ring.page->source_errors++;
		} else {
			kjoule_counter_start(&s->counter[i], raw);
			s->started |= 1U << i;
		}
		s->moved |= 1U << i;
	}
	if (plan->frequency && plan->frequency->ops->read_cycles) {
		s->cycles_known = !plan->frequency->ops->read_cycles(plan->frequency, &s->cycles);
		if (!s->cycles_known)
			s->ring.page->source_errors++;
	}
}

static void start_here(void *data)
{
	struct kjoule_sampler *s = data;

	read_baseline(s);
	expect_tick(s, 0, s->plan->t0_ns);
	s->running = true;
	hrtimer_start(&s->timer, ns_to_ktime(s->due_ns), HRTIMER_MODE_ABS_PINNED_HARD);
}

/**
 * kjoule_sampler_start() - begin to tick
 * @s:	initialised, its plan complete
 *
 * Context: process, the caller holds off CPU hotplug.
 * Return: 0, or -ENXIO if the CPU is offline.
 */
int kjoule_sampler_start(struct kjoule_sampler *s)
{
	return smp_call_function_single(s->cpu, start_here, s, 1);
}

/**
 * kjoule_sampler_pause() - the CPU is going offline, or the session is about to stop
 * @s:	running or not; its ticks are missed from here on
 *
 * Context: process, sleeps.
 */
void kjoule_sampler_pause(struct kjoule_sampler *s)
{
	hrtimer_cancel(&s->timer);
}

/**
 * kjoule_sampler_resume() - the CPU is online again
 * @s:	paused
 *
 * The next tick is long due, fires at once, books what was missed and goes on along the grid.
 *
 * Context: process, on the sampler's CPU.
 */
void kjoule_sampler_resume(struct kjoule_sampler *s)
{
	hrtimer_start(&s->timer, ns_to_ktime(s->due_ns), HRTIMER_MODE_ABS_PINNED_HARD);
}

/**
 * kjoule_sampler_stop() - tick no more and close the books
 * @s:		running or not
 * @stop_ns:	ticks due until then and not taken are booked as missed
 *
 * Context: process, sleeps.
 */
void kjoule_sampler_stop(struct kjoule_sampler *s, u64 stop_ns)
{
	if (!s->running)
		return;
	hrtimer_cancel(&s->timer);
	s->running = false;
	preempt_disable();	/* who reads the books spins while they are open */
	books_open(s->ring.page);
	if (stop_ns >= s->due_ns)
		miss_ticks(s, 1 + ticks_behind(s, stop_ns));
	kjoule_ring_tell_lost(&s->ring);
	publish(s);
	books_close(s->ring.page);
	preempt_enable();
}

/**
 * kjoule_sampler_books() - the books as of the last tick, all of one moment
 * @s:		running or not
 * @books:	to be filled
 *
 * Context: process.
 */
void kjoule_sampler_books(struct kjoule_sampler *s, struct kjoule_books *books)
{
	const struct kjoule_ring_head *page = s->ring.page;
	u32 seq;

	do {
		while ((seq = READ_ONCE(page->seq)) & 1)
			cpu_relax();
		smp_rmb();	/* F, pairs with E */
		books->due = page->due;
		books->produced = page->produced;
		books->missed = page->missed;
		books->parked = page->parked;
		books->filtered = page->filtered;
		books->records = page->records;
		books->lost = page->lost;
		books->samples = page->samples;
		books->tick_ns = page->tick_ns;
		books->source_errors = page->source_errors;
		books->head = page->head;
		books->late_max_ns = s->late_max_ns;
		smp_rmb();	/* F, pairs with E */
	} while (READ_ONCE(page->seq) != seq);
}

/**
 * kjoule_sampler_set_state() - show the session's state to who maps the ring
 * @s:		any
 * @state:	enum kjoule_session_state
 *
 * Context: any.
 */
void kjoule_sampler_set_state(struct kjoule_sampler *s, u32 state)
{
	WRITE_ONCE(s->ring.page->state, state);
}
