/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The bulk data interface of kjoule: the rings, the records in them and the
 * ioctls of /dev/kjoule. Sessions are created and controlled through the generic
 * netlink family "kjoule" (kjoule_netlink.h); the device is attached to one.
 *
 * Everything is in the machine's byte order. Times are nanoseconds of
 * CLOCK_MONOTONIC, energies microjoules in 64 bits that never decrease,
 * frequencies kilohertz.
 */
#ifndef _UAPI_LINUX_KJOULE_H
#define _UAPI_LINUX_KJOULE_H

#include <linux/types.h>
#include <linux/ioctl.h>

/* Version of this interface; a larger number only adds. */
#define KJOULE_ABI_VERSION	1

#define KJOULE_DEVICE		"/dev/kjoule"

/* What part of the machine an energy domain covers. */
enum kjoule_domain_class {
	KJOULE_DOMAIN_OTHER = 0,
	KJOULE_DOMAIN_PACKAGE = 1,
	KJOULE_DOMAIN_CORE = 2,
	KJOULE_DOMAIN_UNCORE = 3,
	KJOULE_DOMAIN_DRAM = 4,
	KJOULE_DOMAIN_PSYS = 5,
};

/*
 * Records
 *
 * A ring holds records one after another, each aligned to 8 bytes and a multiple of 8 bytes long,
 * never split at the ring's end (KJOULE_RECORD_PAD fills it up). A reader skips unknown types by
 * their size.
 *
 * Ticks are numbered from 0; tick k of every CPU is due at t0 + k * interval (+ jitter, see
 * Documentation/abi/device.rst). Records carry the low 32 bits of k; within a ring k only grows.
 * A ring may have no record for a long time if only a process is sampled: a reader that records for
 * days finds out from @due of the ring how often 2^32 has wrapped.
 * The time of a record is that of its tick's due time plus delay_ns.
 */
enum kjoule_record_type {
	KJOULE_RECORD_PAD = 0,		/* struct kjoule_record, nothing else */
	KJOULE_RECORD_SAMPLE = 1,	/* struct kjoule_sample */
	KJOULE_RECORD_TASK = 2,		/* struct kjoule_task: of the samples that follow */
	KJOULE_RECORD_ENERGY = 3,	/* struct kjoule_energy: counters that were updated */
	KJOULE_RECORD_GAP = 4,		/* struct kjoule_gap: ticks that were missed */
	KJOULE_RECORD_LOST = 5,		/* struct kjoule_lost: records lost, the ring was full */
	KJOULE_RECORD_CPU = 6,		/* struct kjoule_cpu_mark: only from read() */
	KJOULE_RECORD_IDLE = 7,		/* struct kjoule_idle: ticks skipped while idle */
	KJOULE_RECORD_VALUE = 8,	/* struct kjoule_value: reading of a slow source */
	KJOULE_RECORD_CHAIN = 9,	/* struct kjoule_chain: call chain of the sample before */
	KJOULE_RECORD_STACK = 10,	/* struct kjoule_stack: user stack of the sample before */
	KJOULE_RECORD_WINDOW = 11,	/* struct kjoule_window: between two counter updates */
	KJOULE_RECORD_READING = 12,	/* struct kjoule_vpm_reading: of a meter, of a block */
	KJOULE_RECORD_DURATION = 13,	/* struct kjoule_duration: of the sample's tick */
};

/**
 * struct kjoule_record - how every record begins
 * @type:	enum kjoule_record_type
 * @flags:	depends on @type
 * @size:	of the whole record in bytes, a multiple of 8
 */
struct kjoule_record {
	__u8 type;
	__u8 flags;
	__u16 size;
};

/* kjoule_sample flags */
#define KJOULE_SAMPLE_KERNEL		(1 << 0)	/* kernel mode was interrupted */
#define KJOULE_SAMPLE_PRECISE		(1 << 1)	/* ip is the precise instruction */
#define KJOULE_SAMPLE_IDLE		(1 << 2)	/* the idle task was interrupted */
#define KJOULE_SAMPLE_FREQ_REQUESTED	(1 << 3)	/* freq_khz was requested, not measured */
#define KJOULE_SAMPLE_IP_HIDDEN		(1 << 4)	/* kernel ip withheld from this reader */
#define KJOULE_SAMPLE_SWITCH		(1 << 5)	/* taken at a task switch */

