// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/vchip, for tests: "mark" makes the oracle write a section under the
 * name that is written to it, "registers" shows the page as text.
 */

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "vchip.h"

static struct dentry *debugfs_dir;
static DEFINE_MUTEX(mark_lock);		/* one mark at a time */

static ssize_t mark_write(struct file *file, const char __user *user, size_t len,
			  loff_t *pos)
{
	const struct vchip *chip = file->private_data;
	struct vchip_head *head = chip->head;
	char label[VCHIP_LABEL_LEN] = "";
	unsigned long flags;
	u32 seq;
	int ret;

	if (!len || len >= sizeof(label))
		return -EINVAL;
	if (copy_from_user(label, user, len))
		return -EFAULT;
	strim(label);

	ret = mutex_lock_killable(&mark_lock);
	if (ret)
		return ret;
	memcpy(head->mark_label, label, sizeof(label));
	seq = head->mark_seq + 1;
	local_irq_save(flags);
	WRITE_ONCE(head->mark_guest_ns, ktime_get_ns());
	/* E, pairs with the chip's load of mark_seq before it reads label and time */
	smp_store_release(&head->mark_seq, seq);
	local_irq_restore(flags);
	/* D, pairs with the chip's write of mark_ack, at the next branch of this CPU or sooner */
	ret = smp_load_acquire(&head->mark_ack) == seq ? 0 : -EIO;
	mutex_unlock(&mark_lock);
	return ret ? ret : len;
}

static const struct file_operations mark_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= mark_write,
};

/* One register a line: "PART.REGISTER VALUE". */
#define SHOW(part, regs, field) \
	seq_printf(s, "%s." #field " %llu\n", part, (u64)READ_ONCE((regs)->field))
#define SHOW_SIGNED(part, regs, field) \
	seq_printf(s, "%s." #field " %d\n", part, READ_ONCE((regs)->field))
#define SHOW_HEX(part, regs, field) \
	seq_printf(s, "%s." #field " %llx\n", part, (u64)READ_ONCE((regs)->field))

static void show_head(struct seq_file *s, const struct vchip_head *head)
{
	unsigned int i;

	seq_printf(s, "head.name %.*s\n", VCHIP_NAME_LEN, head->name);
	for (i = 0; i < head->pstates; i++)
		seq_printf(s, "head.freq_khz[%u] %u\n", i, head->freq_khz[i]);
	for (i = 0; i < head->idle_states; i++) {
		seq_printf(s, "head.idle_latency_ns[%u] %llu\n", i,
			   head->idle_latency_ns[i]);
		seq_printf(s, "head.idle_residency_ns[%u] %llu\n", i,
			   head->idle_residency_ns[i]);
	}
	SHOW("head", head, version);
	SHOW("head", head, cpus);
	SHOW("head", head, esu);
	SHOW("head", head, energy_bits);
	SHOW("head", head, update_period_ns);
	SHOW("head", head, pl1_uw);
	SHOW("head", head, pl2_uw);
	SHOW("head", head, tau_us);
	SHOW("head", head, clock_scale);
	SHOW_SIGNED("head", head, tjmax_mc);
	SHOW("head", head, transition_ns);
	SHOW("head", head, meter_ns);
	SHOW("head", head, meter_lsb_uw);
	SHOW("head", head, packages);
	SHOW("head", head, guest_ready);
	SHOW("head", head, mark_seq);
	SHOW("head", head, mark_ack);
	SHOW("head", head, mark_guest_ns);
}

/* The first is "pkg", as on a chip that has no other. */
static void show_pkg(struct seq_file *s, const struct vchip *chip, unsigned int package)
{
	const struct vchip_pkg *pkg = vchip_pkg(chip, package);
	char part[16] = "pkg";

	if (package)
		snprintf(part, sizeof(part), "pkg%u", package);
	SHOW(part, pkg, energy_pkg_raw);
	SHOW(part, pkg, energy_core_raw);
	SHOW(part, pkg, updates);
	SHOW(part, pkg, update_chip_ns);
	SHOW(part, pkg, chip_ns);
	SHOW(part, pkg, energy_pkg_pj);
	SHOW(part, pkg, energy_core_pj);
	if (chip->head->has_dram) {
		SHOW(part, pkg, energy_dram_raw);
		SHOW(part, pkg, energy_dram_pj);
	}
	SHOW(part, pkg, power_uw);
	SHOW_SIGNED(part, pkg, temp_mc);
	SHOW(part, pkg, limit_pl1_uw);
	SHOW(part, pkg, limit_pl2_uw);
	SHOW(part, pkg, limit_tau_us);
	SHOW(part, pkg, meter_start);
	SHOW(part, pkg, meter_interval_ns);
	SHOW(part, pkg, meter_done);
	SHOW(part, pkg, meter_uw);
	SHOW(part, pkg, meter_begin_ns);
	SHOW(part, pkg, meter_end_ns);
}

static void show_cpu(struct seq_file *s, const struct vchip_cpu *regs, unsigned int cpu)
{
	char part[16];

	snprintf(part, sizeof(part), "cpu%u", cpu);
	SHOW(part, regs, req_khz);
	SHOW(part, regs, idle_req);
	SHOW_HEX(part, regs, task);
	SHOW(part, regs, cur_khz);
	SHOW(part, regs, idle);
	SHOW(part, regs, cycles_user);
	SHOW(part, regs, cycles_kernel);
	SHOW(part, regs, instr_user);
	SHOW(part, regs, instr_kernel);
	SHOW(part, regs, ref_ns);
	SHOW(part, regs, energy_pj);
	SHOW(part, regs, grants);
	SHOW(part, regs, grant_latency_ns);
	SHOW_HEX(part, regs, irq_ip);
	SHOW(part, regs, irq_flags);
	SHOW(part, regs, irq_seq);
	SHOW_HEX(part, regs, irq_task);
	SHOW(part, regs, package);
}

static int registers_show(struct seq_file *s, void *data)
{
	const struct vchip *chip = s->private;
	unsigned int package, cpu;

	show_head(s, chip->head);
	for (package = 0; package < chip->packages; package++)
		show_pkg(s, chip, package);
	for (cpu = 0; cpu < chip->cpus; cpu++)
		show_cpu(s, vchip_cpu(chip, cpu), cpu);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(registers);

/**
 * vchip_debugfs_init() - make the files
 * @chip:	the chip
 *
 * Return: 0; a guest without debugfs goes without them.
 */
int vchip_debugfs_init(struct vchip *chip)
{
	debugfs_dir = debugfs_create_dir("vchip", NULL);
	debugfs_create_file("mark", 0200, debugfs_dir, chip, &mark_fops);
	debugfs_create_file("registers", 0400, debugfs_dir, chip, &registers_fops);
	return 0;
}

/**
 * vchip_debugfs_exit() - remove them; no reader is inside afterwards
 * @chip:	the chip
 */
void vchip_debugfs_exit(struct vchip *chip)
{
	debugfs_remove(debugfs_dir);
}
