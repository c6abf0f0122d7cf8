/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests to the family by the grammar, right or wrong in a way that is drawn. Used by
 * control.c, which sends them.
 */
#ifndef KJOULE_FUZZ_MESSAGE_H
#define KJOULE_FUZZ_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "world.h"

#define MESSAGE_BYTES	8192

struct message {
	_Alignas(8) uint8_t data[MESSAGE_BYTES];
	size_t len;
	const struct rule_op *op;
	uint32_t seq;
	enum shape shape;
};

void message_make(struct world *w, struct message *m, const struct rule_op *op, enum shape shape);
enum shape message_shape(struct world *w);
const struct rule_op *message_op(struct world *w);

#endif