/**
 * struct kjoule_sample - the code interrupted by a tick
 * @rec:	type KJOULE_RECORD_SAMPLE; the task is that of the KJOULE_RECORD_TASK before.
 *		With KJOULE_SAMPLE_SWITCH the tick was due while the scheduler had interrupts off:
 *		@ip is schedule(), @freq_khz as at the tick before, and there is no chain
 * @tick:	low 32 bits of k
 * @delay_ns:	sampling delay: from the due time to when the tick was taken, 2^32 - 1 if longer
 * @freq_khz:	mean busy frequency of the CPU since its last tick, 0 if unknown
 * @ip:		instruction pointer, 0 if hidden
 */
struct kjoule_sample {
	struct kjoule_record rec;
	__u32 tick;
	__u32 delay_ns;
	__u32 freq_khz;
	__u64 ip;
};

/**
 * struct kjoule_task - the task that the samples after this one belong to
 * @rec:	type KJOULE_RECORD_TASK
 * @pid:	the thread's id (in the initial pid namespace), 0 for an idle task
 * @tgid:	the process's id
 * @reserved:	0
 */
struct kjoule_task {
	struct kjoule_record rec;
	__u32 pid;
	__u32 tgid;
	__u32 reserved;
};

/**
 * struct kjoule_energy - energy counters that were updated since the last such record
 * @rec:	type KJOULE_RECORD_ENERGY; flags: which of the session's sources, from 0
 * @tick:	low 32 bits of k
 * @delay_ns:	as in a sample: when they were read
 * @domains:	bit i: domain i of the source is among @energy_uj
 * @scope:	whose counters: the lowest CPU of the session among those that share them
 * @energy_uj:	64-bit microjoules since the session began (the domain's own unit if it counts
 *		something else), one for each bit set in @domains, lowest bit first
 *
 * At any time one CPU of those that share the counters writes these: another takes over when
 * it goes idle or offline. The first record has all domains.
 */
struct kjoule_energy {
	struct kjoule_record rec;
	__u32 tick;
	__u32 delay_ns;
	__u16 domains;
	__u16 scope;
	__u64 energy_uj[];
};

/* kjoule_gap flags */
#define KJOULE_GAP_OFFLINE		(1 << 0)	/* the CPU was offline */
#define KJOULE_GAP_SUSPENDED		(1 << 1)	/* the machine was suspended */

/**
 * struct kjoule_gap - ticks that were due but missed
 * @rec:	type KJOULE_RECORD_GAP; flags KJOULE_GAP_*
 * @tick:	low 32 bits of the first missed k
 * @count:	how many in a row
 */
struct kjoule_gap {
	struct kjoule_record rec;
	__u32 tick;
	__u64 count;
};

/**
 * struct kjoule_lost - records lost because the ring was full
 * @rec:	type KJOULE_RECORD_LOST
 * @tick:	low 32 bits of the tick at which the first was lost
 * @records:	how many records were lost
 * @samples:	how many of them were samples
 */
struct kjoule_lost {
	struct kjoule_record rec;
	__u32 tick;
	__u64 records;
	__u64 samples;
};

/**
 * struct kjoule_cpu_mark - the records after this one in a read() are of another CPU
 * @rec:	type KJOULE_RECORD_CPU
 * @cpu:	the CPU
 */
struct kjoule_cpu_mark {
	struct kjoule_record rec;
	__u32 cpu;
};

/**
 * struct kjoule_idle - ticks skipped because the CPU was idle at each of them
 * @rec:	type KJOULE_RECORD_IDLE
 * @tick:	low 32 bits of the first skipped k
 * @count:	how many in a row
 * @begin_ns:	CLOCK_MONOTONIC when the CPU switched to its idle task, or the last such record's
 *		@end_ns if it has been idle ever since
 * @end_ns:	when it switched to another task, or the ticks were counted
 *
 * Idle times in which no tick was due have no record; the ring's @idle_ns has them all.
 */
