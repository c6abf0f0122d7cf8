// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cost of a tick in the interrupted code, entry and exit of the interrupt included, which the tick
 * itself cannot see; and the CPU's power meanwhile. A busy loop on the ticking CPU runs for a while
 * without ticks, with few and with many, in rounds. Its slowdown is the ticks' cost in time: lost
 * turns count whatever the interrupts do to the code around them. The change of the power is their
 * cost in energy.
 *
 * Slots of the quiet phases with fewer turns than usual had another interrupt in them, mostly the
 * scheduler's tick: samples cannot hit that, because interrupts are off there. The kernel counts
 * them.
 *
 * Ticks that walk and copy stacks take longer and spend more than others: they are calibrated as
 * the session will have them, from a stack that is as large as what is copied.
 */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "lib/control/calibrate.h"
#include "lib/control/interrupts.h"
#include "lib/control/ring.h"

/* 1 ms and one part in 126.618, and a quarter of that: out of step with the scheduler's tick */
#define SLOW_NS		1007897
#define FAST_NS		251974
#define QUIET_MS	100		/* phases of a round */
#define BUSY_MS		150		/* enough updates of a counter of 10 ms */
#define PROBE_MS	20
#define IDLE_MS	100
#define IDLE_ROUNDS	2
#define TICK_PART	5		/* the fewest ticks' times in an interval */
#define FACTOR_MOST	16
#define RING_LEAST	(2u << 20)
#define RING_MOST	(32u << 20)
#define BESIDE_STACK	2048		/* most that a tick writes other than the copy of a stack */
#define CHAINS		(KJOULE_FLAG_KERNEL_CHAIN | KJOULE_FLAG_USER_CHAIN | KJOULE_FLAG_USER_STACK)
#define STACK_DEFAULT	8192		/* the module's */
#define TURN		64	/* additions between two reads of the clock, which cost more */
#define LEAST_ROUNDS	4
#define GOOD_ERROR	0.01		/* of a tick's time, at which more rounds are of no use */
#define GOOD_OTHER	0.001		/* the same of other interrupts' part of the time */

static inline uint64_t calibrate_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* One turn of the loop: work that every processor does at its clock. */
static void loop_turn_once(void)
{
	for (unsigned int i = 0; i < TURN; i++)
		__asm__ volatile("" : "+r" (i));
}

/* Ticks so far and the time that they saw, of this CPU: no tick comes in between. */
static void ring_read_ticks(const struct kjoule_ring_head *head, uint64_t *ticks, uint64_t *seen_ns)
{
	*ticks = 0;
	*seen_ns = 0;
	if (!head)
		return;
	do {
		*ticks = __atomic_load_n(&head->taken, __ATOMIC_ACQUIRE);
		*seen_ns = __atomic_load_n(&head->tick_ns, __ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&head->taken, __ATOMIC_ACQUIRE) != *ticks);
}

/* How many turns fit in a slot; @t: set to the time when that is known. */
static uint64_t loop_count_turns(uint64_t from, uint64_t *t)
{
	uint64_t turns = 0;

	do {
		loop_turn_once();
		turns++;
		*t = calibrate_now_ns();
	} while (*t - from < CALIBRATE_SLOT_NS);
	return turns;
}

/*
 * Run the loop for a while and measure its speed, slot by slot. Within a slot the clock is not
 * read, as in most programs: a virtual machine may let time pass at a read, and ticks would see
 * another length than there. @head is that of the ticks' ring, NULL: there are none.
 */
