/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/* Generated from Documentation/netlink/specs/kjoule.yaml by scripts/gen-netlink; do not edit. */
#ifndef _UAPI_LINUX_KJOULE_NETLINK_H
#define _UAPI_LINUX_KJOULE_NETLINK_H

#define KJOULE_FAMILY_NAME	"kjoule"
#define KJOULE_FAMILY_VERSION	1
#define KJOULE_MCGRP_EVENTS	"events"

enum kjoule_source_kind {
	/* Counters that only grow. */
	KJOULE_KIND_ENERGY,
	/* Of the CPU that is asked. */
	KJOULE_KIND_FREQUENCY,
	/* Momentary values, such as power or temperature. */
	KJOULE_KIND_GAUGE,
};

/* Where a source comes from. */
enum kjoule_origin {
	/* Registered in the kernel, by this module or another one; named by name. */
	KJOULE_ORIGIN_REGISTERED,
	/* A counter of a perf PMU, by perf-type and perf-config. */
	KJOULE_ORIGIN_PERF_PMU,
	/* A file of sysfs that holds one number, by its descriptor. */
	KJOULE_ORIGIN_VALUE_FILE,
	/* A power supply, by name. */
	KJOULE_ORIGIN_POWER_SUPPLY,
};

/* What a domain's values are, and in which unit the readers get them. */
enum kjoule_quantity {
	/* Microjoule. */
	KJOULE_QUANTITY_ENERGY,
	/* Microwatt. */
	KJOULE_QUANTITY_POWER,
	/* Thousandth of a degree Celsius. */
	KJOULE_QUANTITY_TEMPERATURE,
	/* Events. */
	KJOULE_QUANTITY_COUNT,
};

/* Who is sampled. */
enum kjoule_target {
	/* Whatever runs on the session's CPUs. */
	KJOULE_TARGET_SYSTEM,
	/* One process with its threads. */
	KJOULE_TARGET_PROCESS,
	/* One thread. */
	KJOULE_TARGET_THREAD,
	/* The processes of a cgroup (version 2) and of those below it. */
	KJOULE_TARGET_CGROUP,
};

enum kjoule_session_flag {
	/* With target process, the children that it forks from now on as well. */
	KJOULE_FLAG_INHERIT = 1 << 0,
	/* Tick on idle CPUs too, instead of leaving them alone. */
	KJOULE_FLAG_WAKE_IDLE = 1 << 1,
	/* With each sample, who called (kernel frames). */
	KJOULE_FLAG_KERNEL_CHAIN = 1 << 2,
	/* With each sample, who called (user frames, by frame pointers). */
	KJOULE_FLAG_USER_CHAIN = 1 << 3,
	/* Registers and stack-bytes of the user stack, of tasks that the maker may trace. */
	KJOULE_FLAG_USER_STACK = 1 << 4,
};

/* What the multicast group "events" tells. */
enum kjoule_notice_event {
	KJOULE_EVENT_SESSION_STARTED,
	KJOULE_EVENT_SESSION_STOPPED,
	KJOULE_EVENT_SESSION_ENDED,
	KJOULE_EVENT_RING_NEAR_FULL,
	KJOULE_EVENT_RECORDS_LOST,
	KJOULE_EVENT_SOURCE_LOST,
	KJOULE_EVENT_CPU_GONE,
	KJOULE_EVENT_CPU_BACK,
};

enum kjoule_session_state {
	KJOULE_SESSION_NEW,
	KJOULE_SESSION_RUNNING,
	KJOULE_SESSION_STOPPED,
};

/* How a probe of frequency changes requests them. */
enum kjoule_transition_way {
	/* The driver's fast switch, interrupts off; the policy's governor has to be "kjoule". */
	KJOULE_TRANSITION_WAY_FAST,
	/* Both limits of freq QoS at once, whatever the driver and governor. */
	KJOULE_TRANSITION_WAY_LIMITS,
};

enum kjoule_transition_outcome {
	/* All loops that were wanted have been timed. */
	KJOULE_TRANSITION_OUTCOME_DONE,
	/* The time was up before that; those that there are can be had. */
	KJOULE_TRANSITION_OUTCOME_TIMEOUT,
	/* As many loops as were allowed for, and no row of them like the second frequency's. */
	KJOULE_TRANSITION_OUTCOME_LOOPS,
	/* Loops were never like those at the first frequency, in the time that there was. */
	KJOULE_TRANSITION_OUTCOME_NOT_AT_FROM,
};

