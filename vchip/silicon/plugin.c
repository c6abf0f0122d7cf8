// SPDX-License-Identifier: GPL-2.0-only
/*
 * The way into QEMU: options, callbacks, the order in which the parts start and
 * end. Owns nothing of the chip's behaviour.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "core.h"
#include "oracle.h"
#include "package.h"
#include "page.h"
#include "profile.h"
#include "qemu_plugin_api.h"
#include "time.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

struct options {
	const char *page;
	const char *profile;
	const char *oracle;
	unsigned int cpus;
	uint64_t seed;
};

static struct profile profile;
static struct options options;

static void on_block(unsigned int vcpu, void *data)
{
	core_enter_block(&cores[vcpu], data, (uintptr_t)__builtin_return_address(0));
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
						 hooks & BLOCK_HOOK_WRITE ? QEMU_PLUGIN_MEM_W :
						 QEMU_PLUGIN_MEM_R, (void *)(uintptr_t)insns);
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
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, b);
	for (unsigned int i = 0; i < insns; i++)
		if (hooks[i])
			hook(qemu_plugin_tb_get_insn(tb, i), hooks[i], i, insns);
}

/* The first CPU is made: QEMU has its accelerator, and nothing has run yet. */
static void on_cpu(qemu_plugin_id_t id, unsigned int vcpu)
{
	char error[512];

	(void)id;
	if (vcpu)
		return;
	if (time_attach(error, sizeof(error))) {
		fprintf(stderr, "vchip: %s\n", error);
		exit(1);
	}
}

static void at_exit(qemu_plugin_id_t id, void *data)
{
	(void)id;
	(void)data;
	oracle_close();
}

/* Return: the text after "key=" when @arg has that key. */
static const char *value_of(const char *arg, const char *key)
{
	size_t len = strlen(key);

	return !strncmp(arg, key, len) && arg[len] == '=' ? arg + len + 1 : NULL;
}

/* Return: 0, or -EINVAL for what is no number. */
static int parse_number(const char *key, const char *text, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	if (!errno && end != text && !*end && *text != '-')
		return 0;
	fprintf(stderr, "vchip: %s=%s: not a number from 0 to 2^64-1\n", key, text);
	return -EINVAL;
}

static int parse(int argc, char **argv)
{
	uint64_t cpus = 1;
	int err = 0;

	for (int i = 0; !err && i < argc; i++) {
		const char *v;

		if ((v = value_of(argv[i], "page"))) {
			options.page = v;
		} else if ((v = value_of(argv[i], "profile"))) {
			options.profile = v;
		} else if ((v = value_of(argv[i], "oracle"))) {
			options.oracle = *v ? v : NULL;
		} else if ((v = value_of(argv[i], "cpus"))) {
			err = parse_number("cpus", v, &cpus);
		} else if ((v = value_of(argv[i], "seed"))) {
			err = parse_number("seed", v, &options.seed);
		} else {
			fprintf(stderr, "vchip: unknown argument %s; known: page, profile, cpus, oracle, seed\n",
				argv[i]);
			return -EINVAL;
		}
	}
	if (err)
		return err;
	options.cpus = cpus <= VCHIP_MAX_CPUS ? (unsigned int)cpus : 0;
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
		fprintf(stderr, "vchip: %d vCPUs, but cpus=%u\n", info->system.max_vcpus,
			options.cpus);
		return -EINVAL;
	}
	keep(&options.page);
	keep(&options.oracle);
	err = profile_load(&profile, options.profile, error, sizeof(error));
	if (err) {
		fprintf(stderr, "vchip: %s\n", error);
		return err;
	}
	if (profile_package(&profile, options.cpus - 1) >= profile.packages) {
		fprintf(stderr, "vchip: cpus=%u, but the packages of %s have %u\n", options.cpus,
			profile.name, profile.packages * profile.cores * profile.threads);
		return -EINVAL;
	}
	err = page_map(options.page, &profile, options.cpus);
	if (err) {
		fprintf(stderr, "vchip: page %s: %s\n", options.page, strerror(-err));
		return err;
	}
	block_init(&profile, options.cpus);
	core_init(&profile, options.cpus, options.seed);
	time_init(options.seed);
	err = oracle_open(options.oracle);
	if (err) {
		fprintf(stderr, "vchip: oracle %s: %s\n", options.oracle, strerror(-err));
		return err;
	}
	qemu_plugin_register_vcpu_init_cb(id, on_cpu);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_atexit_cb(id, at_exit, NULL);
	return 0;
}