static int loop_turn(unsigned int ms, const struct kjoule_ring_head *head, struct kjoule_phase *p)
{
	size_t most = ms * 1000000ull / CALIBRATE_SLOT_NS;
	uint64_t from, ticks, seen_ns, enough;
	double fit;

	p->slots = calloc(most, sizeof(*p->slots));
	if (!p->slots)
		return -ENOMEM;
	enough = loop_count_turns(calibrate_now_ns(), &from);
	ring_read_ticks(head, &ticks, &seen_ns);
	for (uint64_t phase_end = from + ms * 1000000ull; p->n < most && from < phase_end;) {
		uint64_t turns = enough, ticks_before = ticks, seen_before = seen_ns, t;

		for (uint64_t i = 0; i < turns; i++)
			loop_turn_once();
		t = calibrate_now_ns();
		ring_read_ticks(head, &ticks, &seen_ns);
		p->slots[p->n++] = (struct kjoule_slot){
			.ns = t - from,
			.rate = (double)turns / (t - from),
			.ticks = ticks - ticks_before,
			.seen_ns = seen_ns - seen_before,
		};
		/*
		 * The loop is faster without reads, and the CPU's clock may change. Apart from
		 * that, slots have the same number of turns: reading the clock takes as long as an
		 * interrupt may, and should be the same part of each.
		 */
		fit = fmax(1, (double)turns * CALIBRATE_SLOT_NS / (t - from));
		if (fabs(fit - enough) > enough / 4.0)
			enough = fit;
		from = t;
	}
	return 0;
}

/* The same below @bytes of stack, which ticks copy. */
static __attribute__((noinline)) int loop_turn_below(size_t bytes, unsigned int ms,
						     const struct kjoule_ring_head *head,
						     struct kjoule_phase *p)
{
	char stack[bytes + 1];

	/* in memory, as a stack in use is */
	memset(stack, 1, sizeof(stack));
	__asm__ volatile("" : : "r" (stack) : "memory");
	return loop_turn(ms, head, p);
}

/* What is needed of a phase's ring: the clock, and a line through the updates of each counter. */
struct seen {
	double khz;
	size_t n_khz;
	struct line {
		/* sums; times and energies from the first update on */
		double n, t, uj, tt, t_uj;
		uint64_t first_ns, first_uj;
	} line[KJOULE_MAX_DOMAINS];
};

/* The domains of energy that the session has, of all sources. */
static void phase_list_domains(const struct kjoule_session_info *info, struct kjoule_phase *p)
{
	p->n_domains = 0;
	for (uint32_t i = 0; i < info->n_sources; i++) {
		const struct kjoule_source_info *src = &info->sources[i];

		if (src->kind != KJOULE_KIND_ENERGY)
			continue;
		for (uint32_t d = 0; d < src->n_domains && p->n_domains < KJOULE_MAX_DOMAINS; d++) {
			if (src->domains[d].quantity != KJOULE_QUANTITY_ENERGY)
				continue;
			p->source[p->n_domains] = i;
			p->domain[p->n_domains++] = src->domains[d].index;
		}
	}
}

static void energy_add_reading(const struct kjoule_energy *e,
			       const struct kjoule_session_info *info, const struct kjoule_phase *p,
			       struct seen *seen)
{
	uint64_t ns = info->t0_ns + e->tick * info->interval_ns + e->delay_ns;

	for (unsigned int i = 0; i < p->n_domains; i++) {
		uint32_t bit = 1u << p->domain[i];
		struct line *l = &seen->line[i];
		uint64_t value;
		double t, uj;

		if (p->source[i] != e->rec.flags || !(e->domains & bit))
			continue;
		value = e->energy_uj[__builtin_popcount(e->domains & (bit - 1))];
		/* the first record is not at an update */
		if (!e->tick)
			continue;
		if (!l->first_ns) {
			l->first_ns = ns;
			l->first_uj = value;
		}
		t = ns - l->first_ns;
		uj = value - l->first_uj;
		l->n++;
		l->t += t;
		l->uj += uj;
		l->tt += t * t;
		l->t_uj += t * uj;
	}
}

/* Its slope: microwatt; NAN with too few updates. */
static double line_power_uw(const struct line *l)
{
	double spread = l->n * l->tt - l->t * l->t;

	return l->n < 3 || !(spread > 0) ? NAN : 1e9 * (l->n * l->t_uj - l->t * l->uj) / spread;
}

static void ring_read_records(struct kjoule_ring_reader *ring,
			      const struct kjoule_session_info *info, const struct kjoule_phase *p,
			      struct seen *seen)
{
	size_t len = ring->size, used = 0, off = 0;
	const struct kjoule_record *rec;
	void *buf = malloc(len);