struct kjoule_idle {
	struct kjoule_record rec;
	__u32 tick;
	__u64 count;
	__u64 begin_ns;
	__u64 end_ns;
};

/**
 * struct kjoule_value - a reading of a source that is too slow for a tick
 * @rec:	type KJOULE_RECORD_VALUE; flags: which of the session's sources, from 0
 * @tick:	low 32 bits of the k that is due next
 * @duration_ns:	of the reading, 2^32 - 1 if longer
 * @domain:	of the source
 * @reserved:	0
 * @time_ns:	CLOCK_MONOTONIC when the reading began
 * @value:	by the domain's quantity (kjoule_netlink.h): energy in microjoules since the session
 *		began, power in microwatts, temperature in thousandths of a degree Celsius, counts
 *
 * Written into the ring of whichever CPU the reading thread was on.
 */
struct kjoule_value {
	struct kjoule_record rec;
	__u32 tick;
	__u32 duration_ns;
	__u16 domain;
	__u16 reserved;
	__u64 time_ns;
	__s64 value;
};

/* kjoule_chain flags */
#define KJOULE_CHAIN_KERNEL_CUT		(1 << 0)	/* there were more kernel frames */
#define KJOULE_CHAIN_USER_CUT		(1 << 1)	/* there may be more user frames */
#define KJOULE_CHAIN_KERNEL_HIDDEN	(1 << 2)	/* kernel frames are withheld */

/**
 * struct kjoule_chain - call chain of the KJOULE_RECORD_SAMPLE right before it
 * @rec:	type KJOULE_RECORD_CHAIN; flags KJOULE_CHAIN_*
 * @kernel:	number of kernel addresses in @ip; these come first
 * @user:	number of user space addresses
 * @ip:		return addresses, innermost first, without the sample's own address. If kernel
 *		code was interrupted, the first user address is where user space entered the kernel
 */
struct kjoule_chain {
	struct kjoule_record rec;
	__u16 kernel;
	__u16 user;
	__u64 ip[];
};

/* Registers of struct kjoule_stack, by their DWARF numbers on x86-64. */
#define KJOULE_STACK_REGS	17	/* rax rdx rcx rbx rsi rdi rbp rsp r8 .. r15 rip */

/* kjoule_stack flags */
#define KJOULE_STACK_WITHHELD	(1 << 0)	/* the session's creator could not trace the task */

/**
 * struct kjoule_stack - user stack of the sample before it, to be unwound later
 * @rec:	type KJOULE_RECORD_STACK; flags KJOULE_STACK_*; if withheld all below is 0
 * @bytes:	valid bytes of @data
 * @reg:	user registers
 * @data:	memory from the stack pointer upwards, filled up to a multiple of 8
 */
struct kjoule_stack {
	struct kjoule_record rec;
	__u32 bytes;
	__u64 reg[KJOULE_STACK_REGS];
	__u8 data[];
};

/**
 * struct kjoule_duration - of a tick that recorded a call chain or a user stack
 * @rec:	type KJOULE_RECORD_DURATION; after the tick's sample, chain and stack
 * @tick:	low 32 bits of k
 * @duration_ns: time in the tick's own code, 2^32 - 1 if longer
 * @reserved:	0
 */
struct kjoule_duration {
	struct kjoule_record rec;
	__u32 tick;
	__u32 duration_ns;
	__u32 reserved;
};

/* kjoule_window flags, besides KJOULE_SAMPLE_* of where the CPU was paused */
#define KJOULE_WINDOW_LEADER	(1 << 5)	/* of the CPU that reads the counter */
#define KJOULE_WINDOW_SPIN	(1 << 6)	/* all CPUs were paused from update to update */
#define KJOULE_WINDOW_FAILED	(1 << 7)	/* no update in time, or a CPU was not paused */

