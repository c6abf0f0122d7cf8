// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sockets that own objects: sessions, by an owner number that the core stores, or a place in the
 * list of listeners. Owned objects end when the socket is closed.
 *
 * A port number does not identify a socket: it may be reused before the release of its last socket
 * is notified, and the notifier gets only the number. So a reference to the socket is kept until
 * then: a closed one is dead, which is set before the notification.
 */
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <net/sock.h>

#include "netlink/netlink.h"
#include "session/quota.h"

/**
 * struct owner_socket - a socket that owns objects
 * @node:	in @sockets, by @portid
 * @sk:		the socket, with a reference; valid during its requests
 * @portid:	its port number
 * @owner:	number of its objects' owner; not 0, and not reused
 * @listening:	in @listeners, or empty
 * @listener:	the user that listens
 */
struct owner_socket {
	struct hlist_node node;
	struct sock *sk;
	u32 portid;
	u64 owner;
	struct list_head listening;
	kuid_t listener;
};

static DEFINE_MUTEX(sockets_lock);	/* no lock of the core nests inside */
static DEFINE_HASHTABLE(sockets, 6);	/* a bucket for each session that there can be */
/* Limited: each notice is sent to each listener, under locks that others need. */
static LIST_HEAD(listeners);
static u64 last_owner;

static struct owner_socket *socket_find(const struct sk_buff *skb)
{
	struct owner_socket *p;

	lockdep_assert_held(&sockets_lock);
	hash_for_each_possible(sockets, p, node, NETLINK_CB(skb).portid) {
		if (p->sk == NETLINK_CB(skb).sk)
			return p;
	}
	return NULL;
}

static struct owner_socket *socket_get(const struct sk_buff *skb)
{
	struct owner_socket *p = socket_find(skb);

	if (p)
		return p;
	p = kzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);
	if (!p)
		return NULL;
	p->sk = NETLINK_CB(skb).sk;
	sock_hold(p->sk);
	p->portid = NETLINK_CB(skb).portid;
	p->owner = ++last_owner;
	INIT_LIST_HEAD(&p->listening);
	hash_add(sockets, &p->node, p->portid);
	return p;
}

/* The notifier runs before the socket drops its own reference: this is not the last one. */
static void socket_free(struct owner_socket *p)
{
	sock_put(p->sk);
	kfree(p);
}

static void socket_unlink(struct owner_socket *p)
{
	lockdep_assert_held(&sockets_lock);
	hash_del(&p->node);
	list_del_init(&p->listening);
}

/*
 * kjoule_socket_owner() - number of the owner of the sender's objects. Return: the number, or 0
 * without memory
 */
u64 kjoule_socket_owner(const struct sk_buff *skb)
{
	struct owner_socket *p;
	u64 owner;

	mutex_lock(&sockets_lock);
	p = socket_get(skb);
	owner = p ? p->owner : 0;
	mutex_unlock(&sockets_lock);
	return owner;
}

/** kjoule_socket_owns() - does the sender own an owner's objects? */
bool kjoule_socket_owns(const struct sk_buff *skb, u64 owner)
{
	struct owner_socket *p;
	bool owns;

	mutex_lock(&sockets_lock);
	p = socket_find(skb);
	owns = p && p->owner == owner;
	mutex_unlock(&sockets_lock);
	return owns;
}

static int socket_add_listener(struct owner_socket *p, bool admin, char *words, size_t len)
{
	struct kjoule_share share = { .n = 0 };
	kuid_t user = current_euid();
	struct owner_socket *other;
	int err;

	lockdep_assert_held(&sockets_lock);
	if (!list_empty(&p->listening))
		return 0;
	list_for_each_entry(other, &listeners, listening)
		share.user[share.n++] = other->listener;
	err = kjoule_share_check(&share, user, admin, "listeners", words, len);
	if (err)
		return err;
	p->listener = user;
	list_add_tail(&p->listening, &listeners);
	return 0;
}

/**
 * kjoule_socket_listen() - send notices to the sender of a request from now on; may be repeated
 * @skb:	the request
 * @admin:	it has CAP_SYS_ADMIN
 * @words:	set to the reason of -EUSERS
 * @len:	of @words
 * Return: 0, -ENOMEM, or -EUSERS above the limit
 */
int kjoule_socket_listen(const struct sk_buff *skb, bool admin, char *words, size_t len)
{
	struct owner_socket *p;
	int err;

	mutex_lock(&sockets_lock);
	p = socket_get(skb);
	err = p ? socket_add_listener(p, admin, words, len) : -ENOMEM;
	mutex_unlock(&sockets_lock);
	return err;
}

/*
 * kjoule_socket_notify() - call a function for each listening socket. @send: called with its number
 * and @n. Sockets that are being closed are skipped. If the close begins only now and the number is
 * reused at once, the new socket gets this notice: messages are sent to numbers. Context: process,
 * sleeps; locks of the core may be held.
 */
void kjoule_socket_notify(void (*send)(u32 portid, const struct kjoule_event *n),
			  const struct kjoule_event *n)
{
	struct owner_socket *p;

	mutex_lock(&sockets_lock);
	list_for_each_entry(p, &listeners, listening) {
		if (!sock_flag(p->sk, SOCK_DEAD))
			send(p->portid, n);
	}
	mutex_unlock(&sockets_lock);
}

static struct owner_socket *socket_unlink_closed(u32 portid)
{
	struct owner_socket *p;

	mutex_lock(&sockets_lock);
	hash_for_each_possible(sockets, p, node, portid) {
		if (p->portid == portid && sock_flag(p->sk, SOCK_DEAD)) {
			socket_unlink(p);
			break;
		}
	}
	mutex_unlock(&sockets_lock);
	return p;
}

/*
 * kjoule_socket_released() - a socket was closed. @portid: the number that it had. @end: called to
 * end its objects. Another socket that has the number by now is left alone, unless it is being
 * closed as well: its own notification finds nothing then. Context: process, sleeps; no lock of the
 * core is held.
 */
void kjoule_socket_released(u32 portid, void (*end)(u64 owner))
{
	struct owner_socket *p;

	while ((p = socket_unlink_closed(portid))) {
		end(p->owner);
		socket_free(p);
	}
}

/*
 * kjoule_socket_exit() - forget sockets that are still open, at module exit. Context: process,
 * module exit; there are no requests, no sessions and no notices any more.
 */
void kjoule_socket_exit(void)
{
	struct hlist_node *next;
	struct owner_socket *p;
	int i;

	mutex_lock(&sockets_lock);
	hash_for_each_safe(sockets, i, next, p, node) {
		socket_unlink(p);
		/* may be the last reference: the notifier is unregistered */
		socket_free(p);
	}
	mutex_unlock(&sockets_lock);
}