enum {
	/* Number within the source; the bit in a kjoule_energy record. */
	KJOULE_A_DOMAIN_INDEX = 1,	/* u32 */
	/* The field's own name: package, core, dram. */
	KJOULE_A_DOMAIN_NAME,	/* string */
	/* As in the device's header. */
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
	KJOULE_A_DOMAIN_QUANTITY,	/* u32 */
	/* Raw values from 0 to this, then from 0 again; 0: 2^width - 1. */
	KJOULE_A_DOMAIN_RANGE,	/* u64 */

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
	/* Why it cannot be used. */
	KJOULE_A_SOURCE_REASON,	/* string */
	/* 1 if a session that names no source gets this one. */
	KJOULE_A_SOURCE_DEFAULT,	/* u32 */
	/* 1 if the frequency told is the request, not the grant. */
	KJOULE_A_SOURCE_REQUESTED_ONLY,	/* u32 */
	KJOULE_A_SOURCE_REFERENCE_KHZ,	/* u64 */
	KJOULE_A_SOURCE_DOMAIN,	/* nest of domain */
	KJOULE_A_SOURCE_ORIGIN,	/* u32 */
	/* Of the thread that reads it; 0: it is read in the tick. */
	KJOULE_A_SOURCE_PERIOD_NS,	/* u64 */
	/* By that thread. */
	KJOULE_A_SOURCE_READS,	/* u64 */
	/* Reads that failed, there. */
	KJOULE_A_SOURCE_ERRORS,	/* u64 */
	/* Reads that took longer than the period, there. */
	KJOULE_A_SOURCE_OVERRUNS,	/* u64 */
	/* A u32 for each CPU of the session, ascending: the lowest that shares its counters. */
	KJOULE_A_SOURCE_SCOPES,	/* binary */
	/* Of a meter that starts on command: a reading is the mean over so long. */
	KJOULE_A_SOURCE_READY_NS,	/* u64 */

	__KJOULE_A_SOURCE_MAX,
	KJOULE_A_SOURCE_MAX = (__KJOULE_A_SOURCE_MAX - 1)
};

enum {
	KJOULE_A_SPEC_ORIGIN = 1,	/* u32 */
	/* Without control characters; for origin registered and power-supply, which one. */
	KJOULE_A_SPEC_NAME,	/* string */
	/* As in the device's header. */
	KJOULE_A_SPEC_CLASS,	/* u32 */
	KJOULE_A_SPEC_QUANTITY,	/* u32 */
	/* A raw count is unit-mult / 2^unit-shift of the quantity's unit; 1 if left out. */
	KJOULE_A_SPEC_UNIT_MULT,	/* u64 */
	KJOULE_A_SPEC_UNIT_SHIFT,	/* u32 */
	/* The counter goes from 0 to this and from 0 again; 0: 64 bits. */
	KJOULE_A_SPEC_RANGE,	/* u64 */
	/* Between two reads of a file; 0 for the default. */
	KJOULE_A_SPEC_PERIOD_NS,	/* u64 */
	/* Of the value file. */
	KJOULE_A_SPEC_FD,	/* u32 */
	KJOULE_A_SPEC_PERF_TYPE,	/* u32 */
	KJOULE_A_SPEC_PERF_CONFIG,	/* u64 */

	__KJOULE_A_SPEC_MAX,
	KJOULE_A_SPEC_MAX = (__KJOULE_A_SPEC_MAX - 1)
};