/**
 * struct kjoule_window - from one update of an energy counter to a later one
 * @rec:	type KJOULE_RECORD_WINDOW; flags KJOULE_WINDOW_*, and KJOULE_SAMPLE_* for @ip
 * @tick:	low 32 bits of the next tick of the CPU
 * @number:	of the window: all CPUs of a package write one with the same number
 * @scope:	the lowest CPU of the session among those that share the counter
 * @domain:	of the session's first source
 * @poll_ns:	CLOCK_MONOTONIC at which this CPU began to poll for the first update, running
 *		nothing else; @begin_ns if another CPU did, or the window before ended with it
 * @begin_ns:	when the first update was seen; @pause_ns if it was not, and the CPU has run
 *		nothing since @poll_ns (KJOULE_WINDOW_FAILED)
 * @run_ns:	when this CPU began to run, @begin_ns or later
 * @pause_ns:	when this CPU was paused
 * @end_ns:	when the next update was seen, and the CPUs were released
 * @begin_uj:	energy at @begin_ns, to be compared with @end_uj only; 0 unless it is the leader's
 * @end_uj:	the same at @end_ns
 * @ip:		where the CPU was paused, 0 if hidden or not the target
 *
 * If the target was paused a KJOULE_RECORD_TASK names it, as for samples. Only the leader writes
 * those of KJOULE_WINDOW_SPIN.
 */
struct kjoule_window {
	struct kjoule_record rec;
	__u32 tick;
	__u32 number;
	__u16 scope;
	__u16 domain;
	__u64 poll_ns;
	__u64 begin_ns;
	__u64 run_ns;
	__u64 pause_ns;
	__u64 end_ns;
	__u64 begin_uj;
	__u64 end_uj;
	__u64 ip;
};

/* kjoule_vpm_reading flags */
#define KJOULE_READING_DELAYED		(1 << 0)	/* stopped at the block's end */
#define KJOULE_READING_PAUSED		(1 << 1)	/* stopped before the meter was started */
#define KJOULE_READING_DISTURBED	(1 << 2)	/* slept, migrated, CPU hotplug */
#define KJOULE_READING_LATE		(1 << 3)	/* ready before the program was stopped */

/**
 * struct kjoule_vpm_reading - of a meter that was started at a block's first instruction
 * @rec:	type KJOULE_RECORD_READING; flags KJOULE_READING_*
 * @tick:	low 32 bits of the next tick of the CPU
 * @number:	of the trial; those without a result have no record
 * @block:	in the order in which the session got them, from 0
 * @reserved:	0
 * @pid:	of the task that hit the breakpoint (in the initial pid namespace)
 * @tgid:	the process's id
 * @armed_ns:	CLOCK_MONOTONIC when the breakpoint was armed
 * @hit_ns:	when the meter was started
 * @stop_ns:	when the program was stopped, and paused until @ready_ns. In half of the readings,
 *		at random, the block has run to its end until then (KJOULE_READING_DELAYED), in
 *		the others only its first instruction; all else is alike
 * @ready_ns:	when the reading was seen to be ready. With KJOULE_READING_LATE this and @stop_ns
 *		are the block's end, or four intervals after @hit_ns if it has not ended by then.
 *		With KJOULE_READING_DISTURBED the task has slept or migrated in between, or a CPU
 *		of the machine came or went before @ready_ns
 * @others_ns:	for how long other tasks, such as kernel threads, ran between @hit_ns and @stop_ns
 * @power_uw:	mean power over the meter's interval from @hit_ns on, 0 with KJOULE_READING_LATE
 * @busy_ns:	busy time of the machine's other CPUs between @hit_ns and @ready_ns, all together,
 *		interrupts included; to a microsecond for each. 0 with KJOULE_READING_LATE or
 *		KJOULE_READING_DISTURBED. Records of older recordings end before it
 */
