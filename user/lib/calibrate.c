// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a tick takes from the code that it interrupts, entry and exit of the
 * interrupt included, which the tick itself can not see; and what power the CPU
 * draws meanwhile. A busy loop on the ticking CPU turns for a while without ticks,
 * with few and with many. By how much more ticks slow it down is their cost in
 * time: the loss of turns counts whatever the interrupts do to the code around
 * them. By how much they change the power is their cost in energy.
 *
 * Slots of the quiet phase in which the loop turned less than usual had another
 * interrupt in them, the scheduler's tick above all: code that no sample can fall
 * on either, because interrupts are off there.
 */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "calibrate.h"

#define SLOT_NS		500000		/* short against the scheduler's 1 to 10 ms */
#define SLOW_NS		2000000
#define FAST_NS		250000		/* unless the module's limits say else */
#define ENOUGH_SLOTS	20
#define BATCH_SLOTS	40		/* 20 ms: several of the scheduler's ticks in each */
#define GOOD_ERROR	0.0007		/* of a rate, at which more turning is of no use */
#define MOST_LONGER	4		/* and how much longer than asked for it may take at most */
#define STALL		0.6		/* slots slower than this part of usual: the CPU was away */
#define INTERRUPTED	0.97		/* slots slower than this part of usual had an interrupt */

static int by_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Mean of the middle half. Sorts the rates. */
static double usual_rate(struct kjoule_phase *p)
{
	double sum = 0;
	size_t from = p->n / 4, to = p->n - p->n / 4;

	qsort(p->rates, p->n, sizeof(*p->rates), by_double);
	for (size_t i = from; i < to; i++)
		sum += p->rates[i];
	return sum / (to - from);
}

/* Mean of the slots faster than @floor. */
static double mean_above(const struct kjoule_phase *p, double floor)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++) {
		if (p->rates[i] > floor) {
			sum += p->rates[i];
			n++;
		}
	}
	return n ? sum / n : 0;
}

/*
 * With L the loop's power, c a tick's time, e its energy: P = L (1 - c / T) + e / T for
 * a phase with ticks every T. Two of them give L and e.
 */
static void solve_power(double slow_uw, double fast_uw, double slow_hz, double fast_hz,
			double tick_s, double *irq_uw, double *loop_uw)
{
	double k = (fast_uw - slow_uw) / (fast_hz - slow_hz);	/* e - c L */

	*loop_uw = slow_uw - slow_hz * k;
	*irq_uw = k / tick_s + *loop_uw;
	/* an energy counter too coarse for this shows in what can not be */
	if (!(*irq_uw > 0) || *irq_uw > 10 * *loop_uw)
		*irq_uw = NAN;
}

int kjoule_calibration_solve(struct kjoule_phase *quiet, struct kjoule_phase *slow,
			     struct kjoule_phase *fast, struct kjoule_calibration *cal)
{
	double usual, clean;

	if (quiet->n < ENOUGH_SLOTS || fast->n < ENOUGH_SLOTS || !fast->ticks)
		return -EAGAIN;
	usual = usual_rate(quiet);
	cal->tick_ns = (1 - usual_rate(fast) / usual) * fast->interval_ns;
	/* what the tick sees itself is the least that it takes */
	if (!(cal->tick_ns >= fast->handler_ns) || cal->tick_ns > 0.9 * fast->interval_ns)
		return -EAGAIN;
	cal->ticks = fast->ticks;
	cal->handler_ns = fast->handler_ns;
	cal->entry_ns = cal->tick_ns - cal->handler_ns;
	clean = mean_above(quiet, INTERRUPTED * usual);
	cal->other_part = fmax(1 - mean_above(quiet, STALL * usual) / clean, 0);
	cal->n_domains = fast->n_domains;
	for (unsigned int d = 0; d < fast->n_domains; d++)
		solve_power(slow->uw[d], fast->uw[d], 1e9 / slow->interval_ns,
			    1e9 / fast->interval_ns, cal->tick_ns * 1e-9, &cal->irq_uw[d],
			    &cal->loop_uw[d]);
	return 0;
}

void kjoule_calibration_solve_idle(const struct kjoule_phase *slow, const struct kjoule_phase *fast,
				   struct kjoule_calibration *cal)
{
	double more_hz = 1e9 / fast->interval_ns - 1e9 / slow->interval_ns;