enum {
	/* Given by the kernel; names the session in every other call. */
	KJOULE_A_SESSION_ID = 1,	/* u32 */
	/* Time between ticks. */
	KJOULE_A_SESSION_INTERVAL_NS,	/* u64 */
	/* Ticks are delayed by a random time below this, alike on all CPUs. */
	KJOULE_A_SESSION_JITTER_NS,	/* u64 */
	KJOULE_A_SESSION_TARGET,	/* u32 */
	/* Process or thread id in the caller's pid namespace, for these targets. */
	KJOULE_A_SESSION_PID,	/* u32 */
	/* Bit mask of CPUs, little endian bytes; all present ones if left out. */
	KJOULE_A_SESSION_CPUS,	/* binary */
	/* Data bytes of each CPU's ring, a power of two; 0 for the default. */
	KJOULE_A_SESSION_RING_BYTES,	/* u32 */
	/* Wake the reader when so many bytes wait; a quarter of the ring if left out. */
	KJOULE_A_SESSION_WAKEUP_BYTES,	/* u32 */
	/* By name; the default one if left out, none if empty. */
	KJOULE_A_SESSION_ENERGY_SOURCE,	/* string */
	/* By name; the default one if left out, none if empty. */
	KJOULE_A_SESSION_FREQUENCY_SOURCE,	/* string */
	/* enum kjoule_session_flag. */
	KJOULE_A_SESSION_FLAGS,	/* u64 */
	KJOULE_A_SESSION_STATE,	/* u32 */
	/* CLOCK_MONOTONIC at which tick 0 was due, random phase included. */
	KJOULE_A_SESSION_T0_NS,	/* u64 */
	/* Of the jitter: see kjoule_jitter() in the ABI document. */
	KJOULE_A_SESSION_SEED,	/* u64 */
	/* CLOCK_MONOTONIC at which the session was stopped. */
	KJOULE_A_SESSION_STOP_NS,	/* u64 */
	/* The sources in use, by their number in records; the frequency source last. */
	KJOULE_A_SESSION_SOURCE_INFO,	/* nest of source */
	/* A directory of cgroup version 2, for target cgroup. */
	KJOULE_A_SESSION_CGROUP_FD,	/* u32 */
	/* Sources besides or instead of energy-source. */
	KJOULE_A_SESSION_SOURCE,	/* nest of source-spec */
	/* At most so many frames of each kind; 127 if left out. */
	KJOULE_A_SESSION_CHAIN_DEPTH,	/* u32 */
	/* Of the user stack, a multiple of 8; 8192 if left out. */
	KJOULE_A_SESSION_STACK_BYTES,	/* u32 */
	/* With flag inherit: processes that are sampled now. */
	KJOULE_A_SESSION_CHILDREN,	/* u32 */
	/* Children that could not be followed for want of memory. */
	KJOULE_A_SESSION_CHILDREN_LOST,	/* u64 */
	/* Edge windows: hold the CPUs for so many thousandths of the time, 30 to 500. */
	KJOULE_A_SESSION_EDGE_DUTY,	/* u32 */
	/* So many were measured. */
	KJOULE_A_SESSION_EDGE_WINDOWS,	/* u64 */
	/* And so many in which the CPUs were held from edge to edge. */
	KJOULE_A_SESSION_EDGE_SPINS,	/* u64 */
	/* In so many no edge came in time, or a CPU did not. */
	KJOULE_A_SESSION_EDGE_FAILED,	/* u64 */
	/* The CPU that was held most was held for so long, searches for edges included. */
	KJOULE_A_SESSION_EDGE_HELD_NS,	/* u64 */
	/* No CPU was held for longer at a time, failed windows and searches included. */
	KJOULE_A_SESSION_EDGE_LONGEST_NS,	/* u64 */
	/* Have readings of blocks so far apart on the average; 0 for a default. */
	KJOULE_A_SESSION_VPM_INTERVAL_NS,	/* u64 */
	/* By a meter that starts on command; the first one if left out. */
	KJOULE_A_SESSION_VPM_SOURCE,	/* string */
	/* Its sensing interval. */
	KJOULE_A_SESSION_VPM_READY_NS,	/* u64 */
	/* The most there is for it to measure, 0 if unknown. */
	KJOULE_A_SESSION_VPM_PEAK_UW,	/* u64 */
	/* The least that it measured when the session was made. */
	KJOULE_A_SESSION_VPM_REST_UW,	/* u64 */
	/* So many were told by a record. */
	KJOULE_A_SESSION_VPM_READINGS,	/* u64 */
	/* Times that nobody came by the block. */
	KJOULE_A_SESSION_VPM_UNMET,	/* u64 */
	/* Times that who came by was not stopped in time, without a record of it. */
	KJOULE_A_SESSION_VPM_UNENDED,	/* u64 */
	/* Times that it was called from another place than was awaited. */
	KJOULE_A_SESSION_VPM_ELSEWHERE,	/* u64 */
	/* Readings of no use: those with KJOULE_READING_MOVED or KJOULE_READING_LATE. */
	KJOULE_A_SESSION_VPM_SPOILT,	/* u64 */
	/* Times that the meter, a breakpoint or the ring failed. */
	KJOULE_A_SESSION_VPM_FAILED,	/* u64 */
	/* For so long a CPU was held. */
	KJOULE_A_SESSION_VPM_HELD_NS,	/* u64 */
	/* At most so long at a time. */
	KJOULE_A_SESSION_VPM_LONGEST_NS,	/* u64 */
	/* Of its process, in the caller's pid namespace. */
	KJOULE_A_SESSION_BLOCK_PID,	/* u32 */
	/* Address of a block's first instruction. */
	KJOULE_A_SESSION_BLOCK_START,	/* u64 */
	/* Of the one right behind that. */
	KJOULE_A_SESSION_BLOCK_NEXT,	/* u64 */
	/* Where it has ended, be it in a recursion; left out: where its function returns to. */
	KJOULE_A_SESSION_BLOCK_END,	/* u64 */
	/* The block's number in records. */
	KJOULE_A_SESSION_BLOCK,	/* u32 */
	/* The sum of readings, learnt, unmet, unended, elsewhere, crowded, failed and cut. */
	KJOULE_A_SESSION_VPM_ROUNDS,	/* u64 */
	/* Rounds that only looked where the block returns to, before the first reading of it. */
	KJOULE_A_SESSION_VPM_LEARNT,	/* u64 */
	/* Rounds that the session's end broke off. */
	KJOULE_A_SESSION_VPM_CUT,	/* u64 */
	/* Rounds given up: the block's end was passed too often, before it or within it. */
	KJOULE_A_SESSION_VPM_CROWDED,	/* u64 */
	/* Rounds not begun: no CPU was there, one was on its way, or the process had ended. */
	KJOULE_A_SESSION_VPM_SKIPPED,	/* u64 */
	/* Times that no windows could be: a CPU outside the session, or its reader away. */
	KJOULE_A_SESSION_EDGE_PAUSED,	/* u64 */
	/* Effective uid of who made it, in the initial user namespace. */
	KJOULE_A_SESSION_USER,	/* u32 */

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
	/* Time spent idle while the ticks were parked. */
	KJOULE_A_STATS_IDLE_NS,	/* u64 */
	/* User stacks not copied, of tasks that the maker could not trace. */
	KJOULE_A_STATS_STACKS_WITHHELD,	/* u64 */