struct kjoule_vpm_reading {
	struct kjoule_record rec;
	__u32 tick;
	__u32 number;
	__u16 block;
	__u16 reserved;
	__u32 pid;
	__u32 tgid;
	__u64 armed_ns;
	__u64 hit_ns;
	__u64 stop_ns;
	__u64 ready_ns;
	__u64 others_ns;
	__u64 power_uw;
	__u64 busy_ns;
};

/**
 * struct kjoule_loop - duration of a loop of dependent adds (transition-loops-get)
 * @start_ns:	when it began, relative to the request of a frequency, or to the first loop if there
 *		was none
 * @loop_ns:	its duration, 2^32 - 1 if longer
 * @cycles:	of the CPU meanwhile, low 32 bits, by the frequency source that the reply names as
 *		its counter (APERF); 0 if there is none
 * @reference:	counts of that source's reference meanwhile (MPERF), low 32 bits: at the reply's
 *		reference-khz while the CPU is busy
 * @reserved:	0
 */
struct kjoule_loop {
	__s64 start_ns;
	__u32 loop_ns;
	__u32 cycles;
	__u32 reference;
	__u32 reserved;
};

/*
 * The ring
 *
 *  kernel (tick, interrupts off)          reader
 *  -----------------------------          ------
 *  read tail              (A)             read head              (C)
 *  write records                          read records
 *  store-release head     (B)             store-release tail     (D)
 *
 * B pairs with C: a reader that sees the new head sees the records before it.
 * D pairs with A: a writer that sees the new tail may overwrite what lies before it.
 */

/**
 * struct kjoule_ring_head - first page of a CPU's ring, read only for user space
 * @abi:	KJOULE_ABI_VERSION
 * @cpu:	the CPU
 * @data_size:	bytes of data, a power of two
 * @head:	bytes written so far; the next record goes to head % data_size
 * @due:	ticks that were due
 * @taken:	of these, ticks that were taken
 * @missed:	of these, ticks that were not taken in time (see KJOULE_RECORD_GAP)
 * @skipped:	of these, ticks skipped while the CPU was idle
 * @filtered:	ticks taken without a sample: the task was not the target
 * @records:	records written or lost, without pads
 * @lost:	of these, records lost because the ring was full
 * @samples:	samples written
 * @tick_ns:	time spent in the tick's own code
 * @source_errors: failed reads of an energy or frequency source, and counters that were reset
 * @idle_ns:	time between switches to the idle task and away from it, while ticks are skipped
 * @state:	enum kjoule_session_state
 * @seq:	odd while the counters are being written: read all of them again if it was odd or
 *		has changed
 * @stacks_withheld: user stacks not copied: the session's creator could not trace the task
 *
 * As of the last tick, due = taken + missed + skipped, and records - lost were written.
 */
struct kjoule_ring_head {
	__u32 abi;
	__u32 cpu;
	__u64 data_size;
	__u64 head;
	__u64 due;
	__u64 taken;
	__u64 missed;
	__u64 skipped;
	__u64 filtered;
	__u64 records;
	__u64 lost;
	__u64 samples;
	__u64 tick_ns;
	__u64 source_errors;
	__u64 idle_ns;
	__u32 state;
	__u32 seq;
	__u64 stacks_withheld;
};

/**
 * struct kjoule_ring_tail - a page of its own, written by the reader
 * @tail:	bytes consumed so far, at most head; the kernel ignores any other value
 */
struct kjoule_ring_tail {
	__u64 tail;
};

/*
 * ioctls of /dev/kjoule. Each structure begins with its size as the caller knows it; the kernel
 * extends a shorter one with zeros and refuses a longer one whose extra bytes are not zero (E2BIG).
 * The size is left as it is. Unknown flags and reserved fields that are not zero are refused
 * (EINVAL).
 */

/**
 * struct kjoule_info - version and limits of the module
 * @size:		sizeof(struct kjoule_info)
 * @abi:		out: KJOULE_ABI_VERSION of the module
 * @features:		out: 0, none are defined
 * @min_interval_ns:	out: the shortest interval that a session may have
 * @max_interval_ns:	out: the longest
 * @min_ring_bytes:	out: the smallest ring per CPU that a session may have
 * @max_ring_bytes:	out: the largest
 * @default_ring_bytes:	out: used if a session asks for 0
 * @version:		out: the module's version, zero terminated
 */