	if (buf && kjoule_ring_drain(ring, buf, len, &used) >= 0) {
		while (kjoule_record_next(buf, used, &off, &rec) > 0) {
			const struct kjoule_sample *s = (const struct kjoule_sample *)rec;

			if (rec->type == KJOULE_RECORD_ENERGY) {
				energy_add_reading((const struct kjoule_energy *)rec, info, p,
						   seen);
			} else if (rec->type == KJOULE_RECORD_SAMPLE && s->freq_khz) {
				seen->khz += s->freq_khz;
				seen->n_khz++;
			}
		}
	}
	free(buf);
}

/* Start a session, and note its properties. */
static int calibrate_session_start(struct kjoule_ctl *ctl, struct kjoule_session_info *info,
				   struct kjoule_error *err)
{
	uint32_t id = info->id;

	kjoule_session_info_clear(info);
	return kjoule_session_start(ctl, id, info, err);
}

/* A phase with ticks: running the loop, or idle. */
static int phase_run_with_ticks(const struct kjoule_session_params *params, unsigned int ms,
				bool asleep, struct kjoule_phase *p, double *khz,
				struct kjoule_error *err)
{
	struct kjoule_device *dev = NULL;
	struct kjoule_session_info info = { .n_sources = 0 };
	struct kjoule_ctl *ctl = NULL;
	struct seen seen = { 0 };
	int ret;

	ret = kjoule_ctl_open(&ctl, err);
	if (!ret)
		ret = kjoule_device_open(&dev, err);
	if (!ret)
		ret = kjoule_session_new(ctl, params, &info, err);
	if (!ret)
		ret = kjoule_device_attach(dev, info.id, err);
	if (!ret)
		ret = calibrate_session_start(ctl, &info, err);
	if (ret)
		goto out;
	p->interval_ns = info.interval_ns;
	if (asleep)
		clock_nanosleep(CLOCK_MONOTONIC, 0,
				&(struct timespec){ ms / 1000, ms % 1000 * 1000000l }, NULL);
	else
		ret = loop_turn_below(params->stack_bytes, ms, kjoule_device_ring(dev, 0)->head, p);
	if (!ret)
		ret = kjoule_session_stop(ctl, info.id, NULL, err);
	if (ret)
		goto out;
	p->ticks = kjoule_device_ring(dev, 0)->head->taken;
	if (p->ticks)
		p->handler_ns = (double)kjoule_device_ring(dev, 0)->head->tick_ns / p->ticks;
	phase_list_domains(&info, p);
	ring_read_records(kjoule_device_ring(dev, 0), &info, p, &seen);
	for (unsigned int d = 0; d < p->n_domains; d++)
		p->uw[d] = line_power_uw(&seen.line[d]);
	if (seen.n_khz)
		*khz = seen.khz / seen.n_khz;
out:
	kjoule_session_info_clear(&info);
	kjoule_device_close(dev);
	kjoule_ctl_close(ctl);
	return ret;
}

/* Move to @cpu; *@old is the thread's previous affinity. */
static int thread_move_to_cpu(uint32_t cpu, cpu_set_t *old)
{
	cpu_set_t only;

	if (cpu >= CPU_SETSIZE)
		return -ERANGE;
	if (sched_getaffinity(0, sizeof(*old), old))
		return -errno;
	CPU_ZERO(&only);
	CPU_SET(cpu, &only);
	return sched_setaffinity(0, sizeof(only), &only) ? -errno : 0;
}

static int phase_run_quiet(uint32_t cpu, struct kjoule_phase *p)
{
	uint64_t before, after, begin_ns;
	int known = kjoule_interrupts(cpu, &before), ret;

	begin_ns = calibrate_now_ns();
	ret = loop_turn(QUIET_MS, NULL, p);
	known = known ? known : kjoule_interrupts(cpu, &after);
	p->irq_hz = known ? NAN : (after - before) * 1e9 / (calibrate_now_ns() - begin_ns);
	return ret;
}

/* Longer intervals need more time for as many updates of the counters. */
static unsigned int phase_busy_ms(unsigned int factor)
{
	return factor > 4 ? BUSY_MS * factor / 4 : BUSY_MS;
}

