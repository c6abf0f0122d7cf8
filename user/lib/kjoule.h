/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libkjoule: control of the kjoule module, its rings, the data file, the side
 * band (who mapped what), symbols and calibration. Used by every verb of the CLI.
 *
 * Nothing here prints or exits. Functions return 0 (or a count) or -errno; those
 * that take a struct kjoule_error leave a sentence in it that says what was asked,
 * what was found and what to do next. An error pointer may be NULL.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC, energies microjoules, frequencies
 * kilohertz, where the name says nothing else.
 */
#ifndef KJOULE_H
#define KJOULE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/kjoule.h>
#include <linux/kjoule_netlink.h>

#define KJOULE_VERSION		"0.1.0"
#define KJOULE_MAX_CPUS		8192
#define KJOULE_MAX_DOMAINS	32	/* bits of kjoule_energy.domains */
#define KJOULE_MAX_SOURCES	8	/* in use by one session */

struct kjoule_error {
	char text[512];
};

/**
 * kjoule_fail() - leave a message and hand the error on
 * @err:	may be NULL
 * @code:	a positive errno
 * Return:	-@code
 */
int kjoule_fail(struct kjoule_error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A set of CPUs, bit n of byte n / 8: the format of KJOULE_A_SESSION_CPUS. */
struct kjoule_cpus {
	uint8_t bits[KJOULE_MAX_CPUS / 8];
};

/** kjoule_cpus_parse() - "0-3,8" to a set. Return: 0, -EINVAL (syntax), -ERANGE (number) */
int kjoule_cpus_parse(const char *text, struct kjoule_cpus *set);
/** kjoule_cpus_format() - the shortest list of ranges. Return: @buf */
char *kjoule_cpus_format(const struct kjoule_cpus *set, char *buf, size_t len);
/** kjoule_cpus_online() - the CPUs that are online now. Return: 0 or -errno */
int kjoule_cpus_online(struct kjoule_cpus *set);
bool kjoule_cpus_has(const struct kjoule_cpus *set, unsigned int cpu);
void kjoule_cpus_add(struct kjoule_cpus *set, unsigned int cpu);
unsigned int kjoule_cpus_count(const struct kjoule_cpus *set);
/** kjoule_cpus_next() - the first CPU >= @cpu in the set, or -1 */
int kjoule_cpus_next(const struct kjoule_cpus *set, unsigned int cpu);

/*
 * Control (generic netlink)
 */

struct kjoule_domain_info {
	uint32_t index;			/* bit in kjoule_energy.domains */
	char name[32];
	uint32_t class;			/* enum kjoule_domain_class */
	uint32_t width;			/* bits of the raw counter */
	uint64_t unit_mult;		/* a raw count is unit_mult / 2^unit_shift uJ */
	uint32_t unit_shift;
	int32_t parent;			/* the domain that contains it, -1: none */
	uint64_t update_period_ns;	/* nominal, 0: unknown */
};

struct kjoule_source_info {
	uint32_t id;
	char name[32];
	uint32_t kind;			/* enum kjoule_source_kind */
	int32_t rating;
	bool available;
	bool is_default;
	bool requested_only;
	char reason[160];		/* why it is not available */
	uint64_t reference_khz;
	uint64_t reads;
	uint64_t errors;
	uint32_t n_domains;
	struct kjoule_domain_info domains[KJOULE_MAX_DOMAINS];
};

/**
 * struct kjoule_session_params - what is asked of a new session
 * @interval_ns:	time between ticks, within the module's limits (struct kjoule_info)
 * @jitter_ns:		below @interval_ns
 * @target:		enum kjoule_target
 * @pid:		for KJOULE_TARGET_PROCESS
 * @cpus:		NULL for all online ones
 * @ring_bytes:		per CPU, a power of two, 0 for the default
 * @wakeup_bytes:	0 for a quarter of the ring
 * @energy_source,@frequency_source: a name, "" for none, NULL for the default
 */
struct kjoule_session_params {
	uint64_t interval_ns;
	uint64_t jitter_ns;
	uint32_t target;
	uint32_t pid;
	const struct kjoule_cpus *cpus;
	uint32_t ring_bytes;
	uint32_t wakeup_bytes;
	const char *energy_source;
	const char *frequency_source;
};

/* What the module says of a session. */
struct kjoule_session_info {
	uint32_t id;
	uint64_t interval_ns;
	uint64_t jitter_ns;
	uint32_t target;
	uint32_t pid;
	struct kjoule_cpus cpus;
	uint32_t ring_bytes;
	uint32_t wakeup_bytes;
	uint32_t state;			/* enum kjoule_session_state */
	uint64_t t0_ns;
	uint64_t seed;
	uint64_t stop_ns;
	uint32_t n_sources;
	struct kjoule_source_info sources[KJOULE_MAX_SOURCES];
};

/* The books of one CPU: due = produced + missed + parked, records = consumed + lost + waiting. */
struct kjoule_cpu_stats {
	uint32_t cpu;
	uint64_t due, produced, missed, parked, filtered;
	uint64_t records, consumed, lost, waiting;
	uint64_t samples;
	uint64_t tick_ns;		/* time in the tick's own code */
	uint64_t late_max_ns;
	uint64_t source_errors;
};

struct kjoule_ctl;

/**
 * kjoule_ctl_open() - a control socket. Sessions made through it end with it.
 * Return: 0; -ENODEV when the module is not loaded; -errno
 */
int kjoule_ctl_open(struct kjoule_ctl **ctl, struct kjoule_error *err);
void kjoule_ctl_close(struct kjoule_ctl *ctl);

/** kjoule_sources() - all sources. @list is the caller's to free. Return: 0, -EPERM, -errno */
int kjoule_sources(struct kjoule_ctl *ctl, struct kjoule_source_info **list, size_t *n,
		   struct kjoule_error *err);

/** kjoule_session_new() - make a session, not running. Return: 0, -EPERM, -ESRCH, -errno */
int kjoule_session_new(struct kjoule_ctl *ctl, const struct kjoule_session_params *params,
		       struct kjoule_session_info *info, struct kjoule_error *err);
/** kjoule_session_start() - start its ticks; @info (may be NULL) then has t0 and seed. */
int kjoule_session_start(struct kjoule_ctl *ctl, uint32_t id, struct kjoule_session_info *info,
			 struct kjoule_error *err);
/** kjoule_session_stop() - stop its ticks; the rings stay readable. */
int kjoule_session_stop(struct kjoule_ctl *ctl, uint32_t id, struct kjoule_session_info *info,
			struct kjoule_error *err);
int kjoule_session_get(struct kjoule_ctl *ctl, uint32_t id, struct kjoule_session_info *info,
		       struct kjoule_error *err);
int kjoule_session_del(struct kjoule_ctl *ctl, uint32_t id, struct kjoule_error *err);
/** kjoule_stats() - a session's books, an entry for each CPU. @list is the caller's to free. */
int kjoule_stats(struct kjoule_ctl *ctl, uint32_t id, struct kjoule_cpu_stats **list, size_t *n,
		 struct kjoule_error *err);

/*
 * Bulk data (/dev/kjoule)
 */

struct kjoule_device;

/* The reader's side of one CPU's ring. Fields are for ring.c and tests. */
struct kjoule_ring_reader {
	uint32_t cpu;
	const struct kjoule_ring_head *head;
	struct kjoule_ring_tail *tail;
	const uint8_t *data;
	uint64_t size;			/* a power of two */
	uint64_t pos;			/* consumed so far */
	uint64_t damaged;		/* times that the content made no sense */
	void *map;
	size_t map_len;
};

/** kjoule_device_open() - Return: 0, -ENODEV not loaded, -EPROTO other ABI, -EACCES, -errno */
int kjoule_device_open(struct kjoule_device **dev, struct kjoule_error *err);
void kjoule_device_close(struct kjoule_device *dev);
const struct kjoule_info *kjoule_device_info(const struct kjoule_device *dev);
/** kjoule_device_fd() - to be polled for POLLIN */
int kjoule_device_fd(const struct kjoule_device *dev);
/** kjoule_device_attach() - become the session's reader and map its rings. Return: 0 or -errno */
int kjoule_device_attach(struct kjoule_device *dev, uint32_t session, struct kjoule_error *err);
unsigned int kjoule_device_rings(const struct kjoule_device *dev);
struct kjoule_ring_reader *kjoule_device_ring(struct kjoule_device *dev, unsigned int i);

/**
 * kjoule_ring_drain() - take what waits in a ring
 * @ring:	the ring
 * @buf,@len:	where whole records go, pads left out; at least 64 KiB makes sense
 * @used:	out: bytes written to @buf
 *
 * Return: 0 when the ring is empty, 1 when more waits, -EBADMSG when the content made no
 * sense: what was good before it is in @buf and the rest was skipped.
 */
int kjoule_ring_drain(struct kjoule_ring_reader *ring, void *buf, size_t len, size_t *used);

/**
 * kjoule_record_next() - walk over a buffer of records
 * @off:	in and out: where to read, 0 at first
 * @rec:	out: the record, its size checked against its type
 * Return: 1 for a record, 0 at the end, -EBADMSG when what is there is no record
 */
int kjoule_record_next(const void *buf, size_t len, size_t *off, const struct kjoule_record **rec);

/**
 * kjoule_jitter() - how long after the grid the tick @k is due
 * Return: nanoseconds, below @jitter_ns; 0 if @jitter_ns is 0
 */
uint64_t kjoule_jitter(uint64_t seed, uint64_t k, uint64_t jitter_ns);

/*
 * Calibration: what a tick takes from the code that it interrupts
 */

/**
 * struct kjoule_calibration - what interrupts take on a busy CPU; see calibrate.c
 * @ticks:	ticks measured, 0: there was no calibration
 * @tick_ns:	what a tick takes, entry and exit of the interrupt included, nanoseconds
 * @tick_error_ns: its standard error
 * @handler_ns:	the part of it that the tick itself can see (kjoule_ring_head.tick_ns)
 * @handler_spread_ns: standard deviation of that from round to round of the calibration
 * @entry_ns:	the rest
 * @freq_khz:	mean frequency of the CPU meanwhile, 0: not known
 * @other_part:	part of the time, 0 to 1, that other interrupts take
 * @n_domains:	how many of the following are set, one for each domain of the energy source
 * @irq_uw:	power while a tick runs, microwatt; NAN: could not be told
 * @irq_error_uw: its standard error
 * @loop_uw:	power of the measuring loop, to compare with
 * @idle_uj:	energy of a tick on an idle CPU, waking and going back to sleep included,
 *		microjoule; NAN: could not be told
 */
struct kjoule_calibration {
	uint32_t cpu;
	uint32_t ticks;
	double tick_ns;
	double tick_error_ns;
	double handler_ns;
	double handler_spread_ns;
	double entry_ns;
	double freq_khz;
	double other_part;
	uint32_t n_domains;
	double irq_uw[KJOULE_MAX_DOMAINS];
	double irq_error_uw[KJOULE_MAX_DOMAINS];
	double loop_uw[KJOULE_MAX_DOMAINS];
	double idle_uj[KJOULE_MAX_DOMAINS];
};

/**
 * kjoule_calibrate() - measure it with private sessions and a busy loop on one CPU
 * @like:	the sources are taken from here
 * @cpu:	where; the calling thread is moved there for the time and back
 * @stop_on:	blocked signals that end it early when one of them is pending; NULL: none
 * Takes about two seconds, six where the CPU is so noisy that it has to go on.
 *
 * Return: 0, -EAGAIN when the ticks' cost could not be told from noise, -EINTR, -errno
 */
int kjoule_calibrate(const struct kjoule_session_params *like, uint32_t cpu,
		     const sigset_t *stop_on, struct kjoule_calibration *cal, struct kjoule_error *err);

#endif /* KJOULE_H */
