/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Words about a refusal that are put together for it. 6.3 gave the answer room for them
 * (NETLINK_MAX_FMTMSG_LEN), which the kernel's own macro fills; but it also logs what is cut, and
 * these words hold names that the sender has chosen. Before, the answer only keeps a pointer, which
 * is used after the operation has returned. Such a kernel is given one of some buffers in turn:
 * words may be another refusal's if as many happen between the operation and its answer, but never
 * end outside of the buffer. Included once, by netlink/session_new.c, for
 * kjoule_netlink_refuse_words().
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

#endif /* KJOULE_COMPAT_EXTACK_H */
