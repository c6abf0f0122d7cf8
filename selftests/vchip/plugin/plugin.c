// SPDX-License-Identifier: GPL-2.0-only
/*
 * The way into QEMU: options, callbacks, the order in which the parts start and
 * end. Owns nothing of the chip's behaviour. With mode=count the counting chip of
 * count.c takes the place of the timed one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "block.h"
#include "clock.h"
#include "core.h"
#include "count.h"
#include "heal.h"
#include "held.h"
#include "oracle.h"
#include "package.h"
#include "page.h"
#include "profile.h"
#include "qemu_plugin_api.h"
#include "retire.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

/* vCPU threads go before ordinary work on the build machine, if permitted. */
#define VCPU_NICE	(-10)

struct options {
	const char *page;
	const char *profile;
	const char *oracle;
	const char *held;
	unsigned int cpus;
	bool count;
	bool free_running;
};

static struct profile profile;
static struct options options;
static _Thread_local struct core *this_core;

static void on_block(unsigned int vcpu, void *data)
{
	struct core *c = &cores[vcpu];

	if (__builtin_expect(!c->greeted, 0)) {
		c->greeted = true;
		this_core = c;
		setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), VCPU_NICE);
	}
	core_enter_block(c, data);
}

static void on_block_count(unsigned int vcpu, void *data)
{
	count_enter_block(&cores[vcpu], data);
}

static void on_position(unsigned int vcpu, void *data)
{
	cores[vcpu].pos = (uint32_t)(uintptr_t)data;
}

static void on_access(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *data)
{
	(void)info;
	(void)vaddr;
	cores[vcpu].pos = (uint32_t)(uintptr_t)data;
}

static void hook(struct qemu_plugin_insn *insn, uint8_t hooks, unsigned int i, unsigned int insns)
{
	if (hooks & BLOCK_HOOK_BEFORE)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_position, QEMU_PLUGIN_CB_NO_REGS,
						       (void *)(uintptr_t)i);
	else if (hooks & BLOCK_HOOK_DONE)
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_position, QEMU_PLUGIN_CB_NO_REGS,
						       (void *)(uintptr_t)insns);
	if (hooks & (BLOCK_HOOK_READ | BLOCK_HOOK_WRITE))
		qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS,
						 hooks & BLOCK_HOOK_WRITE ? QEMU_PLUGIN_MEM_W : QEMU_PLUGIN_MEM_R,
						 (void *)(uintptr_t)insns);
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	struct block_source source[BLOCK_MAX_INSNS];
	uint8_t hooks[BLOCK_MAX_INSNS];
	unsigned int insns = (unsigned int)qemu_plugin_tb_n_insns(tb);
	struct block *b;

	(void)id;
	if (!insns || insns > BLOCK_MAX_INSNS)
		return;
	for (unsigned int i = 0; i < insns; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		source[i].bytes = qemu_plugin_insn_data(insn);
		source[i].size = (uint32_t)qemu_plugin_insn_size(insn);
		source[i].vaddr = qemu_plugin_insn_vaddr(insn);
	}
	b = block_get(source, insns, hooks);
	if (!b)
		return;
	if (this_core)
		this_core->translated = true;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, options.count ? on_block_count : on_block,
					     QEMU_PLUGIN_CB_NO_REGS, b);
	heal_watch(qemu_plugin_tb_get_insn(tb, insns - 1), source[insns - 1].bytes, source[insns - 1].size,
		   source[insns - 1].vaddr);
	for (unsigned int i = 0; i < insns; i++)
		if (hooks[i])
			hook(qemu_plugin_tb_get_insn(tb, i), hooks[i], i, insns);
}

static void on_idle(qemu_plugin_id_t id, unsigned int vcpu)
{
	(void)id;
	if (vcpu < core_count)
		core_idle(&cores[vcpu]);
}

static void at_exit(qemu_plugin_id_t id, void *data)
{
	(void)id;
	(void)data;
	if (options.count) {
		count_stop();
		return;
	}
	package_thread_stop();
	snapshot_stop();
}