/*
 * By how much the intervals must be longer than usual: a tick must not fill them, and a phase's
 * records must fit into a ring of that size.
 */
static int interval_find_factor(struct kjoule_session_params *params, unsigned int *factor,
				struct kjoule_error *err)
{
	uint64_t record = params->stack_bytes + BESIDE_STACK, bytes;
	struct kjoule_phase probe = { 0 };
	double unused;
	int ret;

	*factor = 1;
	if (!(params->flags & CHAINS))
		return 0;
	params->interval_ns = SLOW_NS;
	params->ring_bytes = RING_LEAST;
	ret = phase_run_with_ticks(params, PROBE_MS, false, &probe, &unused, err);
	free(probe.slots);
	do {
		bytes = phase_busy_ms(*factor) * 1000000ull / (FAST_NS * *factor) * record;
		if (probe.handler_ns * TICK_PART <= FAST_NS * *factor && bytes <= RING_MOST)
			break;
		*factor *= 2;
	} while (*factor < FACTOR_MOST);
	params->ring_bytes = RING_LEAST;
	while (params->ring_bytes < bytes && params->ring_bytes < RING_MOST)
		params->ring_bytes *= 2;
	return ret;
}

static int round_measure_busy(uint32_t cpu, struct kjoule_session_params *params,
			      unsigned int factor, struct kjoule_round *r, double *khz,
			      struct kjoule_error *err)
{
	unsigned int ms = phase_busy_ms(factor);
	int ret = phase_run_quiet(cpu, &r->quiet);

	params->interval_ns = (uint64_t)SLOW_NS * factor;
	if (!ret)
		ret = phase_run_with_ticks(params, ms, false, &r->slow, khz, err);
	params->interval_ns = (uint64_t)FAST_NS * factor;
	if (!ret)
		ret = phase_run_with_ticks(params, ms, false, &r->fast, khz, err);
	return ret;
}

/* The idle phases, after the others: a CPU that has slept may run faster for a while. */
static int round_measure_idle(struct kjoule_session_params *params, struct kjoule_round *r,
			      struct kjoule_error *err)
{
	double unused;
	int ret;

	/* an idle CPU only if it is requested */
	params->flags |= KJOULE_FLAG_WAKE_IDLE;
	params->interval_ns = SLOW_NS;
	ret = phase_run_with_ticks(params, IDLE_MS, true, &r->doze, &unused, err);
	params->interval_ns = FAST_NS;
	if (!ret)
		ret = phase_run_with_ticks(params, IDLE_MS, true, &r->nap, &unused, err);
	params->flags &= ~(uint64_t)KJOULE_FLAG_WAKE_IDLE;
	return ret;
}

static bool calibration_is_good(const struct kjoule_calibration *cal)
{
	if (cal->tick_error_ns > GOOD_ERROR * cal->tick_ns || cal->other_error > GOOD_OTHER)
		return false;
	for (unsigned int d = 0; d < cal->n_domains; d++)
		if (!isnan(cal->irq_uw[d]) && cal->irq_error_uw[d] > GOOD_ERROR * cal->irq_uw[d])
			return false;
	return true;
}

/* The part of a recording's readings that is made in the tick. */
struct in_tick {
	size_t n;
	struct kjoule_source_spec spec[KJOULE_MAX_SOURCES];
	uint32_t number[KJOULE_MAX_SOURCES];	/* in the recording's session */
};

/* Does the module accept these? */
static bool session_is_possible(const struct kjoule_session_params *params)
{
	return !kjoule_session_try(params, "calibration", NULL);
}

/*
 * All of them at once, because reading them is a part of a tick's cost. A counter that cannot be
 * read on this CPU is left out with all but the first; if that is the first, only the ticks' time
 * is calibrated.
 */
