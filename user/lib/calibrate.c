// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a tick takes from the code that it interrupts, entry and exit of the
 * interrupt included, which the tick itself can not see; and what power the CPU
 * draws meanwhile. A busy loop on the ticking CPU turns for a while without ticks,
 * with few and with many, round after round. By how much more ticks slow it down is
 * their cost in time: the loss of turns counts whatever the interrupts do to the code
 * around them. By how much they change the power is their cost in energy.
 *
 * Slots of the quiet phases in which the loop turned less than usual had another
 * interrupt in them, the scheduler's tick above all: code that no sample can fall
 * on either, because interrupts are off there. The kernel tells how many there were.
 */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "calibrate.h"
#include "interrupts.h"

#define SLOW_NS		1000000
#define FAST_NS		250000
#define QUIET_MS	100		/* phases of a round */
#define BUSY_MS		150		/* counters that move every 10 ms move often enough in it */
#define ASLEEP_MS	100
#define ASLEEP_ROUNDS	2
#define TURN		64		/* additions between two looks at the clock, which costs more */
#define LEAST_ROUNDS	4
#define GOOD_ERROR	0.01		/* of what a tick takes, at which more rounds are of no use */

static inline uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* One turn of the loop: work that every processor does at its clock. */
static void turn_once(void)
{
	for (unsigned int i = 0; i < TURN; i++)
		__asm__ volatile("" : "+r" (i));
}

/* Turn for a while and tell how fast, slot by slot on a grid. */
static int turn(unsigned int ms, struct kjoule_phase *p)
{
	size_t slots = ms * 1000000ull / CALIBRATE_SLOT_NS;
	uint64_t begin = now(), from = begin, t = begin;

	p->rates = calloc(slots, sizeof(*p->rates));
	if (!p->rates)
		return -ENOMEM;
	while (p->n < slots) {
		uint64_t end = begin + (p->n + 1) * CALIBRATE_SLOT_NS, turns = 0;

		do {
			turn_once();
			turns++;
			t = now();
		} while (t < end);
		p->rates[p->n++] = (double)turns / (t - from);
		from = t;
	}
	return 0;
}

/* What of a phase's ring is needed: the clock, and a line through the moves of each counter. */
struct seen {
	double khz;
	size_t n_khz;
	struct line {
		double n, t, uj, tt, t_uj;	/* sums; times and energies from the first move on */
		uint64_t first_ns, first_uj;
	} line[KJOULE_MAX_DOMAINS];
};

static void see_energy(const struct kjoule_energy *e, const struct kjoule_session_info *info,
		       struct seen *seen)
{
	uint64_t ns = info->t0_ns + e->tick * info->interval_ns + e->late_ns;
	const __u64 *next = e->energy_uj;

