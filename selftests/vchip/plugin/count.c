// SPDX-License-Identifier: GPL-2.0-only
/*
 * mode=count: retired instructions of each CPU, user and kernel apart, exact under
 * -icount too, and a chip that looks alive to the driver: one instruction is one
 * cycle of the boot frequency, requests are granted at once, chip time and energy
 * follow from the instructions of CPU 0's clock alone, so that every run of a
 * repeatable guest reads the same values. No thread, no throttle, no oracle of
 * addresses.
 */
#include "count.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "irq.h"
#include "retire.h"
#include "snapshot.h"

/* An instruction's energy. */
#define INSN_PJ	10000

static FILE *file;
static uint64_t next_edge_insns;
static uint64_t edge_insns;
static uint32_t seen_idt;
static uint32_t seen_mark;
static uint64_t counted[VCHIP_MAX_CPUS];	/* instructions that ref has */

static void write_totals(uint32_t seq, const char *label)
{
	static struct snapshot s;

	if (!file)
		return;
	s.seq = seq;
	snprintf(s.label, sizeof(s.label), "%s", label);
	s.chip_ns = page_read(page.pkg->chip_ns);
	s.guest_ns = page_read(page.head->mark_guest_ns);
	for (unsigned int i = 0; i < core_count; i++)
		s.core[i].regs = *cores[i].regs;
	report_mark(file, &s);
	fprintf(file, "done,%u\n", seq);
	fflush(file);
}

static uint32_t raw(uint64_t pj, uint32_t init)
{
	return init + (uint32_t)(((unsigned __int128)pj << chip->esu) / 1000000000000ULL);
}

static void edge(uint64_t insns)
{
	struct vchip_pkg *regs = page.pkg;
	uint64_t pj = insns * INSN_PJ;

	page_write(regs->chip_ns, insns * 1000000 / chip->freq_khz[chip->boot_pstate]);
	page_write(regs->energy_core_pj, pj);
	page_write(regs->energy_pkg_pj, pj);
	page_write(regs->energy_core_raw, raw(pj, chip->raw_init_core));
	page_write(regs->energy_pkg_raw, raw(pj, chip->raw_init_pkg));
	page_write(regs->update_chip_ns, regs->chip_ns);
	page_write(regs->power_uw, (uint64_t)INSN_PJ * chip->freq_khz[chip->boot_pstate] / 1000);
	__atomic_store_n(&regs->updates, regs->updates + 1, __ATOMIC_RELEASE);
	next_edge_insns = insns + edge_insns;
}

static void attend(struct core *c, const struct block *b)
{
	uint32_t req = page_read(c->regs->req_khz);
	uint32_t mark = page_read(page.head->mark_seq);
	uint32_t idt = page_read(page.idt->seq);

	if (idt != seen_idt) {
		seen_idt = idt;
		block_set_vectors(page.idt);
	}
	if (b->flags & BLOCK_VECTOR)
		irq_entry(c, b);
	if (mark != seen_mark) {
		seen_mark = mark;
		write_totals(mark, page.head->mark_label);
		page_write(page.head->mark_ack, mark);
	}
	if (req != c->seen_req) {
		int pstate = profile_pstate(chip, req);

		c->seen_req = req;
		if (pstate >= 0 && (unsigned int)pstate != c->pstate) {
			core_set_pstate(c, (unsigned int)pstate);
			page_write(c->regs->grants, c->regs->grants + 1);
			page_write(c->regs->grant_latency_ns, 0);
		}
	}
}

void count_enter_block(struct core *c, struct block *b)
{
	unsigned int kernel = b->kernel;
	struct vchip_cpu *regs = c->regs;
	unsigned int continues = retire_settle(c, b);

	if (page_read(regs->req_khz) != c->seen_req || page_read(page.head->mark_seq) != seen_mark ||
	    page_read(page.idt->seq) != seen_idt || (b->flags & BLOCK_VECTOR))
		attend(c, b);

	c->instr[kernel] += b->insns - continues;
	c->cycles[kernel] = c->instr[kernel];
	c->energy_pj = (c->instr[0] + c->instr[1]) * INSN_PJ;
	c->ref += (c->instr[0] + c->instr[1] - counted[c->index]) * c->cycle_fixns;
	counted[c->index] = c->instr[0] + c->instr[1];
	if (kernel) {
		page_write(regs->instr_kernel, c->instr[1]);
		page_write(regs->cycles_kernel, c->cycles[1]);
	} else {
		page_write(regs->instr_user, c->instr[0]);
		page_write(regs->cycles_user, c->cycles[0]);
	}
	page_write(regs->ref_ns, c->ref >> FIXNS_SHIFT);
	page_write(regs->energy_pj, c->energy_pj);
	if (page_read(regs->idle))
		page_write(regs->idle, 0);

	c->prev = b;
	c->prev_task = page_read(regs->task);
	c->prev_continues = (uint8_t)continues;
	c->pos = b->first_raise;
	if (c->index == 0 && c->instr[0] + c->instr[1] >= next_edge_insns)
		edge(c->instr[0] + c->instr[1]);
}

int count_start(const char *path)
{
	retire_splits_at_io = true;
	edge_insns = chip->update_period_ns * chip->freq_khz[chip->boot_pstate] / 1000000;
	if (!edge_insns)
		edge_insns = 1;
	if (!path)
		return 0;
	file = fopen(path, "we");
	if (!file)
		return -errno;
	report_header(file);
	return 0;
}

void count_stop(void)
{
	write_totals(page_read(page.head->mark_seq), "end");
	if (file)
		fclose(file);
	file = NULL;
}