	__KJOULE_A_STATS_MAX,
	KJOULE_A_STATS_MAX = (__KJOULE_A_STATS_MAX - 1)
};

enum {
	KJOULE_A_RECORDS_SESSION = 1,	/* u32 */
	KJOULE_A_RECORDS_CPU,	/* u32 */
	/* Whole records of that CPU's ring, see kjoule.h. */
	KJOULE_A_RECORDS_DATA,	/* binary */

	__KJOULE_A_RECORDS_MAX,
	KJOULE_A_RECORDS_MAX = (__KJOULE_A_RECORDS_MAX - 1)
};

enum {
	KJOULE_A_NOTICE_EVENT = 1,	/* u32 */
	/* CLOCK_MONOTONIC */
	KJOULE_A_NOTICE_TIME_NS,	/* u64 */
	KJOULE_A_NOTICE_SESSION,	/* u32 */
	KJOULE_A_NOTICE_CPU,	/* u32 */
	KJOULE_A_NOTICE_SOURCE,	/* string */
	/* Records lost so far, or bytes that wait. */
	KJOULE_A_NOTICE_COUNT,	/* u64 */
	/* With session-ended: uid of who ended the session, if not its owner. */
	KJOULE_A_NOTICE_USER,	/* u32 */

	__KJOULE_A_NOTICE_MAX,
	KJOULE_A_NOTICE_MAX = (__KJOULE_A_NOTICE_MAX - 1)
};