static void calibrate_choose_sources(const struct kjoule_session_params *like,
				     struct kjoule_session_params *params, struct in_tick *chosen)
{
	chosen->n = 0;
	for (size_t i = 0; i < like->n_specs && i < KJOULE_MAX_SOURCES; i++) {
		uint32_t origin = like->specs[i].origin;

		/* a file is read too seldom to measure a tick's energy */
		if (origin != KJOULE_ORIGIN_REGISTERED && origin != KJOULE_ORIGIN_PERF_PMU)
			continue;
		chosen->spec[chosen->n] = like->specs[i];
		chosen->number[chosen->n++] = i;
	}
	params->specs = chosen->spec;
	params->n_specs = chosen->n;
	params->interval_ns = SLOW_NS;
	if (chosen->n > 1 && !session_is_possible(params))
		params->n_specs = chosen->n = 1;
	if (chosen->n == 1 && !session_is_possible(params))
		params->n_specs = chosen->n = 0;
	if (like->n_specs && !chosen->n)
		params->energy_source = "";
}

/* The domains as the recording's session numbers them. */
static void calibration_set_domains(const struct kjoule_phase *p, const struct in_tick *chosen,
				    struct kjoule_calibration *cal)
{
	for (unsigned int d = 0; d < cal->n_domains; d++) {
		cal->source[d] = p->source[d] < chosen->n ? chosen->number[p->source[d]] :
				 p->source[d];
		cal->domain[d] = p->domain[d];
	}
}

static bool signals_are_pending(const sigset_t *wanted)
{
	sigset_t pending;

	if (!wanted || sigpending(&pending))
		return false;
	for (int sig = 1; sig < SIGRTMIN; sig++)
		if (sigismember(wanted, sig) == 1 && sigismember(&pending, sig) == 1)
			return true;
	return false;
}

int kjoule_calibrate(const struct kjoule_session_params *like, uint32_t cpu,
		     const sigset_t *stop_on, struct kjoule_calibration *cal,
		     struct kjoule_error *err)
{
	struct kjoule_session_params params = { .target = KJOULE_TARGET_SYSTEM,
						.energy_source = like->energy_source,
						.frequency_source = like->frequency_source,
						.flags = like->flags & CHAINS,
						.chain_depth = like->chain_depth,
						.stack_bytes = like->stack_bytes };
	struct kjoule_round rounds[CALIBRATE_MOST_ROUNDS] = { 0 };
	struct kjoule_cpus cpus = { 0 };
	struct in_tick chosen;
	unsigned int factor;
	double khz = 0;
	cpu_set_t old;
	size_t n = 0;
	int ret;

	memset(cal, 0, sizeof(*cal));
	ret = thread_move_to_cpu(cpu, &old);
	if (ret)
		return kjoule_fail(err, -ret, "calibration: moving to CPU %u: %s", cpu,
				   strerror(-ret));
	kjoule_cpus_add(&cpus, cpu);
	params.cpus = &cpus;
	calibrate_choose_sources(like, &params, &chosen);
	if (params.flags & KJOULE_FLAG_USER_STACK && !params.stack_bytes)
		params.stack_bytes = STACK_DEFAULT;
	ret = interval_find_factor(&params, &factor, err);
	while (!ret && n < CALIBRATE_MOST_ROUNDS) {
		ret = round_measure_busy(cpu, &params, factor, &rounds[n], &khz, err);
		n++;
		if (!ret && signals_are_pending(stop_on))
			ret = kjoule_fail(err, EINTR, "calibration: stopped by a signal");
		if (ret || n < LEAST_ROUNDS)
			continue;
		if (!kjoule_calibration_solve(rounds, n, cal) && calibration_is_good(cal))
			break;
	}
	for (size_t r = 0; r < IDLE_ROUNDS && !ret; r++)
		ret = round_measure_idle(&params, &rounds[r], err);
	if (ret == -ENOMEM) {
		kjoule_fail(err, ENOMEM, "calibration: no memory");
	} else if (!ret) {
		ret = kjoule_calibration_solve(rounds, n, cal);
		if (ret)
			kjoule_fail(err, EAGAIN, "calibration: the cost of a tick is below the noise; the CPU is too busy");
	}
	cal->cpu = cpu;
	cal->freq_khz = khz;
	calibration_set_domains(&rounds[0].fast, &chosen, cal);
	while (n--) {
		free(rounds[n].quiet.slots);
		free(rounds[n].slow.slots);
		free(rounds[n].fast.slots);
	}
	sched_setaffinity(0, sizeof(old), &old);
	return ret;
}
