// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plugin for guests without the chip that does nothing but keep them from hanging
 * at a stale breakpoint; see heal.c. The chip's own plugin has the same cure.
 */
#include <string.h>

#include "heal.h"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	struct qemu_plugin_insn *last;
	size_t n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	if (!n)
		return;
	last = qemu_plugin_tb_get_insn(tb, n - 1);
	heal_watch(last, qemu_plugin_insn_data(last), qemu_plugin_insn_size(last), qemu_plugin_insn_vaddr(last));
}

static void install(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	(void)info;
	(void)argc;
	(void)argv;
	heal_init(id, install, NULL);
	install(id);
	return 0;
}
