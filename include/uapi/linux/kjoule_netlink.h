/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/* Generated from Documentation/netlink/specs/kjoule.yaml by scripts/gen-netlink; do not edit. */
#ifndef _UAPI_LINUX_KJOULE_NETLINK_H
#define _UAPI_LINUX_KJOULE_NETLINK_H

#define KJOULE_FAMILY_NAME	"kjoule"
#define KJOULE_FAMILY_VERSION	1
#define KJOULE_MCGRP_EVENTS	"events"

enum kjoule_source_kind {
	/* Counters that only increase. */
	KJOULE_KIND_ENERGY,
	/* Of one CPU. */
	KJOULE_KIND_FREQUENCY,
	/* Instantaneous values, such as power or temperature. */
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

/* What a domain's values are, and their unit. */
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

/* Which tasks are sampled. */
enum kjoule_target_kind {
	/* All tasks on the session's CPUs. */
	KJOULE_TARGET_SYSTEM,
	/* One process with its threads. */
	KJOULE_TARGET_PROCESS,
	/* One thread. */
	KJOULE_TARGET_THREAD,
	/* The processes of a cgroup (version 2) and of those below it. */
	KJOULE_TARGET_CGROUP,
};

enum kjoule_session_flag {
	/* With target process, also the children that it forks from now on. */
	KJOULE_FLAG_INHERIT = 1 << 0,
	/* Tick on idle CPUs too, instead of skipping their ticks. */
	KJOULE_FLAG_WAKE_IDLE = 1 << 1,
	/* With each sample, the call chain (kernel frames). */
	KJOULE_FLAG_KERNEL_CHAIN = 1 << 2,
	/* With each sample, the call chain (user frames, by frame pointers). */
	KJOULE_FLAG_USER_CHAIN = 1 << 3,
	/* Registers and stack-bytes of the user stack, of tasks that the creator may trace. */
	KJOULE_FLAG_USER_STACK = 1 << 4,
};

/* Events that the multicast group "events" reports. */
enum kjoule_notice_event {
	KJOULE_EVENT_SESSION_STARTED,
	KJOULE_EVENT_SESSION_STOPPED,
	KJOULE_EVENT_SESSION_ENDED,
	KJOULE_EVENT_RING_NEAR_FULL,
	KJOULE_EVENT_RECORDS_LOST,
	KJOULE_EVENT_SOURCE_LOST,
	KJOULE_EVENT_CPU_OFFLINE,
	KJOULE_EVENT_CPU_ONLINE,
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
	/* All requested loops were timed. */
	KJOULE_TRANSITION_OUTCOME_DONE,
	/* The time was up before that; the loops timed until then are available. */
	KJOULE_TRANSITION_OUTCOME_TIMEOUT,
	/* The maximum of loops was timed, and no series of them matched the second frequency. */
	KJOULE_TRANSITION_OUTCOME_LOOPS,
	/* No loops matched the first frequency in time. */
	KJOULE_TRANSITION_OUTCOME_NOT_AT_FROM,
};

enum {
	/* Number within the source; the bit in a kjoule_energy record. */
	KJOULE_A_DOMAIN_INDEX = 1,	/* u32 */
	/* package, core, dram, ... */
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
	/* Nominal time between two counter updates, 0 if unknown. */
	KJOULE_A_DOMAIN_UPDATE_PERIOD_NS,	/* u64 */
	KJOULE_A_DOMAIN_QUANTITY,	/* u32 */
	/* Raw values wrap to 0 after this; 0: 2^width - 1. */
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
	/* 1 if the frequency is the requested one, not measured. */
	KJOULE_A_SOURCE_REQUESTED_ONLY,	/* u32 */
	KJOULE_A_SOURCE_REFERENCE_KHZ,	/* u64 */
	KJOULE_A_SOURCE_DOMAIN,	/* nest of domain */
	KJOULE_A_SOURCE_ORIGIN,	/* u32 */
	/* Between two reads by a thread; 0: it is read in the tick. */
	KJOULE_A_SOURCE_PERIOD_NS,	/* u64 */
	/* By that thread. */
	KJOULE_A_SOURCE_READS,	/* u64 */
	/* Reads by that thread that failed. */
	KJOULE_A_SOURCE_ERRORS,	/* u64 */
	/* Reads by that thread that took longer than the period. */
	KJOULE_A_SOURCE_OVERRUNS,	/* u64 */
	/* A u32 for each CPU of the session, ascending: the lowest that shares its counters. */
	KJOULE_A_SOURCE_SCOPES,	/* binary */
	/* Of a meter that starts on command: its sensing interval. */
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
	/* The counter wraps to 0 after this value; 0: 64 bits. */
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
	/* Assigned by the kernel; identifies the session in all other operations. */
	KJOULE_A_SESSION_ID = 1,	/* u32 */
	/* Time between ticks. */
	KJOULE_A_SESSION_INTERVAL_NS,	/* u64 */
	/* Ticks are delayed by a random time below this, the same on all CPUs. */
	KJOULE_A_SESSION_JITTER_NS,	/* u64 */
	KJOULE_A_SESSION_TARGET,	/* u32 */
	/* Process or thread id in the caller's pid namespace, for these targets. */
	KJOULE_A_SESSION_PID,	/* u32 */
	/* Bit mask of CPUs, little endian bytes; all present ones if left out. */
	KJOULE_A_SESSION_CPUS,	/* binary */
	/* Data bytes of each CPU's ring, a power of two; 0 for the default. */
	KJOULE_A_SESSION_RING_BYTES,	/* u32 */
	/* Wake the reader when this many bytes wait; a quarter of the ring if left out. */
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
	/* Sources in addition to or instead of energy-source. */
	KJOULE_A_SESSION_SOURCE,	/* nest of source-spec */
	/* Maximum frames of each kind; 127 if left out. */
	KJOULE_A_SESSION_CHAIN_DEPTH,	/* u32 */
	/* Of the user stack, a multiple of 8; 8192 if left out. */
	KJOULE_A_SESSION_STACK_BYTES,	/* u32 */
	/* With flag inherit: number of processes sampled now. */
	KJOULE_A_SESSION_CHILDREN,	/* u32 */
	/* Children that could not be followed, without memory. */
	KJOULE_A_SESSION_CHILDREN_LOST,	/* u64 */
	/* Edge windows: thousandths of the time in which CPUs may be paused, 30 to 500. */
	KJOULE_A_SESSION_EDGE_DUTY,	/* u32 */
	/* Windows measured. */
	KJOULE_A_SESSION_EDGE_WINDOWS,	/* u64 */
	/* Windows in which the CPUs were paused from update to update. */
	KJOULE_A_SESSION_EDGE_SPINS,	/* u64 */
	/* Windows without a counter update in time, or in which a CPU was not paused. */
	KJOULE_A_SESSION_EDGE_FAILED,	/* u64 */
	/* Total pause of the CPU that was paused longest, polling for updates included. */
	KJOULE_A_SESSION_EDGE_PAUSED_NS,	/* u64 */
	/* The longest pause of any CPU, failed windows and polling included. */
	KJOULE_A_SESSION_EDGE_PAUSED_MAX_NS,	/* u64 */
	/* Mean interval between readings of blocks; 0 for the default. */
	KJOULE_A_SESSION_VPM_INTERVAL_NS,	/* u64 */
	/* Name of a meter that starts on command; the first one if left out. */
	KJOULE_A_SESSION_VPM_SOURCE,	/* string */
	/* Its sensing interval. */
	KJOULE_A_SESSION_VPM_READY_NS,	/* u64 */
	/* The highest power that it can measure, 0 if unknown. */
	KJOULE_A_SESSION_VPM_MAX_UW,	/* u64 */
	/* The lowest power that it measured when the session was created. */
	KJOULE_A_SESSION_VPM_MIN_UW,	/* u64 */
	/* Trials with a record. */
	KJOULE_A_SESSION_VPM_READINGS,	/* u64 */
	/* Trials in which the breakpoint was not hit. */
	KJOULE_A_SESSION_VPM_NO_HIT,	/* u64 */
	/* Trials in which the task was not stopped in time, without a record. */
	KJOULE_A_SESSION_VPM_NO_END,	/* u64 */
	/* Trials hit by another task, or by a call from another place than expected. */
	KJOULE_A_SESSION_VPM_MISMATCHED,	/* u64 */
	/* Readings with KJOULE_READING_DISTURBED or KJOULE_READING_LATE. */
	KJOULE_A_SESSION_VPM_UNUSABLE,	/* u64 */
	/* Trials in which the meter, a breakpoint or the ring failed. */
	KJOULE_A_SESSION_VPM_FAILED,	/* u64 */
	/* Total time in which a CPU was paused. */
	KJOULE_A_SESSION_VPM_PAUSED_NS,	/* u64 */
	/* The longest pause. */
	KJOULE_A_SESSION_VPM_PAUSED_MAX_NS,	/* u64 */
	/* Of its process, in the caller's pid namespace. */
	KJOULE_A_SESSION_BLOCK_PID,	/* u32 */
	/* Address of a block's first instruction. */
	KJOULE_A_SESSION_BLOCK_START,	/* u64 */
	/* Address of the next instruction. */
	KJOULE_A_SESSION_BLOCK_NEXT,	/* u64 */
	/* Address of its end, also in a recursion; its function's return address if left out. */
	KJOULE_A_SESSION_BLOCK_END,	/* u64 */
	/* The block's number in records. */
	KJOULE_A_SESSION_BLOCK,	/* u32 */
	/* The sum of readings, learnt, no-hit, no-end, mismatched, overrun, failed and aborted. */
	KJOULE_A_SESSION_VPM_TRIALS,	/* u64 */
	/* Trials that only found the block's return address, before its first reading. */
	KJOULE_A_SESSION_VPM_LEARNT,	/* u64 */
	/* Trials aborted by the session's end. */
	KJOULE_A_SESSION_VPM_ABORTED,	/* u64 */
	/* Trials given up: the breakpoint at the block's end was hit too often. */
	KJOULE_A_SESSION_VPM_OVERRUN,	/* u64 */
	/* Trials not begun: no CPU online, CPU hotplug, or the process had ended. */
	KJOULE_A_SESSION_VPM_SKIPPED,	/* u64 */
	/* Times without windows: a CPU outside the session is online, or its reader is not. */
	KJOULE_A_SESSION_EDGE_BLOCKED,	/* u64 */
	/* Effective uid of its creator, in the initial user namespace. */
	KJOULE_A_SESSION_USER,	/* u32 */