static void install(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	if (!options.count)
		qemu_plugin_register_vcpu_idle_cb(id, on_idle);
	qemu_plugin_register_atexit_cb(id, at_exit, NULL);
}

/* Return: the text after "key=" when @arg has that key. */
static const char *value_of(const char *arg, const char *key)
{
	size_t len = strlen(key);

	return !strncmp(arg, key, len) && arg[len] == '=' ? arg + len + 1 : NULL;
}

static int parse(int argc, char **argv)
{
	options.cpus = 1;
	for (int i = 0; i < argc; i++) {
		const char *v;

		if ((v = value_of(argv[i], "page"))) {
			options.page = v;
		} else if ((v = value_of(argv[i], "profile"))) {
			options.profile = v;
		} else if ((v = value_of(argv[i], "oracle"))) {
			options.oracle = *v ? v : NULL;
		} else if ((v = value_of(argv[i], "held"))) {
			options.held = *v ? v : NULL;
		} else if ((v = value_of(argv[i], "cpus"))) {
			options.cpus = (unsigned int)strtoul(v, NULL, 10);
		} else if ((v = value_of(argv[i], "mode"))) {
			options.count = !strcmp(v, "count");
			options.free_running = !strcmp(v, "free");
			if (!options.count && !options.free_running && strcmp(v, "chip")) {
				fprintf(stderr, "vchip: mode=%s: chip, count or free expected\n", v);
				return -EINVAL;
			}
		} else {
			fprintf(stderr, "vchip: unknown argument %s; known: page, profile, cpus, oracle, held, mode\n",
				argv[i]);
			return -EINVAL;
		}
	}
	if (!options.profile) {
		fprintf(stderr, "vchip: profile=FILE is missing\n");
		return -EINVAL;
	}
	if (!options.cpus || options.cpus > VCHIP_MAX_CPUS) {
		fprintf(stderr, "vchip: cpus must be 1 to %d\n", VCHIP_MAX_CPUS);
		return -EINVAL;
	}
	return 0;
}

/* The parser's text goes away with argv. */
static void keep(const char **text)
{
	if (*text)
		*text = strdup(*text);
}

static uint32_t interrupts(unsigned int vcpu)
{
	return cores[vcpu].regs->irq_seq;
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	char error[512];
	int err;

	if (!info->system_emulation || strcmp(info->target_name, "x86_64")) {
		fprintf(stderr, "vchip: needs qemu-system-x86_64, this is %s\n", info->target_name);
		return -EINVAL;
	}
	err = parse(argc, argv);
	if (err)
		return err;
	if (info->system.max_vcpus > (int)options.cpus) {
		fprintf(stderr, "vchip: %d vCPUs, but cpus=%u\n", info->system.max_vcpus, options.cpus);
		return -EINVAL;
	}
	keep(&options.page);
	keep(&options.oracle);
	err = profile_load(&profile, options.profile, error, sizeof(error));
	if (err) {
		fprintf(stderr, "vchip: %s\n", error);
		return err;
	}
	err = page_map(options.page, &profile, options.cpus);
	if (err) {
		fprintf(stderr, "vchip: page %s: %s\n", options.page, strerror(-err));
		return err;
	}
	err = options.held ? held_open(options.held) : 0;
	if (err) {
		fprintf(stderr, "vchip: held %s: %s\n", options.held, strerror(-err));
		return err;
	}
	clock_init(options.free_running);
	block_init(&profile, options.cpus);
	core_init(&profile, options.cpus);
	if (options.count)
		err = count_start(options.oracle);
	else
		err = snapshot_start(options.oracle);
	if (!err && !options.count)
		err = package_thread_start();
	if (err) {
		fprintf(stderr, "vchip: oracle %s: %s\n", options.oracle ? options.oracle : "(none)", strerror(-err));
		return err;
	}
	heal_init(id, install, interrupts);
	install(id);
	return 0;
}
