// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a fuzzing thread has and knows; see world.h. Opens and closes it, and picks from it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <linux/kjoule.h>
#include <linux/kjoule_netlink.h>

#include "kmod/fail.h"
#include "world.h"

#define PAGE		4096UL
#define KERNEL_ADDRESS	0xffff888000000000UL
#define CGROUP		"/sys/fs/cgroup/fuzz"

void world_arm(struct world *w)
{
	if (w->nth)
		fail_nth(w->nth);
}

void world_disarm(struct world *w)
{
	int err = errno;

	if (w->nth && fail_stop())
		count(&w->tally->faults);
	w->nth = 0;
	errno = err;
}

void world_hurry(struct world *w)
{
	const struct itimerspec soon =
		{ .it_value.tv_nsec = 10000000, .it_interval.tv_nsec = 10000000 };

	timer_settime(w->timer, 0, &soon, NULL);
}

void world_relax(struct world *w)
{
	const struct itimerspec never = { 0 };

	timer_settime(w->timer, 0, &never, NULL);
}

static void nothing(int signal)
{
	(void)signal;
}

bool world_begin_child(struct world *w)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM };

	w->tid = syscall(SYS_gettid);
	event._sigev_un._tid = w->tid;
	return !timer_create(CLOCK_MONOTONIC, &event, &w->timer);
}

