// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables in /sys/kernel/debug/kjoule, described in Documentation/abi/debugfs.rst: statistics,
 * sampling delays, cost of ticks and fill of rings, for each CPU of each session.
 */
#include <linux/debugfs.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "device.h"
#include "session/list.h"
#include "session/session.h"
#include "sysfs/sysfs.h"

/**
 * struct table - a file
 * @name:	of the file
 * @columns:	its first line, after "session cpu"
 * @show:	writes the lines of one CPU
 */
struct table {
	const char *name;
	const char *columns;
	void (*show)(struct seq_file *m, struct kjoule_session *s, struct kjoule_sampler *sampler);
};

static void table_show_statistics(struct seq_file *m, struct kjoule_session *s,
				  struct kjoule_sampler *sampler)
{
	struct kjoule_stats b;

	kjoule_sampler_get_stats(sampler, &b);
	seq_printf(m, "%u %u %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu\n",
		   s->id, sampler->cpu, b.due, b.taken, b.missed, b.skipped, b.filtered,
		   b.records, b.records - b.lost - b.waiting, b.lost, b.waiting, b.tick_ns,
		   b.delay_max_ns);
}

static void table_show_delays(struct seq_file *m, struct kjoule_session *s,
			      struct kjoule_sampler *sampler)
{
	unsigned int i;
	u64 ticks;

	for (i = 0; i < KJOULE_DELAY_BUCKETS; i++) {
		ticks = READ_ONCE(sampler->delay_ticks[i]);
		if (ticks)
			seq_printf(m, "%u %u %llu %llu %llu\n", s->id, sampler->cpu,
				   i ? 1ULL << (i - 1) : 0, 1ULL << i, ticks);
	}
}

static void table_show_ticks(struct seq_file *m, struct kjoule_session *s,
			     struct kjoule_sampler *sampler)
{
	struct kjoule_stats b;

	kjoule_sampler_get_stats(sampler, &b);
	seq_printf(m, "%u %u %llu %llu %llu\n", s->id, sampler->cpu, b.taken, b.tick_ns,
		   b.taken ? div64_u64(b.tick_ns, b.taken) : 0);
}

static void table_show_ring(struct seq_file *m, struct kjoule_session *s,
			    struct kjoule_sampler *sampler)
{
	seq_printf(m, "%u %u %u %llu\n", s->id, sampler->cpu, s->config.ring_bytes,
		   kjoule_ring_unread(&sampler->ring));
}

static const char statistics_columns[] =
	"due taken missed skipped filtered records consumed lost waiting tick_ns delay_max_ns";

static const struct table tables[] = {
	{
		.name = "statistics",
		.columns = statistics_columns,
		.show = table_show_statistics,
	}, {
		.name = "delays",
		.columns = "from_ns below_ns ticks",
		.show = table_show_delays,
	}, {
		.name = "ticks",
		.columns = "ticks tick_ns mean_ns",
		.show = table_show_ticks,
	}, {
		.name = "rings",
		.columns = "size_bytes waiting_bytes",
		.show = table_show_ring,
	},
};

static struct dentry *debug_dir;

static int table_show(struct seq_file *m, void *unused)
{
	const struct table *t = m->private;
	struct kjoule_session *s;
	unsigned int i;
	u32 id = 0;

	seq_printf(m, "session cpu %s\n", t->columns);
	while ((s = kjoule_session_get_next(id))) {
		id = s->id + 1;
		for (i = 0; i < s->n; i++)
			t->show(m, s, s->sampler[i]);
		kjoule_session_put(s);
	}
	return 0;
}

static int table_open(struct inode *inode, struct file *file)
{
	int err = kjoule_sysfs_check();

	return err ?: single_open(file, table_show, inode->i_private);
}

static const struct file_operations table_fops = {
	.owner = THIS_MODULE,
	.open = table_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};

/** kjoule_debugfs_init() - create the files, if there is debugfs */
void kjoule_debugfs_init(void)
{
	unsigned int i;

	debug_dir = debugfs_create_dir("kjoule", NULL);
	for (i = 0; i < ARRAY_SIZE(tables); i++)
		debugfs_create_file(tables[i].name, 0400, debug_dir, (void *)&tables[i],
				    &table_fops);
}

/** kjoule_debugfs_exit() - undo kjoule_debugfs_init() */
void kjoule_debugfs_exit(void)
{
	debugfs_remove(debug_dir);
}
