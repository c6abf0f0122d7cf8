// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/vchip, for tests: "mark" makes the oracle take a snapshot under the
 * name that is written to it, "registers" shows the page as text, "behind_ns" is by how
 * much the emulation was too slow for the chip's clock, 0 on a sound run, and while "hurry"
 * is not 0 the chip stands aside: CPUs run as fast as they are emulated, and nothing counts.
 */

#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "vchip.h"

#define MARK_LOOKS	100000	/* five seconds or more */

static struct dentry *debugfs_dir;
static DEFINE_MUTEX(mark_lock);		/* one mark at a time */

/* Waits until the oracle has its snapshot. Looks are counted: the clock goes on while the host stalls. */
static int mark_wait(const struct vchip_head *head, u32 seq)
{
	unsigned int looks = MARK_LOOKS;

	/* D, pairs with the chip's write of mark_ack after the snapshot */
	while (smp_load_acquire(&head->mark_ack) != seq) {
		if (fatal_signal_pending(current))
			return -EINTR;
		if (!looks--)
			return -ETIMEDOUT;
		usleep_range_state(50, 100, TASK_KILLABLE);
	}
	return 0;
}

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
	ret = mark_wait(head, seq);
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
	SHOW("head", head, guest_ready);
	SHOW("head", head, mark_seq);
	SHOW("head", head, mark_ack);
	SHOW("head", head, mark_guest_ns);
}

static void show_pkg(struct seq_file *s, const struct vchip_pkg *pkg)
{
	SHOW("pkg", pkg, energy_pkg_raw);
	SHOW("pkg", pkg, energy_core_raw);
	SHOW("pkg", pkg, updates);
	SHOW("pkg", pkg, update_chip_ns);
	SHOW("pkg", pkg, chip_ns);
	SHOW("pkg", pkg, energy_pkg_pj);
	SHOW("pkg", pkg, energy_core_pj);
	SHOW("pkg", pkg, power_uw);
	SHOW_SIGNED("pkg", pkg, temp_mc);
	SHOW("pkg", pkg, limit_pl1_uw);
	SHOW("pkg", pkg, limit_pl2_uw);
	SHOW("pkg", pkg, limit_tau_us);
	SHOW("pkg", pkg, meter_start);
	SHOW("pkg", pkg, meter_interval_ns);
	SHOW("pkg", pkg, meter_done);
	SHOW("pkg", pkg, meter_uw);
	SHOW("pkg", pkg, meter_begin_ns);
	SHOW("pkg", pkg, meter_end_ns);
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
	SHOW(part, regs, behind_ns);
	SHOW(part, regs, stalls);
	SHOW(part, regs, stall_ns);
	SHOW(part, regs, grants);
	SHOW(part, regs, grant_latency_ns);
	SHOW(part, regs, grant_lag_ns);
	SHOW_HEX(part, regs, irq_ip);
	SHOW(part, regs, irq_flags);
	SHOW(part, regs, irq_seq);
	SHOW_HEX(part, regs, irq_task);
}

static int registers_show(struct seq_file *s, void *data)
{
	const struct vchip *chip = s->private;
	unsigned int cpu;

	show_head(s, chip->head);
	show_pkg(s, chip->pkg);
	for (cpu = 0; cpu < chip->cpus; cpu++)
		show_cpu(s, vchip_cpu(chip, cpu), cpu);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(registers);

static int behind_ns_show(struct seq_file *s, void *data)
{
	const struct vchip *chip = s->private;
	unsigned int cpu;
	u64 behind_ns = 0;

	for (cpu = 0; cpu < chip->cpus; cpu++)
		behind_ns += READ_ONCE(vchip_cpu(chip, cpu)->behind_ns);
	seq_printf(s, "%llu\n", behind_ns);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(behind_ns);

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
	debugfs_create_file("behind_ns", 0400, debugfs_dir, chip, &behind_ns_fops);
	debugfs_create_u32("hurry", 0600, debugfs_dir, &chip->head->hurry);
	return 0;
}

/**
 * vchip_debugfs_exit() - remove them; nobody is inside afterwards
 * @chip:	the chip
 */
void vchip_debugfs_exit(struct vchip *chip)
{
	debugfs_remove(debugfs_dir);
}
