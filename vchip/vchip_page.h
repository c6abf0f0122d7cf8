/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The virtual chip's register page: the contract between the silicon (the QEMU
 * plugin, vchip/silicon) and its guest driver (vchip/driver).
 * Both map the same shared memory: the plugin as a file, the guest as BAR 2 of
 * an ivshmem-plain PCI device (1af4:1110). Every field has one writer, named in
 * its comment ("chip" or "guest"). All scalars are read and written whole
 * (aligned 32 or 64 bit accesses), little endian.
 */
#ifndef VCHIP_PAGE_H
#define VCHIP_PAGE_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
typedef uint8_t __u8;
typedef uint16_t __u16;
typedef uint32_t __u32;
typedef uint64_t __u64;
typedef int32_t __s32;
#endif

#define VCHIP_MAGIC		0x70696863766a6bULL	/* "kjvchip" */
#define VCHIP_VERSION		3
#define VCHIP_MAX_CPUS		8
#define VCHIP_MAX_PACKAGES	2
#define VCHIP_MAX_PSTATES	32
#define VCHIP_MAX_IDLE		4
#define VCHIP_NAME_LEN		32
#define VCHIP_LABEL_LEN		64
#define VCHIP_VECTORS		256

/* Byte offsets of the parts inside the page file. */
#define VCHIP_OFF_HEAD		0x0
#define VCHIP_OFF_PKG		0x1000		/* struct vchip_pkg, VCHIP_PKG_STRIDE apart */
#define VCHIP_PKG_STRIDE	0x800
#define VCHIP_OFF_IDT		0x2000		/* struct vchip_idt */
#define VCHIP_OFF_CPU		0x4000		/* struct vchip_cpu, VCHIP_CPU_STRIDE apart */
#define VCHIP_CPU_STRIDE	0x1000
#define VCHIP_PAGE_SIZE		0x400000

/**
 * struct vchip_head - what the chip is; fixed once the plugin has started
 * @magic:		VCHIP_MAGIC, written last (chip)
 * @version:		VCHIP_VERSION (chip)
 * @cpus:		number of CPUs the chip has (chip)
 * @pstates:		entries of @freq_khz, ascending (chip)
 * @idle_states:	entries of the idle tables, shallow to deep (chip)
 * @esu:		energy status unit: one raw count is 2^-esu joule (chip)
 * @energy_bits:	width of the raw energy counters, 32 (chip)
 * @update_period_ns:	nominal time between two updates of the raw energy counters (chip)
 * @pl1_uw,@pl2_uw:	power limits in microwatt (chip; the guest may write the limits in
 *			vchip_pkg)
 * @tau_us:		time window of PL1 in microseconds (chip)
 * @clock_scale:	the clock and all microsecond times are stretched by this factor (chip)
 * @tjmax_mc:		critical temperature in millidegree Celsius (chip)
 * @transition_ns:	the largest latency of a frequency change in nanoseconds (chip)
 * @freq_khz:		frequencies, ascending (chip)
 * @idle_latency_ns:	exit latency of each idle state (chip)
 * @idle_residency_ns:	target residency of each idle state (chip)
 * @name:		the profile's name, zero terminated (chip)
 * @guest_ready:	0 until the driver is loaded: an instruction takes a nanosecond and nothing
 *			is charged; 1 while it is loaded (guest)
 * @mark_seq:		the guest writes label and time first, then increments this (guest)
 * @mark_ack:		equals @mark_seq when the oracle has taken the snapshot (chip)
 * @mark_guest_ns:	the guest's CLOCK_MONOTONIC at the mark (guest)
 * @mark_label:		the snapshot's name (guest)
 * @meter_ns:		sensing interval of the meter that starts on command, unless the guest asks
 *			for another one; 0: there is no such meter (chip)
 * @meter_lsb_uw:	its readings are multiples of this (chip)
 * @base_khz:		the highest frequency without turbo; 0: the chip has none (chip)
 * @has_fan:		there is a fan, which can be slowed down (chip)
 * @packages:		packages that the chip's CPUs belong to (chip)
 * @has_dram:		there are counters of the memory's energy (chip)
 */
struct vchip_head {
	__u64 magic;
	__u32 version;
	__u32 cpus;
	__u32 pstates;
	__u32 idle_states;
	__u32 esu;
	__u32 energy_bits;
	__u64 update_period_ns;
	__u64 pl1_uw;
	__u64 pl2_uw;
	__u64 tau_us;
	__u32 clock_scale;
	__s32 tjmax_mc;
	__u64 transition_ns;
	__u32 freq_khz[VCHIP_MAX_PSTATES];
	__u64 idle_latency_ns[VCHIP_MAX_IDLE];
	__u64 idle_residency_ns[VCHIP_MAX_IDLE];
	char name[VCHIP_NAME_LEN];
	__u8 reserved0[256];
	__u32 guest_ready;
	__u32 reserved1;
	__u32 mark_seq;
	__u32 mark_ack;
	__u64 mark_guest_ns;
	char mark_label[VCHIP_LABEL_LEN];
	__u64 meter_ns;
	__u64 meter_lsb_uw;
	__u32 base_khz;
	__u32 has_fan;
	__u32 packages;
	__u32 has_dram;
};