	for (unsigned int d = 0; d < KJOULE_MAX_DOMAINS; d++) {
		struct line *l = &seen->line[d];
		uint64_t value;
		double t, uj;

		if (!(e->domains & 1u << d))
			continue;
		value = *next++;
		/* the first record tells where the counter stands, not that it has just moved */
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

/* Its slope: microwatt; NAN with too few moves. */
static double power(const struct line *l)
{
	double spread = l->n * l->tt - l->t * l->t;

	return l->n < 3 || !(spread > 0) ? NAN : 1e9 * (l->n * l->t_uj - l->t * l->uj) / spread;
}

static void see_ring(struct kjoule_ring_reader *ring, const struct kjoule_session_info *info,
		     struct seen *seen)
{
	size_t len = 1 << 20, used = 0, off = 0;
	const struct kjoule_record *rec;
	void *buf = malloc(len);

	if (buf && kjoule_ring_drain(ring, buf, len, &used) >= 0) {
		while (kjoule_record_next(buf, used, &off, &rec) > 0) {
			const struct kjoule_sample *s = (const struct kjoule_sample *)rec;

			if (rec->type == KJOULE_RECORD_ENERGY) {
				see_energy((const struct kjoule_energy *)rec, info, seen);
			} else if (rec->type == KJOULE_RECORD_SAMPLE && s->freq_khz) {
				seen->khz += s->freq_khz;
				seen->n_khz++;
			}
		}
	}
	free(buf);
}

/* A phase with ticks: turning, or asleep. */
static int turn_with_ticks(const struct kjoule_session_params *params, unsigned int ms, bool asleep,
			   struct kjoule_phase *p, double *khz, struct kjoule_error *err)
{
	struct kjoule_device *dev = NULL;
	struct kjoule_session_info info;
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
		ret = kjoule_session_start(ctl, info.id, &info, err);
	if (ret)
		goto out;
	p->interval_ns = info.interval_ns;
	if (asleep)
		clock_nanosleep(CLOCK_MONOTONIC, 0,
				&(struct timespec){ ms / 1000, ms % 1000 * 1000000l }, NULL);
	else
		ret = turn(ms, p);
	if (!ret)
		ret = kjoule_session_stop(ctl, info.id, NULL, err);
	if (ret)
		goto out;
	p->ticks = kjoule_device_ring(dev, 0)->head->produced;
	if (p->ticks)
		p->handler_ns = (double)kjoule_device_ring(dev, 0)->head->tick_ns / p->ticks;
	see_ring(kjoule_device_ring(dev, 0), &info, &seen);
	for (uint32_t i = 0; i < info.n_sources; i++)
		if (info.sources[i].kind == KJOULE_KIND_ENERGY)
			p->n_domains = info.sources[i].n_domains;
	for (unsigned int d = 0; d < p->n_domains; d++)
		p->uw[d] = power(&seen.line[d]);
	if (seen.n_khz)
		*khz = seen.khz / seen.n_khz;
out:
	kjoule_device_close(dev);
	kjoule_ctl_close(ctl);
	return ret;
}

/* Move to @cpu alone; *@old is where the thread was allowed before. */
static int move_to(uint32_t cpu, cpu_set_t *old)
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

static int turn_quietly(uint32_t cpu, struct kjoule_phase *p)
{
	uint64_t before, after, begin_ns;
	int known = kjoule_interrupts(cpu, &before), ret;

	begin_ns = now();
	ret = turn(QUIET_MS, p);
	known = known ? known : kjoule_interrupts(cpu, &after);
	p->irq_hz = known ? NAN : (after - before) * 1e9 / (now() - begin_ns);
	return ret;
}

static int one_round(uint32_t cpu, struct kjoule_session_params *params, bool asleep,
		     struct kjoule_round *r, double *khz, struct kjoule_error *err)
{
	double unused;
	int ret = turn_quietly(cpu, &r->quiet);

	params->interval_ns = SLOW_NS;
	if (!ret)
		ret = turn_with_ticks(params, BUSY_MS, false, &r->slow, khz, err);
	if (!ret && asleep)
		ret = turn_with_ticks(params, ASLEEP_MS, true, &r->doze, &unused, err);
	params->interval_ns = FAST_NS;
	if (!ret && asleep)
		ret = turn_with_ticks(params, ASLEEP_MS, true, &r->nap, &unused, err);
	if (!ret)
		ret = turn_with_ticks(params, BUSY_MS, false, &r->fast, khz, err);
	return ret;
}

static bool is_good(const struct kjoule_calibration *cal)
{
	if (cal->tick_error_ns > GOOD_ERROR * cal->tick_ns)
		return false;
	for (unsigned int d = 0; d < cal->n_domains; d++)
		if (!isnan(cal->irq_uw[d]) && cal->irq_error_uw[d] > GOOD_ERROR * cal->irq_uw[d])
			return false;
	return true;
}

static bool has_pending(const sigset_t *wanted)
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
		     const sigset_t *stop_on, struct kjoule_calibration *cal, struct kjoule_error *err)
{
	struct kjoule_session_params params = { .target = KJOULE_TARGET_SYSTEM,
						.energy_source = like->energy_source };
	struct kjoule_round rounds[CALIBRATE_MOST_ROUNDS] = { 0 };
	struct kjoule_cpus cpus = { 0 };
	double khz = 0;
	cpu_set_t old;
	size_t n = 0;
	int ret;

	memset(cal, 0, sizeof(*cal));
	ret = move_to(cpu, &old);
	if (ret)
		return kjoule_fail(err, -ret, "calibration: moving to CPU %u: %s", cpu,
				   strerror(-ret));
	kjoule_cpus_add(&cpus, cpu);
	params.cpus = &cpus;
	do {
		ret = one_round(cpu, &params, n < ASLEEP_ROUNDS, &rounds[n], &khz, err);
		n++;
		if (!ret && has_pending(stop_on))
			ret = kjoule_fail(err, EINTR, "calibration: stopped by a signal");
		if (ret || n < LEAST_ROUNDS)
			continue;
		if (!kjoule_calibration_solve(rounds, n, cal) && is_good(cal))
			break;
	} while (!ret && n < CALIBRATE_MOST_ROUNDS);
	if (ret == -ENOMEM) {
		kjoule_fail(err, ENOMEM, "calibration: no memory");
	} else if (!ret) {
		ret = kjoule_calibration_solve(rounds, n, cal);
		if (ret)
			kjoule_fail(err, EAGAIN, "calibration: what a tick takes could not be told from noise; the CPU is too busy");
	}
	cal->cpu = cpu;
	cal->freq_khz = khz;
	while (n--) {
		free(rounds[n].quiet.rates);
		free(rounds[n].slow.rates);
		free(rounds[n].fast.rates);
	}
	sched_setaffinity(0, sizeof(old), &old);
	return ret;
}