struct kjoule_info {
	__u32 size;
	__u32 abi;
	__u64 features;
	__u64 min_interval_ns;
	__u64 max_interval_ns;
	__u64 min_ring_bytes;
	__u64 max_ring_bytes;
	__u64 default_ring_bytes;
	char version[32];
};

/**
 * struct kjoule_attach - bind this open file to a session
 * @size:	sizeof(struct kjoule_attach)
 * @session:	its id, from netlink
 * @flags:	0
 * @reserved:	0
 * @cpus:	out: number of rings
 * @reserved2:	0
 *
 * A session has one reader: EBUSY if it has one, ENOENT if there is no such session.
 */
struct kjoule_attach {
	__u32 size;
	__u32 session;
	__u64 flags;
	__u64 reserved;
	__u32 cpus;
	__u32 reserved2;
};

/**
 * struct kjoule_ring - where to map the ring of a CPU
 * @size:		sizeof(struct kjoule_ring)
 * @index:		0 to attach.cpus - 1
 * @cpu:		out: which CPU that is
 * @reserved:		0
 * @head_offset:	out: offset for mmap, PROT_READ, of the head page; the data follows it
 *			in the same mapping of page size + @data_size bytes
 * @tail_offset:	out: offset for mmap, PROT_READ | PROT_WRITE, of the tail page
 * @data_size:		out: bytes of data
 */
struct kjoule_ring {
	__u32 size;
	__u32 index;
	__u32 cpu;
	__u32 reserved;
	__u64 head_offset;
	__u64 tail_offset;
	__u64 data_size;
};

/* The numbers hold no sizes: the structures may grow, and begin with their size. */
#define KJOULE_IOC_MAGIC	0xee
#define KJOULE_IOC_INFO		_IO(KJOULE_IOC_MAGIC, 0x00)	/* struct kjoule_info */
#define KJOULE_IOC_ATTACH	_IO(KJOULE_IOC_MAGIC, 0x01)	/* struct kjoule_attach */
#define KJOULE_IOC_RING		_IO(KJOULE_IOC_MAGIC, 0x02)	/* struct kjoule_ring */

#ifndef __cplusplus
_Static_assert(sizeof(struct kjoule_record) == 4, "record");
_Static_assert(sizeof(struct kjoule_sample) == 24, "sample");
_Static_assert(sizeof(struct kjoule_task) == 16, "task");
_Static_assert(sizeof(struct kjoule_energy) == 16, "energy");
_Static_assert(sizeof(struct kjoule_gap) == 16, "gap");
_Static_assert(sizeof(struct kjoule_lost) == 24, "lost");
_Static_assert(sizeof(struct kjoule_cpu_mark) == 8, "cpu mark");
_Static_assert(sizeof(struct kjoule_idle) == 32, "idle");
_Static_assert(sizeof(struct kjoule_value) == 32, "value");
_Static_assert(sizeof(struct kjoule_chain) == 8, "chain");
_Static_assert(sizeof(struct kjoule_stack) == 144, "stack");
_Static_assert(sizeof(struct kjoule_window) == 80, "window");
_Static_assert(sizeof(struct kjoule_vpm_reading) == 80, "reading");
_Static_assert(sizeof(struct kjoule_duration) == 16, "duration");
_Static_assert(sizeof(struct kjoule_loop) == 24, "loop");
_Static_assert(sizeof(struct kjoule_ring_head) == 128, "ring head");
_Static_assert(sizeof(struct kjoule_ring_tail) == 8, "ring tail");
_Static_assert(sizeof(struct kjoule_info) == 88, "info");
_Static_assert(sizeof(struct kjoule_attach) == 32, "attach");
_Static_assert(sizeof(struct kjoule_ring) == 40, "ring");
#endif

#endif /* _UAPI_LINUX_KJOULE_H */