enum {
	KJOULE_A_TRANSITION_ID = 1,	/* u32 */
	KJOULE_A_TRANSITION_CPU,	/* u32 */
	KJOULE_A_TRANSITION_WAY,	/* u32 */
	/* Dependent additions in a loop, 64 to 1000000. */
	KJOULE_A_TRANSITION_ADDS,	/* u32 */
	/* cpufreq's driver. */
	KJOULE_A_TRANSITION_DRIVER,	/* string */
	/* CPUs of the policy: bit n of byte n / 8. */
	KJOULE_A_TRANSITION_CPUS,	/* binary */
	/* Limits of the policy as they are now. */
	KJOULE_A_TRANSITION_MIN_KHZ,	/* u32 */
	KJOULE_A_TRANSITION_MAX_KHZ,	/* u32 */
	/* Source that cycles of loops are from; none: there is none, or it could not be read. */
	KJOULE_A_TRANSITION_COUNTER,	/* string */
	/* At which that source's reference counts. */
	KJOULE_A_TRANSITION_REFERENCE_KHZ,	/* u64 */
	KJOULE_A_TRANSITION_FROM_KHZ,	/* u32 */
	KJOULE_A_TRANSITION_TO_KHZ,	/* u32 */
	/* A loop at the first frequency takes no less. */
	KJOULE_A_TRANSITION_FROM_LO_NS,	/* u32 */
	/* And no more. */
	KJOULE_A_TRANSITION_FROM_HI_NS,	/* u32 */
	KJOULE_A_TRANSITION_TO_LO_NS,	/* u32 */
	KJOULE_A_TRANSITION_TO_HI_NS,	/* u32 */
	/* Loops before the request; so many to twice as many, at random. */
	KJOULE_A_TRANSITION_LEAD,	/* u32 */
	/* To be timed, after a request no more than so many. */
	KJOULE_A_TRANSITION_LOOPS,	/* u32 */
	/* Loops from the first one on that was like the second frequency's. */
	KJOULE_A_TRANSITION_CONFIRM,	/* u32 */
	/* Of a change, from its request on; of calibration, the wait before the loops. */
	KJOULE_A_TRANSITION_TIMEOUT_NS,	/* u64 */
	/* No longer with interrupts off, but for a loop with a change and four more. */
	KJOULE_A_TRANSITION_SLICE_NS,	/* u64 */
	KJOULE_A_TRANSITION_OUTCOME,	/* u32 */
	/* Loops that can be had by transition-loops-get. */
	KJOULE_A_TRANSITION_COUNT,	/* u32 */
	/* How long the request took. */
	KJOULE_A_TRANSITION_REQUEST_NS,	/* u64 */
	/* Interrupts were off for no longer at a time. */
	KJOULE_A_TRANSITION_IRQS_OFF_NS,	/* u64 */
	/* When that began: CLOCK_MONOTONIC. */
	KJOULE_A_TRANSITION_IRQS_OFF_FROM_NS,	/* u64 */
	/* Times that interrupts were let in between loops. */
	KJOULE_A_TRANSITION_CUT,	/* u32 */
	/* When the request was made: CLOCK_MONOTONIC. */
	KJOULE_A_TRANSITION_ASKED_NS,	/* u64 */
	/* struct kjoule_loop, one after the other; see kjoule.h. */
	KJOULE_A_TRANSITION_DATA,	/* binary */

	__KJOULE_A_TRANSITION_MAX,
	KJOULE_A_TRANSITION_MAX = (__KJOULE_A_TRANSITION_MAX - 1)
};

enum {
	/* Of a file of sysfs, open for writing. */
	KJOULE_A_RESTORE_FD = 1,	/* u32 */
	KJOULE_A_RESTORE_VALUE,	/* string */

	__KJOULE_A_RESTORE_MAX,
	KJOULE_A_RESTORE_MAX = (__KJOULE_A_RESTORE_MAX - 1)
};

enum {
	/* List sources, why they can or cannot be used, and which is the default. */
	KJOULE_CMD_SOURCE_GET = 1,
	/* Make a session. At most 64; 16 a user without CAP_SYS_ADMIN, the last 16 only with it. */
	KJOULE_CMD_SESSION_NEW,
	/* Start a session's ticks. */
	KJOULE_CMD_SESSION_START,
	/* Stop a session's ticks. Its rings stay readable. */
	KJOULE_CMD_SESSION_STOP,
	/* End a session; with CAP_SYS_ADMIN, also one of another socket. */
	KJOULE_CMD_SESSION_DEL,
	/* One session, or all. */
	KJOULE_CMD_SESSION_GET,
	/* The books of a session; do adds them up, dump has a message for each CPU. */
	KJOULE_CMD_STATS_GET,
	/* Take the records out of a session's rings, up to what is there when the dump begins. */
	KJOULE_CMD_RECORDS_GET,
	/* Something has become of a session; see notice-event. */
	KJOULE_CMD_NOTICE,
	/* Send notices to this socket too. Sockets are limited as sessions are, see session-new. */
	KJOULE_CMD_NOTICE_LISTEN,
	/* Have readings of a block, in a session with vpm-interval-ns; it may run. */
	KJOULE_CMD_SESSION_BLOCK,
	/* Make a probe of frequency changes on a CPU, one a policy; it ends with its socket. */
	KJOULE_CMD_TRANSITION_NEW,
	/* End a probe. */
	KJOULE_CMD_TRANSITION_DEL,
	/* Have a frequency, wait, and time loops at it. */
	KJOULE_CMD_TRANSITION_CALIBRATE,
	/* Have a frequency, request another one, and time loops until it is there. */
	KJOULE_CMD_TRANSITION_TRY,
	/* The loops that were timed last. */
	KJOULE_CMD_TRANSITION_LOOPS_GET,
	/* Write this when the socket is closed, or at restore-now; the last one first. */
	KJOULE_CMD_RESTORE_ADD,
	/* Write all that this socket wants restored, and fail if any of it cannot be. */
	KJOULE_CMD_RESTORE_NOW,

	__KJOULE_CMD_MAX,
	KJOULE_CMD_MAX = (__KJOULE_CMD_MAX - 1)
};

#endif /* _UAPI_LINUX_KJOULE_NETLINK_H */
