/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/* Generated from Documentation/netlink/specs/kjoule.yaml by scripts/gen-netlink; do not edit. */
#ifndef _UAPI_LINUX_KJOULE_NETLINK_H
#define _UAPI_LINUX_KJOULE_NETLINK_H

#define KJOULE_FAMILY_NAME	"kjoule"
#define KJOULE_FAMILY_VERSION	1

enum kjoule_source_kind {
	KJOULE_KIND_ENERGY,
	KJOULE_KIND_FREQUENCY,
};

/* Who is sampled. */
enum kjoule_target {
	/* Whatever runs on the session's CPUs. */
	KJOULE_TARGET_SYSTEM,
	/* One process with its threads. */
	KJOULE_TARGET_PROCESS,
};

enum kjoule_session_state {
	KJOULE_SESSION_NEW,
	KJOULE_SESSION_RUNNING,
	KJOULE_SESSION_STOPPED,
};

enum {
	/* Number within the source; the bit in a kjoule_energy record. */
	KJOULE_A_DOMAIN_INDEX = 1,	/* u32 */
	/* The field's own name: package, core, dram. */
	KJOULE_A_DOMAIN_NAME,	/* string */
	/* enum kjoule_domain_class. */
	KJOULE_A_DOMAIN_CLASS,	/* u32 */
	/* Bits of the raw counter. */
	KJOULE_A_DOMAIN_WIDTH,	/* u32 */
	/* One raw count is unit-mult / 2^unit-shift microjoule. */
	KJOULE_A_DOMAIN_UNIT_MULT,	/* u64 */
	KJOULE_A_DOMAIN_UNIT_SHIFT,	/* u32 */
	/* Index of the domain that contains this one, -1 if none. */
	KJOULE_A_DOMAIN_PARENT,	/* s32 */
	/* Nominal time between two moves, 0 if unknown. */
	KJOULE_A_DOMAIN_UPDATE_PERIOD_NS,	/* u64 */

	__KJOULE_A_DOMAIN_MAX,
	KJOULE_A_DOMAIN_MAX = (__KJOULE_A_DOMAIN_MAX - 1)
};

enum {
	KJOULE_A_SOURCE_ID = 1,	/* u32 */
	KJOULE_A_SOURCE_NAME,	/* string */
	KJOULE_A_SOURCE_KIND,	/* u32 */
	/* The available source of a kind with the highest rating is the default. */
	KJOULE_A_SOURCE_RATING,	/* s32 */
	/* 1 if it can be used. */
	KJOULE_A_SOURCE_AVAILABLE,	/* u32 */
	/* Why it can not be used. */
	KJOULE_A_SOURCE_REASON,	/* string */
	/* 1 if a session that names no source gets this one. */
	KJOULE_A_SOURCE_DEFAULT,	/* u32 */
	/* 1 if the frequency told is the request, not the grant. */
	KJOULE_A_SOURCE_REQUESTED_ONLY,	/* u32 */
	KJOULE_A_SOURCE_REFERENCE_KHZ,	/* u64 */
	KJOULE_A_SOURCE_DOMAIN,	/* nest of domain */

	__KJOULE_A_SOURCE_MAX,
	KJOULE_A_SOURCE_MAX = (__KJOULE_A_SOURCE_MAX - 1)
};

enum {
	/* Given by the kernel; names the session in every other call. */
	KJOULE_A_SESSION_ID = 1,	/* u32 */
	/* Time between ticks. */
	KJOULE_A_SESSION_INTERVAL_NS,	/* u64 */
	/* Ticks are delayed by a random time below this, alike on all CPUs. */
	KJOULE_A_SESSION_JITTER_NS,	/* u64 */
	KJOULE_A_SESSION_TARGET,	/* u32 */
	/* Process id in the caller's pid namespace, for target process. */
	KJOULE_A_SESSION_PID,	/* u32 */
	/* Bit mask of CPUs, little endian bytes; all online ones if left out. */
	KJOULE_A_SESSION_CPUS,	/* binary */
	/* Data bytes of each CPU's ring, a power of two; 0 for the default. */
	KJOULE_A_SESSION_RING_BYTES,	/* u32 */
	/* Wake the reader when so many bytes wait; a quarter of the ring if left out. */
	KJOULE_A_SESSION_WAKEUP_BYTES,	/* u32 */
	/* By name; the default one if left out, none if empty. */
	KJOULE_A_SESSION_ENERGY_SOURCE,	/* string */
	/* By name; the default one if left out, none if empty. */
	KJOULE_A_SESSION_FREQUENCY_SOURCE,	/* string */
	/* None defined. */
	KJOULE_A_SESSION_FLAGS,	/* u64 */
	KJOULE_A_SESSION_STATE,	/* u32 */
	/* CLOCK_MONOTONIC at which tick 0 was due, random phase included. */
	KJOULE_A_SESSION_T0_NS,	/* u64 */
	/* Of the jitter: see kjoule_jitter() in the ABI document. */
	KJOULE_A_SESSION_SEED,	/* u64 */
	/* CLOCK_MONOTONIC at which the session was stopped. */
	KJOULE_A_SESSION_STOP_NS,	/* u64 */
	/* The sources in use. */
	KJOULE_A_SESSION_SOURCE_INFO,	/* nest of source */

	__KJOULE_A_SESSION_MAX,
	KJOULE_A_SESSION_MAX = (__KJOULE_A_SESSION_MAX - 1)
};

enum {
	KJOULE_A_STATS_SESSION = 1,	/* u32 */
	KJOULE_A_STATS_CPU,	/* u32 */
	/* due = produced + missed + parked */
	KJOULE_A_STATS_DUE,	/* u64 */
	KJOULE_A_STATS_PRODUCED,	/* u64 */
	KJOULE_A_STATS_MISSED,	/* u64 */
	KJOULE_A_STATS_PARKED,	/* u64 */
	/* Ticks produced without a sample: not the target. */
	KJOULE_A_STATS_FILTERED,	/* u64 */
	/* records = consumed + lost + waiting */
	KJOULE_A_STATS_RECORDS,	/* u64 */
	KJOULE_A_STATS_CONSUMED,	/* u64 */
	KJOULE_A_STATS_LOST,	/* u64 */
	KJOULE_A_STATS_WAITING,	/* u64 */
	KJOULE_A_STATS_SAMPLES,	/* u64 */
	/* Time spent in the tick's own code. */
	KJOULE_A_STATS_TICK_NS,	/* u64 */
	KJOULE_A_STATS_LATE_MAX_NS,	/* u64 */
	KJOULE_A_STATS_SOURCE_ERRORS,	/* u64 */

	__KJOULE_A_STATS_MAX,
	KJOULE_A_STATS_MAX = (__KJOULE_A_STATS_MAX - 1)
};

enum {
	/* List sources, why they can or can not be used, and which is the default. */
	KJOULE_CMD_SOURCE_GET = 1,
	/* Make a session. It is not running yet. */
	KJOULE_CMD_SESSION_NEW,
	/* Start a session's ticks. */
	KJOULE_CMD_SESSION_START,
	/* Stop a session's ticks. Its rings stay readable. */
	KJOULE_CMD_SESSION_STOP,
	/* End a session. */
	KJOULE_CMD_SESSION_DEL,
	/* One session, or all. */
	KJOULE_CMD_SESSION_GET,
	/* The books of a session, a message for each CPU. */
	KJOULE_CMD_STATS_GET,

	__KJOULE_CMD_MAX,
	KJOULE_CMD_MAX = (__KJOULE_CMD_MAX - 1)
};

#endif /* _UAPI_LINUX_KJOULE_NETLINK_H */