/**
 * struct vchip_pkg - registers of one package
 * @energy_pkg_raw:	package energy in counts of 2^-esu J, 32 bits, wraps; moves only at
 *			update edges (chip)
 * @energy_core_raw:	the same for the core domain: dynamic energy of the CPUs (chip)
 * @updates:		number of update edges so far (chip)
 * @update_chip_ns:	chip time of the last edge (chip)
 * @chip_ns:		chip time now: nanoseconds since the machine was switched on (chip)
 * @energy_pkg_pj:	package energy in picojoule without update period or wrap, for tests (chip)
 * @energy_core_pj:	core domain energy in picojoule, likewise (chip)
 * @power_uw:		mean package power over the last update period (chip)
 * @temp_mc:		package temperature in millidegree Celsius (chip)
 * @limit_pl1_uw,@limit_pl2_uw,@limit_tau_us: limits as written by the guest; 0: the
 *			profile's (guest)
 * @meter_start:	a new number starts the meter: it averages the package's power over its
 *			sensing interval from now on. One before the end of the last starts it anew
 *			(guest)
 * @meter_interval_ns:	sensing interval, taken over at the start; 0: the profile's (guest)
 * @turbo_off:		no core gets more than the base frequency (guest)
 * @fan_slower:		thousandths by which the fan turns slower than it can (guest)
 * @meter_done:		the number whose reading is in @meter_uw (chip)
 * @meter_uw:		the reading, written before @meter_done (chip)
 * @meter_begin_ns,@meter_end_ns: chip time of its interval, for tests (chip)
 * @turbo_khz:		what no core may be above now, for tests (chip)
 * @budget_uw:		the weighted mean of the package's power, which is held below PL1, for tests
 *			(chip)
 * @energy_dram_raw:	the counter of the memory behind this package, which is no part of the
 *			package's energy; 0 where the chip has none (chip)
 * @energy_dram_pj:	the same in picojoule without update period or wrap, for tests (chip)
 */
struct vchip_pkg {
	__u32 energy_pkg_raw;
	__u32 energy_core_raw;
	__u64 updates;
	__u64 update_chip_ns;
	__u64 chip_ns;
	__u64 energy_pkg_pj;
	__u64 energy_core_pj;
	__u64 power_uw;
	__s32 temp_mc;
	__u32 reserved0;
	__u8 reserved1[256];
	__u64 limit_pl1_uw;
	__u64 limit_pl2_uw;
	__u64 limit_tau_us;
	__u32 meter_start;
	__u32 reserved2;
	__u64 meter_interval_ns;
	__u32 turbo_off;
	__u32 fan_slower;
	__u8 reserved3[248];
	/* written by the chip from here */
	__u32 meter_done;
	__u32 reserved4;
	__u64 meter_uw;
	__u64 meter_begin_ns;
	__u64 meter_end_ns;
	__u32 turbo_khz;
	__u32 energy_dram_raw;
	__u64 budget_uw;
	__u64 energy_dram_pj;
};

/**
 * struct vchip_idt - where the guest's exception and interrupt handlers begin
 * @seq:	incremented by the guest after @entry is filled (guest)
 * @entry:	linear address of each vector's handler (guest). Vectors 0 to 31 that are
 *		faults (0, 5, 6, 7, 10 to 14, 16, 17, 19, 20, 21) tell the chip that the block
 *		before did not complete; vectors from 32 are interrupts.
 */
struct vchip_idt {
	__u32 seq;
	__u32 reserved;
	__u64 entry[VCHIP_VECTORS];
};

/* struct vchip_cpu.irq_flags */
#define VCHIP_IRQ_VALID		(1u << 0)	/* irq_ip is the precise instruction pointer */
#define VCHIP_IRQ_KERNEL	(1u << 1)	/* irq_ip is a kernel address */
/*
 * with VALID: it was raised while the CPU took none; irq_ip is the instruction after which it did
 */
#define VCHIP_IRQ_WAITED	(1u << 2)

/**
 * struct vchip_cpu - registers of one CPU
 *
 * Counters are published at every translation block, so that what a CPU reads of itself
 * is exact up to the block that does the reading. Another CPU's are a moment old.
 *
 * @req_khz:		requested frequency, one of freq_khz (guest)
 * @idle_req:		idle state to enter at the next HLT (guest)
 * @task:		the running task: pid (tid) in the low, tgid in the high half; 0 for the
 *			idle task (guest, written at each switch)
 * @cur_khz:		the frequency at which the CPU really runs now (chip)
 * @idle:		1 while the CPU is halted (chip)
 * @cycles_user,@cycles_kernel: unhalted cycles (chip)
 * @instr_user,@instr_kernel: retired instructions, a rep-prefixed one counts once (chip)
 * @ref_ns:		unhalted time in nanoseconds, pauses left out: cycles / ref_ns is the true
 *			frequency (chip)
 * @energy_pj:		dynamic energy of this CPU in picojoule, exact, for tests (chip)
 * @grants:		frequency changes granted (chip)
 * @grant_latency_ns:	latency of the last grant as it happened (chip)
 * @irq_ip:		at the last interrupt entry, the address of the instruction that was being
 *			executed when the interrupt was raised (chip)
 * @irq_flags:		VCHIP_IRQ_* (chip)
 * @irq_seq:		incremented after irq_ip and irq_flags at each interrupt entry (chip)
 * @irq_task:		@task as it was for irq_ip (chip)
 * @package:		the package that it belongs to, fixed once the plugin has started (chip)
 */
struct vchip_cpu {
	__u32 req_khz;
	__u32 idle_req;
	__u64 task;
	__u8 reserved0[240];
	/* written by the chip from here */
	__u32 cur_khz;
	__u32 idle;
	__u64 cycles_user;
	__u64 cycles_kernel;
	__u64 instr_user;
	__u64 instr_kernel;
	__u64 ref_ns;
	__u64 energy_pj;
	__u64 grants;
	__u64 grant_latency_ns;
	__u64 irq_ip;
	__u32 irq_flags;
	__u32 irq_seq;
	__u64 irq_task;
	__u32 package;
	__u32 reserved1;
};

#endif /* VCHIP_PAGE_H */