	for (unsigned int d = 0; d < cal->n_domains; d++) {
		cal->idle_uj[d] = (fast->uw[d] - slow->uw[d]) / more_hz;
		/* idle has other work as well: an answer below nothing is none */
		if (!(cal->idle_uj[d] >= 0))
			cal->idle_uj[d] = NAN;
	}
}

static inline uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* Relative standard error of the mean rate, from means over batches of slots. */
static double rate_error(const double *rates, size_t n)
{
	size_t batches = n / BATCH_SLOTS;
	double sum = 0, squares = 0, mean;

	if (batches < 4)
		return INFINITY;
	for (size_t b = 0; b < batches; b++) {
		double batch = 0;

		for (size_t i = 0; i < BATCH_SLOTS; i++)
			batch += rates[b * BATCH_SLOTS + i] / BATCH_SLOTS;
		sum += batch;
		squares += batch * batch;
	}
	mean = sum / batches;
	return sqrt(fmax(squares / batches - mean * mean, 0) / (batches - 1)) / mean;
}

/*
 * Turn for @duration_ns and tell how fast, slot by slot; go on where the machine is so
 * noisy that the mean is not sure yet.
 */
static int turn(uint64_t duration_ns, struct kjoule_phase *p)
{
	uint64_t begin = now(), t = begin;
	size_t room = MOST_LONGER * duration_ns / SLOT_NS + 1;

	p->rates = calloc(room, sizeof(*p->rates));
	if (!p->rates)
		return -ENOMEM;
	while (p->n < room) {
		uint64_t from = t, turns = 0;

		do {
			t = now();
			turns++;
		} while (t - from < SLOT_NS);
		p->rates[p->n++] = (double)turns / (t - from);
		if (p->n % BATCH_SLOTS)
			continue;
		if (t - begin >= MOST_LONGER * duration_ns ||
		    (t - begin >= duration_ns && rate_error(p->rates, p->n) < GOOD_ERROR))
			break;
		/* the arithmetic is not a slot's */
		t = now();
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
static int turn_with_ticks(const struct kjoule_session_params *params, uint64_t duration_ns,
			   bool asleep,
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
				&(struct timespec){ duration_ns / 1000000000,
						    duration_ns % 1000000000 }, NULL);
	else
		ret = turn(duration_ns, p);
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

int kjoule_calibrate(const struct kjoule_session_params *like, uint32_t cpu, uint64_t duration_ns,
		     struct kjoule_calibration *cal, struct kjoule_error *err)
{
	struct kjoule_session_params params = { .target = KJOULE_TARGET_SYSTEM,
						.energy_source = like->energy_source };
	struct kjoule_phase quiet = { 0 }, slow = { 0 }, fast = { 0 }, doze = { 0 }, nap = { 0 };
	uint64_t part_ns = duration_ns / 9;
	double unused;
	struct kjoule_cpus cpus = { 0 };
	cpu_set_t old;
	int ret;

	memset(cal, 0, sizeof(*cal));
	cal->cpu = cpu;
	ret = move_to(cpu, &old);
	if (ret)
		return kjoule_fail(err, -ret, "calibration: moving to CPU %u: %s", cpu,
				   strerror(-ret));
	kjoule_cpus_add(&cpus, cpu);
	params.cpus = &cpus;
	ret = turn(2 * part_ns, &quiet);
	params.interval_ns = SLOW_NS;
	if (!ret)
		ret = turn_with_ticks(&params, 2 * part_ns, false, &slow, &cal->freq_khz, err);
	if (!ret)
		ret = turn_with_ticks(&params, part_ns, true, &doze, &unused, err);
	params.interval_ns = FAST_NS;
	if (!ret)
		ret = turn_with_ticks(&params, part_ns, true, &nap, &unused, err);
	if (!ret)
		ret = turn_with_ticks(&params, 3 * part_ns, false, &fast, &cal->freq_khz, err);
	if (!ret) {
		ret = kjoule_calibration_solve(&quiet, &slow, &fast, cal);
		kjoule_calibration_solve_idle(&doze, &nap, cal);
		if (ret)
			kjoule_fail(err, EAGAIN, "calibration: what a tick takes could not be told from noise; the CPU is too busy");
	} else if (ret == -ENOMEM) {
		kjoule_fail(err, ENOMEM, "calibration: no memory");
	}
	free(quiet.rates);
	free(slow.rates);
	free(fast.rates);
	sched_setaffinity(0, sizeof(old), &old);
	return ret;
}
