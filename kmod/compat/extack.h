/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Error texts that are formatted for a request. Since 6.3 the reply has room for them
 * (NETLINK_MAX_FMTMSG_LEN), but the kernel's macro logs what it truncates, and they contain names
 * chosen by the sender. Before, the reply only keeps a pointer, used after the operation has
 * returned: such kernels use one of some buffers in turn, which later refusals may overwrite.
 * Included once, by netlink/netlink.c.
 */
#ifndef KJOULE_COMPAT_EXTACK_H
#define KJOULE_COMPAT_EXTACK_H

#include <linux/atomic.h>
#include <linux/netlink.h>
#include <linux/string.h>

#ifdef HAVE_MSG_BUF
static inline void kjoule_extack_words(struct netlink_ext_ack *extack, const char *words)
{
	if (!extack)
		return;
	strscpy(extack->_msg_buf, words, sizeof(extack->_msg_buf));
	extack->_msg = extack->_msg_buf;
}
#else
static void kjoule_extack_words(struct netlink_ext_ack *extack, const char *words)
{
	static char buffer[32][128];
	static atomic_t turn;
	char *mine = buffer[(unsigned int)atomic_inc_return(&turn) % ARRAY_SIZE(buffer)];

	if (!extack)
		return;
	strscpy(mine, words, sizeof(buffer[0]));
	extack->_msg = mine;
}
#endif

#endif