	__KJOULE_A_SESSION_MAX,
	KJOULE_A_SESSION_MAX = (__KJOULE_A_SESSION_MAX - 1)
};

enum {
	KJOULE_A_STATS_SESSION = 1,	/* u32 */
	KJOULE_A_STATS_CPU,	/* u32 */
	/* due = taken + missed + skipped */
	KJOULE_A_STATS_DUE,	/* u64 */
	KJOULE_A_STATS_TAKEN,	/* u64 */
	KJOULE_A_STATS_MISSED,	/* u64 */
	KJOULE_A_STATS_SKIPPED,	/* u64 */
	/* Ticks taken without a sample: the task was not the target. */
	KJOULE_A_STATS_FILTERED,	/* u64 */
	/* records = consumed + lost + waiting */
	KJOULE_A_STATS_RECORDS,	/* u64 */
	KJOULE_A_STATS_CONSUMED,	/* u64 */
	KJOULE_A_STATS_LOST,	/* u64 */
	KJOULE_A_STATS_WAITING,	/* u64 */
	KJOULE_A_STATS_SAMPLES,	/* u64 */
	/* Time spent in the tick's own code. */
	KJOULE_A_STATS_TICK_NS,	/* u64 */
	/* The longest sampling delay. */
	KJOULE_A_STATS_DELAY_MAX_NS,	/* u64 */
	KJOULE_A_STATS_SOURCE_ERRORS,	/* u64 */
	/* Time spent idle while ticks were skipped. */
	KJOULE_A_STATS_IDLE_NS,	/* u64 */
	/* User stacks not copied, of tasks that the creator could not trace. */
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
	/* With session-ended: uid of the user that ended the session, if not its owner. */
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
	/* Source of the cycles of loops; absent if there is none, or it could not be read. */
	KJOULE_A_TRANSITION_COUNTER,	/* string */
	/* Rate of that source's reference. */
	KJOULE_A_TRANSITION_REFERENCE_KHZ,	/* u64 */
	KJOULE_A_TRANSITION_FROM_KHZ,	/* u32 */
	KJOULE_A_TRANSITION_TO_KHZ,	/* u32 */
	/* Minimum duration of a loop at the first frequency. */
	KJOULE_A_TRANSITION_FROM_LO_NS,	/* u32 */
	/* And the maximum. */
	KJOULE_A_TRANSITION_FROM_HI_NS,	/* u32 */
	KJOULE_A_TRANSITION_TO_LO_NS,	/* u32 */
	KJOULE_A_TRANSITION_TO_HI_NS,	/* u32 */
	/* Loops before the request; at random up to twice as many. */
	KJOULE_A_TRANSITION_LEAD,	/* u32 */
	/* Number of loops to time; after a request the maximum. */
	KJOULE_A_TRANSITION_LOOPS,	/* u32 */
	/* Number of loops from the first one that matched the second frequency. */
	KJOULE_A_TRANSITION_CONFIRM,	/* u32 */
	/* Of a change, from its request; of calibration, the wait before the loops. */
	KJOULE_A_TRANSITION_TIMEOUT_NS,	/* u64 */
	/* Maximum time with interrupts off, except for a loop with a change and four more. */
	KJOULE_A_TRANSITION_SLICE_NS,	/* u64 */
	KJOULE_A_TRANSITION_OUTCOME,	/* u32 */
	/* Number of loops available by transition-loops-get. */
	KJOULE_A_TRANSITION_COUNT,	/* u32 */
	/* Duration of the request. */
	KJOULE_A_TRANSITION_REQUEST_NS,	/* u64 */
	/* The longest time with interrupts off. */
	KJOULE_A_TRANSITION_IRQS_OFF_NS,	/* u64 */
	/* When that began: CLOCK_MONOTONIC. */
	KJOULE_A_TRANSITION_IRQS_OFF_FROM_NS,	/* u64 */
	/* Times that interrupts were enabled between loops. */
	KJOULE_A_TRANSITION_BREAKS,	/* u32 */
	/* When the request was made: CLOCK_MONOTONIC. */
	KJOULE_A_TRANSITION_REQUESTED_NS,	/* u64 */
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
	/* List sources, whether or why not they can be used, and which is the default. */
	KJOULE_CMD_SOURCE_GET = 1,
	/* Create a session. At most 64; 16 a user without CAP_SYS_ADMIN, the last 16 with it. */
	KJOULE_CMD_SESSION_NEW,
	/* Start a session's ticks. */
	KJOULE_CMD_SESSION_START,
	/* Stop a session's ticks. Its rings stay readable. */
	KJOULE_CMD_SESSION_STOP,
	/* End a session; with CAP_SYS_ADMIN, also one of another socket. */
	KJOULE_CMD_SESSION_DEL,
	/* One session, or all. */
	KJOULE_CMD_SESSION_GET,
	/* Statistics of a session; do has the sum, dump a message for each CPU. */
	KJOULE_CMD_STATS_GET,
	/* Consume the records of a session's rings that are there when the dump begins. */
	KJOULE_CMD_RECORDS_GET,
	/* An event of a session; see notice-event. */
	KJOULE_CMD_NOTICE,
	/* Send notices to this socket too. The number of sockets is limited as that of sessions. */
	KJOULE_CMD_NOTICE_LISTEN,
	/* Add a block to be read, in a session with vpm-interval-ns; it may run. */
	KJOULE_CMD_SESSION_BLOCK,
	/* Create a probe of frequency changes on a CPU, one a policy; it ends with its socket. */
	KJOULE_CMD_TRANSITION_NEW,
	/* End a probe. */
	KJOULE_CMD_TRANSITION_DEL,
	/* Request a frequency, wait, and time loops. */
	KJOULE_CMD_TRANSITION_CALIBRATE,
	/* Request a frequency and then another one, and time loops until it is reached. */
	KJOULE_CMD_TRANSITION_TRY,
	/* The loops of the last job. */
	KJOULE_CMD_TRANSITION_LOOPS_GET,
	/* Write this to a file when the socket is closed, or at restore-now; the last one first. */
	KJOULE_CMD_RESTORE_ADD,
	/* Write all values that this socket has added; fails if one cannot be written. */
	KJOULE_CMD_RESTORE_NOW,

	__KJOULE_CMD_MAX,
	KJOULE_CMD_MAX = (__KJOULE_CMD_MAX - 1)
};

#endif /* _UAPI_LINUX_KJOULE_NETLINK_H */