/* The same page twice, with nothing behind it. */
static bool map_argument(struct world *w)
{
	int fd = memfd_create("argument", MFD_CLOEXEC);
	uint8_t *at = mmap(NULL, 4 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (fd < 0 || at == MAP_FAILED || ftruncate(fd, PAGE))
		return false;
	w->argument = mmap(at, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	w->read_only = mmap(at + 2 * PAGE, PAGE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0);
	close(fd);
	return w->argument != MAP_FAILED && w->read_only != MAP_FAILED;
}

/* What does not depend on the module. */
bool world_begin(struct world *w)
{
	struct sigaction action = { .sa_handler = nothing };
	unsigned int i;
	uint8_t *page;

	sigaction(SIGALRM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	for (i = 0; i < SOCKETS; i++)
		w->socket[i] = -1;
	for (i = 0; i < DEVICES; i++)
		w->device[i].fd = -1;
	/* what is behind it stays taken: nothing else may come to lie where a copy is to fail */
	page = mmap(NULL, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	w->bad[0] = NULL;
	w->bad[1] = (void *)KERNEL_ADDRESS;
	w->bad[2] = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	w->bad[3] = page;
	return page != MAP_FAILED && !mprotect(page, PAGE, PROT_READ | PROT_WRITE) &&
	       w->bad[2] != MAP_FAILED &&
	       map_argument(w) && world_begin_child(w);
}

void world_end(struct world *w)
{
	timer_delete(w->timer);
	munmap(w->bad[2], PAGE);
	munmap(w->bad[3], 2 * PAGE);
	munmap(w->argument, 4 * PAGE);
}

/* The family's number, and that of its multicast group. */
static bool find_family(struct world *w)
{
	struct {
		struct nlmsghdr head;
		struct genlmsghdr genl;
		struct nlattr attr;
		char name[8];
	} request = {
		.head = { sizeof(request), GENL_ID_CTRL, NLM_F_REQUEST, 1, 0 },
		.genl = { .cmd = CTRL_CMD_GETFAMILY, .version = 1 },
		.attr = { NLA_HDRLEN + sizeof(KJOULE_FAMILY_NAME), CTRL_ATTR_FAMILY_NAME },
		.name = KJOULE_FAMILY_NAME,
	};
	_Alignas(4) uint8_t answer[4096];
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	const struct nlattr *attr;
	ssize_t got = -1;
	size_t at;

	if (send(fd, &request, sizeof(request), 0) == sizeof(request))
		got = recv(fd, answer, sizeof(answer), 0);
	close(fd);
	w->family = 0;
	for (at = NLMSG_HDRLEN + GENL_HDRLEN; got > 0 && at + NLA_HDRLEN <= (size_t)got;
	     at += NLA_ALIGN(attr->nla_len)) {
		attr = (const struct nlattr *)(answer + at);
		if (attr->nla_len < NLA_HDRLEN)
			break;
		if (attr->nla_type == CTRL_ATTR_FAMILY_ID)
			memcpy(&w->family, attr + 1, 2);
		/*
		 * groups, in them the first one, in it its name and its number, which comes second
		 * there
		 */
		if (attr->nla_type == CTRL_ATTR_MCAST_GROUPS) {
			const struct nlattr *in = attr + 2;
			unsigned int i;

			for (i = 0; i < 2; i++) {
				if (in->nla_type == CTRL_ATTR_MCAST_GRP_ID)
					memcpy(&w->group, in + 1, 4);
				in = (const struct nlattr *)((const uint8_t *)in +
							     NLA_ALIGN(in->nla_len));
			}
		}
	}
	return w->family;
}

static void open_strangers(struct world *w)
{
	static const char *const files[] = { "/sys/kernel/rcu_expedited",
					     "/sys/class/misc/kjoule/sessions",
					     "/sys/class/rtc/rtc0/since_epoch",
					     "/sys/kernel/uevent_seqnum",
					     "/sys/class/misc/kjoule/version", "/sys/kernel",
					     "/dev/null",
					     "/proc/self/stat" };
	unsigned int i, n = 0;
	int pair[2];

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		w->stranger[n++] = open(files[i], O_RDONLY | O_CLOEXEC);
	w->stranger[n++] = open("/sys/kernel/rcu_expedited", O_WRONLY | O_CLOEXEC);
	w->stranger[n++] = open(KJOULE_DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	w->stranger[n++] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->stranger[n++] = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (!pipe2(pair, O_CLOEXEC | O_NONBLOCK)) {
		w->stranger[n++] = pair[0];
		w->stranger[n++] = pair[1];
	}
	w->stranger[n++] = 9999;
	w->stranger[n++] = -1;
	w->strangers = n;
	mkdir(CGROUP, 0755);
	w->cgroup_fd = open(CGROUP, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

bool world_open(struct world *w)
{
	memset(w->session, 0, sizeof(w->session));
	open_strangers(w);
	return find_family(w);
}

void world_close_sockets(struct world *w)
{
	unsigned int i;

	for (i = 0; i < SOCKETS; i++) {
		if (w->socket[i] >= 0)
			close(w->socket[i]);
		w->socket[i] = -1;
	}
	memset(w->session, 0, sizeof(w->session));
}

void world_unmap(void *at, size_t bytes)
{
	if (!munmap(at, bytes))
		return;
	perror("the fuzzer's own munmap");
	abort();
}

void world_forget_mapping(struct mapping *m)
{
	world_unmap(m->at, m->bytes);
	m->at = NULL;
}

void world_close(struct world *w)
{
	unsigned int i;

	world_close_sockets(w);
	for (i = 0; i < MAPPINGS; i++) {
		if (w->mapping[i].at)
			world_forget_mapping(&w->mapping[i]);
	}
	for (i = 0; i < DEVICES; i++) {
		if (w->device[i].fd >= 0)
			close(w->device[i].fd);
		memset(&w->device[i], 0, sizeof(w->device[i]));
		w->device[i].fd = -1;
	}
	for (i = 0; i < w->strangers; i++) {
		if (w->stranger[i] >= 0)
			close(w->stranger[i]);
	}
	w->strangers = 0;
	close(w->cgroup_fd);
	w->cgroup_fd = -1;
}

uint32_t any_session(struct world *w)
{
	unsigned int how = dice_below(&w->dice, 20), at = dice_below(&w->dice, SESSIONS), i;
	uint64_t number = dice_number(&w->dice);
	uint32_t id;

	if (how == 0)
		return number;
	if (how < 3 && w->peer) {
		id = __atomic_load_n(&w->peer->session[at].id, __ATOMIC_RELAXED);
		if (id)
			return id;
	}
	for (i = 0; w->wanted >= 0 && how < 18 && i < SESSIONS; i++) {
		const struct session *s = &w->session[(at + i) % SESSIONS];

		if (s->id && s->state == (uint32_t)w->wanted)
			return s->id;
	}
	for (i = 0; i < SESSIONS; i++) {
		if (w->session[(at + i) % SESSIONS].id)
			return w->session[(at + i) % SESSIONS].id;
	}
	return number & 63;
}

int any_fd(struct world *w)
{
	unsigned int how = dice_below(&w->dice, 6), bits = dice_bits(&w->dice) & 0xffff;
	struct world *of = how & 1 && w->peer ? w->peer : w;

	switch (how / 2) {
	case 0:
		return __atomic_load_n(&of->device[bits % DEVICES].fd, __ATOMIC_RELAXED);
	case 1:
		return __atomic_load_n(&of->socket[bits % SOCKETS], __ATOMIC_RELAXED);
	default:
		return w->stranger[bits % w->strangers];
	}
}

unsigned int sessions_running(const struct world *w)
{
	unsigned int i, n = 0;

	for (i = 0; i < SESSIONS; i++)
		n += w->session[i].id && w->session[i].state == KJOULE_SESSION_RUNNING;
	return n;
}

unsigned int sessions_known(const struct world *w)
{
	unsigned int i, n = 0;

	for (i = 0; i < SESSIONS; i++)
		n += !!w->session[i].id;
	return n;
}

struct session *session_find(struct world *w, uint32_t id)
{
	unsigned int i;

	for (i = 0; id && i < SESSIONS; i++) {
		if (w->session[i].id == id)
			return &w->session[i];
	}
	return NULL;
}

void session_add(struct world *w, uint32_t id, int socket)
{
	unsigned int i, at = 0;

	for (i = 0; i < SESSIONS; i++) {
		if (!w->session[i].id)
			at = i;
	}
	w->session[at] = (struct session){ id, socket, KJOULE_SESSION_NEW };
}
