/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A cure for stale blocks: see heal.c. Called by plugin.c and plugin_heal.c.
 */
#ifndef VCHIP_HEAL_H
#define VCHIP_HEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "qemu_plugin_api.h"

/**
 * heal_init() - say how everything is set up anew
 * @id:		this plugin
 * @install:	registers all callbacks of the plugin; called with all CPUs stopped
 * @interrupts:	how many a CPU has had; NULL: not known
 */
void heal_init(qemu_plugin_id_t id, void (*install)(qemu_plugin_id_t id),
	       uint32_t (*interrupts)(unsigned int vcpu));

/**
 * heal_watch() - at translation: watch an instruction if it is a breakpoint of the kernel
 * @insn:	the instruction
 * @bytes:	its bytes
 * @size:	how many
 * @vaddr:	its address
 */
void heal_watch(struct qemu_plugin_insn *insn, const void *bytes, size_t size, uint64_t vaddr);

#endif /* VCHIP_HEAL_H */
